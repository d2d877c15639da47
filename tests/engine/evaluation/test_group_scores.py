"""Held-out scores by group: against sums by hand, and the coverage of their intervals."""

import numpy as np
import pytest
from scipy.stats import t as student

from stickbreaker.engine.evaluation.group_scores import DocScores, score_frame
from stickbreaker.engine.evaluation.group_shares import Groups


def draw_scores(rng, number):
    """Nats and held-out tokens of very different texts, of which some are harder to predict."""
    tokens = rng.geometric(0.1, number)
    noise = np.sqrt(tokens) * rng.normal(0, 2, number)
    return DocScores(tokens * rng.normal(-7, 0.5, number) + noise, tokens)


def test_scores_and_errors_equal_sums_by_hand():
    rng = np.random.default_rng(0)
    passages = draw_scores(rng, 40)
    passages.nats[:4] = passages.tokens[:4] = 0
    # Texts of two passages each, some in no group, and a group of one text.
    texts = np.repeat(np.arange(20), 2)
    of_text = np.append(rng.integers(-1, 2, 19), 2)
    groups = Groups(of_text[texts], ("ours", "theirs", "single", "empty"), texts)
    frame = score_frame(passages, groups).set_index("group")
    for number, name in enumerate(("ours", "theirs")):
        own = [text for text in range(2, 20) if of_text[text] == number]
        nats = [passages.nats[texts == text].sum() for text in own]
        tokens = [passages.tokens[texts == text].sum() for text in own]
        mean = sum(nats) / sum(tokens)
        parts = [each / sum(tokens) for each in tokens]
        # The mean is a mean of the texts: it is nearer to them than the true one is.
        nats = np.array([passages.nats[texts == text].sum() for text in own])
        tokens = np.array([passages.tokens[texts == text].sum() for text in own])
        mean = nats.sum() / tokens.sum()
        parts = tokens / tokens.sum()
        # The mean is a mean of the texts: it is nearer to them than the true one is.
        free = (tokens**2 * (1 - 2 * parts + parts @ parts)).sum()
        error = np.sqrt(((nats - mean * tokens) ** 2).sum() / free * (parts @ parts))
        row = frame.loc[name]
        assert row["nats_per_word"] == pytest.approx(mean)
        assert row["standard_error"] == pytest.approx(error)
        free = 1 / (parts @ parts) - 1
        assert row["high"] == pytest.approx(mean + student.ppf(0.975, free) * error)
        assert row["low"] == pytest.approx(mean - student.ppf(0.975, free) * error)
        assert (row["documents"], row["tokens"]) == (2 * len(own), tokens.sum())
    assert frame["nats_per_word"]["single"] == pytest.approx(
        passages.nats[38:].sum() / passages.tokens[38:].sum()
    )
    assert frame.loc[["single", "empty"], ["standard_error", "low", "high"]].isna().all(axis=None)
    assert np.isnan(frame["nats_per_word"]["empty"])
    assert frame["documents"].tolist()[2:] == [2, 0]


@pytest.mark.parametrize("size", [5, 20, 100])
def test_19_of_20_intervals_of_groups_drawn_at_random_contain_the_whole_score(size):
    rng = np.random.default_rng(size)
    scores = draw_scores(rng, 20_000)
    names = tuple(map(str, range(20_000 // size)))
    groups = Groups(rng.permutation(np.arange(20_000) // size), names, np.arange(20_000))
    frame = score_frame(scores, groups)
    whole = scores.nats.sum() / scores.tokens.sum()
    held = (frame["low"] <= whole) & (whole <= frame["high"])
    # Small groups of very different texts have wider intervals.
    assert 0.94 < held.mean() < 0.985
