"""Files of one kind on disk: written whole, verified when read, limited in number and size."""

import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from hashlib import sha256
from os import PathLike
from pathlib import Path
from typing import Any

from stickbreaker.app.model.limits import Limit, find_limit
from stickbreaker.engine.files.verified_files import (
    Kind,
    read_header,
    read_parts,
    reading,
    write_parts,
)
from stickbreaker.engine.files.whole_files import (
    Claim,
    claim,
    make_folder,
    remove_file,
    remove_leftovers,
)

LETTERS = 32
SHOWN_LETTERS = 60
# The newest twenty stay. Without logins, a class shares one folder: more stay there for a day.
MAX_SAVED = 20
MOST_SAVED = 200
OLD_SECONDS = 86_400


class Shelf:
    """The files of one kind in a folder.

    failure: what cannot be done if the folder cannot be made, as "A run cannot be saved".
    limit: of the bytes of all.
    """

    def __init__(
        self,
        folder: str | PathLike[str],
        kind: Kind,
        suffix: str,
        failure: str,
        limit: Limit | None = None,
    ):
        self.folder = Path(folder)
        self.suffix = suffix
        self._kind = kind
        self._failure = failure
        self._limit = limit
        remove_leftovers(self.folder)

    def place(self, name: str) -> Path:
        """The path of a file. Raises the error of the kind if it would be outside the folder."""
        if Path(name).name != name or name.startswith("."):
            raise self._kind.error(f"There is no {self._kind.name} {name[:SHOWN_LETTERS]!r}.")
        return self.folder / f"{name}{self.suffix}"

    def has(self, name: str) -> bool:
        """Whether there is a file of this name, in a folder that can be read."""
        return self.place(name) in self.list_newest()

    def list_newest(self) -> list[Path]:
        """The files, newest first."""
        return list_newest(self.folder, self.suffix)

    def make_folder(self) -> None:
        """Make the folder. Raises the error of the kind."""
        make_folder(self.folder, self._failure, self._kind.error)

    def write(
        self,
        name: str,
        about: Mapping[str, Any],
        parts: Mapping[str, Any] | None = None,
        packs: bool = False,
    ) -> None:
        """Write a file in place of an earlier one. Raises the error of the kind."""
        self.make_folder()
        write_parts(self.place(name), self._kind, about, parts or {}, packs=packs)

    @contextmanager
    def reading(
        self, name: str, expected: Mapping[str, str], has_parts: bool = False
    ) -> Iterator[tuple[dict[str, Any], dict[str, Any]]]:
        """Give the description and the parts of a file; without has_parts, the description only.

        expected: values that the description of this file has.
        Every error, also of the block, becomes the error of the kind, with the file and the remedy.
        """
        path = self.place(name)
        header, parts = (
            read_parts(path, self._kind) if has_parts else (read_header(path, self._kind), {})
        )
        with reading(path, self._kind):
            about = dict(header.about or {})
            if any(about.get(field, value) != value for field, value in expected.items()):
                raise ValueError("the file was renamed")
            yield about, parts

    def keep_newest(self) -> None:
        """Remove old files: the newest twenty stay, and those of the last day, at most 200.

        Of these, the oldest are removed while they exceed the limit; the newest one always stays.
        """
        newest = self.list_newest()
        for place, path in enumerate(newest):
            with suppress(OSError):
                if place >= MOST_SAVED or (
                    place >= MAX_SAVED and time.time() - path.stat().st_mtime > OLD_SECONDS
                ):
                    path.unlink()
        if self._limit is not None:
            fit(newest[::-1], find_limit(self._limit))

    def remove(self, name: str) -> None:
        """Remove a file; a missing one is ignored. Raises FileError if that is not allowed."""
        remove_file(self.place(name))

    def claim(self, name: str) -> Claim | None:
        """Claim a name for this process; None if another one has it."""
        self.make_folder()
        return claim(self.folder, name)


def hash_name(text: str) -> str:
    """The part of a file name that stands for a text, which cannot be found from it."""
    return sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:LETTERS]


def list_newest(folder: Path, suffix: str) -> list[Path]:
    """The files of a folder with this suffix, newest first; a missing folder has none."""
    try:
        paths = [path for path in folder.iterdir() if path.suffix == suffix and path.name[0] != "."]
        return sorted(paths, key=lambda path: path.stat().st_mtime_ns, reverse=True)
    except OSError:
        return []


def measure(path: Path) -> int:
    """The bytes of a file; 0 if there is none, or if it cannot be read."""
    try:
        return path.stat().st_size
    except OSError:
        return 0


def fit(paths: Sequence[Path], allowed: int) -> None:
    """Remove the first of these files until the others fit; the last one stays."""
    fit_all([list(paths)], allowed)


def fit_all(users: list[list[Path]], allowed: int) -> None:
    """Remove files of the user whose files take the most, again and again; one of each user stays.

    users: the files of each user, in the order in which they are removed.
    """
    sizes = [[measure(path) for path in paths] for paths in users]
    total = sum(map(sum, sizes))
    while total > allowed:
        candidates = [user for user, own in enumerate(sizes) if len(own) > 1]
        if not candidates:
            return
        most = max(candidates, key=lambda user: sum(sizes[user]))
        total -= sizes[most].pop(0)
        with suppress(OSError):
            users[most].pop(0).unlink()
