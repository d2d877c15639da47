"""The state of the reading of the corpus, with the button that reads again."""

from html import escape

import panel as pn
import panel_material_ui as pmui
import param

from stickbreaker.app.commands.run_commands import RunCommands
from stickbreaker.app.model.counting import count, count_all, only_if
from stickbreaker.app.model.progress import Progress
from stickbreaker.app.model.reading import ReadingJob
from stickbreaker.app.state import RunState, guarded
from stickbreaker.app.widgets.layouts import ProgressBar, StateView, fill_if_shown, html_pane, stack

STYLE = (
    "p { margin: 0; font-size: 14px; line-height: 1.45; color: var(--panel-on-surface-color,"
    " inherit); }"
)


class ReadingNote(StateView):
    """Says with which model the corpus was read; its button reads it again."""

    def __init__(self, state: RunState, commands: RunCommands) -> None:
        super().__init__(state)
        self._text = html_pane(stylesheets=[STYLE], margin=(8, 10))
        self._bar = ProgressBar("Documents read", margin=(0, 10))
        self._again = pmui.Button(
            label="Infer the topics now",
            icon="menu_book",
            variant="outlined",
            size="small",
            margin=(4, 10),
        )
        self._again.on_click(lambda event: commands.read())
        self._offer = pn.Column(visible=False)
        self._parts = (self._text, self._bar, self._offer)
        self._layout = stack(visible=False)
        self._draw()

    @param.depends("state.shows_reading", "state.job", "state.progress", watch=True)
    @guarded
    def _draw(self) -> None:
        fill_if_shown(self._layout, self._parts, self.state.shows_reading)
        if not self.state.shows_reading:
            return
        job = self.state.job
        progress = self.state.progress
        self._text.object = f'<p role="status">{escape(describe_reading(job, progress))}</p>'
        is_reading = job.status == "reading"
        self._bar.show(job.share, is_reading)
        fill_if_shown(self._offer, [self._again], not is_reading and is_behind(job, progress))


def is_behind(job: ReadingJob, progress: Progress) -> bool:
    """Whether the run has learned since the reading, or has not been read yet."""
    if not progress.documents_seen:
        return False
    if job.reading is None or job.status != "ready":
        return True
    return job.reading.model.key != progress.model_key


def describe_reading(job: ReadingJob, progress: Progress) -> str:
    """Say which reading the views below show."""
    if job.status == "failed":
        return f"The corpus could not be read with the model: {job.message}"
    if job.status == "reading" and job.message:
        return job.message
    if job.status == "none" or job.reading is None:
        if not progress.documents_seen:
            return "Topics are available after the first mini-batch."
        return "The topics of the documents have not been inferred with the model of this run yet."
    model = job.reading.model
    read_ones = model.corpus.num_documents
    whole = model.num_in_corpus
    is_sample = read_ones < whole
    number = count_all(read_ones, "document")
    if is_sample:
        number = f"{read_ones:,} of {whole:,} documents, evenly spaced"
    if job.status == "reading":
        return f"Reading {number} with the model after {count(model.documents_seen, 'document')} …"
    of_run = only_if(model.run_id != progress.run_id, " of an earlier run")
    read = count(progress.documents_seen, "document")
    now = only_if(is_behind(job, progress) and not of_run, f" The run has now learned from {read}.")
    held_out = only_if(read_ones > 1 and not is_sample, ", including held-out ones")
    return (
        f"Topics of {number}{held_out}, inferred with the model{of_run} after "
        f"{count(model.documents_seen, 'document')}.{now}"
    )
