"""run(): one update for each mini-batch, settings that change during a run, passes, and the end."""

from dataclasses import dataclass, replace

import numpy as np
import pytest

from stickbreaker.engine.algorithm import Phase, Reads, StepInfo
from stickbreaker.engine.algorithms import REGISTRY, find_algorithm
from stickbreaker.engine.evaluation.held_out import score
from stickbreaker.engine.inference.held_words import split_words
from stickbreaker.engine.runs.checkpoint import flatten
from stickbreaker.engine.runs.events import Evaluated
from stickbreaker.engine.runs.prepared import prepare
from stickbreaker.engine.runs.run import run
from stickbreaker.engine.runs.settings import RunSettings
from stickbreaker.engine.schedules import apply_live, planned_rates

ALGORITHM = REGISTRY[0]
CONFIG = ALGORITHM.config(max_topics=5, batch_size=4)
SHUFFLED = RunSettings(passes=3, order="shuffled")


def updates_of(corpus, **settings):
    return list(run(prepare(ALGORITHM, CONFIG, corpus, RunSettings(**settings))))


def names(updates):
    """The events of each update, by name."""
    return [
        [e.protocol if isinstance(e, Evaluated) else type(e).__name__ for e in each.events]
        for each in updates
    ]


def test_each_mini_batch_is_scored_and_learned_and_then_held_out_words_are_scored_and_a_moment_is_taken(
    tiny_corpus,
):
    updates = updates_of(tiny_corpus, num_evaluations=3, num_moments=3)
    assert names(updates) == [["next_batch", "Stepped", "disjoint_words", "Moment"]] * 3
    assert [update.is_last for update in updates] == [False, False, True]


def test_evaluations_and_moments_are_made_only_when_due_and_always_at_the_end(tiny_corpus):
    updates = updates_of(tiny_corpus, num_evaluations=1, num_moments=1, score_next_batch=False)
    assert names(updates) == [["Stepped"], ["Stepped"], ["Stepped", "disjoint_words", "Moment"]]
    assert [score.protocol for update in updates for score in update.scores] == ["disjoint_words"]


def test_every_training_document_is_read_once_a_pass_and_no_test_document(tiny_corpus):
    prepared = prepare(ALGORITHM, CONFIG, tiny_corpus)
    assert not set(prepared.train.doc_ids) & set(prepared.test.doc_ids)
    assert prepared.corpus_size + prepared.num_held_out == tiny_corpus.num_documents
    stepped = [update.stepped for update in updates_of(tiny_corpus, passes=3)]
    assert [event.batch_size for event in stepped] == [4, 4, 3] * 3
    assert [event.documents_seen for event in stepped] == [4, 8, 11, 15, 19, 22, 26, 30, 33]
    dates = [event.date for event in stepped]
    assert dates[:3] == sorted(dates[:3])
    assert dates[:3] == dates[3:6] == dates[6:]


@pytest.mark.parametrize("name", ["hdp", "direct-hdp", "svi-hdp", "lda"])
def test_a_run_takes_the_rates_that_were_planned(tiny_corpus, name):
    algorithm = find_algorithm(name)
    prepared = prepare(
        algorithm, algorithm.config(max_topics=5, batch_size=4, delay=1.0), tiny_corpus, SHUFFLED
    )
    taken = [update.stepped.info.learning_rate for update in run(prepared)]
    planned = planned_rates(
        algorithm, prepared.config, prepared.corpus_size, np.arange(1, len(taken) + 1)
    )
    assert len(taken) == 9
    np.testing.assert_allclose(taken, planned)


def test_a_new_config_acts_from_the_next_mini_batch(tiny_corpus):
    prepared = prepare(ALGORITHM, CONFIG, tiny_corpus)
    updates = run(prepared)
    first = next(updates)
    changes = {"batch_size": 2, "delay": 0.0, "forgetting_rate": 1.0}
    rest = [updates.send(apply_live(prepared.config, changes, prepared.corpus_size)), *updates]
    assert first.stepped.batch_size == 4
    assert [update.stepped.batch_size for update in rest] == [2, 2, 2, 1]
    rates = [update.stepped.info.learning_rate for update in rest]
    assert rates == pytest.approx([1 / 2, 1 / 3, 1 / 4, 1 / 5])


def test_a_closed_run_yields_nothing_more(tiny_corpus):
    updates = run(prepare(ALGORITHM, CONFIG, tiny_corpus))
    next(updates)
    updates.close()
    assert list(updates) == []


def test_two_runs_of_one_seed_are_equal_and_another_seed_gives_another_run(tiny_corpus):
    runs = [updates_of(tiny_corpus, seed=seed) for seed in (1, 1, 2)]
    scores = [
        [score.nats_per_word for update in updates for score in update.scores] for updates in runs
    ]
    assert scores[0] == scores[1] != scores[2]
    topics = [updates[-1].state.topic_counts.stored for updates in runs]
    assert topics[0].tobytes() == topics[1].tobytes() != topics[2].tobytes()


of_batches = pytest.mark.parametrize(
    "algorithm",
    [each for each in REGISTRY if each.reads is Reads.BATCHES],
    ids=lambda each: each.name,
)


@of_batches
def test_the_shares_behind_a_next_batch_score_have_the_ids_of_the_summary_and_give_the_score(
    algorithm, tiny_corpus
):
    config = prepare(algorithm, replace(algorithm.config(), batch_size=4), tiny_corpus).config
    first, second, _ = run(prepare(algorithm, config, tiny_corpus))
    summary, inferred = algorithm.summarize(config, first.state), second.next_batch.inferred
    np.testing.assert_array_equal(inferred.topic_ids, summary.topic_ids)
    rows = np.flatnonzero(np.isin(tiny_corpus.doc_ids, inferred.doc_ids))
    split = split_words(tiny_corpus.select(rows).documents(), tiny_corpus.doc_ids[rows], 0)
    assert second.next_batch.nats_per_word == score(split, inferred.shares, summary.topics)


@of_batches
def test_scoring_a_batch_before_it_is_read_needs_no_topics_over_all_words(algorithm, tiny_corpus):
    def refuse(config, state):
        raise AssertionError("A summary was built.")

    settings = RunSettings(num_evaluations=0, num_moments=0)
    prepared = prepare(
        replace(algorithm, summarize=refuse), algorithm.config(), tiny_corpus, settings
    )
    assert all(np.isfinite(update.next_batch.nats_per_word) for update in run(prepared))


def test_scoring_does_not_change_what_is_learned(tiny_corpus):
    scored = updates_of(tiny_corpus, num_evaluations=3)
    silent = updates_of(tiny_corpus, num_evaluations=0, num_moments=0, score_next_batch=False)
    one, other = (dict(flatten("state", updates[-1].state)) for updates in (scored, silent))
    assert one.keys() == other.keys()
    assert all(array.tobytes() == other[name].tobytes() for name, array in one.items())


def test_steps_are_numbered_and_seconds_grow_to_the_end(tiny_corpus):
    updates = updates_of(tiny_corpus, passes=2)
    assert [update.stepped.info.step for update in updates] == list(range(1, 7))
    assert (np.diff([update.stepped.seconds for update in updates]) >= 0).all()
    assert all(update.stepped.num_topics >= 1 for update in updates)
    assert [update.is_last for update in updates] == [False] * 5 + [True]


@pytest.mark.parametrize("delay", [0.0, 1024.0])
@pytest.mark.parametrize("forgetting_rate", [0.5, 1.0])
@pytest.mark.parametrize("batch_size", [1, 4096])
def test_scores_at_the_ends_of_all_sliders_are_finite(
    tiny_corpus, delay, forgetting_rate, batch_size
):
    config = replace(CONFIG, delay=delay, forgetting_rate=forgetting_rate, batch_size=batch_size)
    updates = run(prepare(ALGORITHM, config, tiny_corpus))
    scores = [score.nats_per_word for update in updates for score in update.scores]
    assert scores
    assert np.isfinite(scores).all()


@pytest.mark.parametrize("ending", ["has_converged", "has_fallen"])
def test_a_run_ends_with_a_score_and_a_moment_when_its_bound_has_converged_or_fallen(
    tiny_corpus, ending
):
    def converge(config, state, batch, rng):
        state = state._replace(step=state.step + 1)
        return state, StepInfo(state.step, 1.0, Phase.LEARNING, 0.0)._replace(
            **{ending: state.step == 2}
        )

    converging = replace(ALGORITHM, expect=None, local=None, blend=None, step=converge, passes=50)
    updates = list(run(prepare(converging, CONFIG, tiny_corpus, RunSettings(num_evaluations=1))))
    assert names(updates) == [
        ["next_batch", "Stepped"],
        ["next_batch", "Stepped", "disjoint_words", "Moment"],
    ]
    assert updates[-1].is_last


def test_an_algorithm_that_reads_the_corpus_gets_all_of_it_at_each_of_its_passes(tiny_corpus):
    @dataclass(frozen=True)
    class Whole:
        max_topics: int = 5

    sizes = []

    def count(config, state, batch, rng):
        sizes.append(len(batch.doc_ids))
        state = state._replace(step=state.step + 1)
        return state, StepInfo(state.step, 1.0, Phase.LEARNING, 0.0)

    reading = replace(
        ALGORITHM,
        config=Whole,
        reads=Reads.CORPUS,
        init=lambda config, *_: ALGORITHM.init(CONFIG, *_),
        expect=None,
        local=None,
        blend=None,
        step=count,
        passes=3,
        infer=lambda config, *_: ALGORITHM.infer(CONFIG, *_),
        summarize=lambda config, *_: ALGORITHM.summarize(CONFIG, *_),
    )
    prepared = prepare(reading, Whole(), tiny_corpus, RunSettings(num_moments=0))
    assert names(run(prepared)) == [["Stepped", "disjoint_words"]] * 3
    assert sizes == [prepared.corpus_size] * 3
