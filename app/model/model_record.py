"""Models that no run of the app has learned, as runs that have finished: recorded ones, and the
consensus of other runs.
"""

import time
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from stickbreaker import engine
from stickbreaker.app.model.kept_runs import make_key
from stickbreaker.app.model.model_job import ModelJob
from stickbreaker.app.model.page_notes import read_spec
from stickbreaker.app.model.progress import Progress
from stickbreaker.app.model.reading import Model, Reading
from stickbreaker.app.model.record import Record
from stickbreaker.app.model.run_spec import RunSpec
from stickbreaker.app.model.run_store import Ending, RunStore
from stickbreaker.engine.runs.checkpoint import Checkpoint
from stickbreaker.engine.runs.settings import RunSettings

if TYPE_CHECKING:
    from stickbreaker.engine import Recorder, TopicModel


def find_consensus(reading: Reading | None, model_key: tuple[Any, int, int]) -> Checkpoint | None:
    """The consensus of other runs of a model, if its reading has one."""
    if reading is None or reading.again is None or reading.model.key != model_key:
        return None
    consensus: Checkpoint | None = reading.again.consensus
    return consensus


def offers_consensus(reading: Reading | None, keeping: ModelJob, progress: Progress) -> bool:
    """Whether a run, shown as it is, has a consensus that is not kept yet."""
    is_kept = keeping.status == "ready" and keeping.model_key == progress.model_key
    return find_consensus(reading, progress.model_key) is not None and not is_kept


def record_models(
    recorder: "Recorder", corpus: engine.Corpus, settings: RunSettings | None = None
) -> Record:
    """The record of a run that has finished, with the models of a recorder, at least one.

    corpus: all documents, of which the settings hold some out.
    """
    model = recorder.model
    assert model is not None
    settings = settings or RunSettings()
    spec = RunSpec(corpus.name, model.algorithm, model.config_, settings)
    record = Record(spec, 0, time.perf_counter)
    record.open(corpus, engine.prepare(spec.algorithm, spec.config, corpus, settings))
    *earlier, last = recorder.updates
    for update in (*earlier, replace(last, is_last=True)):
        record.take(update)
    for topic_id, name in model.topic_names_.items():
        record.topic_names.rename(topic_id, name)
    return record


def record_consensus(model: Model, joined: "TopicModel", recorder: "Recorder") -> Record:
    """The record of the consensus of other runs of a model, with its held-out score.

    recorder: of the training documents, made before the runs, so that it has their time. The
    record has a key, so that it is kept only once.
    """
    recorder.record(joined, model.documents_seen)
    record = record_models(recorder, model.corpus, model.settings)
    record.score()
    record.kept_key = make_key()
    return record


def open_record(checkpoint: Checkpoint, corpus: engine.Corpus) -> Record:
    """The record that was saved as this checkpoint."""
    spec = read_spec(checkpoint)
    record = Record(spec, 0, time.perf_counter)
    record.open(corpus, engine.prepare(spec.algorithm, spec.config, corpus, spec.settings))
    record.restore(checkpoint)
    return record


def end_record(record: Record, store: RunStore) -> Ending:
    """What is kept of a record that has finished; its topics get the names of the corpus."""
    model = record.model()
    assert model is not None
    record.topic_names.take_kept(store, record.spec.corpus_name, model)
    record.is_kept = True
    record.kept_key = record.kept_key or make_key()
    return Ending(record.kept_key, record.progress(1), model, record.save())
