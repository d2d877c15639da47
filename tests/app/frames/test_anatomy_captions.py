"""Captions under the hood follow from what the record of an algorithm says."""

from dataclasses import replace

import pytest

from stickbreaker.app.frames.anatomy_captions import (
    AVERAGE,
    BOUND,
    RATE,
    explain_bound,
    explain_rate,
)
from stickbreaker.app.model.progress import Progress
from stickbreaker.engine import find_algorithm


@pytest.mark.parametrize(
    ("name", "caption"),
    [
        ("hdp", RATE.format(moved="λ, u and v")),
        ("dp-mixture", RATE.format(moved="λ, u and v")),
        ("lda", RATE.format(moved="λ")),
        ("free-hdp", "S/n<sub>t</sub>"),
        ("gibbs-hdp", "no learning rate"),
        ("cv-lda", "no learning rate"),
    ],
)
def test_the_learning_rate_is_described_for_each_kind_of_algorithm(name, caption):
    assert caption in explain_rate(Progress(algorithm=name))


def test_after_the_only_pass_the_rate_of_a_later_pass_is_explained():
    run = Progress(
        algorithm="hdp", config=find_algorithm("hdp").config(), corpus_size=9, documents_total=9
    )
    assert AVERAGE not in explain_rate(run)
    assert AVERAGE in explain_rate(replace(run, status="finished"))


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
