"""A run in a notebook: the page's own views of it, and a coroutine that learns while they move."""

import asyncio
import time
from typing import Any

import panel as pn
from panel.io.notebook import block_comm
from panel.viewable import Viewer

import engine
from app.reading import Reader, Reading
from app.recipe import Recipe
from app.record import Record
from app.views.curves import Curves
from app.views.topics_now import TopicsNow
from app.views.word_table import WordTable
from engine.run import split_corpus

SHOW_SECONDS = 0.25


class LiveRun(Viewer):
    """The curves, word lists and largest topics of one run. Show it in one cell and `await` its `learn()` in the next.

    corpus: an `engine.Corpus`; algorithm, config, settings: as for `engine.run`, by default what the page starts with.
    """

    def __init__(
        self, corpus: engine.Corpus, algorithm: Any = engine.REGISTRY[0], config: Any = None, settings: Any = None
    ):
        super().__init__()
        settings = settings or engine.RunSettings()
        self._record = Record(
            Recipe(corpus.name, algorithm, config or algorithm.config(), settings), 1, time.perf_counter
        )
        self._record.prepare(corpus, split_corpus(corpus, settings)[0].num_documents)
        self._events = self._record.begin(engine.run)
        self._version = 0
        self.curves, self.table, self.now = Curves(), WordTable(), TopicsNow()
        self.now.param.watch(self._pick, "picked", onlychanged=False)
        self._layout = pn.Column(self.curves, self.table, self.now, sizing_mode="stretch_width")
        self._show()

    def __panel__(self) -> pn.viewable.Viewable:
        return self._layout

    @property
    def progress(self) -> Any:
        """All there is to show of the run at this moment, an `app.progress.Progress`."""
        return self._record.progress(self._version)

    async def learn(self, num_documents: float = float("inf"), pause: float = 0.0) -> None:
        """Learn until so many more documents have been read, or to the end; the views move meanwhile.

        pause: seconds to rest after each mini-batch, so that eyes can follow.
        """
        record, shown_at = self._record, time.perf_counter()
        goal = record.documents_seen + num_documents
        while not record.is_over and record.documents_seen < goal:
            record.status = "running"
            await asyncio.to_thread(record.advance, self._events)
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
        """Bring the views up to date, all in one message, once the notebook has opened its end of the line.

        Messages that Panel sends before that would arrive later, one by one and in any order.
        """
        self._version += 1
        progress = self.progress
        with block_comm():
            for view in (self.curves, self.table, self.now):
                view.update(progress)
        comms = [pn.state._views[ref][3] for ref in self._layout._models if ref in pn.state._views]
        if self._record.is_over or all(comm is None or comm._comm for comm in comms):
            pn.io.push_notebook(self._layout)

    def _pick(self, event: Any) -> None:
        self.table.show(event.new)
