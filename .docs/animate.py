"""Draw README's animation: the replay of a run with the default settings, as the Export page writes
it.

python .docs/animate.py app/animation.gif
"""

import argparse
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT / ".import"), str(ROOT)]

from stickbreaker import engine  # noqa: E402
from stickbreaker.app.export.film import write_film  # noqa: E402
from stickbreaker.app.model.recorded_run import learn  # noqa: E402
from stickbreaker.app.server.service import first_spec  # noqa: E402


def main() -> None:
    """Run the model and write the file."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("file", type=Path, help="where to write the GIF")
    file = parser.parse_args().file
    spec = first_spec()
    record = learn(spec, engine.load_corpus(spec.corpus_name))
    write_film(file, record.progress(1))
    print(f"{file}: {file.stat().st_size / 1e6:.1f} MB")


if __name__ == "__main__":
    main()
