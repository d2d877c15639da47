"""The commands of tests/benchmarks, each on a tenth of a small corpus: that they run, and what their rows say."""

import time

import numpy as np
import pytest

from engine import load_corpus
from tests.benchmarks import profile, race, robust, speed

NAME = "state-of-the-union"


@pytest.fixture(scope="module")
def few():
    """Some 200 passages, in place of any corpus."""
    corpus = load_corpus(NAME).select(np.arange(0, 10_000, 50))
    return lambda name: corpus


class Stubborn:
    """A model whose topics are flat, and whose every step takes a second."""

    def __init__(self, train, seed):
        self.vocab_size, self.seconds = train.vocab_size, 0.0

    def learn(self, step):
        """Nothing, slowly."""
        self.seconds += 1.0

    def topics(self):
        """One flat topic."""
        return np.full((1, self.vocab_size), 1.0 / self.vocab_size)

    def prior(self):
        """One."""
        return np.ones(1)


def time_once(function):
    """Seconds of a single call."""
    began = time.perf_counter()
    function()
    return time.perf_counter() - began


def test_a_profiles_parts_make_up_the_whole_run(few, monkeypatch):
    monkeypatch.setattr(profile, "load_corpus", few)
    monkeypatch.setattr(profile, "best_seconds", time_once)
    rows = profile.measure(NAME)
    assert sum(row["share"] for row in rows) == pytest.approx(1.0)
    assert {"expectations", "global step", "local step, warm-up", "snapshots"} <= {row["part"] for row in rows}
    assert all(row["seconds"] >= 0 for row in rows)


def test_a_grid_of_settings_says_which_cells_learned(few, monkeypatch):
    monkeypatch.setattr(robust, "load_corpus", few)
    cells = [{"forgetting_rate": 0.6, "delay": delay, "batch_size": 16} for delay in (1.0, 1024.0)]
    grid = robust.judge([robust.measure(NAME, 0, settings) for settings in cells])
    assert grid["learned"].tolist() == [True, False]
    assert robust.summarize(grid).startswith("2 of 2 cells are finite. 1 end")
    assert robust.tabulate(grid)["S=16"].str.contains("†").tolist() == [False, True]


def test_a_race_says_when_each_passed_the_line_and_who_never_did(few, monkeypatch):
    for name, stand_in in (("load_corpus", few), ("SIZES", (5,)), ("TomotopyHDP", Stubborn)):
        monkeypatch.setattr(race, name, stand_in)
    rows = race.measure(NAME, minutes=0.05)
    assert rows[1]["seconds_to_line"] is None
    assert rows[1]["best_nats"] == pytest.approx(-np.log(load_corpus(NAME).vocab_size))
    summary = race.summarize(rows, minutes=0.05)
    assert summary["is_at_least"]
    assert summary["our_nats"] > summary["their_nats"]


def test_rows_of_the_speed_table_hold_least_median_and_greatest_of_a_works_rounds():
    same = {"contestant": "gensim HdpModel", "work": "one pass", "threads": 1, "target": 50, "predictive": "own"}
    (row,) = speed.summarize([{**same, "ratio": ratio, "our_seconds": 1.0} for ratio in (3.0, 1.0, 8.0)])
    assert (row["ratio_min"], row["ratio_median"], row["ratio_max"]) == (1.0, 3.0, 8.0)
    assert {"contestant", "work", "threads", "ratio_min", "ratio_median", "ratio_max", "target"} <= set(row)


@pytest.mark.parametrize("vocab_size", [8_000, 9_000])
def test_renamed_words_keep_their_documents(few, vocab_size):
    corpus = few(NAME)
    renamed = speed.rename_words(corpus, vocab_size)
    assert renamed.vocab_size == vocab_size
    np.testing.assert_array_equal(renamed.counts.sum(1), corpus.counts.sum(1))
    np.testing.assert_array_equal(np.diff(renamed.counts.indptr), np.diff(corpus.counts.indptr))
