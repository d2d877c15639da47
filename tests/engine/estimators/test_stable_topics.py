"""Topics that come back in other fits."""

import warnings

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

from stickbreaker import engine
from stickbreaker.engine.estimators import stable_topics
from stickbreaker.engine.estimators.consensus_model import Gathering
from stickbreaker.engine.runs.prepared import split_corpus
from stickbreaker.engine.simulate import simulate_hdp


@pytest.fixture(scope="module")
def corpus():
    truth = np.random.default_rng(2).dirichlet(np.full(200, 0.1), 5)
    return simulate_hdp(truth, 1000, 40, 1.0, 5.0, np.random.default_rng(3)).corpus


COLUMNS = [
    "topic_id",
    "label",
    "weight",
    "stability",
    "found_in",
    "smallest_weight",
    "largest_weight",
    "words",
    "constant_words",
]


def fit(corpus, seed, **given):
    return engine.OnlineHDP(random_state=seed, passes=1, **given).fit(corpus)


def test_topics_that_are_there_come_back_with_any_seed(corpus):
    models = [fit(corpus, seed) for seed in range(3)]
    frame = engine.stability(models)
    assert frame.columns.tolist() == COLUMNS
    assert len(frame) == models[0].n_topics_
    assert (frame["weight"] * frame["stability"]).sum() > 0.9
    assert frame["stability"].eq(frame["found_in"] / 2).all()
    assert frame["smallest_weight"].le(frame["weight"]).all()
    assert frame["largest_weight"].ge(frame["weight"]).all()
    all_words, constant = (
        frame[name].str.split(", ").map(set) for name in ("words", "constant_words")
    )
    assert all(few <= many for few, many in zip(constant, all_words, strict=True))
    assert frame["words"][0].split(", ") == models[0].topics_frame()["word"].head(10).tolist()
    assert engine.stability(models[:1] * 2)["stability"].eq(1.0).all()


def test_the_table_of_topics_has_the_stability_next_to_other_models(corpus):
    models = [fit(corpus, seed) for seed in range(2)]
    frame = models[0].topics_frame(others=models[1:])
    assert frame.columns.tolist() == [
        "topic_id",
        "label",
        "weight",
        "stability",
        "rank",
        "word",
        "probability",
    ]
    expected = engine.stability(models).set_index("topic_id")["stability"]
    assert frame.groupby("topic_id")["stability"].first().eq(expected).all()
    assert "stability" not in models[0].topics_frame()


def test_one_model_and_models_of_other_words_are_refused(corpus):
    model, other = fit(corpus, 0), fit(corpus.counts[:, :50], 0)
    with pytest.raises(ValueError, match="give at least two"):
        engine.stability([model])
    with pytest.raises(ValueError, match="different words"):
        engine.stability([model, other])
    with pytest.raises(ValueError, match="one OnlineHDP: give a list"):
        engine.stability(model)
    with pytest.raises(NotFittedError):
        engine.stability([model, engine.OnlineHDP()])


def test_runs_with_other_seeds_and_orders_hold_the_same_documents_out(corpus):
    found = engine.stability_of(corpus, engine.OnlineHDP(passes=1, random_state=4), seeds=2)
    runs = found.runs()
    assert runs["seed"].tolist() == [4, 5, 6]
    assert runs["num_topics"].tolist() == [model.n_topics_ for model in found.models]
    assert runs["nats_per_word"].tolist() == [model.score(found.test) for model in found.models]
    pd.testing.assert_frame_equal(found.frame(), engine.stability(found.models))
    again = engine.stability_of(corpus, engine.OnlineHDP(passes=1, random_state=4), seeds=[6])
    assert again.scores[1] == found.scores[2]
    assert (found.models[0].components_ != again.models[1].components_).any()


def test_in_the_order_of_dates_only_the_seeds_differ(corpus):
    model = engine.OnlineHDP(passes=1, random_state=0)
    found = engine.stability_of(corpus, model, seeds=[3], orders="chronological")
    train, _ = split_corpus(corpus, engine.RunSettings())
    alone = clone(model).set_params(random_state=3).fit(train)
    assert (found.models[1].components_ == alone.components_).all()


def test_an_unknown_order_and_no_seed_are_refused(corpus):
    with pytest.raises(ValueError, match="choose one of shuffled, chronological"):
        engine.stability_of(corpus, orders="random")
    for seeds in (0, None, [], [0], [1, 1], [-1], ["1"]):
        with pytest.raises(ValueError, match="seeds is"):
            engine.stability_of(corpus, seeds=seeds)
    with pytest.raises(ValueError, match="give a larger corpus"):
        engine.stability_of(corpus.select([0]))


def test_ctrl_c_ends_all_runs(corpus, monkeypatch):
    def interrupt(*arguments):
        warnings.warn("Interrupted: the model has read 1 of 2 documents.", stacklevel=2)

    monkeypatch.setattr(stable_topics, "_fit", interrupt)
    with pytest.raises(UserWarning, match="Interrupted"):
        engine.stability_of(corpus, seeds=1)


def test_a_consensus_has_the_topics_of_half_of_the_models_and_is_a_model_like_any_other(
    corpus, tmp_path
):
    found = engine.stability_of(corpus, engine.OnlineHDP(passes=1), seeds=3)
    joined = engine.consensus(found.models)
    assert joined.n_topics_ == found.frame()["found_in"].eq(3).sum() == 4
    assert joined.score(found.test) > min(found.scores) - 0.01
    assert engine.stability([joined, *found.models])["found_in"].ge(2).all()
    np.testing.assert_allclose(joined.transform(found.test).sum(1), 1.0, rtol=1e-6)
    joined.save(tmp_path / "joined.npz")
    loaded = engine.load(tmp_path / "joined.npz")
    assert (loaded.transform(found.test) == joined.transform(found.test)).all()
    pd.testing.assert_frame_equal(loaded.topics_frame(), joined.topics_frame())
    before = joined.topics_frame()
    loaded.partial_fit(corpus, corpus_size=corpus.num_documents)
    pd.testing.assert_frame_equal(joined.topics_frame(), before)


def test_the_consensus_of_a_model_with_itself_has_its_topics(corpus):
    model = fit(corpus, 0)
    joined = engine.consensus([model, model])
    ours, theirs = (each.topics_frame(wide=True) for each in (model, joined))
    assert ours["words"].tolist() == theirs["words"].tolist()


def test_a_full_disk_is_reported_when_models_are_joined(corpus, tmp_path):
    model = fit(corpus, 0)
    gathering = Gathering(tmp_path / "missing")
    gathering.add(model)
    with pytest.raises(FileNotFoundError):
        gathering.join(model)


def test_models_given_one_after_another_have_the_same_consensus_and_their_counts_wait_in_files(
    corpus, tmp_path
):
    models = [fit(corpus, seed) for seed in range(3)]
    gathering = Gathering(tmp_path)
    for model in models:
        gathering.add(model)
    assert len(list(tmp_path.iterdir())) == 3
    joined, expected = gathering.join(models[0]), engine.consensus(models)
    assert (joined.components_ == expected.components_).all()
    assert joined.state_.concentrations.word == expected.state_.concentrations.word


def test_topics_of_random_words_do_not_come_back_and_have_no_consensus():
    rng = np.random.default_rng(1)
    null = simulate_hdp(np.full((1, 2000), 1 / 2000), 600, 60, 1.0, 1.0, rng).corpus
    found = engine.stability_of(null, engine.OnlineHDP(passes=1, duplicates="keep"), seeds=4)
    frame = found.frame()
    assert found.runs()["num_topics"].gt(100).all()
    assert (frame["weight"] * frame["stability"]).sum() < 0.01
    with pytest.raises(ValueError, match="No topic is in half"):
        engine.consensus(found.models)


def test_models_that_have_no_consensus_are_refused(corpus):
    model = fit(corpus, 0)
    with pytest.raises(ValueError, match="there are 1"):
        engine.consensus([model])
    with pytest.raises(ValueError, match="online HDPs of one class"):
        engine.consensus([model, engine.OnlineLDA(max_topics=5, passes=1).fit(corpus)])
    with pytest.raises(ValueError, match="different words"):
        engine.consensus([model, fit(corpus.counts[:, :50], 0)])


def test_documents_set_aside_score_fewer_topics_down_to_one(corpus):
    model = fit(corpus, 0)
    scores = model.score_numbers()
    assert scores["num_topics"].is_monotonic_increasing
    assert scores["num_topics"].iloc[0] == 1
    assert scores["nats_per_word"].iloc[-1] > scores["nats_per_word"].iloc[0]
    with pytest.raises(ValueError, match="set no documents aside"):
        fit(corpus, 0, duplicates="keep").score_numbers()
