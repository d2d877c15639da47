"""Small examples of every kind of file that the project stores, written and read."""

import hashlib
import json
import shutil
import tempfile
from collections.abc import Callable
from contextlib import closing, suppress
from dataclasses import dataclass
from functools import cache
from itertools import islice
from pathlib import Path

import numpy as np

from stickbreaker import engine
from stickbreaker.app.model.kept_runs import CURVES, KeptContent, KeptRun, KeptRunError, KeptRuns
from stickbreaker.app.model.page_notes import PAGE
from stickbreaker.app.model.progress import Curve
from stickbreaker.app.model.reading import Model
from stickbreaker.app.model.record import Record
from stickbreaker.app.model.run_spec import RunSpec
from stickbreaker.app.model.saved_readings import SavedReadings, digest_model
from stickbreaker.app.model.saved_runs import SavedRun, SavedRuns
from stickbreaker.app.model.saved_stream import SavedStream
from stickbreaker.app.model.saved_sweeps import SavedSweepError, SavedSweeps
from stickbreaker.app.model.shelf import hash_name
from stickbreaker.app.model.sweep_plan import SweepPoint, SweepState
from stickbreaker.app.model.topic_names import NamedTopic, TopicNameError, TopicNames
from stickbreaker.engine.corpora import texts
from stickbreaker.engine.corpora.build_stored import BuildRequest, build_own
from stickbreaker.engine.corpora.library import find_own, list_own, load_own
from stickbreaker.engine.corpora.load import load_corpus
from stickbreaker.engine.corpora.rows import CorpusError
from stickbreaker.engine.corpora.stored import open_stored, store_corpus
from stickbreaker.engine.evaluation.doc_shares import read_shares
from stickbreaker.engine.files.whole_files import FileError
from stickbreaker.engine.runs import checkpoint, study
from stickbreaker.engine.runs.checkpoint import Checkpoint
from stickbreaker.engine.runs.study import Study, run_study
from tests.app.small_runs import learn, small_corpus, small_spec
from tests.app.small_streams import BATCH_SIZE, make_follower, write_texts
from tests.engine.corpora.old_folders import write_old

WORDS = tuple(
    first + last
    for first in ("arm", "cot", "nav", "pea", "tar")
    for last in ("mer", "ton", "ves", "ced")
)
NAMES = ("one", "two")
ERRORS = (FileError, KeptRunError, SavedSweepError, TopicNameError, CorpusError)

# For each item of a folder: the digest of its content, or the sentence that refuses it.
Found = dict[str, "str | Refusal"]


class Refusal(str):
    """The sentence with which an item is refused."""


@dataclass(frozen=True)
class Kind:
    """A kind of file: how to write two items into an empty folder, and how to read a folder.

    has_own_name: whether a file contains its name, so that an exchange of two files is found.
    """

    name: str
    write: Callable[[Path], None]
    read: Callable[[Path], Found]
    has_own_name: bool = True


def digest(*values) -> str:
    """The SHA-256 of arrays, texts and values that JSON can write."""
    whole = hashlib.sha256()
    for value in values:
        if isinstance(value, np.ndarray):
            whole.update(
                f"{value.dtype.str} {value.shape}".encode() + np.ascontiguousarray(value).tobytes()
            )
        else:
            whole.update(json.dumps(value, default=str).encode())
    return whole.hexdigest()


def read_all(readers: dict[str, Callable[[], str]]) -> Found:
    """Read each item; an error that is not the project's own ends the reading."""
    found: Found = {}
    for name, read in readers.items():
        try:
            found[name] = read()
        except ERRORS as error:
            found[name] = Refusal(error)
    return found


def write_notes(folder: Path, seed: int = 0, num_documents: int = 40) -> Path:
    """A table of short notes with dates."""
    rng = np.random.default_rng(seed)
    rows = [f"{1900 + row},{' '.join(rng.choice(WORDS, 6))}" for row in range(num_documents)]
    path = folder / f"notes{seed}.csv"
    if not path.exists():
        path.write_text("date,text\n" + "\n".join(rows))
    return path


@cache
def make_notes() -> engine.Corpus:
    """A corpus of forty notes, one a year."""
    counts = np.random.default_rng(0).poisson(1.0, (40, len(WORDS)))
    years = np.datetime64("1900", "Y") + np.arange(40)
    titles = [f"Note {i}" for i in range(40)]
    return engine.Corpus("notes", counts, engine.Vocabulary(WORDS), years, titles)


@cache
def make_checkpoints(name: str = "hdp") -> tuple[Checkpoint, ...]:
    """The checkpoints of a run after each of two mini-batches."""
    algorithm, settings = engine.find_algorithm(name), engine.RunSettings(num_evaluations=0)
    corpus = make_notes()
    prepared = engine.prepare(
        algorithm, algorithm.config(max_topics=3, batch_size=8), corpus, settings
    )
    updates = list(islice(engine.run(prepared), len(NAMES)))
    return tuple(
        Checkpoint(
            name, prepared.config, prepared.settings, each.state, each.stepped.documents_seen, 0.0
        )
        for each in updates
    )


def digest_state(model: engine.OnlineHDP) -> str:
    """Everything that a model of a stream has learned."""
    return digest(
        model.documents_seen_,
        model.words_,
        *dict(checkpoint.flatten("state", model.state_)).values(),
    )


def digest_checkpoint(saved: Checkpoint) -> str:
    """Everything in a checkpoint, except for the seconds of learning."""
    arrays = dict(checkpoint.flatten("state", saved.state))
    return digest(
        saved.algorithm,
        saved.config,
        saved.settings,
        saved.documents_seen,
        *arrays.values(),
    )


def write_checkpoints(folder: Path) -> None:
    """Two checkpoints of one run."""
    for name, saved in zip(NAMES, make_checkpoints(), strict=True):
        checkpoint.save(folder / f"{name}.npz", saved)


def read_checkpoints(folder: Path) -> Found:
    """The checkpoints."""
    return read_all(
        {
            name: lambda name=name: digest_checkpoint(checkpoint.load(folder / f"{name}.npz"))
            for name in NAMES
        }
    )


@cache
def make_model(seed: int) -> engine.OnlineHDP:
    """A fitted estimator."""
    counts = np.random.default_rng(seed).poisson(1.0, (40, len(WORDS)))
    return engine.OnlineHDP(max_topics=3, batch_size=8, random_state=seed).fit(counts)


def write_models(folder: Path) -> None:
    """Two models."""
    for seed, name in enumerate(NAMES):
        make_model(seed).save(folder / f"{name}.npz")


def read_models(folder: Path) -> Found:
    """The models."""

    def read(name: str) -> str:
        model = engine.load(folder / f"{name}.npz")
        return digest(
            model.components_, model.get_params(), model.history_.to_csv(), model.corpus_size_
        )

    return read_all({name: lambda name=name: read(name) for name in NAMES})


def write_kept_runs(folder: Path) -> None:
    """Two kept runs."""
    curves = [
        Curve.build(columns, [tuple(np.zeros(1, dtype)[0] for dtype in columns.values())] * 3)
        for columns in CURVES.values()
    ]
    places = np.arange(6, dtype=np.int32).reshape(2, 3)
    arrays = (
        np.arange(2),
        np.full(2, 0.5),
        np.array(WORDS),
        places,
        np.full((2, 3), 0.3, np.float32),
        np.full(2, 0.5),
    )
    for name in NAMES:
        values = {"sizes": dict.fromkeys(("a", "b"), 3), "none": {}}
        run = KeptRun(
            key=name, kept_at="2026-01-01T00:00:00+00:00", name="", label=f"Run {name}", corpus_name="notes",
            corpus_size=40, algorithm="hdp", config=values["sizes"], settings=values["none"], versions={},
            status="finished", changes=[], documents_seen=40, documents_total=40, seconds=1.5, heldout=-7.5,
            num_topics=2, topic_names={"1": "war"},
        )  # fmt: skip
        KeptRuns(folder).write(run, KeptContent(*curves, *arrays))


def read_kept_runs(folder: Path) -> Found:
    """The listed kept runs with curves and topics, and a sentence for each other one."""
    kept = KeptRuns(folder)
    listing = kept.listing()

    def read(run: KeptRun) -> str:
        content = kept.load(run.key)
        curves = [getattr(content, name)[column] for name in CURVES for column in CURVES[name]]
        return digest(
            run,
            *curves,
            content.weights,
            content.words.tolist(),
            content.top_words,
            content.top_shares,
            content.sizes,
        )

    found = read_all({run.key: lambda run=run: read(run) for run in listing.runs})
    return found | {
        fault.split()[3].removesuffix(".npz"): Refusal(fault) for fault in listing.faults
    }


@cache
def learn_small(batch_size: int) -> Record:
    """A small run that has finished."""
    return learn(small_corpus(), small_spec(batch_size=batch_size))


def keep_run(folder: Path, key: str, batch_size: int) -> None:
    """Keep a small run with its model."""
    record = learn_small(batch_size)
    KeptRuns(folder).keep(record.progress(1), record.model(), key=key, checkpoint=record.save())


def write_kept_models(folder: Path) -> None:
    """Two kept runs with their models."""
    for name, size in zip(NAMES, (10, 20), strict=True):
        keep_run(folder, name, size)


def read_kept_models(folder: Path) -> Found:
    """The models of kept runs, with the notes of the page."""

    def read(name: str) -> str:
        saved = KeptRuns(folder).load_checkpoint(name)
        return digest(str(saved.notes[PAGE]), digest_checkpoint(saved))

    names = {*NAMES, *(path.stem for path in folder.glob("*.model"))}
    return read_all({name: lambda name=name: read(name) for name in sorted(names)})


def write_topic_names(folder: Path) -> None:
    """The names of topics of two corpora."""
    for place, name in enumerate(NAMES):
        TopicNames(folder).change(
            name, [NamedTopic(f"war {name}", {WORDS[place]: 0.5, WORDS[2]: 0.25})]
        )


def read_topic_names(folder: Path) -> Found:
    """The names of topics, by the names of their files."""

    def read(name: str) -> str:
        return digest([(topic.name, dict(topic.words)) for topic in TopicNames(folder).read(name)])

    places = {hash_name(name): name for name in NAMES}
    there = {path.stem for path in folder.glob("*.zip")}
    return read_all(
        {place: lambda name=name: read(name) for place, name in places.items() if place in there}
    )


def save_runs(folder: Path) -> None:
    """Two runs of the page that can be continued."""
    for name, saved in zip(NAMES, make_checkpoints(), strict=True):
        SavedRuns(folder).write(SavedRun(name, f"watch {name}", None, saved))


def read_saved_runs(folder: Path) -> Found:
    """The saved runs that can be continued, by the names of their files."""
    saved = SavedRuns(folder)

    def read(path: Path) -> str:
        run = saved.load(path)
        return digest(run.key, run.watch, digest_checkpoint(run.checkpoint))

    paths = filter(None, (saved.locate(key=name) for name in NAMES))
    return read_all({path.stem: lambda path=path: read(path) for path in paths})


@cache
def make_read_models() -> tuple[Model, ...]:
    """Two models of one run."""
    algorithm = engine.find_algorithm("hdp")
    corpus = make_notes()
    return tuple(
        Model(1, algorithm, each.config, each.state, corpus, corpus, each.documents_seen)
        for each in make_checkpoints()
    )


def save_readings(folder: Path) -> None:
    """The corpus read with two models."""
    for model in make_read_models():
        SavedReadings(folder).write(
            model, read_shares(model.algorithm, model.config, model.state, model.corpus)
        )


def read_saved_readings(folder: Path) -> Found:
    """The saved readings, by the names of their files."""
    found: Found = {}
    for model in make_read_models():
        shares = SavedReadings(folder).find(model)
        left_out = Refusal("The corpus is read again, with a warning in the log.")
        found[digest_model(model)] = left_out if shares is None else digest(shares.toarray())
    return found


def make_sweep(num_ended: int) -> SweepState:
    """A sweep of three runs, of which some have ended."""
    algorithm = engine.find_algorithm("hdp")
    configs = [algorithm.config(max_topics=3, batch_size=size) for size in (4, 8, 16)]
    plan = tuple(RunSpec("notes", algorithm, config, engine.RunSettings()) for config in configs)
    points = tuple(
        SweepPoint("Online HDP", "S", config, "finished", "", -7.5)
        for config in configs[:num_ended]
    )
    return SweepState("running", plan, points)


def save_sweeps(folder: Path) -> None:
    """Two sweeps of the page that can be continued."""
    for num_ended, name in enumerate(NAMES):
        SavedSweeps(folder).write(name, make_sweep(num_ended))


def read_saved_sweeps(folder: Path) -> Found:
    """The saved sweeps, by the names of their files."""

    def read(name: str) -> str:
        state = SavedSweeps(folder).load(name)
        specs = [
            (spec.corpus_name, spec.algorithm.name, spec.config, spec.settings)
            for spec in state.plan
        ]
        return digest(state.status, specs, state.points)

    return read_all({hash_name(name): lambda name=name: read(name) for name in NAMES})


def store_corpora(folder: Path) -> None:
    """Two corpora that need not fit in memory."""
    for seed, name in enumerate(NAMES):
        store_corpus(
            load_corpus(write_notes(folder.parent, seed), text="text", date="date"), folder / name
        )


def read_stored_corpora(folder: Path) -> Found:
    """The stored corpora, after `check`: opening one does not read its documents."""

    def read(name: str) -> str:
        corpus = open_stored(folder / name)
        corpus.check()
        dates = np.datetime_as_string(corpus.dates).tolist()
        return digest(corpus.counts.toarray(), corpus.vocabulary.words, dates, list(corpus.titles))

    names = {*NAMES, *(place.name for place in folder.iterdir() if not place.name.startswith("."))}
    return read_all({name: lambda name=name: read(name) for name in sorted(names)})


def write_corpora(folder: Path) -> None:
    """Two corpora with their texts."""
    for seed, name in enumerate(NAMES):
        build_own(BuildRequest(write_notes(folder.parent, seed), name), folder=folder)


def read_corpora(folder: Path) -> Found:
    """The corpora with their descriptions and texts."""

    def read(name: str) -> str:
        corpus, stored = load_own(name, folder), texts.find_texts(name, folder)
        read_texts = stored.read(corpus.doc_ids) if stored else []
        counts, dates = corpus.counts.toarray(), np.datetime_as_string(corpus.dates).tolist()
        return digest(
            find_own(name, folder).about,
            counts,
            corpus.vocabulary.words,
            dates,
            corpus.titles,
            read_texts,
        )

    names = {*NAMES, *(own.name for own in list_own(folder))}
    return read_all({name: lambda name=name: read(name) for name in sorted(names)})


def write_old_corpora(folder: Path) -> None:
    """Two corpora with their texts, as earlier versions wrote them."""
    for seed, name in enumerate(NAMES):
        corpus = load_corpus(write_notes(folder.parent, seed), text="text", date="date")
        write_old(corpus, folder, [f"Text {row}" for row in corpus.doc_ids], name)


def read_old_corpora(folder: Path) -> Found:
    """The corpora in a copy of the folder, because reading converts them."""
    with tempfile.TemporaryDirectory() as copy:
        shutil.copytree(folder, Path(copy) / "files")
        return read_corpora(Path(copy) / "files")


@cache
def make_cells(folder: Path) -> tuple[Study, tuple[str, ...]]:
    """A study of two cells, and their keys."""
    declared = Study(
        ("hdp",),
        (str(write_notes(folder)),),
        {"forgetting_rate": (0.6, 0.9)},
        fixed={"max_topics": 3},
    )
    return declared, tuple(cell.key() for cell in declared.cells())


def write_cells(folder: Path) -> None:
    """The two cells of a study."""
    run_study(make_cells(folder.parent)[0], folder, report=lambda progress: None)


def read_cells(folder: Path) -> Found:
    """The cells that are not run again; for the others, that they are."""
    keys = make_cells(folder.parent)[1]
    frames = {key: study.read_cell(folder / f"{key}.cell") for key in keys}
    again = Refusal("The cell is run again.")
    return {
        key: again if frame is None else digest(frame.drop(columns="seconds").to_json())
        for key, frame in frames.items()
    }


@cache
def make_stream_models() -> tuple[engine.OnlineHDP, ...]:
    """Models of a stream after one and after two mini-batches."""
    made = []
    for num_batches in (1, 2):
        follower = make_follower(corpus_size=100)
        list(follower.follow(write_texts(BATCH_SIZE * num_batches)))
        made.append(follower.model)
    return tuple(made)


def save_stream(folder: Path, name: str, model: engine.OnlineHDP) -> None:
    """Save the model of a stream with a position that names both, as a server does."""
    with closing(SavedStream(folder, name)) as saved:
        with suppress(*ERRORS):
            saved.load()
        saved.save(model, {"name": name, "seen": model.documents_seen_})


def save_streams(folder: Path) -> None:
    """The models of two streams."""
    for name, model in zip(NAMES, make_stream_models(), strict=True):
        save_stream(folder, name, model)


def read_saved_streams(folder: Path) -> Found:
    """The saved streams, by the names of their files."""

    def read(name: str) -> str:
        found = SavedStream(folder, name).load()
        if found is None:
            return Refusal("There is no model, so learning begins.")
        return digest(digest_state(found[0]), found[1])

    return read_all(
        {
            hashlib.sha256(name.encode()).hexdigest()[:32]: lambda name=name: read(name)
            for name in NAMES
        }
    )


KINDS = (
    Kind("checkpoint", write_checkpoints, read_checkpoints, has_own_name=False),
    Kind("model", write_models, read_models, has_own_name=False),
    Kind("kept run", write_kept_runs, read_kept_runs),
    Kind("kept model", write_kept_models, read_kept_models),
    Kind("topic names", write_topic_names, read_topic_names),
    Kind("saved run", save_runs, read_saved_runs),
    Kind("corpus", write_corpora, read_corpora),
    Kind("stored corpus", store_corpora, read_stored_corpora),
    Kind("study cell", write_cells, read_cells),
    Kind("saved sweep", save_sweeps, read_saved_sweeps),
    Kind("reading", save_readings, read_saved_readings),
    Kind("saved stream", save_streams, read_saved_streams),
)
