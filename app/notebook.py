"""A run in a notebook: the page's own views of it, and a coroutine that learns while they are updated.

`load_panel` makes Panel and HoloViews work in a notebook without a network, and when all cells are run at once.
"""

import asyncio
import base64
import time
from typing import Any

import holoviews as hv
import panel as pn
import pyviz_comms
from bokeh.core.property.descriptors import UnsetValueError
from bokeh.models import Plot
from panel.io import resources
from panel.io.notebook import block_comm, push_on_root
from panel.viewable import Viewer

from stickbreaker import engine
from stickbreaker.app.model.progress import Progress
from stickbreaker.app.model.reading import Reader, Reading
from stickbreaker.app.model.record import Record
from stickbreaker.app.model.run_spec import RunSpec
from stickbreaker.app.views.curves import Curves
from stickbreaker.app.views.topics_now import TopicsNow
from stickbreaker.app.views.word_table import WordTable
from stickbreaker.engine.algorithm import Algorithm

SHOW_SECONDS = 0.25
_PATCH, _HANDLE = resources.patch_stylesheet, pyviz_comms.JupyterCommJS._handle_msg


def load_panel() -> None:
    """Load Panel and HoloViews into this notebook, without a network."""
    pn.extension(inline=True)
    hv.extension("bokeh", inline=True, logo=False)
    # On a machine without a graphics card, browsers warn about every WebGL plot.
    hv.renderer("bokeh").webgl = False
    mend_panel(asyncio.get_running_loop())


def mend_panel(loop: asyncio.AbstractEventLoop) -> None:
    """Send style sheets as text, and handle the browser's messages on this loop, between the cells."""
    # Panel's own `inline` covers the first output of a cell, but not later changes or the output of HoloViews.
    resources.patch_stylesheet = send_stylesheet
    pn.reactive.patch_stylesheet = send_stylesheet
    # While a cell runs, JupyterLab hands messages from the browser to another thread of the kernel. There, Panel's
    # handler captures the standard output of all threads, so that cell's too, and two threads would change one view.
    pyviz_comms.JupyterCommJS._handle_msg = lambda comm, message: loop.call_soon_threadsafe(_HANDLE, comm, message)


def send_stylesheet(sheet: Any, address: str) -> None:
    """Replace the address of one of Panel's style sheets by its text; Panel handles other sheets."""
    _PATCH(sheet, address)
    path = resources.DIST_DIR / sheet.url.removeprefix(resources.CDN_DIST).partition("?")[0]
    if sheet.url.startswith(resources.CDN_DIST) and path.is_file():
        sheet.url = f"data:text/css;base64,{base64.b64encode(path.read_bytes()).decode()}"


class LiveRun(Viewer):
    """The curves, word lists and largest topics of one run. Show it in one cell and `await` its `learn()` in the next.

    corpus, algorithm, config, settings: as for `engine.prepare`; the defaults are those of a new page.
    """

    def __init__(
        self,
        corpus: engine.Corpus,
        algorithm: Algorithm = engine.REGISTRY[0],
        config: Any = None,
        settings: engine.RunSettings | None = None,
    ) -> None:
        super().__init__()
        settings = settings or engine.RunSettings()
        config = config or algorithm.config()
        self._record = Record(RunSpec(corpus.name, algorithm, config, settings), 1, time.perf_counter)
        self._record.open(corpus, engine.prepare(algorithm, config, corpus, settings))
        self._version = 0
        self.curves, self.table, self.now = Curves(), WordTable(), TopicsNow()
        self.now.param.watch(self._pick, "picked", onlychanged=False)
        self._views = self.curves, self.table, self.now
        self._waiting: Any = None
        self._layout = pn.Column(*self._views, sizing_mode="stretch_width")
        self._show()

    def __panel__(self) -> pn.viewable.Viewable:
        return self._layout

    @property
    def progress(self) -> Progress:
        """Everything that is shown of the run at this moment."""
        return self._record.progress(self._version)

    async def learn(self, num_documents: float = float("inf"), pause: float = 0.0) -> None:
        """Learn from this many more documents, or to the end, and update the views meanwhile.

        pause: seconds to wait after each mini-batch, so that people can follow.
        """
        record, shown_at = self._record, time.perf_counter()
        goal = record.documents_seen + num_documents
        while not record.is_over and record.documents_seen < goal:
            record.status = "running"
            await asyncio.to_thread(record.advance)
            if time.perf_counter() - shown_at >= SHOW_SECONDS:
                self._show()
                shown_at = time.perf_counter()
            await asyncio.sleep(pause)
        record.stand_still()
        self._show()

    def read(self) -> Reading:
        """Read the whole corpus with the model as it stands; raises ValueError before the first mini-batch."""
        reader = Reader(self._record.model, lambda: None)
        reader.ask()
        reader.join()
        if reader.job.reading is None:
            raise ValueError("The run has not learned yet: await learn() first.")
        return reader.job.reading

    def _show(self) -> None:
        """Update all views in one message, once the browser has drawn the output of their cell.

        If all cells are run at once, that may be long after the last of them. The views do not change until then,
        because the first message from the browser makes Panel drop changes that have not been sent.
        """
        if self._waiting:
            self._waiting.cancel()
        if not all(_is_drawn(root, comm) for _, root, _, comm in self._roots().values()):
            self._waiting = asyncio.get_running_loop().call_later(SHOW_SECONDS, self._show)
            return
        self._version += 1
        progress = self.progress
        with block_comm():
            for view in self._views:
                view.update(progress)
        for ref in self._roots():
            push_on_root(ref)

    def _roots(self) -> dict[str, Any]:
        """Panel's record of each place where a view is shown, by its key."""
        refs = {ref for view in self._views for ref in view.__panel__()._models}
        return {ref: pn.state._views[ref] for ref in refs if ref in pn.state._views}

    def _pick(self, event: Any) -> None:
        self.table.show(event.new)


def _is_drawn(root: Any, comm: Any) -> bool:
    """Whether a browser has connected and, if there are plots, has laid one out."""
    plots = list(root.select({"type": Plot}))
    return comm is None or (bool(comm._comm) and (not plots or any(map(_is_laid_out, plots))))


def _is_laid_out(plot: Plot) -> bool:
    """Whether the browser has reported the width of a plot."""
    try:
        return plot.inner_width is not None
    except UnsetValueError:
        return False
