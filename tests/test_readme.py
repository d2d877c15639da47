"""What the README promises can be pasted."""

import re
from pathlib import Path

import pytest

README = Path(__file__).parents[1] / "README.md"


def find_block(language: str) -> str:
    """The first fenced block of that language."""
    block = re.search(rf"^```{language}\n(.*?)^```", README.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)
    assert block, f"README.md has no ```{language} block"
    return block[1]


@pytest.mark.timeout(300)
def test_the_python_example_is_six_lines_that_run_and_print(capsys):
    example = find_block("python")
    assert len([line for line in example.splitlines() if line.strip()]) <= 6
    exec(compile(example, str(README), "exec"), {"__name__": "readme"})
    assert capsys.readouterr().out.strip()


@pytest.mark.parametrize(
    "command",
    ["python -m pip install -e . && panel serve app --show", 'python -m pip install -e ".[test]" && python -m pytest'],
)
def test_both_commands_stand_on_a_line_of_their_own(command):
    assert command in README.read_text(encoding="utf-8").splitlines()
