"""Shares of topics by document and by period, against sums by hand."""

import numpy as np
import pytest
from scipy.sparse import csr_array

from stickbreaker.engine.algorithms import REGISTRY
from stickbreaker.engine.evaluation.doc_shares import (
    MEASURES,
    add_up,
    divide,
    find_typical,
    read_shares,
)

DATES = np.array(["1801", "1809", "NaT", "1823", "1823"], "datetime64[Y]")
SHARES = csr_array(np.array([[1.0, 0.0], [0.25, 0.75], [0.5, 0.5], [0.0, 1.0], [0.6, 0.4]]))
TOKENS = np.array([10, 20, 40, 5, 5])


def test_shares_of_documents_equal_the_inferred_ones(tiny_corpus):
    algorithm = REGISTRY[0]
    config = algorithm.config(max_topics=5)
    state = algorithm.init(config, tiny_corpus.vocab_size, np.random.default_rng(0))
    reports = []
    shares = read_shares(
        algorithm, config, state, tiny_corpus, lambda done: reports.append(done) or True
    )
    np.testing.assert_allclose(
        shares.toarray(), algorithm.infer(config, state, tiny_corpus.documents()), atol=0.02
    )
    np.testing.assert_allclose(shares.sum(1), 1.0, rtol=1e-5)
    assert reports[-1] == tiny_corpus.num_documents


def test_reading_ends_when_the_report_returns_false(tiny_corpus):
    algorithm = REGISTRY[0]
    config = algorithm.config(max_topics=5)
    state = algorithm.init(config, tiny_corpus.vocab_size, np.random.default_rng(0))
    assert read_shares(algorithm, config, state, tiny_corpus, lambda done: False) is None


def test_periods_include_every_one_between_the_first_and_the_last():
    years = divide(DATES, "year")
    assert (years.names[0], years.names[-1], len(years.names)) == ("1801", "1823", 23)
    assert years.of_document.tolist() == [0, 8, -1, 22, 22]
    decades = divide(DATES, "decade")
    assert decades.names == ("1800s", "1810s", "1820s")
    assert decades.of_document.tolist() == [0, 0, -1, 2, 2]
    assert divide(np.array(["1969-04", "1969-06"], "datetime64[M]"), "month").names == (
        "1969-04",
        "1969-05",
        "1969-06",
    )


def test_periods_of_equal_counts_have_equal_sizes_and_are_named_by_their_dates():
    halves = divide(DATES, "equal counts", number=2)
    assert halves.of_document.tolist() == [0, 0, -1, 1, 1]
    assert halves.names == ("1801 to 1809", "1823")


@pytest.mark.parametrize("unit", ["year", "equal counts"])
def test_without_dates_there_are_no_periods(unit):
    periods = divide(np.full(3, "NaT", "datetime64[Y]"), unit)
    assert periods.names == ()
    assert add_up(SHARES[:3], TOKENS[:3], periods, "tokens").shape == (0, 2)


def test_measures_by_period_equal_sums_by_hand():
    decades = divide(DATES, "decade")
    tokens, documents, share = (
        add_up(SHARES, TOKENS, decades, each) for each in ("tokens", *MEASURES[1::-1])
    )
    np.testing.assert_allclose(tokens, [[15, 15], [0, 0], [3, 7]])
    np.testing.assert_allclose(documents, [[0.5, 0.5], [np.nan, np.nan], [0.5, 0.5]])
    np.testing.assert_allclose(share, [[0.5, 0.5], [np.nan, np.nan], [0.3, 0.7]])


def test_typical_documents_are_mostly_about_the_topic_and_have_the_most_tokens_of_it():
    assert find_typical(SHARES, TOKENS, 1, 3).tolist() == [2, 1, 3]
    assert find_typical(
        SHARES, TOKENS, 1, 3, among=np.array([True, False, False, True, True])
    ).tolist() == [3, 4]


@pytest.mark.parametrize(
    "call",
    [lambda: divide(DATES, "week"), lambda: add_up(SHARES, TOKENS, divide(DATES, "year"), "n")],
)
def test_an_error_about_an_unknown_unit_or_measure_lists_the_choices(call):
    with pytest.raises(ValueError, match="choose one of"):
        call()
