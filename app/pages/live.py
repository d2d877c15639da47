"""The page Live: the run in one sentence, its word lists, largest topics and curves."""

from collections.abc import Sequence
from typing import Any

import param

from stickbreaker.app.pages.page import Page
from stickbreaker.app.state import LIVE, guarded
from stickbreaker.app.views.check_note import CheckNote
from stickbreaker.app.views.curves import Curves
from stickbreaker.app.views.run_summary import RunSummary
from stickbreaker.app.views.topic_pictures import TopicPictures
from stickbreaker.app.views.topics_now import TopicsNow
from stickbreaker.app.views.word_table import WordTable
from stickbreaker.app.widgets.layouts import lay_at_end, lay_side_by_side, stack


class Live(Page):
    """The run as it learns, or at a moment of its replay."""

    title = LIVE
    needs_player = True

    def view(self) -> Sequence[Any]:
        state = self.state
        self.summary = RunSummary(state)
        self.table = WordTable(state)
        self.now = TopicsNow(state)
        self.curves = Curves(state, waits=True)
        self.count_note = CheckNote(state, self.commands)
        pictures = TopicPictures(state)
        self.views = (
            self.summary, self.table, self.now, self.curves, self.count_note, pictures
        )  # fmt: skip
        right = stack(self.now, self.curves.held_out)
        top = lay_at_end(self.summary, self.count_note.button)
        middle = lay_side_by_side(self.table, right)
        return [stack(top, self.count_note, pictures, middle, self.curves)]

    def opened(self) -> None:
        self._read_at_end()

    @param.depends("state.progress", watch=True)
    @guarded
    def _read_at_end(self) -> None:
        """Read the corpus when the run has finished, so that shares are those of all words."""
        if self.state.progress.status == "finished" and self.state.job.status != "failed":
            self.commands.read()
