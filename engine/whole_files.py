"""Files written whole or not at all."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from uuid import uuid4


@contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """A path beside `path` to write to; if that ends well, what was written takes the place of `path`.

    The file has the permissions of any other that this user makes, which those of `tempfile` have not. Raises OSError
    where there is no folder for it, or one of that name.
    """
    if not path.parent.is_dir():
        raise FileNotFoundError(f"There is no folder {path.parent.absolute()}: make it, or write elsewhere.")
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
