"""The corpus of pictures: drawn from ten known topics."""

import numpy as np

from stickbreaker.engine import load_corpus
from stickbreaker.engine.corpora.bars import (
    DOC_LENGTH,
    PIXELS,
    bar_topics,
    find_true_topics,
    simulate_bars,
)


def test_each_topic_is_one_row_or_one_column_of_a_picture():
    pictures = bar_topics().reshape(-1, 5, 5)
    lines = [picture / picture.max() for picture in pictures]
    assert all((line == line[:1]).all() or (line == line[:, :1]).all() for line in lines)
    assert len(np.unique(lines, axis=0)) == 10
    assert np.allclose(pictures.sum((1, 2)), 1)


def test_a_document_has_a_hundred_tokens_of_a_few_topics():
    corpus = simulate_bars(200)
    assert (corpus.counts.sum(1) == DOC_LENGTH).all()
    assert corpus.counts.shape == (200, 25)
    assert not corpus.has_dates
    # A document of one bar has five pixels; one of all topics has nearly all 25.
    assert np.median(np.diff(corpus.counts.indptr)) < 20


def test_the_mean_picture_is_that_of_all_topics_within_five_standard_errors():
    shares = simulate_bars(4000).counts.toarray() / DOC_LENGTH
    errors = shares.std(0) / np.sqrt(len(shares))
    assert (abs(shares.mean(0) - bar_topics().mean(0)) < 5 * errors).all()


def test_a_seed_gives_the_same_pictures_again_and_another_gives_others():
    first, again, other = (simulate_bars(20, seed).counts.toarray() for seed in (1, 1, 2))
    assert (first == again).all()
    assert (first != other).any()
    assert (load_corpus("bars").counts[:20] != load_corpus("bars").counts[:20]).nnz == 0


def test_true_topics_are_known_for_words_that_are_pixels_only():
    assert (find_true_topics(simulate_bars(1).vocabulary) == bar_topics()).all()
    for words in ((), PIXELS[::-1], PIXELS[:-1]):
        assert not len(find_true_topics(words))
