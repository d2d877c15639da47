"""Every export is read back: tables, the input of pyLDAvis, the model, the offline page."""

import asyncio
import io
import json
import re
import zipfile
from dataclasses import replace
from types import MappingProxyType, SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from packaging.version import Version

from stickbreaker import engine
from stickbreaker.app.export.figures import FIGURES, FORMATS, draw_figure, make_savable
from stickbreaker.app.export.offered import EXPORTS
from stickbreaker.app.export.offline import write_offline
from stickbreaker.app.export.tables import group_words_table, write_model, write_pyldavis
from stickbreaker.app.model.class_tasks import INTRUDER, ClassState, Result, Task
from stickbreaker.app.model.reading import ReadingJob, begin_reading
from stickbreaker.app.model.run_spec import RunSpec
from stickbreaker.app.model.sweep_plan import SweepPoint, SweepState
from stickbreaker.app.server.reader import Reader
from stickbreaker.app.state import RunState
from stickbreaker.app.views.export_panel import CSV, PARQUET, ExportPanel
from stickbreaker.engine import RunSettings, find_algorithm
from stickbreaker.engine.corpora.corpus import Vocabulary
from tests.app.browser_messages import answer_with, send
from tests.app.small_runs import begin, learn

HOSTILE = "</script><img src=x onerror=alert(1)>"
RESULT = Result(
    1, Task(INTRUDER, "Which word?", ("war", HOSTILE), correct=1, topic_id=3, label=HOSTILE), (2, 5)
)
SWEEP = SweepState("finished", points=(SweepPoint("HDP", "κ 0.6", None, "finished", "", -7.5),))
NAMED = 'war, "peace"\n=1+1 <b>'
TABLES = [what for what, export in EXPORTS.items() if not export.ending]


@pytest.fixture(scope="module")
def learned():
    """Progress and model of a run with a hostile word and title, and one topic named."""
    words = (HOSTILE, "cotton", "navy", "peace", "ship", "tariff")
    war, trade = [3, 0, 2, 1, 1, 0], [0, 2, 0, 1, 1, 3]
    years = np.datetime64("1790", "Y") + np.arange(12) // 2
    titles = [HOSTILE, *(f"Document {i}, “quoted”" for i in range(1, 12))]
    groups = {"groups": np.arange(12) % 2, "group_titles": (HOSTILE, "trade")}
    corpus = engine.Corpus("tiny", [war, trade] * 6, Vocabulary(words), years, titles, **groups)
    algorithm = find_algorithm("hdp")
    config = algorithm.config(max_topics=6, batch_size=4, delay=1.0)
    settings = RunSettings(passes=4, num_moments=3)
    record = learn(corpus, RunSpec("tiny", algorithm, config, settings))
    largest = int(
        np.argmax(record.model().algorithm.summarize(config, record.model().state).expected_tokens)
    )
    record.topic_names.rename(int(record.progress(0).now.topic_ids[largest]), NAMED)
    return record.progress(1), record.model()


@pytest.fixture(scope="module")
def progress(learned):
    return learned[0]


@pytest.fixture(scope="module")
def job(learned):
    reader = Reader(lambda: learned[1], lambda: None)
    reader.ask()
    reader.join()
    assert reader.job.status == "ready"
    return reader.job


@pytest.fixture
def named(progress):
    (topic_id,) = progress.names
    return topic_id


def make_panel(*swept):
    """The page, whose sweep has these runs."""
    commands = SimpleNamespace(
        note_fault=lambda event, fault: None, may_open=True, read_sweep=lambda: (list(swept), 0)
    )
    return ExportPanel(RunState(), commands)


def read(view, job, progress, *results):
    view.state.publish(progress, job=job, tasks=ClassState(results=results))


@pytest.fixture
def take(job, progress):
    """Export as the page does; returns the name and the content of the file."""
    view = make_panel(progress)
    read(view, job, progress, RESULT)
    view.state.sweep = SWEEP
    sent = []
    answer_with(view.mover, sent.append)

    def take(what, table=CSV):
        view.format.value = table
        sent.clear()
        asyncio.run(view.take(what))
        path, _, name = view.mover.outgoing
        content = path.read_bytes()
        view.close()
        view.is_closed = False
        return name, content

    return take


# Older versions of pandas may read the last digit of a number as another one; newer ones refuse the
# option.
READS_EXACTLY = {"float_precision": "round_trip"} if Version(pd.__version__) < Version("3") else {}


def read_table(name, content, tmp_path):
    path = tmp_path / name
    path.write_bytes(content)
    if path.suffix == ".csv":
        return pd.read_csv(path, keep_default_na=False, **READS_EXACTLY)
    return pd.read_parquet(path)


@pytest.mark.parametrize("what", TABLES)
def test_csv_and_parquet_contain_the_same_table(take, what, tmp_path):
    frames = [read_table(*take(what, table), tmp_path) for table in (CSV, PARQUET)]
    assert len(frames[0]) > 0
    # A float32 in CSV has enough digits to be read as the same float32.
    pd.testing.assert_frame_equal(
        frames[0].astype(str), frames[1].astype(str), check_dtype=False, check_exact=True
    )


def test_topics_have_their_words_and_any_name(take, job, named, tmp_path):
    frame = read_table(*take("topics"), tmp_path)
    mine = frame[frame["topic_id"] == named]
    assert set(mine["name"]) == {NAMED}
    assert set(frame[frame["topic_id"] != named]["name"]) <= {""}
    summary = job.reading.summary
    position = job.reading.position(named)
    probabilities = dict(zip(mine["word"], mine["probability"], strict=True))
    for word, probability in zip(
        job.reading.corpus.vocabulary.words, summary.topics[position], strict=True
    ):
        assert probabilities[word] == pytest.approx(probability, rel=1e-6)


def test_document_shares_are_those_of_the_reading_and_sum_to_one(take, job, named, tmp_path):
    frame = read_table(*take("document-shares"), tmp_path)
    np.testing.assert_allclose(frame.groupby("doc_id")["share"].sum(), 1.0, rtol=1e-5)
    first = frame[frame["doc_id"] == 0]
    assert set(first["title"]) == {HOSTILE}
    assert set(first["tokens"]) == {7}
    for topic_id, share in zip(first["topic_id"], first["share"], strict=True):
        assert share == pytest.approx(
            job.reading.doc_shares[0, job.reading.position(topic_id)], rel=1e-6
        )
    assert set(frame[frame["topic_id"] == named]["name"]) == {NAMED}


def test_shares_by_group_are_those_of_documents_with_their_intervals(take, job, named, tmp_path):
    frame = read_table(*take("topics-by-group"), tmp_path)
    assert set(frame["group"]) == {HOSTILE, "trade"}
    assert len(frame) == 2 * len(job.reading.used)
    shares = job.reading.doc_shares.toarray()
    for row in frame.itertuples():
        column = shares[:, job.reading.position(row.topic_id)]
        of_group = column[(row.group != HOSTILE) :: 2]
        assert row.share == pytest.approx(of_group.mean())
        assert (row.whole, row.documents) == (pytest.approx(column.mean()), 6)
        assert row.low <= row.share <= row.high
    assert set(frame[frame["topic_id"] == named]["name"]) == {NAMED}


def test_words_by_group_are_those_that_the_group_has_more(take, job, tmp_path):
    frame = read_table(*take("words-by-group"), tmp_path)
    assert (frame["z"] > 0).all()
    for (topic_id, group), words in frame.groupby(["topic_id", "group"]):
        assert words["rank"].tolist() == list(range(1, len(words) + 1))
        assert words["z"].is_monotonic_decreasing
        only = {"cotton", "tariff"} if group == HOSTILE else {HOSTILE, "navy"}
        assert not only & set(words["word"])
        tokens = job.reading.summary.expected_tokens[job.reading.position(topic_id)]
        assert words["tokens"].sum() < tokens


def test_a_corpus_without_groups_has_no_tables_by_group(job, progress):
    corpus = replace(job.reading.corpus, groups=None)
    reading = replace(job.reading, model=replace(job.reading.model, corpus=corpus))
    view = make_panel()
    read(view, ReadingJob("ready", 1.0, reading), progress)
    assert view.buttons["topics-by-group"].disabled
    assert view.buttons["words-by-group"].disabled
    assert not view.buttons["topics"].disabled
    with pytest.raises(ValueError, match="have no groups"):
        group_words_table(reading, progress)


def test_word_lists_have_every_checkpoint_and_ranks_from_one(take, progress, tmp_path):
    frame = read_table(*take("word-lists"), tmp_path)
    assert sorted(set(frame["documents_seen"])) == [c.documents_seen for c in progress.columns]
    for _, words in frame.groupby(["topic_id", "checkpoint"]):
        assert words["rank"].tolist() == list(range(1, len(words) + 1))


def test_curves_have_all_points_with_their_unit(take, progress, tmp_path):
    frame = read_table(*take("curves"), tmp_path)
    rates = frame[frame["curve"] == "learning_rate"]
    assert rates["value"].tolist() == pytest.approx(progress.steps["learning_rate"].tolist())
    assert set(frame[frame["curve"] == "heldout"]["unit"]) == {
        "nats per held-out word (disjoint_words, own)"
    }


def test_the_input_of_pyldavis_has_rows_that_sum_to_one_and_topic_names(take, job, named):
    name, content = take("pyldavis")
    given = json.loads(content)
    topics, documents = np.array(given["topic_term_dists"]), np.array(given["doc_topic_dists"])
    assert name == "tiny-hdp-pyldavis.json"
    np.testing.assert_allclose(topics.sum(1), 1.0, atol=1e-7)
    np.testing.assert_allclose(documents.sum(1), 1.0, atol=1e-7)
    assert topics.shape == (documents.shape[1], len(given["vocab"]))
    assert given["doc_lengths"] == [7] * 12
    assert given["term_frequency"] == job.reading.corpus.counts.sum(0).tolist()
    options = given["plot_opts"]
    assert options["topic_names"][options["topic_ids"].index(named)] == NAMED


def test_the_input_of_pyldavis_excludes_words_and_documents_without_tokens(job, tmp_path):
    corpus = job.reading.corpus
    counts = corpus.counts.toarray()
    counts[0], counts[:, 5] = 0, 0
    model = replace(job.reading.model, corpus=replace(corpus, counts=counts))
    lengths = counts.sum(1)
    write_pyldavis(
        replace(job.reading, model=model, doc_tokens=lengths), {}, tmp_path / "input.json"
    )
    given = json.loads((tmp_path / "input.json").read_text(encoding="utf-8"))
    assert len(given["doc_topic_dists"]) == len(given["doc_lengths"]) == 11
    assert "tariff" not in given["vocab"]
    np.testing.assert_allclose(np.sum(given["topic_term_dists"], 1), 1.0, atol=1e-7)


def test_the_input_of_pyldavis_needs_a_topic_in_use(job, progress, tmp_path):
    with pytest.raises(ValueError, match="let the run continue"):
        write_pyldavis(replace(job.reading, used=np.zeros(0, int)), {}, tmp_path / "input.json")


def test_the_model_loads_with_one_call_and_infers_what_the_page_shows(take, job, named, tmp_path):
    name, content = take("model")
    path = tmp_path / name
    path.write_bytes(content)
    model = engine.load(path)
    assert type(model).__name__ == "OnlineHDP"
    assert model.words_ == job.reading.corpus.vocabulary.words
    assert model.topic_names_ == {named: NAMED}
    np.testing.assert_array_equal(model.components_, job.reading.summary.topics)
    shares = model.transform(job.reading.corpus)
    shown = np.where(shares >= 0.005, shares, 0)
    np.testing.assert_allclose(
        shown / shown.sum(1, keepdims=True), job.reading.doc_shares.toarray(), rtol=1e-5, atol=1e-7
    )
    model.save(tmp_path / "again.npz")
    assert engine.load(tmp_path / "again.npz").topic_names_ == {named: NAMED}


def test_the_arrays_are_those_of_the_reading_with_their_words_and_titles(
    take, job, named, progress
):
    name, content = take("arrays")
    assert name == "tiny-hdp-arrays.zip"
    with np.load(io.BytesIO(content)) as arrays:
        np.testing.assert_array_equal(arrays["theta"], job.reading.doc_shares.toarray())
        np.testing.assert_array_equal(arrays["topics"], job.reading.summary.topics)
    about = json.loads(zipfile.ZipFile(io.BytesIO(content)).read("vocabulary.json"))
    assert tuple(about["words"]) == job.reading.corpus.vocabulary.words
    assert about["labels"][about["topic_ids"].index(named)] == NAMED
    assert about["labels"] == [progress.topic_title(topic_id) for topic_id in about["topic_ids"]]


def test_the_sheets_have_a_row_in_the_key_for_each_question(take):
    _, content = take("sheets")
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        frames = {each: pd.read_csv(archive.open(each)) for each in archive.namelist()}
    assert set(frames) == {
        f"{kind}-intrusion{end}.csv" for kind in ("word", "topic") for end in ("", "-key")
    }
    for kind in ("word", "topic"):
        questions, key = frames[f"{kind}-intrusion.csv"], frames[f"{kind}-intrusion-key.csv"]
        assert questions["question"].tolist() == key["question"].tolist()
        assert questions["answer"].isna().all()


def test_the_table_of_topics_has_coherence_and_labels(take, job, progress, tmp_path):
    frame = read_table(*take("topics"), tmp_path).drop_duplicates("topic_id")
    assert frame["topic_id"].tolist() == job.reading.quality.topic_ids.tolist()
    np.testing.assert_allclose(frame["npmi"], job.reading.quality.npmi)
    np.testing.assert_allclose(frame["exclusivity"], job.reading.quality.exclusivity)


@pytest.mark.parametrize("algorithm", [each.name for each in engine.REGISTRY])
def test_the_model_of_every_algorithm_can_be_exported(algorithm, tiny_corpus, tmp_path):
    algorithm = find_algorithm(algorithm)
    config = (
        algorithm.config(max_topics=4)
        if hasattr(algorithm.config, "max_topics")
        else algorithm.config()
    )
    settings = RunSettings(passes=1)
    record = begin(RunSpec("tiny", algorithm, config, settings), tiny_corpus)
    record.advance()
    record.close()
    reading = begin_reading(record.model())
    write_model(reading, record.progress(1), tmp_path / "model.npz")
    np.testing.assert_array_equal(
        engine.load(tmp_path / "model.npz").components_, reading.summary.topics
    )


def test_the_offline_page_has_all_content_as_json_and_none_as_markup(take, progress, named):
    name, content = take("page")
    page = content.decode()
    assert name == "tiny-hdp-page.html"
    assert "<img" not in page
    assert page.count("</script>") == 2
    assert not re.search(r"<[^>]*(src|href)=", page)
    state = json.loads(re.search(r'id="state">(.*?)</script>', page, re.DOTALL)[1])
    assert [each["seen"] for each in state["moments"]] == [
        c.documents_seen for c in progress.columns
    ]
    assert state["topics"][str(named)][0] == NAMED
    assert any(word == HOSTILE for *_, words in state["moments"][-1]["topics"] for word, _ in words)
    assert any(HOSTILE in row for detail in state["details"] for row in detail["documents"])
    np.testing.assert_allclose(np.sum(state["periods"]["values"], 1), 1.0, rtol=1e-4)


def test_a_sweep_is_exported_as_a_page_with_its_runs(take):
    name, content = take("sweep")
    assert name == "tiny-hdp-sweep.html"
    state = json.loads(re.search(r'id="state">(.*?)</script>', content.decode(), re.DOTALL)[1])
    assert len(state["runs"]) == 1
    assert HOSTILE in state["words"]


def test_the_offline_page_of_a_run_without_a_reading_has_its_moments(progress, tmp_path):
    write_offline(tmp_path / "page.html", progress, (), None)
    assert '"details": [], "periods": null' in (tmp_path / "page.html").read_text(encoding="utf-8")


@pytest.mark.parametrize("kind", FORMATS)
@pytest.mark.parametrize("name", FIGURES)
def test_every_figure_can_be_drawn_and_saved(job, progress, name, kind):
    drawn = draw_figure(name, progress, (progress,), job.reading, None)
    make_savable(drawn, kind, "figure")
    assert drawn.output_backend == FORMATS[kind]
    assert (
        draw_figure(name, replace(progress, steps=type(progress)().steps), (), None, None) is None
    )


def test_an_export_is_disabled_until_its_data_exists(job, progress):
    view = make_panel()
    assert all(button.disabled for button in view.buttons.values())
    read(view, ReadingJob(), progress)
    assert {what for what, button in view.buttons.items() if not button.disabled} == {
        "word-lists",
        "curves",
        "word-table.svg",
        "word-table.html",
        "word-table.tex",
        "page",
        "replay",
    }
    read(view, job, replace(progress, run_id=2))
    assert view.buttons["topics"].disabled
    read(view, job, progress)
    disabled = [what for what, button in view.buttons.items() if button.disabled]
    assert disabled == ["class-answers", "sweep"]
    read(view, job, progress, RESULT)
    view.state.sweep = SWEEP
    assert not any(button.disabled for button in view.buttons.values())


def test_a_failed_export_is_reported_and_leaves_no_file(
    job, progress, caplog, tmp_path, monkeypatch
):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    view = make_panel()
    read(view, ReadingJob("ready", 1.0, replace(job.reading, used=np.zeros(0, int))), progress)
    asyncio.run(view.take("pyldavis"))
    assert "let the run continue" in view.said.object
    assert list(tmp_path.iterdir()) == []
    assert not view.buttons["pyldavis"].disabled


def test_the_word_table_has_the_topics_selected_on_live(job, progress, named):
    view, sent = make_panel(), []
    answer_with(view.mover, sent.append)
    read(view, job, progress)
    view.state.listed_topics = [named]
    asyncio.run(view.take("word-table.tex"))
    path, _, name = view.mover.outgoing
    assert name == "tiny-hdp-word-table.tex"
    assert path.read_text(encoding="utf-8").count("\\textbf{war, ") == 1
    assert path.read_text(encoding="utf-8").count("\\midrule") == 1
    view.close()


def test_a_corpus_with_any_name_can_be_exported(job, progress):
    view, sent = make_panel(), []
    answer_with(view.mover, sent.append)
    read(view, job, replace(progress, corpus_name="defaults"))
    asyncio.run(view.take("curves"))
    assert view.mover.outgoing.name == "defaults-hdp-curves.csv"
    view.close()


def test_a_failed_download_is_not_reported_as_a_failed_write(job, progress):
    view = make_panel()
    answer_with(view.mover, lambda message: None)
    read(view, job, progress)
    asyncio.run(view.take("curves"))
    send(view.mover, {"kind": "unsaved", "text": "no memory"})
    assert (
        "curves.csv could not be downloaded: the browser could not save it (no memory)"
        in view.said.object
    )
    assert 'class="fault"' in view.said.object
    assert not view.buttons["curves"].disabled


def test_a_later_topic_name_is_in_the_next_export(job, progress, take, tmp_path):
    other = next(int(t) for t in job.reading.summary.topic_ids if int(t) not in progress.names)
    view = make_panel()
    read(view, job, replace(progress, names=MappingProxyType({other: "later"})))
    answer_with(view.mover, lambda message: None)
    asyncio.run(view.take("document-shares"))
    path, _, name = view.mover.outgoing
    frame = read_table(name, path.read_bytes(), tmp_path)
    view.close()
    assert set(frame["name"]) <= {"", "later"}
