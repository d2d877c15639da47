"""Pages: one is open, its views follow the run, and a new one is a file and its name
in the list.
"""

from pathlib import Path
from types import SimpleNamespace

import panel as pn
import param
import pytest
from bokeh.document import Document
from panel.io.state import set_curdoc

from stickbreaker.app.model.progress import Progress
from stickbreaker.app.pages import PAGES
from stickbreaker.app.pages.page import Page, Pages
from stickbreaker.app.server.service import Service
from stickbreaker.app.session.page import lay_out
from stickbreaker.app.session.session import Session
from stickbreaker.app.state import RunState
from tests.app.small_runs import Compiled, load_small, small_spec


def read_example():
    """The module that .github/CONTRIBUTING.md shows."""
    text = (Path(__file__).parents[3] / ".github" / "CONTRIBUTING.md").read_text("utf-8")
    section = text.split("\n## Add a page\n")[1]
    names = {"__name__": "reading"}
    exec(section.split("```python\n")[1].split("```")[0], names)
    return SimpleNamespace(**names)


Reading = read_example().Reading


class Count(read_example().DocumentCount):
    """The same view, with the number of times that it was drawn."""

    num_drawn = 0

    @param.depends("state.progress", watch=True)
    def draw(self):
        super().draw()
        self.num_drawn += 1


class Counted(Page):
    title = "Counted"

    def view(self):
        self.views = (Count(self.state),)
        return self.views


def test_a_new_page_has_a_button_an_address_and_follows_the_run(tmp_path, monkeypatch, until):
    monkeypatch.setenv("STICKBREAKER_DATA", str(tmp_path))
    service = Service(load_small, Compiled(), 1)
    document = Document()
    with set_curdoc(document):
        pn.state.location.search = "?page=Reading"
        session = Session(service, small_spec, pages=(*PAGES, Reading))
        lay_out(session).server_doc(document)
        session.start()
        session.unfold()
        assert "Reading" in session.tabs.buttons.options
        assert "page=Reading" in session.address.query
        until(lambda: session.run.runner.progress.documents_seen)
        session.look()
        seen = session.state.progress.documents_seen
        assert session.pages["Reading"].views[0].text.object == f"{seen:,} documents read"
        session.stop()
    service.close()


def test_views_of_a_closed_page_are_not_drawn_until_it_opens_again():
    state = RunState()

    class Other(Page):
        title = "Other"

        def view(self):
            return ["Nothing."]

    pages = Pages(state, [Counted(state.freeze()), Other(state.freeze())])
    pages.open("Counted")
    (view,) = pages["Counted"].views
    state.publish(Progress(run_id=1, documents_seen=1))
    assert (view.num_drawn, view.text.object) == (2, "1 documents read")
    pages.open("Other")
    for seen in (2, 3):
        state.publish(Progress(run_id=1, documents_seen=seen))
    assert view.num_drawn == 2
    pages.open("Counted")
    assert (view.num_drawn, view.text.object) == (3, "3 documents read")
    pages.open("Other")
    pages.open("Counted")
    assert view.num_drawn == 3


def test_a_change_reaches_the_state_at_the_top_last():
    drawn, state = [], RunState()

    class Last(Count):
        def __init__(self, state):
            state.param.watch(lambda event: drawn.append("top"), "progress", precedence=9)
            super().__init__(state)

        @param.depends("state.progress", watch=True)
        def draw(self):
            drawn.append("view")

    Last(state)
    drawn.clear()
    state.publish(Progress(run_id=1))
    assert drawn == ["view", "top"]


@pytest.mark.parametrize("title", [page.title for page in PAGES if page.needs_reading])
def test_a_document_opened_from_any_page_is_of_the_corpus_that_the_page_shows(job, progress, title):
    state = RunState()
    commands = SimpleNamespace(
        read=lambda: None, find_texts=lambda name: None, find_model=lambda: None
    )
    pages = Pages(state, [kind(state.freeze(), commands) for kind in PAGES if kind.needs_reading])
    state.publish(progress, job=job)
    pages.open(title)
    assert state.topic is not None
    state.document = 0
    pages.open("Documents")
    assert pages["Documents"].browser.topics.rows
