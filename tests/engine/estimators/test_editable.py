"""Topics that a person edits: on simulated corpora, whose true topics are known."""

import numpy as np
import pandas as pd
import pytest

from stickbreaker.engine import OnlineDirectHDP, OnlineHDP, OnlineSVIHDP, load
from stickbreaker.engine.inference.edits import SUPPORTED_SHARE
from stickbreaker.engine.simulate import simulate_hdp
from tests.engine.estimators.small_models import bits

NUM_TOPICS = 6
VOCAB_SIZE = 300
SIZE = 1500


@pytest.fixture(scope="module")
def simulation():
    rng = np.random.default_rng(0)
    topics = rng.dirichlet(np.full(VOCAB_SIZE, 0.1), NUM_TOPICS)
    return simulate_hdp(topics, SIZE, 40, 1.0, 8.0, rng)


@pytest.fixture(scope="module")
def fitted(simulation, tmp_path_factory):
    path = tmp_path_factory.mktemp("models") / "model.npz"
    OnlineHDP(random_state=0, passes=3).fit(simulation.corpus).save(path)
    return path


@pytest.fixture
def model(fitted):
    return load(fitted)


def summarize(model):
    return model.algorithm.summarize(model.config_, model.state_)


def find(model, topic):
    """The id of the topic in use that is most similar to a true one, and the similarity."""
    summary = summarize(model)
    similarity = np.sqrt(summary.topics) @ np.sqrt(topic)
    similarity[summary.expected_tokens < 1] = 0
    return int(similarity.argmax()), similarity.max()


def largest(simulation, number=2):
    return np.argsort(-simulation.weights)[:number]


def go_on(model, simulation):
    return model.partial_fit(simulation.corpus, corpus_size=SIZE)


def test_two_true_topics_are_merged_and_come_apart_again_by_a_split(model, simulation):
    truth = simulation.topics[largest(simulation)]
    ids = [find(model, topic)[0] for topic in truth]
    score = model.score(simulation.corpus)
    number = model.n_topics_
    merged = model.merge(ids)
    assert merged in ids
    assert model.n_topics_ == number - 1
    assert model.score(simulation.corpus) < score - 0.02
    new = model.split(merged, simulation.corpus)
    assert model.n_topics_ == number
    assert sorted(find(model, topic)[0] for topic in truth) == sorted([merged, new])
    go_on(model, simulation)
    assert sorted(find(model, topic)[0] for topic in truth) == sorted([merged, new])
    assert min(find(model, topic)[1] for topic in truth) > 0.9
    assert model.score(simulation.corpus) > score - 0.005
    assert [each.kind for each in model.edits_] == ["merge", "split"]
    assert model.edits_[0].documents_seen == SIZE


def test_the_documents_of_a_removed_topic_go_to_others(model, simulation):
    topic = simulation.topics[largest(simulation, 1)[0]]
    gone, _ = find(model, topic)
    tokens = summarize(model).expected_tokens
    model.remove(gone)
    assert summarize(model).expected_tokens[gone] == 0
    go_on(model, simulation)
    after = summarize(model).expected_tokens
    assert after[gone] < 0.01 * tokens[gone]
    # D has grown with the documents.
    growth = model.corpus_size_ / SIZE
    assert after.sum() > 1.1 * growth * (tokens.sum() - tokens[gone])


def test_a_seed_finds_a_topic_that_exists(model, simulation):
    topic = simulation.topics[largest(simulation)[1]]
    model.remove(find(model, topic)[0])
    words = [model.words_[place] for place in np.argsort(-topic)[:3]]
    new = model.seed_topic(words, name="Panama", X=simulation.corpus)
    assert find(model, topic)[0] == new
    go_on(model, simulation)
    assert find(model, topic)[0] == new
    assert find(model, topic)[1] > 0.9
    assert model.support(new) > SUPPORTED_SHARE
    assert model.topic_names_ == {new: "Panama"}
    assert model.edits_[-1].words == tuple(words)


def test_a_seed_of_words_of_several_topics_is_not_supported(model, simulation):
    words = [
        model.words_[np.argsort(-topic)[40]] for topic in simulation.topics[largest(simulation, 3)]
    ]
    new = model.seed_topic(words, X=simulation.corpus)
    go_on(model, simulation)
    assert 0.0 < model.support(new) < SUPPORTED_SHARE
    for word, topic in zip(words, simulation.topics[largest(simulation, 3)], strict=True):
        place = model.words_.index(word)
        assert summarize(model).topics[new, place] > topic[place]


def test_a_pinned_topic_keeps_its_words_as_those_of_documents_change(fitted, simulation):
    rng = np.random.default_rng(1)
    changed = 0.6 * simulation.topics + 0.4 * rng.dirichlet(np.full(VOCAB_SIZE, 0.1), NUM_TOPICS)
    others = simulate_hdp(changed, SIZE, 40, 1.0, 8.0, rng).corpus
    moves = []
    for is_pinned in (True, False):
        model = load(fitted)
        topic_id, _ = find(model, simulation.topics[largest(simulation, 1)[0]])
        before = summarize(model).topics[topic_id]
        if is_pinned:
            model.pin(topic_id)
        model.partial_fit(others, corpus_size=2 * SIZE)
        moves.append(abs(summarize(model).topics[topic_id] - before).sum() / 2)
    assert 3 * moves[0] < moves[1]


def test_undo_takes_edits_back_and_the_model_learns_as_if_there_had_been_none(
    fitted, model, simulation
):
    model.merge(model.topic_ids_[summarize(model).expected_tokens > 1][:2])
    go_on(model, simulation)
    model.seed_topic(["word3"], name="Third")
    assert model.undo().topic_names_ == {}
    assert [each.kind for each in model.edits_] == ["merge"]
    model.undo()
    untouched = load(fitted)
    assert bits(model) == bits(untouched)
    assert bits(go_on(model, simulation)) == bits(go_on(untouched, simulation))
    with pytest.raises(ValueError, match="no edit"):
        model.undo()


EDITS = {
    "merge": lambda model, ids: model.merge(ids[:2]),
    "remove": lambda model, ids: model.remove(ids[0]),
    "split": lambda model, ids: model.split(ids[0]),
    "pin": lambda model, ids: model.pin(ids[0]),
    "seed": lambda model, ids: model.seed_topic(["word3"], name="Third"),
}


@pytest.mark.parametrize("kind", EDITS)
def test_the_last_edit_of_a_saved_model_can_be_undone(fitted, model, tmp_path, kind):
    path = tmp_path / "edited.npz"
    EDITS[kind](model, np.argsort(-summarize(model).expected_tokens)[:2].tolist())
    model.save(path)
    loaded = load(path)
    assert bits(loaded) == bits(model)
    untouched = load(fitted)
    loaded.undo()
    assert bits(loaded) == bits(untouched)
    assert (loaded.edits_, loaded.topic_names_) == ((), {})
    with pytest.raises(ValueError, match="no edit"):
        loaded.undo()
    # Of all topics, the file has only those that the edit has changed twice.
    assert path.stat().st_size < 1.1 * fitted.stat().st_size


def test_a_model_that_has_learned_since_its_edit_is_saved_without_the_one_before(
    model, simulation, tmp_path
):
    model.pin(find(model, simulation.topics[0])[0])
    go_on(model, simulation).save(tmp_path / "later.npz")
    loaded = load(tmp_path / "later.npz")
    assert [each.kind for each in loaded.edits_] == ["pin"]
    with pytest.raises(ValueError, match="before its last edit is not known"):
        loaded.undo()


def test_a_saved_model_has_its_edits_and_learns_on_from_them(model, simulation, tmp_path):
    topic_id, _ = find(model, simulation.topics[largest(simulation, 1)[0]])
    model.pin(topic_id, weight=3)
    model.seed_topic(["word3", "word4"], name="Third")
    model.save(tmp_path / "edited.npz")
    loaded = load(tmp_path / "edited.npz")
    assert loaded.edits_ == model.edits_
    assert loaded.topic_names_ == model.topic_names_
    assert bits(loaded) == bits(model)
    assert bits(go_on(loaded, simulation)) == bits(go_on(model, simulation))
    assert loaded.fit(simulation.corpus).edits_ == ()


@pytest.mark.parametrize("kind", [OnlineDirectHDP, OnlineSVIHDP])
def test_the_other_online_hdps_can_be_edited_too(kind, simulation):
    model = kind(random_state=0, passes=2, batch_size=250, max_topics=20).fit(simulation.corpus)
    words = [model.words_[place] for place in np.argsort(-simulation.topics[0])[:3]]
    one, other = np.argsort(-summarize(model).expected_tokens)[:2]
    model.pin(model.merge([one, other]))
    new = model.seed_topic(words, X=simulation.corpus)
    model.split(one if summarize(model).expected_tokens[one] else other, simulation.corpus)
    go_on(model, simulation)
    assert summarize(model).expected_tokens[new] > 0
    assert np.isfinite(model.score(simulation.corpus))


def test_errors_name_what_is_wrong(model):
    for call, message in (
        (lambda: model.merge([3]), "no topic|two different"),
        (lambda: model.remove(10_000), "no topic 10000"),
        (lambda: model.pin("2"), "'2' is not the id"),
        (lambda: model.pin(True), "True is not the id"),
        (lambda: model.pin(0, weight=-1), "weight is -1"),
        (lambda: model.seed_topic("canal"), "give a list of words"),
        (lambda: model.seed_topic([]), "at least one word"),
        (lambda: model.seed_topic(["canal"]), "does not contain the word 'canal'"),
        (lambda: model.seed_topic([7]), "does not contain the word '7'"),
        (lambda: model.support(-1), "no topic -1"),
    ):
        with pytest.raises(ValueError, match=message):
            call()
    assert model.edits_ == ()


def test_seed_words_are_found_as_they_are_written_or_in_lower_case():
    texts = [[4, 3, 2, 0, 0, 0], [0, 0, 0, 4, 3, 2]] * 50
    columns = ["War", "NAVY", "army", "tariff", "cotton", "trade"]
    model = OnlineHDP(random_state=0).fit(pd.DataFrame(texts, columns=columns))
    model.seed_topic(["War", "NAVY", "ARMY"])
    assert model.edits_[0].words == ("War", "NAVY", "army")


def test_a_callback_of_fit_that_edits_topics_is_refused(simulation):
    model = OnlineHDP(random_state=0, passes=1)
    with pytest.raises(RuntimeError, match="edit topics after the fit"):
        model.fit(simulation.corpus, callback=lambda update: model.seed_topic(["word0"]))


def test_topics_of_less_than_a_token_are_neither_edited_nor_proposed(model, simulation):
    in_use = [find(model, topic)[0] for topic in simulation.topics]
    for topic_id in in_use[1:]:
        model.remove(topic_id)
    others = np.flatnonzero(summarize(model).expected_tokens < 1)
    with pytest.raises(ValueError, match="There is no topic"):
        model.remove(int(others[0]))
    proposed = model.propose_edits(simulation.corpus)["topic_ids"]
    assert not {topic_id for ids in proposed for topic_id in ids} & set(others.tolist())
    for topic_id in np.setdiff1d(np.arange(len(model.topic_ids_)), [in_use[0], *others]):
        model.remove(int(topic_id))
    with pytest.raises(ValueError, match="only topic"):
        model.remove(in_use[0])


def test_a_split_of_two_true_topics_is_proposed_and_gains_what_it_says(model, simulation):
    ids = [find(model, topic)[0] for topic in simulation.topics[largest(simulation)]]
    before = bits(model)
    frame = model.propose_edits(simulation.corpus)
    assert bits(model) == before
    assert set(frame["kind"]) == {"merge", "split"}
    # The fitted topics are the true ones: what splits them is noise.
    assert frame.query("kind == 'split'")["gain"].max() < 0.01
    merged = model.merge(ids)
    best = model.propose_edits(simulation.corpus).iloc[0]
    assert (best["kind"], best["topic_ids"]) == ("split", (merged,))
    assert best["is_supported"]
    assert best["gain"] > 5 * best["error"]
    assert best["gain"] > 0.02


def test_a_model_that_sets_no_documents_aside_has_no_evidence(simulation):
    model = OnlineSVIHDP(random_state=0, passes=1, batch_size=250, max_topics=10)
    with pytest.raises(ValueError, match="set no documents aside"):
        model.fit(simulation.corpus).propose_edits(simulation.corpus)
