"""A run that was learned before: a page shows it while its own run waits for compiled code."""

import time
from dataclasses import replace
from pathlib import Path

from stickbreaker import engine
from stickbreaker.app.model.page_notes import read_spec
from stickbreaker.app.model.progress import Progress
from stickbreaker.app.model.record import Record
from stickbreaker.app.model.run_spec import RunSpec
from stickbreaker.engine.corpora.bundled import find_data_folder
from stickbreaker.engine.runs.checkpoint import Checkpoint, load

FILE = "recorded-run.npz"
RECORDED_ON = "recorded_on"
# No run of a server has this number.
RUN_ID = -1
WAITS = "This is a recorded run. Yours starts by itself."
FOLLOWS = "This is a recorded run. Yours has started and follows."
HELD = "This is a recorded run. Press Run to see yours."


def learn(spec: RunSpec, corpus: engine.Corpus) -> Record:
    """Learn a run from its start to its end."""
    record = _open(spec, corpus)
    while not record.is_over:
        record.start_step()
        record.advance()
    return record


def read_recording(corpus: engine.Corpus) -> Progress:
    """Read the recorded run of its corpus."""
    saved = load(Path(str(find_data_folder() / FILE)))
    progress = read_run(saved, corpus)
    recorded_on = str(saved.notes[RECORDED_ON])
    return replace(progress, now=progress.columns[-1], recorded_on=recorded_on)


def read_run(saved: Checkpoint, corpus: engine.Corpus) -> Progress:
    """Read what a page shows of a saved run of this corpus."""
    record = _open(read_spec(saved), corpus)
    record.restore(saved)
    return record.progress(0)


def _open(spec: RunSpec, corpus: engine.Corpus) -> Record:
    record = Record(spec, RUN_ID, time.perf_counter)
    record.open(corpus, engine.prepare(spec.algorithm, spec.config, corpus, spec.settings))
    return record


def can_stand_in(recorded: Progress, own: Progress) -> bool:
    """Whether a run has the settings of the recorded one."""
    if own.config is None or own.status == "failed":
        return False
    names = ("corpus_name", "algorithm", "settings")
    known = vars(recorded.config)
    return all(getattr(own, name) == getattr(recorded, name) for name in names) and all(
        value in (None, known[name]) for name, value in vars(own.config).items()
    )


def stand_in(recorded: Progress, own: Progress) -> Progress:
    """Show the recorded run, with the state of the run that follows it."""
    message = f"{WAITS} {own.message}".rstrip()
    if own.documents_seen:
        message = FOLLOWS
    if own.status in ("ready", "paused"):
        message = HELD
    return replace(
        recorded,
        version=own.version,
        status=own.status,
        message=message,
        compile_share=own.compile_share,
    )
