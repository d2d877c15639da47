"""The enumerated evidence of a five-token corpus, against which other tests hold the bound."""

import numpy as np
import pytest
from scipy.special import logsumexp

from tests.enumeration import (
    CONCENTRATIONS,
    franchise,
    log_evidence_truncated,
    log_restaurant,
    partitions,
)


def test_the_truncated_evidence_tends_to_that_of_the_chinese_restaurant_franchise():
    exact = np.exp(logsumexp([log_joint for *_, log_joint in franchise(**CONCENTRATIONS)]))
    gaps = [abs(np.exp(log_evidence_truncated(size, size)) - exact) for size in (1, 2, 3)]
    assert gaps == sorted(gaps, reverse=True)
    for size, gap in zip((1, 2, 3), gaps, strict=True):
        # The two models differ only where one of five tokens, or one of their tables, is at the
        # last stick.
        beyond = [
            a / (1 + a) for a in (CONCENTRATIONS[f"{of}_concentration"] for of in ("doc", "corpus"))
        ]
        assert gap <= 5 * sum(share ** (size - 1) for share in beyond)


def test_the_probabilities_of_all_seatings_of_a_restaurant_sum_to_one():
    for size in (1, 3, 5):
        total = logsumexp([log_restaurant(groups, 0.7) for groups in partitions(size)])
        assert total == pytest.approx(0.0, abs=1e-12)
