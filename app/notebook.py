"""A run in a notebook: the views of the page, and a coroutine that learns while they are updated.

`load_panel` makes Panel and HoloViews work in a notebook without a network, also if all cells are run at once.
"""

import asyncio
import time
from functools import cache
from typing import Any

import holoviews as hv
import panel as pn
from panel.io.notebook import block_comm, push_on_root
from panel.viewable import Viewer

from stickbreaker import engine
from stickbreaker.app.model.progress import Progress
from stickbreaker.app.model.reading import Reader, Reading
from stickbreaker.app.model.record import Record
from stickbreaker.app.model.run_spec import RunSpec
from stickbreaker.app.panel_fixes import fix_notebook, is_drawn
from stickbreaker.app.views.curves import Curves
from stickbreaker.app.views.topics_now import TopicsNow
from stickbreaker.app.views.word_table import WordTable
from stickbreaker.engine.algorithm import Algorithm
from stickbreaker.engine.evaluation.labels import Labeller

SHOW_SECONDS = 0.25


def load_panel() -> None:
    """Load Panel and HoloViews into this notebook, without a network."""
    pn.extension(inline=True)
    hv.extension("bokeh", inline=True, logo=False)
    # Without a graphics card, browsers log a warning for each WebGL plot.
    hv.renderer("bokeh").webgl = False
    fix_notebook(asyncio.get_running_loop())


def _label_once(label_with: Labeller | None) -> Labeller | None:
    """The same labels, without a second call for the same words: a call may take long, as that of a language model."""
    if label_with is None:
        return None
    label = cache(lambda words: label_with(list(words)))
    return lambda words: label(tuple(words))


class LiveRun(Viewer):
    """The curves, word lists and largest topics of one run. Show it in one cell and `await` its `learn()` in the next.

    corpus, algorithm, config, settings: as for `engine.prepare`; the defaults are those of a new page.
    label_with: gets the ten most probable words of a topic and returns its label, in place of the rule; it is called
    once for the same words.
    """

    def __init__(
        self,
        corpus: engine.Corpus,
        algorithm: Algorithm = engine.REGISTRY[0],
        config: Any = None,
        settings: engine.RunSettings | None = None,
        label_with: Labeller | None = None,
    ) -> None:
        super().__init__()
        settings = settings or engine.RunSettings()
        config = config or algorithm.config()
        spec = RunSpec(corpus.name, algorithm, config, settings)
        self._record = Record(spec, 1, time.perf_counter, label_with=_label_once(label_with))
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
        """The present state of the run."""
        return self._record.progress(self._version)

    async def learn(self, num_documents: float = float("inf"), pause: float = 0.0) -> None:
        """Learn from `num_documents` more documents, or to the end, and update the views.

        pause: seconds to wait after each mini-batch, so that you can follow the changes.
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
        """Read the whole corpus with the present model. Raises ValueError before the first mini-batch."""
        reader = Reader(self._record.model, lambda: None)
        reader.ask()
        reader.join()
        if reader.job.reading is None:
            raise ValueError("The run has not learned yet: await learn() first.")
        return reader.job.reading

    def _show(self) -> None:
        """Update all views in one message, as soon as the browser has drawn the output of the cell.

        If all cells are run at once, this may be long after the last cell. See `is_drawn` for why it must wait.
        """
        if self._waiting:
            self._waiting.cancel()
        if not all(is_drawn(root, comm) for _, root, _, comm in self._roots().values()):
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
