import asyncio
import subprocess
import sys
from dataclasses import replace

import holoviews as hv
import numpy as np
import pytest
from bokeh.document import Document
from bokeh.models import ColorBar, ColumnDataSource, NumeralTickFormatter, Plot, Text
from pyviz_comms import Comm
from sklearn.decomposition import LatentDirichletAllocation

from stickbreaker import engine
from stickbreaker.app.model.disk_space import KEPT_RUNS
from stickbreaker.app.model.kept_runs import KeptRuns
from stickbreaker.app.model.model_record import open_record
from stickbreaker.app.notebook import LiveRun, keep_run, plot_bars, plot_groups, plot_map, plot_time
from stickbreaker.app.plots.map_labels import NOTEBOOK_MAP, label_dots
from stickbreaker.engine.schedules import learning_rate


@pytest.fixture
def live(tiny_corpus):
    hdp = engine.find_algorithm("hdp")
    return LiveRun(
        tiny_corpus, hdp, hdp.config(max_topics=5, batch_size=4), engine.RunSettings(num_test=1)
    )


def test_a_run_in_a_notebook_shows_what_it_will_read_before_it_has_learned(live):
    progress = live.progress
    assert (progress.status, progress.corpus_size, progress.documents_seen) == ("ready", 11, 0)


def test_awaiting_learn_reads_to_the_end_and_fills_the_views(live):
    asyncio.run(live.learn())
    progress = live.progress
    assert (progress.status, progress.documents_seen) == ("finished", 11)
    assert live.table.topics
    assert np.isfinite(progress.heldout["nats_per_word"]).all()


def test_a_custom_function_gives_the_labels_and_is_called_once_for_the_same_words(tiny_corpus):
    asked = []

    def label(words):
        asked.append(tuple(words))
        return words[0].upper()

    hdp = engine.find_algorithm("hdp")
    settings = engine.RunSettings(num_test=1, passes=5)
    live = LiveRun(tiny_corpus, hdp, hdp.config(max_topics=5, batch_size=4), settings, label)
    asyncio.run(live.learn())
    progress = live.progress
    assert set(progress.labels.values()) <= {words[0].upper() for words in asked}
    assert len(asked) == len(set(asked)) > 0
    assert progress.topic_title(next(iter(progress.labels))).isupper()


def test_a_slider_acts_from_the_next_mini_batch_and_marks_the_curves(live):
    asyncio.run(live.learn(4))
    live.sliders["forgetting_rate"].value_throttled = 0.9
    asyncio.run(live.learn())
    (mark,) = live.progress.marks
    assert (mark.documents_seen, mark.text) == (4, "κ 0.6 → 0.9")
    rates = live.progress.steps["learning_rate"]
    delay = live.progress.config.delay
    assert rates[1] == pytest.approx(learning_rate(2, delay, 0.9))


def test_learning_stops_after_a_number_of_documents_and_continues_from_there(live):
    asyncio.run(live.learn(5))
    assert (live.progress.status, live.progress.documents_seen) == ("paused", 8)
    asyncio.run(live.learn())
    assert live.progress.status == "finished"


def test_views_are_drawn_between_mini_batches_while_other_tasks_run(live, monkeypatch):
    monkeypatch.setattr("stickbreaker.app.notebook.SHOW_SECONDS", 0.0)
    seen = []

    async def watch():
        task = asyncio.ensure_future(live.learn(pause=0.02))
        while not task.done():
            seen.append(live.progress.documents_seen)
            await asyncio.sleep(0.005)
        await task

    asyncio.run(watch())
    assert set(seen) & {4, 8}


def test_reading_gives_every_document_shares_that_sum_to_one_once_something_has_been_learned(
    live, tiny_corpus
):
    with pytest.raises(ValueError, match="await learn"):
        live.read()
    asyncio.run(live.learn())
    shares = live.read().doc_shares
    assert shares.shape[0] == tiny_corpus.num_documents
    np.testing.assert_allclose(shares.sum(axis=1), 1.0, rtol=1e-6)


class Line(Comm):
    """Panel's end of the line to a browser that has not opened its own."""

    def init(self, on_msg=None):
        self._comm = self

    def send(self, data=None, metadata=None, buffers=()):
        self.sent = True


def test_a_dashboard_is_updated_only_after_the_browser_has_drawn_it(live, monkeypatch):
    monkeypatch.setattr("stickbreaker.app.notebook.SHOW_SECONDS", 0.01)
    line, is_filled = Line(), []
    root = live.__panel__()._render_model(Document(), line)
    root.document.hold()

    async def run_all_cells():
        await live.learn()
        for happen in (lambda: None, line.init):
            happen()
            await asyncio.sleep(0.1)
            is_filled.append(bool(live.table.topics))
        draw(root)
        while not live.table.topics:
            await asyncio.sleep(0.01)

    asyncio.run(run_all_cells())
    assert is_filled == [False, False]
    assert line.sent


def draw(root):
    """What a browser says of the first plot once it has laid it out."""
    next(iter(root.select({"type": Plot}))).set_from_json("inner_width", 300)


@pytest.fixture(scope="module")
def model(tiny_corpus):
    return engine.OnlineHDP(max_topics=5, batch_size=4, passes=20, random_state=0).fit(tiny_corpus)


def test_a_model_and_its_copy_from_a_file_show_map_bars_and_time_in_one_view(
    model, tiny_corpus, tmp_path
):
    model.save(tmp_path / "model.npz")
    for each in (model, engine.load(tmp_path / "model.npz")):
        shown = each.show(tiny_corpus)
        titles = {plot.title.text for plot in shown.get_root().select({"type": Plot})}
        assert titles == {"Map of topics", "Largest topics", "Topics over time: share of tokens"}


def test_finished_views_hold_the_whole_run_and_stay_as_they_are(live):
    asyncio.run(live.learn(5))
    kept = live.finished_views()
    sources = kept.get_root().select({"type": ColumnDataSource})
    assert max(max(source.data.get("x", [0]), default=0) for source in sources) == 8
    asyncio.run(live.learn())
    assert live.curves not in list(kept)


def test_the_curve_of_held_out_words_is_among_the_views_of_a_run(live):
    asyncio.run(live.learn())
    for views in (live.__panel__(), live.finished_views()):
        titles = [plot.title.text for plot in views.get_root().select({"type": Plot})]
        assert sum(title.startswith("Held-out log likelihood") for title in titles) == 1


def test_counts_are_shown_with_words_and_without_time(model, tiny_corpus):
    assert len(model.show(tiny_corpus.counts)) == 2
    unnamed = engine.OnlineLDA(max_topics=2, passes=20, random_state=0).fit(tiny_corpus.counts)
    words = {
        word
        for text in plot_bars(unnamed, tiny_corpus.counts)["words"]
        for word in text.split(", ")
    }
    assert words <= {f"x{column}" for column in range(6)}
    words = plot_bars(unnamed, tiny_corpus.counts, tiny_corpus.vocabulary.words)["words"]
    assert {word for text in words for word in text.split(", ")} <= set(tiny_corpus.vocabulary)
    with pytest.raises(ValueError, match="The documents have no dates"):
        plot_time(model, tiny_corpus.counts)


def test_each_plot_of_a_model_is_of_holoviews_and_shows_its_topics_with_their_labels(
    model, tiny_corpus
):
    labels = set(model.topic_labels().values())
    assert all(
        isinstance(plot(model, tiny_corpus), hv.core.Dimensioned)
        for plot in (plot_map, plot_bars, plot_time)
    )
    assert set(plot_bars(model, tiny_corpus)["title"]) == labels
    assert set(plot_map(model, tiny_corpus).Points.Map_of_topics["title"]) == labels
    over_time = plot_time(model, tiny_corpus)
    assert set(over_time["title"]) == labels
    assert set(over_time["period"]) == {str(year) for year in range(1790, 1796)}


def test_a_topic_in_groups_is_drawn_with_the_intervals_of_the_table(model, tiny_corpus):
    groups = ["war", "trade"] * 6
    table = model.shares_by_group(tiny_corpus, groups)
    topic_id = int(table["topic_id"][0])
    own = table[table["topic_id"] == topic_id].set_index("group")
    plot = plot_groups(model, tiny_corpus, topic_id, groups)
    bars, dots = (layer.dframe().set_index("group") for layer in plot)
    assert dots["share"].to_dict() == own["share"].to_dict()
    ends = bars["share"] - bars["below"], bars["share"] + bars["above"]
    for end, name in zip(ends, ("low", "high"), strict=True):
        np.testing.assert_allclose(end[own.index], own[name])
    assert len(hv.render(plot).y_range.factors) == 2
    with pytest.raises(ValueError, match="Topic 99 is not in use"):
        plot_groups(model, tiny_corpus, 99, groups)


def test_shares_of_the_bars_have_a_format_and_names_of_topics_have_not(model, tiny_corpus):
    drawn = hv.renderer("bokeh").get_plot(plot_bars(model, tiny_corpus)).state
    assert isinstance(drawn.xaxis[0].formatter, NumeralTickFormatter)
    assert not isinstance(drawn.yaxis[0].formatter, NumeralTickFormatter)


def test_the_colour_bar_says_that_it_is_the_share_of_tokens(model, tiny_corpus):
    drawn = hv.renderer("bokeh").get_plot(plot_time(model, tiny_corpus)).state
    (bar,) = drawn.select({"type": ColorBar})
    assert (bar.title, bar.formatter.format) == ("share of tokens", "0 %")


def test_labels_of_the_map_are_where_the_page_has_them_and_stay_at_their_dots_when_zoomed(
    model, tiny_corpus
):
    shown = plot_map(model, tiny_corpus)
    sought = label_dots(shown.Points.Map_of_topics.dframe(), NOTEBOOK_MAP)
    (drawn,) = (each for each in hv.render(shown).renderers if isinstance(each.glyph, Text))
    # Places in units of the axes, and offsets in pixels.
    for glyph_property in ("x", "y", "text", "x_offset", "y_offset"):
        column = getattr(drawn.glyph, glyph_property)
        assert list(drawn.data_source.data[column]) == sought[column].tolist()
    assert np.hypot(sought["aside"], sought["offset"]).min() > 0


def test_without_the_page_show_says_what_to_install():
    program = """
import sys
from stickbreaker import engine
model = engine.OnlineLDA(max_topics=2).fit([[1, 2], [2, 1]])
assert "stickbreaker.app" not in sys.modules
sys.modules["stickbreaker.app.notebook"] = None
try:
    model.show([[1, 2]])
except ImportError as error:
    assert "install stickbreaker" in str(error), error
else:
    raise AssertionError("no error")
"""
    subprocess.run([sys.executable, "-c", program], check=True)


def test_a_recorded_model_of_another_library_is_a_kept_run_that_opens_in_full(
    tmp_path, monkeypatch, tiny_corpus
):
    monkeypatch.setenv("STICKBREAKER_DATA", str(tmp_path))
    corpus = engine.load_corpus("bars")
    train, _ = corpus.split(900)
    lda = LatentDirichletAllocation(10, random_state=0)
    recorder = engine.Recorder(train)
    with pytest.raises(ValueError, match="Nothing is recorded"):
        keep_run(recorder)
    for stop in (200, 400):
        lda.partial_fit(train.counts[stop - 200 : stop])
        recorder.record(lda, stop)
    recorder.model.topic_names_ = {3: "A row"}
    run = keep_run(recorder, "scikit-learn")
    kept = KeptRuns(tmp_path / KEPT_RUNS)
    (listed,) = kept.listing().runs
    assert (listed.title, listed.status, listed.key) == ("scikit-learn", "finished", run.key)
    assert listed.topic_names == {"3": "A row"}
    record = open_record(kept.load_checkpoint(run.key), corpus)
    progress = record.progress(1)
    assert [column.documents_seen for column in progress.columns] == [200, 400]
    assert progress.status == "finished"
    model = record.model()
    shares = model.algorithm.infer(model.config, model.state, corpus.documents())
    np.testing.assert_array_equal(shares, recorder.model.transform(corpus))
    other = engine.Recorder(tiny_corpus)
    other.record(engine.OnlineLDA(max_topics=2, random_state=0).fit(tiny_corpus))
    with pytest.raises(engine.CorpusError, match="tiny"):
        keep_run(other)
    longer = replace(train, counts=2 * train.counts)
    other = engine.Recorder(longer)
    other.record(recorder.model)
    with pytest.raises(engine.CorpusError, match="has other documents"):
        keep_run(other)
