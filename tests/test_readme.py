"""The examples and commands of the README run as they are written."""

import re
from pathlib import Path

import pytest

README = Path(__file__).parents[1] / "README.md"


def find_blocks(language: str) -> list[str]:
    """The fenced blocks of this language."""
    return re.findall(
        rf"^```{language}\n(.*?)^```", README.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL
    )


def test_the_python_examples_are_short_and_print_when_they_run_one_after_the_other(
    capsys, tmp_path, monkeypatch
):
    monkeypatch.chdir(tmp_path)
    examples, names = find_blocks("python"), {"__name__": "readme"}
    assert [len(example.splitlines()) for example in examples] == [5, 6]
    for example in examples:
        exec(compile(example, str(README), "exec"), names)
        assert capsys.readouterr().out.strip()


@pytest.mark.parametrize(
    "command",
    [
        "python -m pip install -e . && panel serve app --show",
        (
            "python -m pip install --upgrade pip && python -m pip install -e . --group test &&"
            " python -m pytest"
        ),
    ],
)
def test_each_of_both_commands_is_on_one_line_by_itself(command):
    assert command in README.read_text(encoding="utf-8").splitlines()
