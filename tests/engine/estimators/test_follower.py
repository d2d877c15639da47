"""Models that follow a stream of texts."""

import json

import numpy as np
import pytest
from scipy.sparse import csr_array

from stickbreaker.engine.corpora.words import WordChoices
from stickbreaker.engine.estimators import Follower, OnlineHDP, OnlineLDA, load
from tests.engine.estimators.small_models import TEXTS, bits, make, of_online

ROWS = [(1860 + place, text) for place, text in enumerate([*TEXTS, "army ship ship", "ship army", *TEXTS, "war ship"])]
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
        again = [event for part in parts for event in pieces.follow([ROWS[place] for place in part])]
        assert bits(pieces.model) == bits(whole.model)
        assert [str(event) for event in again] == [str(event) for event in events]
        assert pieces.num_waiting == whole.num_waiting == 3


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


def test_a_new_word_needs_the_documents_that_the_choices_ask_for():
    choices = WordChoices(max_words=9, min_documents=2)
    (event,) = Follower(make(OnlineHDP), choices, corpus_size=100).follow(ROWS[:4])
    assert event.new_words == ("cotton", "navy", "trade", "war")
    assert event.tokens_left_out == 2


def test_a_saved_model_continues_with_its_words(tmp_path):
    whole, part = follower(OnlineHDP), follower(OnlineHDP)
    list(whole.follow(ROWS[:12]))
    list(part.follow(ROWS[:4]))
    part.model.save(tmp_path / "model.npz")
    resumed = Follower(load(tmp_path / "model.npz"), CHOICES, corpus_size=100)
    list(resumed.follow(ROWS[4:12]))
    assert bits(resumed.model) == bits(whole.model)
    assert resumed.model.words_ == whole.model.words_


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
