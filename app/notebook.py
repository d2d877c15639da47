"""Runs and models in a notebook: the views of the page, a coroutine that learns, and plots of
fitted models.

`load_panel` makes Panel and HoloViews work in a notebook without a network, even if all cells are
run at once.
"""

import asyncio
import os
import time
from collections.abc import Callable, Sequence
from functools import cache, partial
from typing import Any

import holoviews as hv
import panel as pn
from panel.io.notebook import block_comm, push_on_root

from stickbreaker import engine
from stickbreaker.app.fixes.notebook import are_drawn, find_roots, fix_notebook, is_loaded
from stickbreaker.app.frames.reading_frames import calendar_frame, fitting_unit, map_frame
from stickbreaker.app.model.disk_space import OWN_CORPORA, UserFiles
from stickbreaker.app.model.kept_runs import KeptRun
from stickbreaker.app.model.model_record import record_models
from stickbreaker.app.model.progress import Progress
from stickbreaker.app.model.reading import Model, Reading
from stickbreaker.app.model.record import Record
from stickbreaker.app.model.run_spec import LiveSettings, RunSpec
from stickbreaker.app.plots.model_plots import draw_bars, draw_groups, draw_map, draw_time
from stickbreaker.app.server.reader import Reader
from stickbreaker.app.server.service import load_by_name
from stickbreaker.app.server.visitors import find_data
from stickbreaker.app.state import RunState
from stickbreaker.app.views.curves import Curves
from stickbreaker.app.views.topics_now import TopicsNow
from stickbreaker.app.views.word_table import WordTable
from stickbreaker.app.widgets.layouts import LaidOut, stack
from stickbreaker.app.widgets.sliders import asked_of, make_sliders
from stickbreaker.engine.algorithm import Algorithm
from stickbreaker.engine.estimators import Recorder, TopicModel
from stickbreaker.engine.estimators.counts import Counts
from stickbreaker.engine.evaluation.doc_shares import MEASURES
from stickbreaker.engine.evaluation.labels import Labeller

SHOW_SECONDS = 0.25
# Whether the scripts are saved with a notebook, which then needs no network but has some megabytes.
INLINE = os.environ.get("PANEL_INLINE", "true").lower() == "true"


def load_panel() -> None:
    """Load Panel and HoloViews into this notebook, without a network.

    With the environment variable PANEL_INLINE=false, the notebook loads the scripts from a network
    and stays small.
    """
    _load_extensions()
    fix_notebook(asyncio.get_running_loop())


def _load_extensions() -> None:
    pn.extension(inline=INLINE)
    hv.extension("bokeh", inline=INLINE, logo=False)
    # Without a graphics card, a browser logs a warning for each plot with WebGL.
    hv.renderer("bokeh").webgl = False


def _label_once(label_with: Labeller | None) -> Labeller | None:
    """The same labels, without a second, perhaps long call for the same words."""
    if label_with is None:
        return None
    label = cache(lambda words: label_with(list(words)))
    return lambda words: label(tuple(words))


class LiveRun(LaidOut):
    """The curves, word lists and largest topics of one run.

    Show it in one cell and `await` its `learn()` in the next. `sliders` change the learning
    settings from the next mini-batch on.

    corpus, algorithm, config, settings: as for `engine.prepare`; the defaults are those of a new
    page. label_with: gets the ten most probable words of a topic and returns its label, in place of
    the rule; it is called once for the same words.
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
        self.state = RunState()
        self.curves = Curves(self.state)
        self.table = WordTable(self.state)
        self.now = TopicsNow(self.state)
        self._views = self.curves, self.table, self.now
        self._waiting: Any = None
        self.sliders = self._make_sliders()
        parts = (pn.Row(*self.sliders.values()), self.curves.held_out, *self._views)
        self._layout = stack(*parts)
        self._show()

    def _make_sliders(self) -> dict[str, Any]:
        """The sliders of the settings that the algorithm has; each acts when it is released."""
        config = self._record.spec.config
        sliders = {name: make_sliders(config)[name] for name in asked_of(config)}
        for name, slider in sliders.items():
            slider.param.watch(partial(self._configure, name), "value_throttled")
        return sliders

    def _configure(self, name: str, event: Any) -> None:
        record = self._record
        record.change(record.spec.with_live(LiveSettings(**{name: event.new}), record.corpus_size))
        self._show()

    @property
    def progress(self) -> Progress:
        """The current state of the run."""
        return self._record.progress(self._version)

    async def learn(self, num_documents: float = float("inf"), pause: float = 0.0) -> None:
        """Learn from `num_documents` more documents, or to the end, and update the views.

        pause: seconds to wait after each mini-batch, so that you can follow the changes.
        """
        record = self._record
        shown_at = time.perf_counter()
        goal = record.documents_seen + num_documents
        while not record.is_over and record.documents_seen < goal:
            record.status = "running"
            await asyncio.to_thread(record.advance)
            if time.perf_counter() - shown_at >= SHOW_SECONDS:
                self._show()
                shown_at = time.perf_counter()
            await asyncio.sleep(pause)
        record.wait()
        self._show()

    def finished_views(self) -> pn.Column:
        """The views as they are now, which a saved notebook keeps."""
        state = RunState()
        state.publish(self.progress)
        views = Curves(state), WordTable(state), TopicsNow(state)
        return stack(views[0].held_out, *views)

    def read(self) -> Reading:
        """Read the corpus with the current model; ValueError before the first mini-batch."""
        model = self._record.model()
        if model is None:
            raise ValueError("The run has not learned yet: await learn() first.")
        return _read(model)

    def _show(self) -> None:
        """Update all views in one message, as soon as the browser has drawn the output of the cell.

        If all cells are run at once, this may be long after the last cell. See `is_drawn` for why
        it must wait.
        """
        if self._waiting:
            self._waiting.cancel()
        if not are_drawn(self._views):
            self._waiting = asyncio.get_running_loop().call_later(SHOW_SECONDS, self._show)
            return
        self._version += 1
        progress = self.progress
        with block_comm():
            self.state.publish(progress)
        for ref in find_roots(self._views):
            push_on_root(ref)


def keep_run(recorder: Recorder, name: str = "") -> KeptRun:
    """Add a recorded model to the kept runs of the app on this machine.

    Compare lists it; opened, it is shown on Live, with the records as columns of the word lists, on
    Topics, Time and Documents; topics keep their names. Its corpus must be one that the app can
    open, of the project or built by `engine.build`, or a part of one. A recorder with one record
    keeps a fitted model. Raises CorpusError for another corpus, ValueError before the first record,
    and FileError if it cannot be written.
    """
    corpus = recorder.corpus
    if recorder.model is None:
        raise ValueError("Nothing is recorded: call record(model) first.")
    files = UserFiles(find_data(None))
    known = load_by_name(corpus.name, files.folder / OWN_CORPORA)
    rows = corpus.doc_ids
    is_part = known.vocabulary == corpus.vocabulary and rows.max(initial=0) < known.num_documents
    if not is_part or (known.select(rows).counts != corpus.counts).nnz:
        raise engine.CorpusError(
            f"The corpus {corpus.name!r} of the app has other documents: use"
            f" load_corpus({corpus.name!r}), or a part of it."
        )
    record = record_models(recorder, known)
    found = record.model()
    assert found is not None
    run = files.kept.keep(record.progress(1), found, checkpoint=record.save())
    assert run is not None
    files.kept.rename(run.key, name)
    return run


class ReadingError(RuntimeError):
    """The documents could not be read with the model."""


def show_model(model: TopicModel, X: Counts, words: Sequence[str] | None = None) -> pn.FlexBox:
    """Show the map of topics, the largest topics and, for dated documents, topics over time.

    `model.show(X)` calls it. It loads Panel and HoloViews into the notebook if no cell has done so.
    model, X, words: as in `plot_map`.
    """
    if not is_loaded(hv.extension):
        _load_extensions()
    reading, title = _read_with(model, X, words)
    frame = map_frame(reading, title, None)
    plots = [draw_map(frame), draw_bars(frame)]
    if reading.corpus.has_dates:
        plots.append(_draw_time(reading, title))
    return pn.FlexBox(*(pn.pane.HoloViews(plot, linked_axes=False) for plot in plots))


def plot_map(model: TopicModel, X: Counts, words: Sequence[str] | None = None) -> Any:
    """Plot the topics in use as dots, with the names of the largest; similar topics are near.

    model: a fitted model. X: the documents to read with it, a Corpus or counts (D, V). words: the V
    words, for a model that does not know them.
    """
    reading, title = _read_with(model, X, words)
    return draw_map(map_frame(reading, title, None))


def plot_bars(model: TopicModel, X: Counts, words: Sequence[str] | None = None) -> Any:
    """Plot the shares of the largest topics as bars. model, X, words: as in `plot_map`."""
    reading, title = _read_with(model, X, words)
    return draw_bars(map_frame(reading, title, None))


def plot_time(model: TopicModel, X: Counts, words: Sequence[str] | None = None) -> Any:
    """Plot the shares of the largest topics in months, years or decades.

    model, X, words: as in `plot_map`. Raises ValueError if X has no dates.
    """
    return _draw_time(*_read_with(model, X, words))


def plot_groups(
    model: TopicModel, X: Counts, topic_id: int, groups: Sequence[object] | None = None
) -> Any:
    """Plot the share of a topic in each group of documents, with its 95 % interval.

    model, X: as in `plot_map`. groups: the group of each document, by default those of the corpus.
    Raises ValueError if X has no groups, or the model has no such topic in use.
    """
    frame = model.shares_by_group(X, groups)
    frame = frame[frame["topic_id"] == topic_id]
    if frame.empty:
        raise ValueError(f"Topic {topic_id} is not in use: see topics_frame().")
    return draw_groups(frame, f"{frame['label'].iloc[0]}: share of tokens in each group")


def _draw_time(reading: Reading, title: Callable[[int], str]) -> Any:
    dates = reading.corpus.dates
    if not reading.corpus.has_dates:
        raise ValueError(
            "The documents have no dates: give a Corpus with dates, from CorpusVectorizer or"
            " load_corpus."
        )
    frame = calendar_frame(reading, fitting_unit(dates), MEASURES[0], None, title)
    return draw_time(frame, MEASURES[0])


def _read_with(
    model: TopicModel, X: Counts, words: Sequence[str] | None
) -> tuple[Reading, Callable[[int], str]]:
    """Read documents with a fitted model, and give the labels of its topics."""
    corpus = model.to_corpus(X, words)
    labels = model.topic_labels(words)
    found = Model(
        run_id=0,
        algorithm=model.algorithm,
        config=model.config_,
        state=model.state_,
        corpus=corpus,
        train=corpus,
        documents_seen=model.documents_seen_,
    )
    reading = _read(found)
    known = {**reading.labels, **{key: label for key, label in labels.items() if label}}
    return reading, lambda topic_id: known.get(topic_id, f"topic {topic_id}")


def _read(model: Model) -> Reading:
    """Read all documents with a model; raise ReadingError if that fails."""
    reader = Reader(lambda: model, lambda: None)
    reader.ask()
    reader.join()
    if reader.job.status != "ready" or reader.job.reading is None:
        raise ReadingError(reader.job.message)
    return reader.job.reading
