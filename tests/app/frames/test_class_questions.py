"""Questions for a class: their right answers follow from the run, and are among the options."""

from dataclasses import replace

import numpy as np
import pytest

from stickbreaker import engine
from stickbreaker.app.frames.class_questions import (
    ABSENT,
    MOST_LETTERS,
    answer_frame,
    ask_first,
    ask_intruder,
    ask_period,
    ask_rate,
    find_first,
    hide_years,
    suggest_words,
)
from stickbreaker.app.model.class_tasks import ClassState, ClassTaskError
from tests.app.small_runs import begin, load_small, small_corpus, small_spec

UNKNOWN = np.full(110, "NaT", "datetime64[D]")


def make_corpus(counts, dates, vocabulary):
    return engine.Corpus("made", counts, vocabulary, dates, [""] * len(dates))


@pytest.fixture(scope="module")
def record():
    """A finished run over the small corpus, with the progress before its second half."""
    spec, corpus = small_spec(), load_small("small")
    record = begin(spec, corpus)
    record.advance()
    early = record.progress(1)
    while not record.is_over:
        record.advance()
    return record, early


def test_the_intruder_is_the_one_word_that_is_not_among_the_likeliest_of_its_topic(record):
    model, progress = record[0].model(), record[0].progress(2)
    summary = model.algorithm.summarize(model.config, model.state)
    asked = [ask_intruder(model, progress, number) for number in range(3)]
    assert len({task.topic_id for task in asked}) > 1
    for task in asked:
        topic = summary.topics[summary.topic_ids == task.topic_id][0]
        shares = [topic[model.corpus.vocabulary.index(word)] for word in task.options]
        assert int(np.argmin(shares)) == task.correct
        assert task.label == progress.topic_title(task.topic_id)


def test_a_word_first_appears_in_the_first_column_that_lists_it(record):
    model, progress = record[0].model(), record[0].progress(2)
    for word in model.corpus.vocabulary.words:
        task = ask_first(word.upper(), model, progress)
        place = model.corpus.vocabulary.index(word)
        listed = [
            any(place in words for words in point.find_words(True)[point.expected_tokens > 1])
            for point in progress.columns
        ]
        assert task.correct == (listed.index(True) if True in listed else len(listed))
        assert task.options[-1] == ABSENT
        assert not task.is_prediction


def test_a_question_about_a_run_that_goes_on_is_a_prediction_that_the_run_settles(record):
    model, early, late = record[0].model(), record[1], record[0].progress(2)
    assert not early.columns
    task = ask_first("word3", model, early)
    assert (task.is_prediction, task.correct, find_first(task, early)) == (True, None, None)
    assert task.columns == tuple(point.documents_seen for point in late.columns)
    assert find_first(task, late) == ask_first("word3", model, late).correct
    assert find_first(task, replace(late, run_id=2)) is None


def test_columns_have_the_date_that_the_run_has_read_up_to(record):
    model, progress = record[0].model(), record[0].progress(2)
    task = ask_first("word3", model, progress)
    dates = [point.date.astype("datetime64[Y]") for point in progress.columns]
    assert task.options[:-1] == tuple(f"up to {date}" for date in dates)
    shuffled = replace(progress, settings=replace(progress.settings, order="shuffled"))
    assert ask_first("word3", model, shuffled).options[0].startswith("after ")


def test_a_word_that_the_corpus_does_not_have_is_refused(record):
    with pytest.raises(ClassTaskError, match="zebra"):
        ask_first("zebra", record[0].model(), record[0].progress(2))


def test_words_to_ask_about_are_those_that_are_used_late(record):
    counts = np.zeros((40, 3), int)
    counts[:, 0], counts[30:, 1], counts[:10, 2] = 1, 5, 5
    corpus = make_corpus(counts, UNKNOWN[:40], engine.Vocabulary(("always", "late", "early")))
    model = replace(record[0].model(), corpus=corpus, train=corpus)
    assert suggest_words(model) == ["late", "always", "early"]


def test_the_period_of_a_passage_is_the_one_with_its_date_and_periods_hold_equally_many(record):
    corpus, found = small_corpus(), []
    for number in range(30):
        task = ask_period(corpus, number)
        spans = [[int(year[:4]) for year in option.split(" to ")] for option in task.options]
        words = {corpus.vocabulary.index(word) for word in task.shown.split(", ")}
        rows = [
            row
            for row in range(corpus.num_documents)
            if set(corpus.counts[[row]].indices.tolist()) == words
        ]
        years = corpus.dates[rows].astype("datetime64[Y]").astype(int) + 1970
        first, last = spans[task.correct][0], spans[task.correct][-1] + 9
        assert any(first <= year <= last for year in years.tolist())
        found.append(task.correct)
    assert len(task.options) == 6
    assert len(set(found)) > 3


def test_a_passage_is_shown_as_text_if_it_is_stored_and_by_its_words_otherwise():
    corpus, read = small_corpus(), []

    def read_text(row):
        read.append(row)
        return f"Passage {row} of 1846."

    told, plain = ask_period(corpus, 3, read_text=read_text), ask_period(corpus, 3)
    assert (told.options, told.correct) == (plain.options, plain.correct)
    assert told.shown == f"Passage {read[0]} of [year]."
    assert told.question == "From which period is this passage?"
    words = {corpus.vocabulary.index(word) for word in plain.shown.split(", ")}
    assert set(corpus.counts[[read[0]]].indices.tolist()) == words
    assert plain.question == "From which period is the passage with these words?"


def test_a_long_passage_ends_at_a_word_and_numbers_that_are_no_years_stay():
    text = hide_years("word " * 1000)
    assert text.endswith("word …")
    assert len(text) <= MOST_LETTERS + 2
    assert len(hide_years("x" * 2000)) == MOST_LETTERS + 2
    assert hide_years("In 1846, 21846 men; 3846; 846") == "In [year], 21846 men; 3846; 846"


@pytest.mark.parametrize("dates", [UNKNOWN, np.full(110, "1790", "datetime64[Y]")])
def test_a_corpus_without_dates_that_differ_has_no_question_about_periods(dates):
    corpus = make_corpus(small_corpus().counts, dates, small_corpus().vocabulary)
    with pytest.raises(ClassTaskError, match="dates"):
        ask_period(corpus, 0)


def test_the_table_of_answers_has_a_row_per_option_with_the_key_and_the_topic(record):
    task = ask_intruder(record[0].model(), record[0].progress(2), 0)
    state = (
        ClassState()
        .ask(task)
        .answer("a", 1, 0)
        .answer("b", 1, task.correct)
        .answer("c", 1, task.correct)
        .reveal()
    )
    frame = answer_frame(state.all_results)
    assert frame["option"].tolist() == list(task.options)
    assert frame.loc[frame["is_correct"], "option"].tolist() == [task.options[task.correct]]
    assert int(frame["answers"].sum()) == 3
    assert frame.loc[frame["is_correct"], "answers"].tolist() == [2 + (task.correct == 0)]
    assert set(frame["topic_id"]) == {str(task.topic_id)}
    assert not len(answer_frame(()))


def test_kappa_is_asked_about_only_where_an_algorithm_has_it_and_scores_are_planned(record):
    progress, model = record[0].progress(2), record[0].model()
    task = ask_rate(progress, model.config)
    assert (len(task.options), task.correct) == (len(task.rates), None)
    with pytest.raises(ClassTaskError, match="no forgetting rate"):
        ask_rate(progress, engine.find_algorithm("gibbs-hdp").config())
    with pytest.raises(ClassTaskError, match="no held-out scores"):
        ask_rate(
            replace(progress, settings=replace(progress.settings, num_evaluations=0)), model.config
        )
