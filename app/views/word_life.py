"""One word over the run: which topics held it at each column of the word lists, and how much."""

from html import escape

import panel as pn
import panel_material_ui as pmui
from panel.viewable import Viewer

from stickbreaker.app.frames.word_frames import WORD_MEASURES, explain_no_word, run_places, word_frame, word_life_rows
from stickbreaker.app.model.progress import Progress
from stickbreaker.app.model.reading import ReadingJob
from stickbreaker.app.model.selection import Selection
from stickbreaker.app.plots.life_plots import WordPlot
from stickbreaker.app.widgets.pick_list import PickList

PICK = "Pick a word from the list of a topic's words, or find one above, to see how it moved among the topics."
RULE = (
    "At each column of the word lists, the topics that had it among their fifty likeliest words; where a line has a "
    "gap, the topic did not. The eight topics that ever held most of it."
)


class WordLife(Viewer):
    """Follows the selection's word, and sets its topic. Needs no reading of the corpus."""

    def __init__(self, selection: Selection, **params):
        super().__init__(**params)
        self._selection = selection
        self._progress, self._shown = Progress(), ()
        self._plot = WordPlot(self._pick)
        self._heading = pn.pane.HTML("", sizing_mode="stretch_width", margin=(8, 10, 0, 10))
        self._measure = pmui.Select(
            label="Measured as", options=list(WORD_MEASURES), value=WORD_MEASURES[0], size="small", width=260
        )
        pane = pn.pane.Bokeh(self._plot.figure, sizing_mode="stretch_width", margin=0)
        self._chart = pn.Column(self._measure, pane, sizing_mode="stretch_width", margin=0)
        self._rows = PickList(self._pick)
        self._measure.param.watch(lambda event: self._draw(), "value")
        selection.param.watch(lambda event: self._draw(), "word")
        self._layout = pn.Column(self._heading, self._chart, self._rows, sizing_mode="stretch_width", margin=0)
        self._draw()

    def __panel__(self) -> pn.viewable.Viewable:
        return self._layout

    def read(self, job: ReadingJob, progress: Progress) -> None:
        """Show a run's columns; does nothing between two of them."""
        shown = (progress.run_id, len(progress.checkpoints), progress.planned_columns[:1], dict(progress.names))
        self._progress = progress
        if shown != self._shown:
            self._shown = shown
            self._draw()

    def _draw(self) -> None:
        word, vocabulary = self._selection.word, self._progress.vocabulary
        is_known = word is not None and vocabulary is not None and word < len(vocabulary)
        measure = self._measure.value
        frame = word_frame(self._progress, word, measure) if is_known else None
        has_lines = frame is not None and len(frame) > 0
        text = RULE if has_lines else explain_no_word(self._progress, vocabulary[word]) if is_known else PICK
        title = f"“{vocabulary[word]}” over the run" if is_known else "A word over the run"
        self._heading.object = (
            f"<h2 style='margin:4px 0;font-size:16px'>{escape(title)}</h2>"
            f"<p style='margin:0;font-size:13px'>{escape(text)}</p>"
        )
        if has_lines:
            self._plot.show(frame, run_places(self._progress)[0], measure)
        self._chart.visible = has_lines
        self._rows.show(word_life_rows(frame, measure) if has_lines else [])

    def _pick(self, topic_id: int) -> None:
        self._selection.topic = topic_id
