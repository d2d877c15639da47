"""The number of topics: documents are set aside, close topics are merged first, and one topic is
found where one is.
"""

from dataclasses import replace

import numpy as np
import pytest

from stickbreaker.engine import OnlineDirectHDP, OnlineHDP, RunSettings, load_corpus, prepare, run
from stickbreaker.engine.algorithms import hdp
from stickbreaker.engine.corpora.corpus import Corpus, Vocabulary
from stickbreaker.engine.corpora.documents import Batch
from stickbreaker.engine.executors import step
from stickbreaker.engine.inference.evidence import (
    NEGLIGIBLE,
    choose_concentrations,
    choose_number,
    prefer_one,
    score_documents,
    set_aside,
    share_set_aside,
)
from stickbreaker.engine.inference.held_words import split_halves
from stickbreaker.engine.inference.removals import (
    find_path,
    follow,
    points_of,
    remove_topics,
    slice_path,
)
from stickbreaker.engine.inference.topic_counts import decayed_counts
from stickbreaker.engine.schedules import resolve
from stickbreaker.engine.simulate import simulate_hdp
from tests import naive
from tests.small_documents import batch_of, documents_of
from tests.small_states import distinct_state

CONFIG = hdp.HDPConfig(max_topics=6, max_slots=4, max_active_topics=6, batch_size=50, delay=1.0)


def simulate(seed, num_topics, num_documents=2000, doc_length=40, vocab_size=300):
    """A corpus of topics that share few words."""
    rng = np.random.default_rng(seed)
    topics = rng.dirichlet(np.full(vocab_size, 0.1), num_topics)
    return simulate_hdp(topics, num_documents, doc_length, 1.0, 5.0, rng).corpus


def learn(corpus, passes=1, **settings):
    """The model after some passes in the order of the corpus."""
    return OnlineHDP(random_state=0, passes=passes, **settings).fit(corpus)


def read(corpus, state, size=100):
    """The mini-batches of a pass, and the parts of them."""
    config = resolve(hdp.HDPConfig(batch_size=size), corpus.num_documents)
    for batch in corpus.batches(size):
        yield batch, set_aside(config, state, batch)
        state = state._replace(documents_read=state.documents_read + len(batch.doc_ids))


def test_each_pass_sets_the_same_documents_aside_and_learns_from_the_others():
    corpus = simulate(0, 3)
    first, second = (
        list(read(corpus, distinct_state(CONFIG, 300)._replace(documents_read=passes * 2000)))
        for passes in (0, 1)
    )
    for (batch, part), (_, again) in zip(first, second, strict=True):
        assert part.num_read == len(batch.doc_ids)
        np.testing.assert_array_equal(part.doc_ids, again.doc_ids)
        learned = batch.documents.select(np.flatnonzero(np.isin(batch.doc_ids, part.doc_ids)))
        np.testing.assert_array_equal(part.documents.words, learned.words)
        assert part.documents.num_tokens + part.set_aside.num_tokens == batch.documents.num_tokens
    number = sum(part.set_aside.num_documents for _, part in first)
    expected = 2000 * share_set_aside(2000)
    assert abs(number - expected) < 5 * np.sqrt(expected)


def test_nothing_is_set_aside_where_all_topics_are_kept():
    batch = next(simulate(0, 3).batches(100))
    assert set_aside(hdp.HDPConfig(duplicates="keep"), distinct_state(CONFIG, 300), batch) is batch


def test_a_path_removes_the_smaller_topic_of_the_closest_pair_as_its_naive_twin_does():
    counts = np.random.default_rng(1).gamma(0.3, 50.0, (40, 9))
    path = find_path(decayed_counts(counts))
    assert path.topics.tolist() == naive.find_path(counts.T)
    for place, (topic, weights) in enumerate(zip(path.topics, path.weights, strict=True)):
        parents = path.parents[place][weights > 0]
        assert len(parents) == min(6, 8 - place)
        assert not set(parents) & {topic, *path.topics[:place]}
        assert weights.sum() == pytest.approx(1.0)


def test_the_words_of_a_copy_go_to_the_larger_copy_and_those_of_a_mixture_to_its_parts():
    counts = np.zeros((30, 5))
    for topic in range(3):
        counts[10 * topic : 10 * topic + 10, topic] = 100.0 * (1 + np.arange(10))
    counts[:, 3] = counts[:, 0] / 10
    counts[:, 4] = (counts[:, 1] + counts[:, 2]) / 20
    state = distinct_state(replace(CONFIG, max_topics=5), 30)._replace(
        topic_counts=decayed_counts(counts)
    )
    path = find_path(state.topic_counts)
    assert set(path.topics[:2]) == {3, 4}
    left = remove_topics(state, slice_path(path, 0, 2))
    expected = counts[:, :3] * [1.1, 1.05, 1.05]
    np.testing.assert_allclose(left.topic_counts.dense()[:, :3], expected, rtol=1e-3, atol=1e-3)
    assert left.expected_tokens.sum() == pytest.approx(state.expected_tokens.sum())


def test_points_of_a_path_predict_as_the_models_after_the_removals_do():
    # All words occur, so that rows of the documents set aside are all rows.
    documents = documents_of(np.random.default_rng(2).integers(0, 2, (60, 300)))
    state = distinct_state(CONFIG, 300)._replace(set_aside=documents)
    path = find_path(state.topic_counts)
    split = split_halves(documents, np.arange(60), 0)
    size = len(path.topics) + 1
    numbers = [size, size - 1]
    for number, point in zip(numbers, follow(state, path, numbers), strict=True):
        whole = remove_topics(state, slice_path(path, 0, size - number))
        left = np.flatnonzero(whole.expected_tokens)
        np.testing.assert_allclose(
            point.topic_counts.totals, whole.topic_counts.totals[left], rtol=1e-5
        )
        np.testing.assert_allclose(point.tables, whole.tables[left], rtol=1e-12)
        words = documents.distinct_words()
        rows = whole.topic_counts.rows(words)[:, left]
        np.testing.assert_allclose(point.topic_counts.rows(words), rows, rtol=1e-4, atol=1e-4)
        assert len(score_documents(CONFIG, point, split, hdp.infer)) == len(split.scored)


@pytest.mark.parametrize("duplicates", ["merge", "keep"])
def test_a_step_says_whether_another_pass_is_needed_once_documents_set_aside_have_scored_a_pass(
    duplicates,
):
    settings = RunSettings(passes=3, num_test=20)
    updates = [
        *run(
            prepare(
                hdp.ALGORITHM, hdp.HDPConfig(duplicates=duplicates), simulate(0, 3, 500), settings
            )
        )
    ]
    told = [update.stepped.info.is_pass_needed for update in updates]
    ends = [
        place for place, update in enumerate(updates) if update.stepped.documents_seen % 480 == 0
    ]
    assert told[: ends[0]] == [None] * ends[0]
    assert told[-1] == (None if duplicates == "keep" else not updates[-1].state.has_converged)
    assert all((told[end] is None) == (duplicates == "keep") for end in ends)


@pytest.mark.parametrize("seed", range(5))
def test_a_corpus_of_one_topic_has_one_topic_after_one_pass_and_after_five(seed):
    corpus = simulate(seed, 1)
    for passes in (1, 5):
        assert learn(corpus, passes).n_topics_ == 1


@pytest.mark.parametrize("words", [["yes yes no"], ["yes"]])
def test_a_corpus_of_equal_documents_has_one_topic(words):
    counts = np.tile([[2, 1]] if words == ["yes yes no"] else [[3]], (500, 1))
    vocabulary = Vocabulary(("no", "yes")[: counts.shape[1]])
    dates = np.full(500, "NaT", "datetime64[Y]")
    assert (
        learn(Corpus("equal", counts, vocabulary, dates, [""] * 500), max_topics=20).n_topics_ == 1
    )


def test_eight_topics_are_found_with_any_limit():
    corpus = simulate(3, 8, 4000)
    found = [learn(corpus, passes=3, max_topics=limit).n_topics_ for limit in (20, 60)]
    assert all(abs(number - 8) <= 1 for number in found)


def test_a_higher_concentration_of_the_corpus_never_leaves_fewer_topics():
    corpus = simulate(4, 6, 1000)
    config = resolve(hdp.HDPConfig(max_topics=30, duplicates="keep"), 1000)
    state = hdp.init(config, 300, np.random.default_rng(0))
    for _ in range(2):
        for batch in corpus.batches(config.batch_size):
            state, _ = step(hdp.ALGORITHM, config, state, batch)
    state = state._replace(set_aside=next(simulate(4, 6, 1000).batches(20)).documents)
    numbers = []
    for gamma in (1e-3, 1.0, 1e3):
        known = state._replace(concentrations=state.concentrations._replace(corpus=gamma))
        numbers.append(int((choose_number(hdp.infer, config, known).expected_tokens > 0).sum()))
    assert numbers == sorted(numbers)
    assert numbers[0] < numbers[-1]


def test_documents_without_words_decide_nothing():
    empty = np.zeros((40, 3), np.int32)
    state = distinct_state(CONFIG, 3)
    batch = Batch(doc_ids=np.arange(40), documents=naive_documents(empty), corpus_size=40)
    after, _ = step(hdp.ALGORITHM, CONFIG, state, batch)
    assert np.isfinite(after.expected_tokens).all()


def naive_documents(counts):
    """Documents of rows of counts."""
    return Corpus(
        "rows",
        counts,
        Vocabulary(("a", "b", "c")),
        np.full(len(counts), "NaT", "datetime64[Y]"),
        [""] * len(counts),
    ).documents()


@pytest.mark.parametrize("kind", ["equal", "zipf"])
def test_a_small_corpus_of_random_words_has_one_topic(kind):
    frequencies = np.ones(1000) if kind == "equal" else 1.0 / np.arange(1, 1001)
    truth = (frequencies / frequencies.sum())[None]
    corpus = simulate_hdp(truth, 400, 60, 1.0, 1.0, np.random.default_rng(1)).corpus
    assert OnlineHDP(random_state=1, passes=1).fit(corpus).n_topics_ == 1


def test_few_documents_of_real_text_are_not_said_to_have_one_topic():
    corpus = load_corpus("rfc")
    drawn = np.random.default_rng(1).choice(corpus.num_documents, 120, replace=False)
    assert OnlineHDP(random_state=1).fit(corpus.select(np.sort(drawn))).n_topics_ > 5


def test_one_topic_is_not_preferred_where_documents_need_more_or_a_person_keeps_some():
    config, state = read_half(5)
    assert prefer_one(hdp.infer, config, state) is state
    kept = state._replace(decided=state.decided._replace(kept=np.array([0])))
    assert prefer_one(hdp.infer, config, kept) is kept


def test_points_of_a_path_end_at_one_topic_and_never_repeat():
    for number in (1, 2, 7, 300):
        points = points_of(number)
        assert points[0] == number
        assert points[-1] == 1
        assert points == sorted(set(points), reverse=True)


def test_a_batch_that_would_only_be_set_aside_is_learned_from():
    documents = next(simulate(0, 3, 10).batches(1)).documents
    config, state = hdp.HDPConfig(), distinct_state(CONFIG, 300)
    for place in range(200):
        batch = batch_of(documents, 200)
        assert set_aside(config, state._replace(documents_read=place), batch) is batch


def read_half(seed, **settings):
    """A config, an undecided state after two passes, and documents not learned from."""
    corpus = simulate(seed, 6, 1000)
    config = resolve(hdp.HDPConfig(max_topics=12, duplicates="keep", **settings), 1000)
    state = hdp.init(config, 300, np.random.default_rng(0))
    for _ in range(2):
        for batch in corpus.batches(config.batch_size):
            state, _ = step(hdp.ALGORITHM, config, state, batch)
    return config, state._replace(set_aside=next(simulate(seed, 6, 1000).batches(100)).documents)


def with_concentrations(state, doc, word):
    known = state.concentrations
    posterior = known.doc._replace(shape=np.array([doc]), rate=1.0)
    return state._replace(concentrations=known._replace(doc=posterior, word=word))


def test_concentrations_are_those_at_which_neither_half_nor_double_predicts_the_documents_set_aside_better():
    config, state = read_half(5)
    split = split_halves(state.set_aside, np.arange(state.set_aside.num_documents), 0)

    def score(doc, word):
        changed = with_concentrations(state, doc, word)
        return score_documents(config, changed, split, hdp.infer).sum() / state.set_aside.num_tokens

    for start in (0.01, 10.0):
        found = choose_concentrations(
            hdp.infer, config, with_concentrations(state, 1.0, start)
        ).concentrations
        doc, word = found.doc.total, found.word
        assert word < 10.0
        assert score(doc, word) >= score(1.0, start)
        best = max(score(2 * doc, word), score(doc / 2, word))
        assert score(doc, word) >= best - NEGLIGIBLE
        assert np.log2(word / start) == pytest.approx(round(np.log2(word / start)))


def test_fixed_concentrations_and_those_without_documents_set_aside_keep_their_values():
    _, state = read_half(5)
    fixed = hdp.HDPConfig(max_topics=12, concentrations="fixed")
    assert choose_concentrations(hdp.infer, fixed, state).concentrations == state.concentrations
    without = state._replace(set_aside=state.set_aside.cut(0, 0))
    learned = hdp.HDPConfig(max_topics=12)
    assert choose_concentrations(hdp.infer, learned, without).concentrations == state.concentrations


@pytest.mark.parametrize("name", ["hdp", "direct-hdp"])
def test_a_run_changes_the_concentrations_of_documents_and_words_but_not_that_of_the_corpus(name):
    model = OnlineHDP(random_state=0) if name == "hdp" else OnlineDirectHDP(random_state=0)
    known = model.fit(simulate(6, 5, 1000, doc_length=15)).state_.concentrations
    assert known.corpus == 1.0
    assert (known.doc.total, known.word) != (1.0, 0.01)
