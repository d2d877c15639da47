"""What views of a reading say, on a model learned from the tiny corpus."""

from base64 import b64decode
from dataclasses import replace
from types import MappingProxyType, SimpleNamespace

import numpy as np
import pandas as pd
import pytest

from stickbreaker.app.frames import reading_frames
from stickbreaker.app.frames.reading_frames import (
    REST,
    TYPICAL_RULE,
    calendar_frame,
    find_documents,
    topic_lines,
    word_rows,
)
from stickbreaker.app.frames.word_table import NO_TOPIC
from stickbreaker.app.model.progress import Moment, Progress
from stickbreaker.app.model.reading import ReadingJob
from stickbreaker.app.model.replay import REPLAYED
from stickbreaker.app.plots.reading_plots import DOT_ALPHA
from stickbreaker.app.state import EARLIEST, RunState
from stickbreaker.app.views.calendar import Calendar
from stickbreaker.app.views.documents import DocumentBrowser, explain_missing_text
from stickbreaker.app.views.reading_note import describe_reading, is_behind
from stickbreaker.app.views.topic_explorer import RELEVANCE, TopicExplorer
from stickbreaker.app.views.topic_map import TopicMap
from stickbreaker.engine.corpora.bundled import FILES
from stickbreaker.engine.corpora.texts import TEXT_COMMANDS, Texts
from tests.app.browser_messages import send
from tests.app.conftest import HOSTILE

# No view in these tests asks for anything.
NO_COMMANDS = SimpleNamespace()


def read(view, job, progress):
    view.state.publish(progress, job=job)


def test_documents_of_a_topic_have_a_tenth_of_it_or_the_share_of_the_slider(job, progress):
    reading, state = job.reading, RunState()
    browser, position = DocumentBrowser(state), job.reading.used[0]
    state.topic = int(reading.summary.topic_ids[position])
    read(browser, job, progress)
    shares = reading.doc_shares[:, [position]].toarray().ravel()
    for percent in (10, 60):
        if percent != 10:
            browser.least.value = percent
        assert browser.count.object.startswith(
            f"<p style='margin:4px 0'>{(shares >= percent / 100).sum()} document"
        )
        label = f"topic topic {state.topic}, at least {percent} %"
        assert browser.filters["topic"].label == label
    state.topic = None
    assert not browser.least.visible
    assert not browser.filters["topic"].visible


def test_filters_of_documents_are_shown_and_removed_and_an_empty_list_says_which(job, progress):
    reading, state = job.reading, RunState()
    browser = DocumentBrowser(state)
    state.topic = int(reading.summary.topic_ids[reading.used[0]])
    read(browser, job, progress)
    state.span = (EARLIEST, np.datetime64("2100-01-01"))
    browser.search.value = "zebra"
    labels = {name: chip.label for name, chip in browser.filters.items()}
    assert labels["span"] == "until 2100-01-01"
    assert labels["words"] == "contains zebra"
    assert browser.found.rows == []
    expected = find_documents(reading, "", (reading.used[0], 0.1), state.span, "share")
    assert f"Without “contains zebra”: {len(expected)} document" in browser.count.object
    for name in ("words", "span", "topic"):
        browser.filters[name].clicks += 1
    assert (browser.search.value, state.span) == ("", None)
    assert [chip.visible for chip in browser.filters.values()] == [True, False, False]
    assert browser.count.object.startswith(
        f"<p style='margin:4px 0'>{reading.corpus.num_documents:,}"
    )
    browser.filters["topic"].clicks += 1
    assert browser.least.visible


def test_documents_without_dates_are_not_said_to_have_some(job, progress):
    browser, corpus = DocumentBrowser(RunState(shows_reading=True)), job.reading.corpus
    read(browser, job, progress)
    assert "date range" in browser.heading.object
    undated = replace(corpus, dates=np.full(corpus.num_documents, "NaT", "datetime64[D]"))
    model = replace(job.reading.model, corpus=undated)
    read(browser, replace(job, reading=replace(job.reading, model=model)), progress)
    assert "date" not in browser.heading.object


def test_the_list_of_nearest_topics_says_that_a_topic_is_the_only_one(job, progress):
    state = RunState(shows_reading=True)
    explorer = TopicExplorer(state, NO_COMMANDS)
    reading = replace(job.reading, used=job.reading.used[:1], divergences=np.zeros((1, 1)))
    read(explorer, replace(job, reading=reading), progress)
    assert explorer.near.rows == []
    assert explorer.near.note == "This is the only topic in use."


def test_a_new_reading_updates_the_heat_map_and_keeps_its_zoom(job, progress):
    calendar = Calendar(RunState(shows_reading=True))
    read(calendar, job, progress)
    (drawn,) = (pane.object for pane in calendar.pane)
    rows = drawn.y_range.factors
    drawn.x_range.update(start=0.0, end=1.0)
    renamed = {int(rows[0].split()[1]): "weather"}
    read(calendar, replace(job, reading=replace(job.reading)), replace(progress, names=renamed))
    assert [pane.object for pane in calendar.pane] == [drawn]
    assert (drawn.x_range.start, drawn.x_range.end) == (0.0, 1.0)
    assert set(drawn.y_range.factors) ^ set(rows)
    calendar.unit.value = "decade"
    assert drawn.x_range.start == -0.5
    assert drawn.x_range.end == len(drawn.xaxis[0].major_label_overrides) - 0.5


def test_a_topic_selected_in_one_view_is_selected_in_all_and_all_show_its_name(job, progress):
    state, named = RunState(shows_reading=True), []
    commands = SimpleNamespace(rename=lambda *name: named.append(name))
    views = [
        TopicExplorer(state, commands),
        TopicMap(state),
        Calendar(state),
        DocumentBrowser(state),
    ]
    explorer, _, _, documents = views
    for view in views:
        read(view, job, progress)
    assert state.topic == job.reading.summary.topic_ids[job.reading.used[0]]
    other = int(job.reading.summary.topic_ids[job.reading.used[1]])
    explorer.pick_topic(other)
    assert f"topic topic {other}, " in documents.filters["topic"].label
    explorer.name_field.value = "weather"
    assert named == [(other, "weather")]
    for view in views:
        read(view, job, replace(progress, names=MappingProxyType({other: "weather"})))
    assert "topic weather, " in documents.filters["topic"].label
    assert any(option.startswith("weather") for option in explorer.topic.options)


def test_a_cell_of_the_calendar_leads_to_the_documents_of_its_topic_and_period(job, progress):
    state = RunState()
    calendar = Calendar(state)
    calendar.unit.value = "year"
    read(calendar, job, progress)
    days = job.reading.corpus.dates.astype("datetime64[D]")
    position = int(job.reading.used[0])
    calendar.pick_cell(int(job.reading.summary.topic_ids[position]), 1)
    first, last = state.span
    assert state.topic == job.reading.summary.topic_ids[position]
    in_period = np.flatnonzero((days >= first) & (days <= last))
    assert 0 < len(in_period) < len(days)
    listed = [row["key"] for row in calendar.typical.rows]
    assert listed
    assert set(listed) <= set(in_period.tolist())
    send(calendar.typical, {"key": listed[0]})
    assert state.document == listed[0]
    assert TYPICAL_RULE in calendar.typical_heading.object


def test_the_selected_topic_is_drawn_by_group_if_the_corpus_has_groups(job, progress):
    state = RunState(shows_reading=True)
    calendar = Calendar(state)
    corpus = job.reading.corpus
    own = np.arange(corpus.num_documents)
    for groups, titles in ((own, corpus.titles), (own % 2, ("Whigs", "Tories"))):
        grouped = replace(corpus, groups=groups, group_titles=titles)
        model = replace(job.reading.model, corpus=grouped)
        read(calendar, replace(job, reading=replace(job.reading, model=model)), progress)
        assert calendar.split_cell.visible == (len(titles) == 2)
    calendar.split.value = "group"
    assert not calendar.known.visible
    state.topic = int(job.reading.summary.topic_ids[job.reading.used[1]])
    pane, shares = calendar.pane
    assert shares.object.count("<a download") == 1
    assert set(pane.object.y_range.factors) == {"Whigs", "Tories"}
    assert pane.object.title.text.startswith(progress.topic_title(state.topic))
    whole = pane.object.select_one({"name": "shares"}).data_source.data["documents"]
    state.span = (EARLIEST, np.sort(corpus.dates)[3].astype("datetime64[D]"))
    pane, _ = calendar.pane
    part = pane.object.select_one({"name": "shares"}).data_source.data["documents"]
    assert 0 < sum(part) < sum(whole) == corpus.num_documents
    assert calendar.pair[0].options == list(pane.object.y_range.factors)[::-1]
    words = calendar.group_words.object
    more, less = (part.count("<tr><td") for part in words.split("</table>")[:2])
    assert more + less > 0
    content = b64decode(words.partition("base64,")[2].partition('"')[0]).decode()
    first, second = (select.value for select in calendar.pair)
    assert content.startswith(f"word,z,log_odds,{first},{second}")
    (other,) = set(calendar.pair[0].options) - {first}
    calendar.pair[0].value = other
    assert f"More in {first}" in words
    assert f"More in {other}" in calendar.group_words.object
    calendar.split.value = "time"
    assert calendar.known.visible
    assert [drawn.object for drawn in calendar.pane] != [pane.object]


def test_words_and_titles_of_a_corpus_are_shown_as_text(job, progress):
    state = RunState(shows_reading=True)
    documents = DocumentBrowser(state)
    read(documents, job, progress)
    state.document = 0
    assert HOSTILE not in documents.words.object
    assert "&lt;img" in documents.words.object


def test_a_stored_text_is_shown_as_prose_and_searched(job, progress, tmp_path):
    corpus = job.reading.corpus
    file = tmp_path / "texts.parquet"
    words = corpus.vocabulary.words
    pd.DataFrame(
        {"text": [f"{HOSTILE} of {words[k % 3 + 1]} & more" for k in range(corpus.num_documents)]}
    ).to_parquet(file)
    state = RunState()
    documents = DocumentBrowser(state, lambda name: Texts([file]))
    read(documents, job, progress)
    state.document = 0
    assert HOSTILE not in documents.words.object
    assert "class='prose'>&lt;img src=x onerror=alert(1)&gt; of " in documents.words.object
    assert (documents.before.visible, documents.after.label) == (False, str(corpus.titles[1]))
    documents.after.clicks += 1
    assert state.document == 1
    documents.search.value = f"OF {words[2]}"
    found = [row["key"] for row in documents.found.rows]
    assert sorted(found) == [k for k in range(corpus.num_documents) if k % 3 == 1]
    assert all(f"of {words[2]} &" in row["words"] for row in documents.found.rows)


def test_a_text_file_that_cannot_be_read_leaves_the_counted_words(job, progress, tmp_path):
    state = RunState()
    documents = DocumentBrowser(state, lambda name: Texts([tmp_path / "missing.parquet"]))
    read(documents, job, progress)
    state.document = 0
    assert "There is no file of texts at" in documents.found.note
    assert "There is no file of texts at" in documents.words.object
    assert "not in the order of the text" in documents.words.object


def test_the_page_names_the_command_that_stores_the_texts_of_a_bundled_corpus():
    assert "python -m data.build_rfc --texts" in explain_missing_text("rfc")
    assert set(TEXT_COMMANDS) == set(FILES)
    assert "build it again with “Keep the document text”" in explain_missing_text("mine")


def test_a_word_that_the_corpus_lacks_is_reported_with_the_most_similar_ones(job, progress):
    explorer = TopicExplorer(RunState(shows_reading=True), NO_COMMANDS)
    read(explorer, job, progress)
    explorer.search_field.value = "nosuchword"
    assert explorer.search_field.error_state
    assert "nosuchword" in explorer.search_field.helper_text


def test_a_selected_topic_that_is_not_in_use_is_the_one_that_the_menu_shows(job, progress):
    state = RunState(shows_reading=True)
    explorer = TopicExplorer(state, NO_COMMANDS)
    read(explorer, job, progress)
    gone, *_ = set(job.reading.summary.topic_ids.tolist()) - set(explorer.topic.options.values())
    state.topic = gone
    assert explorer.topic.value == gone
    assert explorer.topic.options[f"topic {gone} · not in use"] == gone


def test_a_reading_behind_its_run_says_so(job, progress):
    assert not is_behind(job, progress)
    later = replace(progress, documents_seen=progress.documents_seen + 256)
    assert is_behind(job, later)
    assert f"The run has now learned from {later.documents_seen:,} documents." in describe_reading(
        job, later
    )
    assert "of an earlier run" in describe_reading(job, replace(progress, run_id=2))


def test_a_reading_that_has_failed_says_why(progress):
    assert "not callable" in describe_reading(
        ReadingJob(status="failed", message="not callable"), progress
    )


def test_a_reading_of_one_document_counts_it_as_one_and_says_that_no_topic_is_in_use(job, progress):
    corpus = replace(job.reading.model, corpus=job.reading.corpus.select(np.arange(12) == 0))
    few = replace(job, reading=replace(job.reading, model=corpus, used=job.reading.used[:0]))
    said = describe_reading(few, progress)
    learned = f"{progress.documents_seen} documents"
    assert said == f"Topics of the only document, inferred with the model after {learned}."
    assert describe_reading(replace(few, status="reading"), progress).endswith(f"after {learned} …")
    explorer = TopicExplorer(RunState(shows_reading=True), NO_COMMANDS)
    read(explorer, few, progress)
    assert explorer.words.note == explorer.near.note == explorer.typical.note == NO_TOPIC


def test_views_without_a_reading_say_what_is_missing():
    state = RunState(shows_reading=True)
    for view in (
        TopicExplorer(state, NO_COMMANDS),
        TopicMap(state),
        Calendar(state),
        DocumentBrowser(state),
    ):
        read(view, ReadingJob(), Progress())
    assert "after the first mini-batch" in describe_reading(ReadingJob(), Progress())


def test_the_map_names_its_largest_topics_for_each_width_and_shows_earlier_sizes_in_a_replay(
    job, progress
):
    view = TopicMap(RunState(shows_reading=True))
    read(view, job, progress)
    shown = len(job.reading.used)
    assert shown <= 15
    assert view.plot.labels.data["narrow"] == [False] * shown + [True] * shown
    first = int(job.reading.summary.topic_ids[job.reading.used[0]])
    tokens = np.array([2.0, 0.0])
    then = Moment(
        5, None, np.array([first, 10**6]), np.array([1.0, 0.0]), tokens, np.zeros((2, 10), int), 1
    )
    view.state.param.update(shown=replace(progress, status=REPLAYED, now=then), replayed=(then,))
    assert view.plot.source.data["topic_id"] == [first]
    assert view.plot.source.data["share"] == [1.0]
    view.state.param.update(shown=progress, replayed=None)
    assert len(view.plot.source.data["topic_id"]) == shown


def test_the_lines_through_time_are_the_values_of_the_page_time_and_that_of_a_pointed_topic_is_thick(
    job, progress
):
    state = RunState(shows_reading=True)
    view = TopicMap(state)
    read(view, job, progress)
    reading = job.reading
    lines, unit = topic_lines(reading, progress.topic_title)
    assert view.lines_chart.visible
    frame = calendar_frame(reading, unit, "share of tokens", None, progress.topic_title).dropna()
    for row in lines.itertuples():
        of_topic = frame[frame["topic_id"] == row.topic_id]
        assert of_topic.empty or row.ys == pytest.approx(of_topic["value"].tolist())
    assert set(lines["topic_id"]) >= set(frame["topic_id"]) - {REST}
    # The first period of the first topic in use, added up document by document.
    corpus, tokens = reading.corpus, reading.doc_tokens
    first = min(corpus.dates[~np.isnat(corpus.dates)]).astype(
        f"datetime64[{'Y' if unit != 'month' else 'M'}]"
    )
    length = 10 - int(first.astype(int)) % 10 if unit == "decade" else 1
    end = first + np.timedelta64(length, np.datetime_data(first)[0])
    rows = np.flatnonzero(corpus.dates < end.astype("datetime64[D]"))
    shares = reading.doc_shares.toarray()[rows, reading.used[0]]
    assert lines["ys"].iloc[0][0] == pytest.approx(
        (shares * tokens[rows]).sum() / tokens[rows].sum()
    )
    drawn = view.lines.lines.data
    pointed = drawn["topic_id"][-1]
    state.pointed_topic = pointed
    assert [
        topic_id
        for topic_id, width in zip(drawn["topic_id"], drawn["width"], strict=True)
        if width > 1
    ] in (
        [pointed],
        [state.topic, pointed],
    )


def test_a_word_that_is_pointed_at_makes_the_dots_of_other_topics_faint(job, progress, monkeypatch):
    # The corpus is so small that every word is in every topic, if only little.
    monkeypatch.setattr(reading_frames, "SMALLEST_HOLDER", 0.3)
    state = RunState(shows_reading=True)
    explorer, view = TopicExplorer(state, NO_COMMANDS), TopicMap(state)
    for each in (explorer, view):
        read(each, job, progress)
    assert set(view.plot.source.data["alpha"]) == {DOT_ALPHA}
    topics, tokens = job.reading.summary.topics, job.reading.summary.expected_tokens
    shares = (topics.T * tokens / (topics.T @ tokens)[:, None])[:, job.reading.used]
    word, *_ = np.flatnonzero((shares < 0.3).any(1) & (shares > 0.5).any(1))
    state.pointed_word = int(word)
    ids = job.reading.summary.topic_ids[job.reading.used]
    lit = {int(topic_id) for topic_id, share in zip(ids, shares[word], strict=True) if share >= 0.3}
    dots = zip(view.plot.source.data["topic_id"], view.plot.source.data["alpha"], strict=True)
    assert {topic_id for topic_id, alpha in dots if alpha == DOT_ALPHA} == lit
    word = explorer.words.rows[0]["key"]
    # A row that is not in the list counts as none.
    for message in ({"pointed": -1}, {"pointed": "x"}, {"pointed": None}):
        send(explorer.words, {"pointed": word})
        send(explorer.words, message)
        assert state.pointed_word is None
    assert set(view.plot.source.data["alpha"]) == {DOT_ALPHA}


def test_a_topic_that_is_pointed_at_shows_its_words_until_the_pointer_leaves_it(job, progress):
    state = RunState(shows_reading=True)
    explorer, view = TopicExplorer(state, NO_COMMANDS), TopicMap(state)
    for each in (explorer, view):
        read(each, job, progress)
    own, chosen = explorer.words.rows, state.topic
    other = next(topic_id for topic_id in view.plot.source.data["topic_id"] if topic_id != chosen)
    view.plot.pointed.data = {"topic_id": [other]}
    assert (state.topic, state.pointed_topic) == (chosen, other)
    place = job.reading.position(other)
    assert explorer.words.rows == word_rows(job.reading, place, RELEVANCE)
    assert explorer.words.rows != own
    assert [alpha for alpha in view.plot.source.data["alpha"] if alpha == DOT_ALPHA] == [DOT_ALPHA]
    for message in ([], [10**9], ["x"], [[other]]):
        view.plot.pointed.data = {"topic_id": [other]}
        view.plot.pointed.data = {"topic_id": message}
        assert state.pointed_topic is None
        assert explorer.words.rows == own
    near = explorer.near.rows[0]["key"]
    send(explorer.near, {"pointed": near})
    assert explorer.words.rows == word_rows(job.reading, job.reading.position(near), RELEVANCE)
