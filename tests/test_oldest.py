"""The oldest versions that pyproject.toml allows are the ones that CI tests with."""

import runpy
from pathlib import Path

CHECK = Path(__file__).parents[1] / ".ci" / "check_oldest.py"


def test_the_lowest_allowed_versions_are_those_tested_with():
    check = runpy.run_path(str(CHECK))
    assert check["read_floors"]() == check["read_oldest"]()
