"""A disk between the project and the system: it fails at an operation, or records all of them for a
replay.
"""

import errno
import io
import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest

from stickbreaker.engine.files import whole_files

ERRORS = {name: getattr(errno, name) for name in ("ENOSPC", "EIO", "EROFS")}


class Operation(NamedTuple):
    """One operation: create, write, truncate, sync, rename, mkdir or sync_folder, with what it
    needs.
    """

    name: str
    path: str
    other: str = ""
    offset: int = 0
    content: bytes = b""


@dataclass
class Disk:
    """Counts writes, syncs and renames, fails at the one with the number `fails_at`, and records
    all operations.

    A full or read-only disk fails from then on; an input/output error happens once.
    """

    fails_at: int | None = None
    error: str = "EIO"
    num_done: int = 0
    operations: list[Operation] = field(default_factory=list)

    def note(self, operation: Operation) -> None:
        """Record an operation that can fail, or let it fail."""
        self.num_done += 1
        has_failed = self.fails_at is not None and self.num_done >= self.fails_at
        if has_failed and (self.error != "EIO" or self.num_done == self.fails_at):
            raise OSError(ERRORS[self.error], os.strerror(ERRORS[self.error]))
        self.operations.append(operation)

    def open_new(self, path: Path) -> io.BufferedRandom:
        """Replaces `whole_files.open_new`."""
        self.note(Operation("create", str(path)))
        return io.BufferedRandom(_File(self, path))

    @contextmanager
    def between(self) -> Iterator["Disk"]:
        """Put this disk between the project and the system."""
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(whole_files, "open_new", self.open_new)
            patch.setattr(whole_files, "os", _System(self))
            patch.setattr(Path, "mkdir", self._make_folder(Path.mkdir))
            yield self

    def _make_folder(self, make):
        def mkdir(path: Path, *args, **keywords) -> None:
            is_there = path.exists()
            make(path, *args, **keywords)
            if not is_there:
                self.operations.append(Operation("mkdir", str(path)))

        return mkdir


class _File(io.FileIO):
    """A file whose writes go through the disk."""

    def __init__(self, disk: Disk, path: Path):
        self._disk, self._path = disk, str(path)
        super().__init__(path, "x+b")

    def write(self, content) -> int:
        self._disk.note(Operation("write", self._path, offset=self.tell(), content=bytes(content)))
        return super().write(content)

    def truncate(self, size=None) -> int:
        size = self.tell() if size is None else size
        self._disk.note(Operation("truncate", self._path, offset=size))
        return super().truncate(size)


class _System:
    """The module `os`, whose syncs and renames go through the disk."""

    def __init__(self, disk: Disk):
        self._disk = disk

    def __getattr__(self, name: str):
        return getattr(os, name)

    def fsync(self, descriptor: int) -> None:
        path = os.readlink(f"/proc/self/fd/{descriptor}")
        self._disk.note(Operation("sync_folder" if os.path.isdir(path) else "sync", path))

    def replace(self, source, target) -> None:
        self._disk.note(Operation("rename", str(source), str(target)))
        os.replace(source, target)

    def rename(self, source, target) -> None:
        self._disk.note(Operation("rename", str(source), str(target)))
        os.rename(source, target)


def replay(
    operations: list[Operation], before: dict[str, bytes], folder: Path, rng: np.random.Generator
) -> None:
    """Make the state of a disk whose machine stopped after these operations.

    What was synced is there. Of the writes that were not, a random part is; of names that were not,
    those before a random moment are. before: contents by path. folder: an empty folder for what
    `operations` did in its namesake.
    """
    contents = {path: bytearray(content) for path, content in before.items()}
    names = {path: path for path in before}
    for operation in _keep_names(operations, rng):
        _apply_name(operation, names, contents)
    synced = {each.path: place for place, each in enumerate(operations) if each.name == "sync"}
    for place, each in enumerate(operations):
        if each.name in ("write", "truncate") and (
            place < synced.get(each.path, -1) or rng.random() < 0.5
        ):
            content = contents.setdefault(each.path, bytearray())
            if each.name == "truncate":
                del content[each.offset :]
            else:
                content.extend(bytes(max(0, each.offset - len(content))))
                content[each.offset : each.offset + len(each.content)] = each.content
    for path, inode in names.items():
        place = folder / path.lstrip("/")
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(contents.get(inode, b""))


def _keep_names(operations: list[Operation], rng: np.random.Generator) -> list[Operation]:
    """Operations on names that are on disk: synced ones, and the first of the others."""
    on_names = [
        (place, each) for place, each in enumerate(operations) if each.name in ("create", "rename")
    ]
    synced = {
        each.path: place for place, each in enumerate(operations) if each.name == "sync_folder"
    }
    loose = [
        place
        for place, each in on_names
        if place > synced.get(str(Path(each.other or each.path).parent), -1)
    ]
    kept = set(loose[: rng.integers(len(loose) + 1)])
    return [each for place, each in on_names if place not in loose or place in kept]


def _apply_name(
    operation: Operation, names: dict[str, str], contents: dict[str, bytearray]
) -> None:
    if operation.name == "create":
        names[operation.path] = operation.path
        contents[operation.path] = bytearray()
        return
    old, new = operation.path, operation.other
    for path in [path for path in names if path == old or path.startswith(old + "/")]:
        names[new + path.removeprefix(old)] = names.pop(path)
