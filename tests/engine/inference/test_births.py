"""New topics raise the score of held-out words, have places after the others, and are the same in a resumed run."""

import numpy as np
import pytest

from stickbreaker.engine.algorithms import hdp
from stickbreaker.engine.corpora.documents import Batch
from stickbreaker.engine.executors import step as take_step
from stickbreaker.engine.inference import redundancy
from stickbreaker.engine.inference.births import LEAST_ROOM, Born, add_topics
from stickbreaker.engine.inference.topic_counts import decayed_counts
from stickbreaker.engine.runs import checkpoint
from stickbreaker.engine.runs.settings import RunSettings
from stickbreaker.engine.schedules import resolve
from stickbreaker.engine.simulate import simulate_hdp


@pytest.fixture(scope="module")
def corpus():
    """1,000 documents of 300 words from 20 topics."""
    rng = np.random.default_rng(0)
    return simulate_hdp(rng.dirichlet(np.full(500, 0.02), 20), 1000, 300, 1.0, 10.0, rng).corpus


@pytest.fixture
def five_at_the_start(monkeypatch):
    """Runs with births start with five topics."""
    monkeypatch.setattr(hdp, "START_TOPICS", 5)


def read(corpus, **settings):
    """The config, and the states after each step of one pass."""
    config = resolve(hdp.HDPConfig(topic_creation="births", **settings), corpus.num_documents, corpus.num_tokens)
    states = [hdp.init(config, corpus.vocab_size, np.random.default_rng(0))]
    for batch in corpus.batches(config.batch_size):
        states.append(take_step(hdp.ALGORITHM, config, states[-1], batch)[0])
    return config, states


@pytest.mark.usefixtures("five_at_the_start")
def test_topics_are_born_up_to_the_limit_and_the_others_keep_their_ids(corpus):
    _, states = read(corpus, max_topics=25, duplicates="keep")
    sizes = [len(state.tables) for state in states]
    assert sizes[0] == 5
    assert 5 < sizes[-1] <= 25
    assert sizes == sorted(sizes)
    born = next(place for place, size in enumerate(sizes) if size > 5)
    assert (states[born].expected_tokens[5:] > 0).all()
    old, new = (state.topic_counts.dense()[:, :5] for state in states[born - 1 : born + 1])
    similar = (old / np.linalg.norm(old, axis=0)).T @ (new / np.linalg.norm(new, axis=0))
    assert (similar.argmax(1) == np.arange(5)).all()


@pytest.mark.usefixtures("five_at_the_start")
def test_topics_are_born_where_only_few_words_of_a_large_vocabulary_are_read(corpus, monkeypatch):
    monkeypatch.setattr(redundancy, "MOST_WORDS", 100)
    _, states = read(corpus, max_topics=40)
    assert len(states[-1].tables) > 5
    counts = states[-1].topic_counts
    np.testing.assert_array_equal(counts.held, np.arange(500))
    np.testing.assert_allclose(counts.totals, counts.dense().sum(0), rtol=1e-4, atol=1e-2)


@pytest.mark.usefixtures("five_at_the_start")
def test_no_documents_are_collected_where_there_is_room_for_few_topics(corpus):
    _, states = read(corpus, max_topics=5 + LEAST_ROOM - 1)
    assert not any(state.collected.num_documents for state in states)
    _, states = read(corpus, max_topics=5 + LEAST_ROOM)
    assert any(state.collected.num_documents for state in states)


@pytest.mark.usefixtures("five_at_the_start")
def test_documents_are_collected_in_the_first_pass_and_as_long_as_a_stream_lasts(corpus):
    config, collected = resolve(hdp.HDPConfig(topic_creation="births", max_topics=100), 200), {}
    for is_stream in (False, True):
        state, collected[is_stream] = hdp.init(config, corpus.vocab_size, np.random.default_rng(0)), 0
        for batch in corpus.batches(config.batch_size):
            batch = batch._replace(corpus_size=200, is_stream=is_stream)
            state, _ = take_step(hdp.ALGORITHM, config, state, batch)
            if state.documents_read > 2 * batch.corpus_size:
                collected[is_stream] += state.collected.num_documents
    assert collected[False] == 0
    assert collected[True] > 0


def test_a_limit_at_the_size_of_the_start_gives_the_same_run_as_without_births(corpus):
    _, states = read(corpus, max_topics=30)
    config = resolve(hdp.HDPConfig(max_topics=30), corpus.num_documents, corpus.num_tokens)
    state = hdp.init(config, corpus.vocab_size, np.random.default_rng(0))
    for batch in corpus.batches(config.batch_size):
        state, _ = take_step(hdp.ALGORITHM, config, state, batch)
    np.testing.assert_array_equal(state.topic_counts.dense(), states[-1].topic_counts.dense())


@pytest.mark.usefixtures("five_at_the_start")
def test_new_topics_that_do_not_raise_the_score_of_held_out_words_are_rejected(corpus, monkeypatch):
    _, accepted = read(corpus, max_topics=40, duplicates="keep", corpus_concentration=1e-6)
    monkeypatch.setattr(Born, "select", lambda born, is_chosen: born)
    _, every = read(corpus, max_topics=40, duplicates="keep", corpus_concentration=1e-6)
    assert len(accepted[-1].tables) < len(every[-1].tables) == 40


@pytest.mark.usefixtures("five_at_the_start")
def test_the_prior_of_a_topic_counts_once_for_the_whole_corpus(corpus):
    config, states = read(corpus, max_topics=40, duplicates="keep")
    place = next(n for n, state in enumerate(states) if len(state.tables) > 5) - 1
    batch = list(corpus.batches(config.batch_size))[place]
    few_topics = states[place].concentrations._replace(corpus=1e-30)
    state = states[place]._replace(concentrations=few_topics, documents_read=0)

    def count_topics(corpus_size):
        few = Batch(doc_ids=batch.doc_ids[:3], documents=batch.documents.cut(0, 3), corpus_size=corpus_size)
        return len(take_step(hdp.ALGORITHM, config, state, few)[0].tables)

    assert count_topics(3) < count_topics(1000)


def test_appended_topics_leave_the_counts_of_the_others_unchanged():
    rng = np.random.default_rng(1)
    counts = decayed_counts(rng.gamma(1.0, 1.0, (6, 3)))
    columns = rng.gamma(1.0, 1.0, (6, 2))
    state = hdp.init(hdp.HDPConfig(max_topics=3), 6, rng)._replace(topic_counts=counts)
    born = Born(np.arange(6), columns, np.array([1.0, 2.0]), columns.sum(0), 2 * columns.sum(0))
    grown = add_topics(state, born)
    np.testing.assert_array_equal(grown.topic_counts.dense()[:, :3], counts.dense())
    np.testing.assert_allclose(grown.topic_counts.dense()[:, 3:], columns, rtol=1e-12)
    np.testing.assert_allclose(grown.topic_counts.totals, grown.topic_counts.dense().sum(0), rtol=1e-12)
    assert grown.tables[3:].tolist() == [1.0, 2.0]


@pytest.mark.usefixtures("five_at_the_start")
def test_a_run_resumed_from_a_checkpoint_equals_one_uninterrupted(corpus, tmp_path):
    config, states = read(corpus, max_topics=25)
    place = next(n for n, state in enumerate(states) if state.collected.num_documents)
    batches = list(corpus.batches(config.batch_size))
    checkpoint.save(
        tmp_path / "run.npz", checkpoint.Position("hdp", config, RunSettings(), states[place], place, 0.0)
    )
    state = checkpoint.load(tmp_path / "run.npz").state
    for batch in batches[place:]:
        state, _ = take_step(hdp.ALGORITHM, config, state, batch)
    np.testing.assert_array_equal(state.topic_counts.dense(), states[-1].topic_counts.dense())


def test_a_checkpoint_of_a_version_without_collected_documents_is_read():
    config = resolve(hdp.HDPConfig(max_topics=3), 10)
    state = hdp.init(config, 6, np.random.default_rng(0))
    older = {name: array for name, array in checkpoint.flatten("state", state) if "collected" not in name}
    restored = checkpoint.restore("state", hdp.init(config, 1, np.random.default_rng(1)), older)
    np.testing.assert_array_equal(restored.topic_counts.dense(), state.topic_counts.dense())
    assert restored.collected.num_documents == 0
