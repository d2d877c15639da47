"""The bound against log p(words) of a five-token corpus, by summing over all assignments."""

import numpy as np
import pytest
from scipy.special import logsumexp

from stickbreaker.engine.algorithms.hdp import HDPConfig
from stickbreaker.engine.kernels.two_level import Limits
from tests import naive
from tests.enumeration import (
    CONCENTRATIONS,
    DOCUMENTS,
    VOCAB_SIZE,
    franchise,
    log_evidence_truncated,
    log_restaurant,
    partitions,
)

CONFIG = HDPConfig(**CONCENTRATIONS)


def ascend(num_topics, num_slots, rng, num_rounds):
    """The bound after each round of Eq. 15-21 over the whole corpus."""
    documents = [
        (np.unique(w), np.unique(w, return_counts=True)[1].astype(float)) for w in DOCUMENTS
    ]
    lam, tables = rng.gamma(1.0, 1.0, (num_topics, VOCAB_SIZE)) + 0.1, rng.random(num_topics)
    limits = Limits(num_slots, num_topics, 50, 1e-12, CONFIG.doc_concentration, True)
    bounds = []
    for _ in range(num_rounds):
        B = np.exp(naive.psi(lam) - naive.psi(lam.sum(1, keepdims=True))).T
        log_beta = naive.log_sticks(*naive.sticks_of(tables, CONFIG.corpus_concentration))
        fits = [
            naive.fit_document(B[words], c, log_beta, log_beta, None, limits)
            for words, c in documents
        ]
        tables = sum(fit.phi.sum(0) for fit in fits)
        lam = np.full((num_topics, VOCAB_SIZE), CONFIG.word_concentration)
        for (words, c), fit in zip(documents, fits, strict=True):
            lam[:, words] += naive.statistics(fit, c)[0].T
        u, v = naive.sticks_of(tables, CONFIG.corpus_concentration)
        bounds.append(naive.bound(documents, fits, u, v, lam, CONFIG))
    return bounds


@pytest.mark.parametrize(("num_topics", "num_slots"), [(1, 2), (2, 1), (2, 2), (3, 2), (3, 3)])
def test_the_bound_never_exceeds_the_enumerated_evidence_of_the_truncated_model(
    num_topics, num_slots
):
    evidence = log_evidence_truncated(num_topics, num_slots)
    for seed in range(5):
        bounds = ascend(num_topics, num_slots, np.random.default_rng(seed), num_rounds=5)
        assert max(bounds) <= evidence
        assert np.isfinite(bounds).all()


def test_with_one_topic_and_one_slot_the_bound_is_the_evidence():
    bounds = ascend(1, 1, np.random.default_rng(0), num_rounds=1)
    assert bounds[-1] == pytest.approx(log_evidence_truncated(1, 1), abs=1e-12)


def test_the_truncated_evidence_tends_to_that_of_the_chinese_restaurant_franchise():
    exact = np.exp(logsumexp([log_joint for *_, log_joint in franchise(**CONCENTRATIONS)]))
    gaps = [abs(np.exp(log_evidence_truncated(size, size)) - exact) for size in (1, 2, 3)]
    assert gaps == sorted(gaps, reverse=True)
    for size, gap in zip((1, 2, 3), gaps, strict=True):
        # The two models differ only where one of five tokens, or one of their tables, is at the
        # last stick.
        beyond = [a / (1 + a) for a in (CONFIG.doc_concentration, CONFIG.corpus_concentration)]
        assert gap <= 5 * sum(share ** (size - 1) for share in beyond)


def test_the_probabilities_of_all_seatings_of_a_restaurant_sum_to_one():
    for size in (1, 3, 5):
        total = logsumexp([log_restaurant(groups, 0.7) for groups in partitions(size)])
        assert total == pytest.approx(0.0, abs=1e-12)
