"""Record the run that the page shows while the engine is compiled: python -m data.record_run

It learns from State of the Union with the settings of a new page, and writes
`data/recorded-run.npz`.
"""

from pathlib import Path

from stickbreaker import engine
from stickbreaker.app.model.recorded_run import FILE, record_run
from stickbreaker.app.server.service import CORPUS_NAME, first_spec
from stickbreaker.engine.runs import checkpoint


def main() -> None:
    """Learn, and write the file."""
    path = Path(__file__).with_name(FILE)
    checkpoint.save(path, record_run(first_spec(), engine.load_corpus(CORPUS_NAME)))
    print(f"{path}: {path.stat().st_size:,} bytes")


if __name__ == "__main__":
    main()
