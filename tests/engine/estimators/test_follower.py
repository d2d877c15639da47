"""Models that follow a stream of texts."""

import json
import os

import numpy as np
import pytest
from scipy.sparse import csr_array

from stickbreaker.engine.corpora.rows import CorpusError
from stickbreaker.engine.corpora.word_choices import WordChoices
from stickbreaker.engine.estimators import Follower, OnlineHDP, OnlineLDA, load
from stickbreaker.engine.estimators.counts import as_corpus
from stickbreaker.engine.evaluation.held_out import PartScorer
from tests.engine.estimators.small_models import TEXTS, bits, make, of_online

ROWS = [
    (1860 + place, text)
    for place, text in enumerate([*TEXTS, "army ship ship", "ship army", *TEXTS, "war ship"])
]
CHOICES = WordChoices(max_words=9)


def follower(kind, **parameters):
    """A follower of a small model, which takes mini-batches of four."""
    return Follower(make(kind, **parameters), CHOICES, corpus_size=100)


@of_online
def test_a_stream_in_any_pieces_gives_the_same_state_and_events(kind):
    whole = follower(kind)
    events = list(whole.follow(iter(ROWS)))
    assert [event.documents_seen for event in events] == [4, 8, 12]
    for ends in ([1, 2, 9], [4, 8, 12], [7], range(len(ROWS))):
        pieces = follower(kind)
        parts = np.split(np.arange(len(ROWS)), ends)
        again = [
            event for part in parts for event in pieces.follow([ROWS[place] for place in part])
        ]
        assert bits(pieces.model) == bits(whole.model)
        assert [str(event) for event in again] == [str(event) for event in events]
        assert pieces.num_waiting == whole.num_waiting == 3


@of_online
def test_documents_of_an_interrupted_step_wait_for_the_next_one(kind, monkeypatch):
    whole, interrupted = follower(kind), follower(kind)
    expected = [event.documents_seen for event in whole.follow(ROWS)]
    rows = iter(ROWS)
    first = next(interrupted.follow(rows))

    def interrupt(*arguments, **settings):
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(interrupted.model, "partial_fit", interrupt)
        with pytest.raises(KeyboardInterrupt):
            next(interrupted.follow(rows))
    assert (interrupted.num_waiting, interrupted.model.documents_seen_) == (4, 4)
    rest = interrupted.follow(rows)
    assert [first.documents_seen, *(event.documents_seen for event in rest)] == expected
    assert bits(interrupted.model) == bits(whole.model)
    assert interrupted.num_waiting == whole.num_waiting


@of_online
def test_a_growing_vocabulary_learns_as_one_that_is_known_from_the_start(kind):
    following, known = follower(kind), make(kind)
    for event in following.follow(ROWS[:8]):
        columns = {word: place for place, word in enumerate(following.model.words_)}
        counts = np.zeros((4, 9), int)
        for row, (_, text) in enumerate(ROWS[event.documents_seen - 4 : event.documents_seen]):
            for word in text.split():
                if word != "and":
                    counts[row, columns[word]] += 1
        known.partial_fit(csr_array(counts), corpus_size=100)
        assert bits(known) == bits(following.model)


def test_words_keep_their_columns_and_words_beyond_the_last_column_are_counted():
    following = Follower(make(OnlineHDP), WordChoices(max_words=6), corpus_size=100)
    first, second = following.follow(ROWS[:8])
    assert first.new_words == ("army", "cotton", "navy", "tariff", "trade", "war")
    assert following.model.words_ == first.new_words
    assert (second.new_words, second.num_words, second.tokens_left_out) == ((), 6, 3)
    assert (str(second.first_date), str(second.last_date)) == ("1864", "1867")


@of_online
def test_a_mini_batch_is_scored_by_the_words_known_before_the_model_learns_from_it(kind):
    following, before = follower(kind), follower(kind)
    first, second = following.follow(ROWS[:8])
    assert np.isnan(first.nats_per_word)
    list(before.follow(ROWS[:4]))
    model, columns = before.model, {word: place for place, word in enumerate(before.model.words_)}
    counts = np.zeros((4, 9), int)
    for row, (_, text) in enumerate(ROWS[4:8]):
        for word in text.split():
            if word in columns:
                counts[row, columns[word]] += 1
    (batch,) = as_corpus(counts).batches(4)
    scorer = PartScorer(
        algorithm=model.algorithm, config=model.config_, state=model.state_, seed=model.seed_
    )
    nats, num_tokens = scorer.score(batch._replace(doc_ids=np.arange(4, 8)))
    assert num_tokens
    assert second.nats_per_word == nats
    assert (second.num_tokens, following.batch_size) == (10, 4)


def test_a_new_word_needs_the_documents_that_the_choices_ask_for():
    choices = WordChoices(max_words=9, min_documents=2)
    (event,) = Follower(make(OnlineHDP), choices, corpus_size=100).follow(ROWS[:4])
    assert event.new_words == ("cotton", "navy", "trade", "war")
    assert event.tokens_left_out == 2


def test_a_saved_model_continues_with_its_words_and_word_choices(tmp_path):
    whole, part = follower(OnlineHDP), follower(OnlineHDP)
    list(whole.follow(ROWS[:12]))
    list(part.follow(ROWS[:4]))
    part.model.save(tmp_path / "model.npz")
    resumed = Follower(load(tmp_path / "model.npz"), corpus_size=100)
    assert resumed.choices == CHOICES
    list(resumed.follow(ROWS[4:12]))
    assert bits(resumed.model) == bits(whole.model)
    assert resumed.model.words_ == whole.model.words_


def test_the_dates_of_a_stream_are_read_in_one_order_that_the_model_keeps(tmp_path):
    days = ["13/4/1863", "14/4/1863", "15/4/1863", "16/4/1863", *["3/5/1863"] * 8]
    rows = [(day, text) for day, (_, text) in zip(days, ROWS, strict=False)]
    following = follower(OnlineLDA)
    events = list(following.follow(rows))
    following.model.save(tmp_path / "model.npz")
    again = Follower(load(tmp_path / "model.npz"), CHOICES, corpus_size=100)
    events += again.follow(rows[4:8])
    assert [str(event.first_date) for event in events] == ["1863-04-13", *["1863-05-03"] * 3]


def test_a_stream_that_shows_its_order_later_says_so_and_follows_it():
    days = [*["3/5/1863"] * 4, *["13/5/1863"] * 4]
    rows = [(day, text) for day, (_, text) in zip(days, ROWS, strict=False)]
    following = follower(OnlineLDA)
    with pytest.warns(UserWarning, match="set day_first"):
        (event,) = following.follow(rows[:4])
    assert str(event.first_date) == "1863-03-05"
    with pytest.warns(UserWarning, match="in the other order than earlier dates"):
        (event,) = following.follow(rows[4:])
    assert str(event.first_date) == "1863-05-13"
    chosen = Follower(make(OnlineLDA), CHOICES, corpus_size=100, day_first=True)
    events = list(chosen.follow(rows))
    assert [str(event.first_date) for event in events] == ["1863-05-03", "1863-05-13"]


def test_a_file_that_grows_is_continued_where_it_was_left(tmp_path):
    path, whole, growing = tmp_path / "stream.jsonl", follower(OnlineLDA), follower(OnlineLDA)
    list(whole.follow(ROWS))
    for row in ROWS:
        with path.open("a") as stream:
            stream.write(json.dumps({"date": row[0], "text": row[1]}) + "\n")
        list(growing.follow(path))
    assert bits(growing.model) == bits(whole.model)


def test_a_model_without_words_is_refused(tiny_corpus):
    model = make(OnlineLDA).fit(tiny_corpus.counts)
    with pytest.raises(ValueError, match="does not know its words: give a new model"):
        Follower(model)


CHANGING = [
    "war navy",
    "war army",
    "trade cotton",
    "trade tariff",
    "ship sail",
    "ship sea",
    "war peace",
    "ship war",
]


def follow_changing(kind, texts, drop_after=1):
    """Follow texts with five columns, two at once; return the follower and its events."""
    model = make(kind, batch_size=2)
    following = Follower(model, WordChoices(max_words=5), corpus_size=100, drop_after=drop_after)
    return following, list(following.follow([(1860, text) for text in texts]))


@of_online
def test_the_rarest_words_that_no_longer_occur_give_their_columns_to_new_ones(kind):
    following, events = follow_changing(kind, CHANGING)
    assert [event.new_words for event in events] == [
        ("army", "navy", "war"), ("cotton", "tariff", "trade"), ("sail", "sea", "ship"), ("peace",),
    ]  # fmt: skip
    assert [event.dropped_words for event in events] == [
        (), ("army", "navy"), ("cotton", "tariff", "trade"), ("sail",),
    ]  # fmt: skip
    assert following.model.words_ == ("peace", "sea", "war", "ship", "unused 4")
    assert following.model.components_.shape[1] == 5


def test_a_dropped_word_leaves_no_trace_in_the_topics():
    following, _ = follow_changing(OnlineLDA, CHANGING[:4])
    topics = following.model.state_.topic_counts
    before = topics.dense()
    forgotten = topics.forget(np.array([0, 2]), like=4)
    np.testing.assert_array_equal(forgotten.dense()[[0, 2]], before[[4, 4]])
    np.testing.assert_array_equal(forgotten.dense()[[1, 3, 4]], before[[1, 3, 4]])
    np.testing.assert_allclose(forgotten.totals, forgotten.dense().sum(0), rtol=1e-6)
    np.testing.assert_array_equal(topics.dense(), before)


def test_an_edit_cannot_be_undone_once_words_have_been_dropped():
    model = make(OnlineHDP, batch_size=2)
    following = Follower(model, WordChoices(max_words=5), corpus_size=100, drop_after=1)
    learned = following.follow((None, text) for text in CHANGING)
    next(learned)
    model.seed_topic([following.model.words_[0]])
    assert any(event.dropped_words for event in learned)
    with pytest.raises(ValueError, match="before its last edit is not known"):
        model.undo()


def test_words_that_may_not_be_dropped_keep_their_columns():
    _, events = follow_changing(OnlineLDA, CHANGING, drop_after=9)
    assert [event.dropped_words for event in events] == [()] * 4
    assert [event.num_words for event in events] == [3, 4, 4, 4]
    assert [event.tokens_left_out for event in events] == [0, 2, 4, 2]


def test_a_stream_with_dropped_words_in_any_pieces_gives_the_same_state():
    whole, _ = follow_changing(OnlineHDP, CHANGING)
    model = make(OnlineHDP, batch_size=2)
    pieces = Follower(model, WordChoices(max_words=5), corpus_size=100, drop_after=1)
    for text in CHANGING:
        list(pieces.follow([(1860, text)]))
    assert bits(pieces.model) == bits(whole.model)
    assert pieces.model.words_ == whole.model.words_


def test_a_wrong_number_of_mini_batches_and_a_model_without_room_are_refused():
    for wrong in (0, 1.5, "two"):
        with pytest.raises(ValueError, match="drop_after is .*: give a whole number of at least 1"):
            Follower(make(OnlineLDA), CHOICES, drop_after=wrong)
    full = Follower(make(OnlineLDA), WordChoices(max_words=3), corpus_size=100)
    list(full.follow(ROWS[:4]))
    with pytest.raises(ValueError, match="no unused column for drop_after"):
        Follower(full.model, drop_after=1)


def test_a_folder_is_followed_in_the_order_in_which_its_files_were_changed(tmp_path):
    whole, in_folder = follower(OnlineLDA), follower(OnlineLDA)
    list(whole.follow(ROWS))
    for place, (date, text) in enumerate(ROWS):
        (tmp_path / f"{chr(122 - place)} {date}.txt").write_text(text)
        os.utime(tmp_path / f"{chr(122 - place)} {date}.txt", (place + 1, place + 1))
        if place in (3, 9):
            list(in_folder.follow(tmp_path))
    events = list(in_folder.follow(tmp_path))
    assert bits(in_folder.model) == bits(whole.model)
    assert str(events[-1].last_date) == str(ROWS[11][0])


def test_a_table_is_refused(tmp_path):
    (tmp_path / "news.csv").write_text("text\nwar\n")
    with pytest.raises(
        CorpusError,
        match=r"news.csv cannot be followed, because tables do not grow: write its rows",
    ):
        list(Follower(OnlineHDP(random_state=0)).follow(tmp_path / "news.csv"))
