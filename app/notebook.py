"""A run in a notebook: the page's own views of it, and a coroutine that learns while they move.

`load_panel` makes Panel and HoloViews work in a notebook without a network, and mends what goes wrong otherwise when
all cells are run at once.
"""

import asyncio
import base64
import time
from typing import Any

import holoviews as hv  # type: ignore[import-untyped] # has no type hints
import panel as pn
import pyviz_comms  # type: ignore[import-untyped] # has no type hints
from bokeh.core.property.descriptors import UnsetValueError
from bokeh.models import Plot
from panel.io import resources
from panel.io.notebook import block_comm, push_on_root
from panel.viewable import Viewer

from stickbreaker import engine
from stickbreaker.app.model.reading import Reader, Reading
from stickbreaker.app.model.record import Record
from stickbreaker.app.model.run_spec import RunSpec
from stickbreaker.app.views.curves import Curves
from stickbreaker.app.views.topics_now import TopicsNow
from stickbreaker.app.views.word_table import WordTable

SHOW_SECONDS = 0.25
_PATCH, _HANDLE = resources.patch_stylesheet, pyviz_comms.JupyterCommJS._handle_msg


def load_panel() -> None:
    """Load Panel and HoloViews into this notebook, from this machine alone."""
    pn.extension(inline=True)
    hv.extension("bokeh", inline=True, logo=False)
    # Where there is no graphics card browsers warn of every plot drawn with WebGL.
    hv.renderer("bokeh").webgl = False
    mend_panel(asyncio.get_running_loop())


def mend_panel(loop: asyncio.AbstractEventLoop) -> None:
    """Have Panel ask for no style sheet, and answer the browser in turn with the cells, which run on this loop."""
    # Panel's own `inline` covers what a cell shows first, not what is changed later nor what HoloViews shows.
    resources.patch_stylesheet = pn.reactive.patch_stylesheet = send_stylesheet
    # JupyterLab hands messages from the browser to another thread of the kernel while a cell runs. Panel's end of the
    # line takes the standard output there, of all threads, and so that cell's; and two threads would change one view.
    pyviz_comms.JupyterCommJS._handle_msg = lambda comm, message: loop.call_soon_threadsafe(_HANDLE, comm, message)


def send_stylesheet(sheet: Any, address: str) -> None:
    """Put the text of a style sheet of Panel's in place of its address; other sheets are left to Panel."""
    _PATCH(sheet, address)
    path = resources.DIST_DIR / sheet.url.removeprefix(resources.CDN_DIST).partition("?")[0]
    if sheet.url.startswith(resources.CDN_DIST) and path.is_file():
        sheet.url = f"data:text/css;base64,{base64.b64encode(path.read_bytes()).decode()}"


class LiveRun(Viewer):
    """The curves, word lists and largest topics of one run. Show it in one cell and `await` its `learn()` in the next.

    corpus: an `engine.Corpus`. algorithm, config, settings: as for `engine.prepare`; by default those of
        a new page.
    """

    def __init__(
        self, corpus: engine.Corpus, algorithm: Any = engine.REGISTRY[0], config: Any = None, settings: Any = None
    ):
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
    def progress(self) -> Any:
        """All there is to show of the run at this moment, an `app.model.progress.Progress`."""
        return self._record.progress(self._version)

    async def learn(self, num_documents: float = float("inf"), pause: float = 0.0) -> None:
        """Learn until so many more documents have been read, or to the end; the views move meanwhile.

        pause: seconds to rest after each mini-batch, so that eyes can follow.
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
            raise ValueError("nothing has been learned yet; await learn() first")
        return reader.job.reading

    def _show(self) -> None:
        """Bring the views up to date, all in one message, as soon as the browser has drawn what a cell has shown.

        Where all cells are run at once that may be long after the last of them. Nothing is written into the views
        till then, for the first message from the browser makes Panel forget what has not been sent.
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
        """What Panel knows of each place where a view is shown, by its key."""
        refs = {ref for view in self._views for ref in view.__panel__()._models}
        return {ref: pn.state._views[ref] for ref in refs if ref in pn.state._views}

    def _pick(self, event: Any) -> None:
        self.table.show(event.new)


def _is_drawn(root: Any, comm: Any) -> bool:
    """Whether a browser has opened its end of the line and laid out a plot, if there is any."""
    plots = list(root.select({"type": Plot}))
    return comm is None or (bool(comm._comm) and (not plots or any(map(_is_laid_out, plots))))


def _is_laid_out(plot: Plot) -> bool:
    """A plot has no width before the browser has told it."""
    try:
        return plot.inner_width is not None
    except UnsetValueError:
        return False
