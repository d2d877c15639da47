"""Which topics of a model come back in other runs, and the groups that topics of runs form."""

from itertools import permutations

import numpy as np
import pytest

from stickbreaker import engine
from stickbreaker.engine.algorithm import TopicSummary
from stickbreaker.engine.evaluation.found_again import find_again, group_topics, take_topics
from stickbreaker.engine.evaluation.topic_space import (
    divergences_between,
    find_partners,
    shorten_topics,
)


def run(topics, tokens=None):
    tokens = np.full(len(topics), 100.0) if tokens is None else np.array(tokens, float)
    summary = TopicSummary(
        topic_ids=np.arange(len(topics)) + 7,
        topics=np.array(topics, float),
        weights=tokens / tokens.sum(),
        expected_tokens=tokens,
    )
    return take_topics(summary)


def find_summary(model):
    return model.algorithm.summarize(model.config_, model.state_)


def draw(seed, num_topics, vocab_size=400):
    return np.random.default_rng(seed).dirichlet(np.full(vocab_size, 0.02), num_topics)


def test_topics_are_found_again_with_their_shares_and_words():
    topics = draw(0, 4)
    other = topics[[2, 0, 1]]
    found = find_again(run(topics, [10, 40, 30, 20]), [run(other, [50, 30, 20])])
    assert found.topic_ids.tolist() == [8, 9, 10, 7]
    assert found.num_found.tolist() == [1, 1, 0, 1]
    assert found.share_ranges.round(2).tolist() == [[0.2, 0.4], [0.3, 0.5], [0.2, 0.2], [0.1, 0.3]]
    assert found.is_constant.all(1).tolist() == [True, True, False, True]
    assert found.num_topics.tolist() == [3]


def test_a_word_is_constant_if_it_is_among_the_ten_of_every_run_with_the_topic():
    topic = np.r_[np.linspace(20, 11, 10), 1, 1]
    changed = topic.copy()
    changed[[9, 10]] = topic[[10, 9]]
    runs = [run([topic / topic.sum()]), run([changed / changed.sum()])]
    found = find_again(runs[0], [runs[0], runs[1]])
    assert found.word_runs[0].tolist() == [2] * 9 + [1]
    assert found.is_constant[0].tolist() == [True] * 9 + [False]


def test_partners_are_the_best_of_all_one_to_one_matches():
    ours, theirs = shorten_topics(draw(1, 4)), shorten_topics(draw(1, 4)[::-1])
    distances = divergences_between(ours, theirs)
    partners = find_partners(ours, theirs)
    best = min(
        sum(distances[i, j] for i, j in enumerate(order)) for order in permutations(range(4))
    )
    assert partners.tolist() == [3, 2, 1, 0]
    assert distances[np.arange(4), partners].sum() == pytest.approx(best)


def test_a_run_without_topics_finds_none():
    found = find_again(run(draw(0, 2)), [run(np.zeros((0, 400)))])
    assert found.num_found.tolist() == [0, 0]


@pytest.mark.parametrize(("near", "most"), [(200, 0), (10, 2)])
def test_of_an_unrelated_corpus_no_topic_comes_back_but_for_two_of_the_most_frequent_words(
    near, most
):
    corpus = engine.load_corpus("state-of-the-union").select(range(0, 10_384, 8))
    model, other = (
        find_summary(engine.OnlineHDP(random_state=seed, passes=1).fit(corpus)) for seed in (0, 1)
    )
    # Each word stands for another one that is nearly as frequent: a corpus of other subjects.
    order = np.argsort(-np.asarray(corpus.counts.sum(0)).ravel(), kind="stable")
    swapped = np.arange(len(order))
    rng = np.random.default_rng(0)
    for first in range(0, len(order), near):
        swapped[order[first : first + near]] = rng.permutation(order[first : first + near])
    unrelated = other._replace(topics=other.topics[:, swapped])
    found = find_again(take_topics(model), [take_topics(each) for each in (unrelated, other)])
    num_found = (~np.isnan(found.run_shares)).sum(1)
    assert num_found[0] <= most
    assert num_found[1] >= 20


def group(runs):
    return group_topics([shorten_topics(counts) for counts in runs], [each.sum(1) for each in runs])


def test_topics_of_several_runs_form_groups_of_at_most_one_of_each_run():
    topics = draw(5, 6)
    rng = np.random.default_rng(6)
    orders = [rng.permutation(6)[: 6 - run] for run in range(3)]
    runs = [1000 * topics[order] + rng.random((len(order), 400)) for order in orders]
    groups = group(runs)
    names = [
        dict(zip(group.tolist(), order.tolist(), strict=True))
        for group, order in zip(groups, orders, strict=True)
    ]
    assert names[0] | names[1] | names[2] == names[0]
    assert sorted(names[0].values()) == list(range(6))
    assert len({*group([runs[0], np.roll(runs[0], 200, axis=1)])[1]} & set(range(6))) == 0
