"""Draw README's animation: the replay of a run with the default settings, as the Export page writes
it.

python .docs/animate.py app/animation.gif
"""

import argparse
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT / ".import"), str(ROOT)]

from stickbreaker import engine  # noqa: E402
from stickbreaker.app.export.film import write_film  # noqa: E402
from stickbreaker.app.model.progress import Progress  # noqa: E402
from stickbreaker.app.model.record import Record  # noqa: E402
from stickbreaker.app.server.service import first_spec  # noqa: E402


def learn() -> Progress:
    """Learn from the whole corpus as a new page does, and return the state of the finished run."""
    spec = first_spec()
    corpus = engine.load_corpus(spec.corpus_name)
    record = Record(spec, 1, time.perf_counter)
    record.open(corpus, engine.prepare(spec.algorithm, spec.config, corpus, spec.settings))
    while not record.is_over:
        record.advance()
    return record.progress(1)


def main() -> None:
    """Run the model and write the file."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("file", type=Path, help="where to write the GIF")
    file = parser.parse_args().file
    write_film(file, learn())
    print(f"{file}: {file.stat().st_size / 1e6:.1f} MB")


if __name__ == "__main__":
    main()
