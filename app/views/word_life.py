"""One word over the run: the topics that list it at each column of the word lists, and their shares
of it.
"""

from html import escape

import pandas as pd
import panel as pn
import panel_material_ui as pmui
import param

from stickbreaker.app.frames import word_frames
from stickbreaker.app.plots.life_plots import WordPlot
from stickbreaker.app.state import RunState, guarded
from stickbreaker.app.widgets.layouts import StateView, html_pane, stack
from stickbreaker.app.widgets.pick_list import PickList

PICK = (
    "Select a word in the word list of a topic, or search for one above, to see its topics over the"
    " run."
)
RULE = (
    "Each line is a topic that had this word among its fifty most probable words at some column of"
    " the word lists. A line has a gap where the word was not among them. The eight topics with the"
    " most tokens of the word are shown."
)


class WordLife(StateView):
    """The selected word over the run; needs no reading of the corpus."""

    def __init__(self, state: RunState) -> None:
        super().__init__(state)
        self.plot = WordPlot(self._pick)
        self.heading = html_pane(margin=(8, 10, 0, 10))
        self._measure = pmui.Select(
            label="Measure",
            options=list(word_frames.WORD_MEASURES),
            value=word_frames.WORD_MEASURES[0],
            size="small",
            width=260,
        )
        pane = pn.pane.Bokeh(self.plot.figure, sizing_mode="stretch_width", margin=0)
        self.chart = stack(self._measure, pane)
        self.rows = PickList(self._pick)
        self._measure.param.watch(lambda event: self._draw(), "value")
        self._layout = stack(self.heading, self.chart, self.rows)
        self._draw()

    @param.depends("state.columns", "state.titles", "state.word", watch=True)
    @guarded
    def _draw(self) -> None:
        position: int | None = self.state.word
        vocabulary = self.state.progress.vocabulary
        measure = self._measure.value
        if position is None or vocabulary is None or position >= len(vocabulary):
            self._write("A word over the run", PICK)
            self._show_lines(pd.DataFrame(), measure)
            return
        word = vocabulary[position]
        frame = word_frames.word_frame(self.state.progress, position, measure)
        self._write(
            f"“{word}” over the run",
            RULE if len(frame) else word_frames.explain_no_word(self.state.progress, word),
        )
        self._show_lines(frame, measure)

    def _write(self, title: str, text: str) -> None:
        self.heading.object = (
            f"<h2 style='margin:4px 0;font-size:16px'>{escape(title)}</h2>"
            f"<p style='margin:0;font-size:14px'>{escape(text)}</p>"
        )

    def _show_lines(self, frame: pd.DataFrame, measure: str) -> None:
        """Draw and list a `word_frame`, or hide the plot if it is empty."""
        self.chart.visible = not frame.empty
        if frame.empty:
            return self.rows.show([])
        self.plot.show(frame, word_frames.run_places(self.state.progress)[0], measure)
        self.rows.show(word_frames.word_life_rows(frame, measure))

    def _pick(self, topic_id: int) -> None:
        self.state.topic = topic_id
