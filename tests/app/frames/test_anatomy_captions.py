"""Captions under the hood follow from what the record of an algorithm says."""

import pytest

from stickbreaker.app.frames.anatomy_captions import BOUND, RATE, explain_bound, explain_rate
from stickbreaker.app.model.progress import Progress
from stickbreaker.engine import find_algorithm


@pytest.mark.parametrize(
    ("name", "caption"),
    [
        ("hdp", RATE),
        ("dp-mixture", RATE),
        ("free-hdp", "S/n<sub>t</sub>"),
        ("gibbs-hdp", "no learning rate"),
        ("cv-lda", "no learning rate"),
    ],
)
def test_the_learning_rate_is_described_for_each_kind_of_algorithm(name, caption):
    assert caption in explain_rate(Progress(algorithm=name))


@pytest.mark.parametrize(
    ("name", "caption"),
    [
        ("batch-hdp", "appears after a few passes"),
        ("cv-hdp", "appears after a few passes"),
        ("hdp", "never applies the same λ to all documents"),
        ("free-dp-mixture", "never applies the same λ to all documents"),
        ("gibbs-lda", "draws samples and has no bound"),
    ],
)
def test_the_bound_is_described_for_each_kind_of_algorithm(name, caption):
    algorithm = find_algorithm(name)
    assert caption in explain_bound(algorithm, False, algorithm.title)
    assert explain_bound(algorithm, True, algorithm.title) == BOUND
