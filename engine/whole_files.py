"""Files that are written completely or not at all."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from uuid import uuid4


@contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """Give a temporary path in the same folder; if the block ends without an error, its file replaces `path`.

    The file has the user's usual permissions, unlike those of `tempfile`. Raises OSError if the folder does not exist
    or `path` is a folder.
    """
    if not path.parent.is_dir():
        raise FileNotFoundError(f"There is no folder {path.parent.absolute()}: create it, or choose another one.")
    if path.is_dir():
        raise IsADirectoryError(f"{path} is a folder: give the name of a file in it.")
    work = path.with_name(f".{uuid4().hex}")
    try:
        yield work
        with work.open("r+b") as file:
            os.fsync(file.fileno())
        os.replace(work, path)
    finally:
        work.unlink(missing_ok=True)
