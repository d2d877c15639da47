"""run(): the order of events, settings sent while it runs, passes, closing."""

from dataclasses import dataclass, replace

import numpy as np
import pytest

from stickbreaker.engine.algorithm import StepInfo
from stickbreaker.engine.algorithms import REGISTRY
from stickbreaker.engine.runs.events import Evaluated, Finished, Snapshot, Stepped
from stickbreaker.engine.runs.run import run, split_corpus
from stickbreaker.engine.runs.settings import RunSettings

ALGORITHM = REGISTRY[0]
CONFIG = ALGORITHM.config(max_topics=5, batch_size=4)


def events_of(corpus, **settings):
    return list(run(ALGORITHM, CONFIG, corpus, RunSettings(**settings)))


def name(event):
    return event.protocol if isinstance(event, Evaluated) else type(event).__name__


def test_the_settings_of_another_algorithm_are_refused(tiny_corpus):
    with pytest.raises(TypeError, match="The settings are of RunSettings: hdp needs HDPConfig"):
        run(ALGORITHM, RunSettings(), tiny_corpus)


def test_a_switch_is_true_or_false():
    with pytest.raises(ValueError, match="score_next_batch is 'no': give True or False; the default is True"):
        RunSettings(score_next_batch="no")


def test_each_mini_batch_is_scored_then_learned_then_held_out_words_are_scored_then_topics_shown(tiny_corpus):
    names = [name(event) for event in events_of(tiny_corpus, num_evaluations=3, num_snapshots=3)]
    assert names == ["next_batch", "Stepped", "disjoint_words", "Snapshot"] * 3 + ["Finished"]


def test_evaluations_and_snapshots_come_only_when_due_and_always_at_the_end(tiny_corpus):
    settings = {"num_evaluations": 1, "num_snapshots": 1, "score_next_batch": False}
    names = [name(event) for event in events_of(tiny_corpus, **settings)]
    assert names == ["Stepped"] * 3 + ["disjoint_words", "Snapshot", "Finished"]


def test_every_training_document_is_read_once_a_pass_and_no_test_document(tiny_corpus):
    train, test = split_corpus(tiny_corpus, RunSettings())
    assert not set(train.doc_ids) & set(test.doc_ids)
    assert len(train.doc_ids) + len(test.doc_ids) == tiny_corpus.num_documents
    stepped = [event for event in events_of(tiny_corpus, passes=3) if isinstance(event, Stepped)]
    assert [event.batch_size for event in stepped] == [4, 4, 3] * 3
    assert [event.documents_seen for event in stepped] == [4, 8, 11, 15, 19, 22, 26, 30, 33]
    dates = [event.date for event in stepped]
    assert dates[:3] == sorted(dates[:3])
    assert dates[:3] == dates[3:6] == dates[6:]


def test_a_config_sent_acts_from_the_next_mini_batch_and_only_its_live_settings(tiny_corpus):
    events = run(ALGORITHM, CONFIG, tiny_corpus, RunSettings())
    first = next(event for event in events if isinstance(event, Stepped))
    sent = replace(CONFIG, batch_size=2, delay=0.0, forgetting_rate=1.0, max_topics=3, word_concentration=5.0)
    rest = [events.send(sent), *events]
    stepped = [event for event in rest if isinstance(event, Stepped)]
    assert first.batch_size == 4
    assert [event.batch_size for event in stepped] == [2, 2, 2, 1]
    assert [event.info.learning_rate for event in stepped] == pytest.approx([1 / 2, 1 / 3, 1 / 4, 1 / 5])
    assert all(len(event.summary.topic_ids) == 5 for event in rest if isinstance(event, Snapshot))


def test_what_is_sent_with_the_last_event_of_a_batch_counts_for_the_next(tiny_corpus):
    events = run(ALGORITHM, CONFIG, tiny_corpus, RunSettings(num_evaluations=3, num_snapshots=3))
    next(event for event in events if isinstance(event, Snapshot))
    following = [events.send(replace(CONFIG, batch_size=1)), *events]
    assert [each.batch_size for each in following if isinstance(each, Stepped)] == [1] * 7


def test_a_closed_run_gives_nothing_more(tiny_corpus):
    events = run(ALGORITHM, CONFIG, tiny_corpus)
    next(events)
    events.close()
    assert list(events) == []


def test_two_runs_of_one_seed_are_alike_and_another_seed_starts_elsewhere(tiny_corpus):
    one, same, other = (events_of(tiny_corpus, seed=seed) for seed in (1, 1, 2))
    scores = [
        [event.nats_per_word for event in events if isinstance(event, Evaluated)] for events in (one, same, other)
    ]
    assert scores[0] == scores[1] != scores[2]
    topics = [events[-1].state.topic_counts.stored for events in (one, same, other)]
    assert topics[0].tobytes() == topics[1].tobytes() != topics[2].tobytes()


def test_scoring_does_not_change_what_is_learned(tiny_corpus):
    scored = events_of(tiny_corpus, num_evaluations=3)
    silent = events_of(tiny_corpus, num_evaluations=0, num_snapshots=0, score_next_batch=False)
    for one, other in zip(scored[-1].state[1:3], silent[-1].state[1:3], strict=True):
        np.testing.assert_array_equal(one, other)


def test_the_stream_goes_forward_and_ends_with_the_last_state(tiny_corpus):
    events = events_of(tiny_corpus, passes=2)
    stepped = [event for event in events if isinstance(event, Stepped)]
    assert [event.info.step for event in stepped] == list(range(1, 7))
    assert (np.diff([event.seconds for event in stepped]) >= 0).all()
    assert isinstance(events[-1], Finished)
    assert events[-1].state is stepped[-1].state
    assert all(event.num_topics >= 1 for event in stepped)


def test_every_slider_position_stays_finite(tiny_corpus):
    for delay in (0.0, 1024.0):
        for kappa in (0.5, 1.0):
            for size in (1, 4096):
                config = replace(CONFIG, delay=delay, forgetting_rate=kappa, batch_size=size)
                scores = [e.nats_per_word for e in run(ALGORITHM, config, tiny_corpus) if isinstance(e, Evaluated)]
                assert np.isfinite(scores).all()


def test_a_run_ends_with_a_score_and_a_snapshot_once_its_algorithm_has_converged(tiny_corpus):
    def converge(config, state, batch, rng):
        state = state._replace(step=state.step + 1)
        return state, StepInfo(state.step, 1.0, "learning", 0.0, has_converged=state.step == 2)

    converging = replace(ALGORITHM, step=converge, passes=50)
    names = [name(event) for event in run(converging, CONFIG, tiny_corpus, RunSettings(num_evaluations=1))]
    assert names == ["next_batch", "Stepped"] * 2 + ["disjoint_words", "Snapshot", "Finished"]


def test_a_config_without_a_batch_size_reads_the_whole_corpus_at_each_step_as_often_as_its_algorithm_asks(tiny_corpus):
    @dataclass(frozen=True)
    class Whole:
        max_topics: int = 5

    sizes = []

    def count(config, state, batch, rng):
        sizes.append(len(batch.doc_ids))
        state = state._replace(step=state.step + 1)
        return state, StepInfo(state.step, 1.0, "learning", 0.0)

    reading = replace(
        ALGORITHM,
        config=Whole,
        init=lambda config, *_: ALGORITHM.init(CONFIG, *_),
        step=count,
        passes=3,
        infer=lambda config, *_: ALGORITHM.infer(CONFIG, *_),
        summarize=lambda config, *_: ALGORITHM.summarize(CONFIG, *_),
    )
    names = [name(event) for event in run(reading, Whole(), tiny_corpus, RunSettings(num_snapshots=0))]
    train, _ = split_corpus(tiny_corpus, RunSettings())
    assert sizes == [train.num_documents] * 3
    assert names == ["Stepped", "disjoint_words"] * 3 + ["Finished"]
