"""prepare(): the split, a value for each setting, and the points of evaluations and moments."""

from dataclasses import fields

import numpy as np
import pytest

from stickbreaker.engine import simulate
from stickbreaker.engine.algorithms import REGISTRY, find_algorithm
from stickbreaker.engine.runs.events import Moment
from stickbreaker.engine.runs.prepared import plan_ends, prepare, prepare_training
from stickbreaker.engine.runs.run import run
from stickbreaker.engine.runs.settings import RunSettings
from stickbreaker.engine.schedules import apply_live

HDP = find_algorithm("hdp")


@pytest.mark.parametrize("algorithm", REGISTRY, ids=lambda each: each.name)
def test_each_setting_of_a_prepared_run_has_a_value(algorithm, tiny_corpus):
    config = prepare(algorithm, algorithm.config(), tiny_corpus).config
    assert all(getattr(config, each.name) is not None for each in fields(config))


def test_the_settings_of_another_algorithm_are_refused(tiny_corpus):
    with pytest.raises(TypeError, match="The settings are of RunSettings: hdp needs HDPConfig"):
        prepare(HDP, RunSettings(), tiny_corpus)


def test_a_setting_that_is_neither_true_nor_false_is_refused():
    with pytest.raises(
        ValueError, match="score_next_batch is 'no': give True or False; the default is True"
    ):
        RunSettings(score_next_batch="no")


def test_the_number_of_topics_follows_the_exact_number_of_training_tokens():
    topics = np.full((2, 6), 1 / 6)
    corpus = simulate.simulate_hdp(topics, 2200, 400, 1.0, 1.0, np.random.default_rng(0)).corpus
    prepared = prepare(HDP, HDP.config(), corpus, RunSettings(num_test=200))
    assert prepared.config.max_topics == prepared.train.num_tokens // 5000 == 160


def test_a_run_that_is_prepared_for_training_only_holds_nothing_out_and_keeps_the_order(
    tiny_corpus,
):
    prepared = prepare_training(HDP, HDP.config(), tiny_corpus, RunSettings(order="shuffled"))
    assert prepared.train is tiny_corpus
    assert (prepared.test, prepared.num_held_out, len(prepared.evaluation_points)) == (None, 0, 0)


@pytest.mark.parametrize("passes", [1, 3])
@pytest.mark.parametrize("num_moments", [0, 1, 4, 9, 40])
@pytest.mark.parametrize("batch_size", [1, 3, 4, 11, 50])
def test_moments_are_taken_where_each_mini_batch_plans_them(
    tiny_corpus, batch_size, num_moments, passes
):
    settings = RunSettings(
        passes=passes, num_moments=num_moments, num_evaluations=0, score_next_batch=False
    )
    prepared = prepare(HDP, HDP.config(max_topics=3, batch_size=batch_size), tiny_corpus, settings)
    updates = list(run(prepared))
    taken = [e.documents_seen for update in updates for e in update.events if isinstance(e, Moment)]
    for seen in (0, *(update.stepped.documents_seen for update in updates)):
        assert list(prepared.plan_moments(prepared.config, seen)) == [
            each for each in taken if each > seen
        ]


def test_planned_points_follow_a_new_mini_batch_size_from_the_point_of_its_change():
    points = np.array([500, 1000])
    assert plan_ends(points, 1000, 300, 200) == (500, 1000)
    assert plan_ends(points, 1000, 400, 200) == (600, 1000)


def test_a_setting_left_to_the_corpus_during_a_run_gets_its_value_and_the_others_keep_theirs(
    tiny_corpus,
):
    config = prepare(HDP, HDP.config(delay=3.0, batch_size=2), tiny_corpus).config
    changed = apply_live(config, {"batch_size": None, "forgetting_rate": 0.8}, 9384)
    assert (changed.batch_size, changed.delay, changed.forgetting_rate) == (256, 3.0, 0.8)
    with pytest.raises(
        ValueError,
        match="max_topics cannot change during a run. Settings that can: forgetting_rate",
    ):
        apply_live(config, {"max_topics": 3}, 9384)
    with pytest.raises(ValueError, match="forgetting_rate is 7.0"):
        apply_live(config, {"forgetting_rate": 7.0}, 9384)
