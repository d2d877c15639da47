"""Record the run that the page shows while the engine is compiled: python -m data.record_run

It learns from State of the Union with the settings of a new page, and writes
`data/recorded-run.npz`.
"""

from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import numpy as np

from stickbreaker import engine
from stickbreaker.app.model.recorded_run import FILE, RECORDED_ON, learn
from stickbreaker.app.model.run_spec import RunSpec
from stickbreaker.app.server.service import CORPUS_NAME, first_spec
from stickbreaker.engine.runs import checkpoint
from stickbreaker.engine.runs.checkpoint import Checkpoint


def record_run(spec: RunSpec, corpus: engine.Corpus) -> Checkpoint:
    """Learn a run, and keep what a page shows of it, without the model and first readings."""
    saved = learn(spec, corpus).save()
    assert saved is not None
    first = {name: note[:0] for name, note in saved.notes.items() if name.startswith("first.")}
    recorded_on = {RECORDED_ON: np.array(f"{datetime.now(UTC):%Y-%m-%d}")}
    return replace(saved.with_notes({**saved.notes, **first, **recorded_on}), state=None)


def main() -> None:
    """Learn, and write the file."""
    path = Path(__file__).with_name(FILE)
    checkpoint.save(path, record_run(first_spec(), engine.load_corpus(CORPUS_NAME)))
    print(f"{path}: {path.stat().st_size:,} bytes")


if __name__ == "__main__":
    main()
