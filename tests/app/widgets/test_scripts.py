from pathlib import Path

from stickbreaker import app
from stickbreaker.app.views.class_tasks import ClassQuestion
from stickbreaker.app.widgets.run_table import RunTable
from stickbreaker.app.widgets.scripts import SHARED

FOLDER = Path(app.__file__).parent


def test_shared_functions_come_before_the_script_of_a_component():
    for component, name in (
        (RunTable, "widgets/run_table.js"),
        (ClassQuestion, "views/class_question.js"),
    ):
        own = (FOLDER / name).read_text(encoding="utf-8")
        assert component._esm == f"{SHARED}\n{own}"


def test_shared_functions_are_written_once():
    places = [
        path.name
        for path in FOLDER.rglob("*.js")
        if "function make(" in path.read_text(encoding="utf-8")
    ]
    assert places == ["dom.js"]
    assert [
        path.name for path in FOLDER.rglob("*.js") if "function put(" in path.read_text("utf-8")
    ] == ["dom.js"]
