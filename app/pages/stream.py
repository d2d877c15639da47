"""The only page of a server that follows a stream."""

from collections.abc import Sequence
from typing import Any

from stickbreaker.app.pages.page import Page
from stickbreaker.app.views.curves import Curves
from stickbreaker.app.views.run_summary import RunSummary
from stickbreaker.app.views.stream_facts import StreamFactsView
from stickbreaker.app.views.topics_now import TopicsNow
from stickbreaker.app.views.word_table import WordTable
from stickbreaker.app.widgets.layouts import lay_side_by_side, stack


class StreamPage(Page):
    """The stream in one sentence, its word lists, largest topics, new words and curves."""

    title = "Stream"

    def view(self) -> Sequence[Any]:
        state = self.state
        self.summary = RunSummary(state)
        self.table = WordTable(state)
        self.now = TopicsNow(state)
        self.facts = StreamFactsView(state)
        self.curves = Curves(state, waits=True, axes=("documents", "dates"), title="Curves")
        self.views = (self.summary, self.table, self.now, self.facts, self.curves)
        right = stack(self.now, self.facts)
        return [self.summary, lay_side_by_side(self.table, right), self.curves]
