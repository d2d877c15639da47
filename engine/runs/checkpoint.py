"""A run on disk: one file of plain arrays, written completely or not at all, from which a run
resumes bit for bit.
"""

import json
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, field, replace
from hashlib import sha256
from itertools import islice
from os import PathLike
from pathlib import Path
from typing import Any, ClassVar, Protocol, cast

import numpy as np

from stickbreaker.engine.algorithms import find_algorithm
from stickbreaker.engine.corpora.corpus import Corpus
from stickbreaker.engine.corpora.documents import Documents
from stickbreaker.engine.files.verified_files import Kind, read_parts, reading, write_parts
from stickbreaker.engine.files.whole_files import FileError
from stickbreaker.engine.inference.topic_counts import DecayedCounts
from stickbreaker.engine.runs.settings import RunSettings
from stickbreaker.engine.schedules import resolve

NOTE = "note."
STATE = "state"
FINGERPRINT_DOCUMENTS = 256
# The format of checkpoints before they had a header with SHA-256.
LAST_WITHOUT_HEADER = 3
# Names in files of earlier versions, and what they are now.
NEW_NAMES = {
    "num_snapshots": "num_moments",
    "first_sweeps": "first_passes",
    f"{STATE}.has_settled": f"{STATE}.has_converged",
    **{f"{STATE}.judges.{part}": f"{STATE}.set_aside.{part}" for part in Documents._fields},
}


@dataclass(frozen=True)
class Checkpoint:
    """Everything of a run that resuming needs, except the corpus.

    Parameters
    ----------
    algorithm : str
        The name of the algorithm.
    config : object
        Its settings, each with a value.
    settings : RunSettings
        How the run reads and scores.
    state : object
        The state of the algorithm; None before the first step, and in a recording.
    documents_seen : int
        The number of documents learned from, over all passes.
    seconds : float
        Time spent learning.
    has_ended : bool
        Whether the algorithm has converged.
    documents : str
        The `fingerprint` of the training documents; "" if it is not known.
    notes : mapping of str to ndarray
        Further arrays, which `load` returns unchanged.
    """

    algorithm: str
    config: Any
    settings: RunSettings
    state: Any
    documents_seen: int
    seconds: float
    has_ended: bool = False
    documents: str = ""
    notes: Mapping[str, np.ndarray] = field(default_factory=dict)

    def with_notes(self, notes: Mapping[str, np.ndarray]) -> "Checkpoint":
        """Replace the notes of this checkpoint.

        Parameters
        ----------
        notes : mapping of str to ndarray
            The new notes.

        Returns
        -------
        Checkpoint
            The same checkpoint with these notes.
        """
        return replace(self, notes=notes)


class CheckpointError(FileError):
    """A checkpoint cannot be read or written; the message names the file and the remedy."""


CHECKPOINT = Kind(name="checkpoint", format=4, remedy="use an earlier one", error=CheckpointError)


def save(path: str | PathLike[str], checkpoint: Checkpoint) -> None:
    """Write a Checkpoint to `path` (.npz, no pickle), completely or not at all.

    Raises CheckpointError if it cannot be written; the old file is then unchanged.
    """
    header = {
        "algorithm": checkpoint.algorithm,
        "config": asdict(checkpoint.config),
        "settings": asdict(checkpoint.settings),
        "documents_seen": checkpoint.documents_seen,
        "seconds": checkpoint.seconds,
        "has_ended": checkpoint.has_ended,
        "documents": checkpoint.documents,
    }
    write_parts(Path(path), CHECKPOINT, header, to_parts(checkpoint))


def to_parts(checkpoint: Checkpoint) -> dict[str, np.ndarray]:
    """The notes and the state of a checkpoint as named arrays."""
    parts = {NOTE + name: np.asarray(note) for name, note in checkpoint.notes.items()}
    if checkpoint.state is not None:
        parts |= flatten(STATE, checkpoint.state)
    return parts


def take_notes(parts: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
    """The notes among named arrays."""
    return {name.removeprefix(NOTE): part for name, part in parts.items() if name.startswith(NOTE)}


def with_new_names(values: Mapping[str, Any]) -> dict[str, Any]:
    """Settings or arrays of a file, with the names that they have now."""
    return {NEW_NAMES.get(name, name): value for name, value in values.items()}


def load(path: str | PathLike[str], kind: Kind = CHECKPOINT) -> Checkpoint:
    """The Checkpoint saved at `path`; kind: has the remedy that messages name.

    Raises CheckpointError if the file is missing, damaged or of another version.
    """
    path = Path(path)
    found, parts = read_parts(path, kind)
    arrays = with_new_names(parts)
    with reading(path, kind):
        header = found.about or json.loads(str(arrays["header"]))
        if not found.format and header["format"] != LAST_WITHOUT_HEADER:
            raise CheckpointError(
                f"{path} has format {header['format']}, not {CHECKPOINT.format}: run again."
            )
        algorithm = find_algorithm(header["algorithm"])
        config = algorithm.config(**with_new_names(header["config"]))
        state = None
        # Only a file with a verified header says that it has no state.
        if not found.format or _has(arrays, STATE):
            state = restore(
                STATE, algorithm.init(resolve(config, 1), 1, np.random.default_rng(0)), arrays
            )
        settings = RunSettings(**with_new_names(header["settings"]))
        return Checkpoint(
            algorithm=algorithm.name,
            config=config,
            settings=settings,
            state=state,
            documents_seen=header["documents_seen"],
            seconds=header["seconds"],
            has_ended=header.get("has_ended", False),
            documents=header.get("documents", ""),
            notes=take_notes(arrays),
        )


def fingerprint(train: Corpus) -> str:
    """A digest of the sizes of training documents, and of the first and last 256."""
    digest = sha256(f"{train.num_documents} {train.vocab_size} {train.num_tokens}".encode())
    for start in (0, max(0, train.num_documents - FINGERPRINT_DOCUMENTS)):
        for batch in islice(train.batches(FINGERPRINT_DOCUMENTS, start), 1):
            for array in (batch.documents.starts, batch.documents.words, batch.documents.counts):
                digest.update(np.asarray(array, np.int64).tobytes())
    return digest.hexdigest()


class _Named(Protocol):
    """What every named tuple has."""

    _field_defaults: ClassVar[dict[str, Any]]

    def _asdict(self) -> dict[str, Any]: ...

    def _replace(self, **parts: Any) -> Any: ...


def _as_named(value: tuple[Any, ...]) -> _Named:
    """The tuples in a state are named."""
    return cast(_Named, value)


def flatten(name: str, value: Any) -> Iterator[tuple[str, np.ndarray]]:
    """Pairs of a dotted name and an array for each leaf of nested named tuples."""
    if isinstance(value, DecayedCounts):
        for part, array in value.to_arrays().items():
            yield f"{name}.{part}", array
    elif isinstance(value, tuple):
        for field, part in _as_named(value)._asdict().items():
            yield from flatten(f"{name}.{field}", part)
    else:
        yield name, np.asarray(value)


def restore(name: str, like: Any, arrays: Any) -> Any:
    """Nested named tuples and DecayedCounts shaped as `like`."""
    if isinstance(like, DecayedCounts):
        return like.from_arrays({part: arrays[f"{name}.{part}"] for part in like.to_arrays()})
    if isinstance(like, tuple):
        named = _as_named(like)
        # Files of versions that did not have a field with a default keep the default.
        parts = {
            field: restore(f"{name}.{field}", part, arrays)
            for field, part in named._asdict().items()
            if field not in named._field_defaults or _has(arrays, f"{name}.{field}")
        }
        return named._replace(**parts)
    value = arrays[name]
    return value if isinstance(like, np.ndarray) else type(like)(value.item())


def _has(arrays: Any, name: str) -> bool:
    return any(each == name or each.startswith(name + ".") for each in arrays)
