"""Files written whole or not at all."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from uuid import uuid4


@contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """A path beside `path` to write to; if that ends well, what was written takes the place of `path`.

    The file has the permissions of any other that this user makes, which those of `tempfile` have not.
    """
    work = path.with_name(f".{path.name}.{uuid4().hex}")
    try:
        yield work
        with work.open("rb") as file:
            os.fsync(file.fileno())
        os.replace(work, path)
    finally:
        work.unlink(missing_ok=True)
