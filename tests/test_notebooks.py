"""The form of committed notebooks; the tier of notebooks runs them."""

import json
from pathlib import Path

import pytest

NOTEBOOKS = sorted((Path(__file__).parents[1] / "notebooks").glob("*.ipynb"))
LONGEST_CELL = 33


def read_cells(path: Path) -> list[dict]:
    return json.loads(path.read_text(encoding="utf-8"))["cells"]


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_is_committed_without_outputs_in_short_cells(path):
    cells = read_cells(path)
    code = [cell for cell in cells if cell["cell_type"] == "code"]
    assert code
    assert not any(cell["outputs"] or cell["execution_count"] for cell in code)
    assert max(len("".join(cell["source"]).splitlines()) for cell in cells) <= LONGEST_CELL


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_begins_with_a_title_and_has_text_after_at_most_two_cells_of_code(path):
    cells = read_cells(path)
    assert "".join(cells[0]["source"]).startswith("# ")
    kinds = [cell["cell_type"] for cell in cells]
    assert "code code code" not in " ".join(kinds)


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_has_exercises_whose_answers_are_hidden_until_they_are_opened(path):
    texts = [
        "".join(cell["source"]) for cell in read_cells(path) if cell["cell_type"] == "markdown"
    ]
    assert any(text.startswith("## Exercises\n") for text in texts)
    answered = [text for text in texts if "<details>" in text]
    assert len(answered) >= 2
    for text in answered:
        question, _, answer = text.partition("<details><summary>Answer</summary>\n\n")
        assert question.strip()
        assert answer.endswith("</details>")
