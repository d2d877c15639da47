"""The contract of all algorithms, tested on every algorithm of the registry and on the example in
the README.
"""

import re
import sys
from dataclasses import FrozenInstanceError, fields
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from stickbreaker import engine
from stickbreaker.engine import executors
from stickbreaker.engine.algorithm import CONCENTRATIONS, Reads
from stickbreaker.engine.algorithms import REGISTRY, find_algorithm
from stickbreaker.engine.inference.topic_counts import DecayedCounts
from stickbreaker.engine.schedules import resolve
from tests import naive
from tests.small_documents import batch_of, documents_of, documents_of_pairs

README = Path(engine.__file__).parent / "README.md"


def run_worked_example():
    """The algorithm of the last Python block in the engine's README."""
    block = re.findall(
        r"^```python\n(.*?)^```", README.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL
    )[-1]
    module = ModuleType("worked_example")
    sys.modules[module.__name__] = module
    exec(compile(block, str(README), "exec"), vars(module))
    return module.ALGORITHM


ALGORITHMS = [*REGISTRY, run_worked_example()]
of_registry = pytest.mark.parametrize("algorithm", REGISTRY, ids=lambda each: each.name)
of_all = pytest.mark.parametrize("algorithm", ALGORITHMS, ids=lambda each: each.name)
# Algorithms that draw assignments or remember documents have tests of their own for sums over
# documents.
SUMMED = [algorithm for algorithm in ALGORITHMS if algorithm.local]
of_sums = pytest.mark.parametrize("algorithm", SUMMED, ids=lambda each: each.name)
NUMBERS = (int, float)
MOST_BYTES = 2**28


def start(algorithm, corpus, **values):
    """A config, by default without values, a first state and a batch of the whole corpus."""
    config = resolve(algorithm.config(**values), corpus.num_documents)
    state = algorithm.init(config, corpus.vocab_size, np.random.default_rng(0))
    return config, state, next(corpus.batches(corpus.num_documents))


def arrays_of(value):
    """All arrays in nested tuples."""
    if isinstance(value, np.ndarray):
        return [value]
    if isinstance(value, DecayedCounts):
        return arrays_of(tuple(value.to_arrays().values()))
    return (
        [array for each in value for array in arrays_of(each)] if isinstance(value, tuple) else []
    )


@of_registry
def test_it_is_found_by_its_name(algorithm):
    assert find_algorithm(algorithm.name) is algorithm
    assert algorithm.title


@of_all
def test_its_config_is_frozen_and_every_setting_has_help(algorithm):
    config = algorithm.config()
    for each in fields(config):
        assert 0 < len(each.metadata["help"].split()) <= 20
        assert each.metadata["bounds"] or each.metadata.get("choices")
        with pytest.raises(FrozenInstanceError):
            setattr(config, each.name, each.default)


@of_all
def test_its_config_accepts_its_bounds_and_rejects_values_beyond_them(algorithm):
    for each in fields(algorithm.config):
        beyond = ["no such choice"]
        for bound, sign in zip(each.metadata["bounds"] or (), (-1, 1), strict=False):
            if np.isfinite(bound):
                assert getattr(algorithm.config(**{each.name: bound}), each.name) == bound
                beyond.append(bound + sign * max(1, abs(bound)))
        if isinstance(each.default, NUMBERS):
            beyond += [float("nan"), None, True]
        for value in beyond:
            with pytest.raises(ValueError, match=f"{each.name} is {value!r}"):
                algorithm.config(**{each.name: value})


@of_all
def test_it_has_the_settings_that_other_code_expects_of_it(algorithm):
    names = {each.name for each in fields(algorithm.config)}
    assert ("batch_size" in names) == (algorithm.reads is Reads.BATCHES)
    assert ({"delay", "forgetting_rate", "start"} <= names) == algorithm.has_learning_rate
    assert {*algorithm.concentrations} == names.intersection(CONCENTRATIONS)


@of_all
def test_its_steps_compute_a_bound_if_its_record_says_so(algorithm, tiny_corpus):
    config, state, batch = start(algorithm, tiny_corpus)
    bounds = []
    for seed in range(40):
        state, info = executors.step(algorithm, config, state, batch, np.random.default_rng(seed))
        bounds.append(info.bound)
    assert any(bound is not None for bound in bounds) == algorithm.has_bound


@of_all
def test_a_step_does_not_change_its_arguments(algorithm, tiny_corpus):
    config, state, batch = start(algorithm, tiny_corpus)
    for _ in range(3):
        for array in arrays_of(state):
            # Writing to one of these raises an error.
            array.setflags(write=False)
        state, _ = executors.step(algorithm, config, state, batch, np.random.default_rng(1))
        algorithm.infer(config, state, batch.documents)
        algorithm.summarize(config, state)


@of_all
def test_the_same_step_twice_is_the_same_bit_for_bit(algorithm, tiny_corpus):
    config, state, batch = start(algorithm, tiny_corpus)
    states = [
        executors.step(algorithm, config, state, batch, np.random.default_rng(1))[0]
        for _ in range(2)
    ]
    for one, other in zip(*map(arrays_of, states), strict=True):
        assert one.tobytes() == other.tobytes()


@of_all
def test_doc_shares_and_summaries_are_simplices_before_and_after_learning(algorithm, tiny_corpus):
    config, state, batch = start(algorithm, tiny_corpus)
    for _ in range(4):
        summary = algorithm.summarize(config, state)
        shares = algorithm.infer(config, state, batch.documents)
        num_topics = len(summary.topic_ids)
        assert len(np.unique(summary.topic_ids)) == num_topics
        assert shares.shape == (tiny_corpus.num_documents, num_topics)
        assert summary.topics.shape == (num_topics, tiny_corpus.vocab_size)
        for simplex in (shares, summary.topics, summary.weights):
            assert (simplex >= 0).all()
            np.testing.assert_allclose(simplex.sum(-1, dtype=float), 1.0, rtol=1e-4)
        state, _ = executors.step(algorithm, config, state, batch, np.random.default_rng(1))


@of_all
def test_no_token_is_expected_before_the_first_batch_and_some_after(algorithm, tiny_corpus):
    config, state, batch = start(algorithm, tiny_corpus)
    assert not algorithm.summarize(config, state).expected_tokens.any()
    state, info = executors.step(algorithm, config, state, batch, np.random.default_rng(1))
    assert algorithm.summarize(config, state).expected_tokens.sum() > 0
    assert (info.step, state.step) == (1, 1)
    assert 0 < info.learning_rate <= 1
    assert 0 <= info.startup_share <= 1
    assert info.phase


@of_all
def test_reading_never_changes_a_state(algorithm, tiny_corpus):
    config, state, batch = start(algorithm, tiny_corpus)
    state, _ = executors.step(algorithm, config, state, batch, np.random.default_rng(1))
    before = [array.tobytes() for array in arrays_of(state)]
    first, second = (algorithm.infer(config, state, batch.documents) for _ in range(2))
    algorithm.summarize(config, state)
    assert first.tobytes() == second.tobytes()
    assert [array.tobytes() for array in arrays_of(state)] == before


@of_all
def test_a_batch_of_only_empty_documents_can_be_learned_and_inferred(algorithm):
    config = resolve(algorithm.config(), 3)
    batch = batch_of(documents_of(np.zeros((3, 5), np.int32)))
    state = algorithm.init(config, 5, np.random.default_rng(0))
    for _ in range(3):
        state, _ = executors.step(algorithm, config, state, batch, np.random.default_rng(1))
        np.testing.assert_allclose(
            algorithm.infer(config, state, batch.documents).sum(1), 1.0, rtol=1e-4
        )
    assert not algorithm.summarize(config, state).expected_tokens.any()


@of_all
def test_a_start_depends_only_on_its_generator(algorithm):
    config = resolve(algorithm.config(), 1)
    one, same, other = (
        algorithm.init(config, 9, np.random.default_rng(seed)) for seed in (1, 1, 2)
    )
    as_bytes = [[array.tobytes() for array in arrays_of(state)] for state in (one, same, other)]
    assert as_bytes[0] == as_bytes[1]
    assert algorithm not in SUMMED or as_bytes[1] != as_bytes[2]


def step_on(algorithm, corpus, rows):
    """Arrays of the states after one step on documents (words, counts), from each of the first
    three of the corpus.

    All documents are learned from; otherwise the step of the algorithm sets documents aside by
    their places.
    """
    exact = {"duplicates": "keep", "precision": "float64"}
    values = {name: exact[name] for name in filter(algorithm.has_setting, exact)}
    config, state, batch = start(algorithm, corpus, **values)
    own, found = batch_of(documents_of_pairs(rows), batch.corpus_size), []
    for _ in range(3):
        found += arrays_of(executors.step(algorithm, config, state, own, None)[0])
        state, _ = executors.step(algorithm, config, state, batch, None)
    return found


def assert_equal_up_to_order(one, other):
    """Arrays are equal up to the rounding of sums in another order."""
    for these, those in zip(one, other, strict=True):
        np.testing.assert_allclose(these, those, rtol=1e-9, atol=1e-9 * abs(those).max(initial=0))


@of_sums
def test_the_order_of_documents_in_a_mini_batch_does_not_matter(algorithm, tiny_corpus):
    rows = naive.split_rows(tiny_corpus.documents())
    assert_equal_up_to_order(
        *(step_on(algorithm, tiny_corpus, each) for each in (rows, rows[::2] + rows[1::2]))
    )


@of_sums
def test_a_count_of_n_is_the_word_n_times(algorithm, tiny_corpus):
    rows = naive.split_rows(tiny_corpus.documents())
    tokens = [(np.repeat(words, c.astype(int)), np.ones(int(c.sum()))) for words, c in rows]
    assert_equal_up_to_order(*(step_on(algorithm, tiny_corpus, each) for each in (rows, tokens)))


def draw_setting(each):
    """Any choice of a setting, or its default or a bound."""
    if each.metadata.get("choices"):
        return st.sampled_from(each.metadata["choices"])
    return st.sampled_from([each.default, *filter(np.isfinite, each.metadata["bounds"])])


ODD = {
    "empty": {},
    "one word": {2: 1},
    "unseen word": {39: 1},
    "huge count": {1: 2**31 - 1},
    "usual": {0: 1, 5: 2, 9: 1},
}


@of_all
@settings(deadline=None, derandomize=True, max_examples=30)
@given(data=st.data())
def test_odd_documents_stay_finite_at_every_bound_of_every_setting(algorithm, data):
    drawn = {each.name: data.draw(draw_setting(each)) for each in fields(algorithm.config)}
    config = resolve(algorithm.config(**drawn), 1)
    rows = [
        ODD[kind]
        for kind in data.draw(st.lists(st.sampled_from(sorted(ODD)), min_size=1, max_size=4))
    ]
    documents = documents_of_pairs(
        [(np.array(list(row)), np.array(list(row.values()))) for row in rows]
    )
    # An algorithm with a topic for each token states its memory beforehand: two thousand million
    # tokens are too many.
    assume(algorithm.memory is None or algorithm.memory(config, documents) <= MOST_BYTES)
    batch = batch_of(documents, data.draw(st.sampled_from([len(rows), 100_000])))
    state = algorithm.init(config, 40, np.random.default_rng(0))
    for _ in range(2):
        state, _ = executors.step(algorithm, config, state, batch, np.random.default_rng(1))
    summary = algorithm.summarize(config, state)
    for simplex in (
        algorithm.infer(config, state, documents),
        summary.topics,
        summary.weights[None],
    ):
        assert (simplex >= 0).all()
        np.testing.assert_allclose(simplex.sum(1, dtype=float), 1.0, rtol=1e-3)
    assert (summary.topics > 0).all()
    for array in arrays_of(state):
        assert np.isfinite(array).all()
        assert (array >= 0).all()
