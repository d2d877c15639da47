"""Topics that come back in other fits."""

import numpy as np
import pytest

from stickbreaker import engine
from stickbreaker.engine.simulate import simulate_hdp


@pytest.fixture(scope="module")
def corpus():
    truth = np.random.default_rng(2).dirichlet(np.full(200, 0.1), 5)
    return simulate_hdp(truth, 1000, 40, 1.0, 5.0, np.random.default_rng(3)).corpus


def fit(corpus, seed, **given):
    return engine.OnlineHDP(random_state=seed, passes=1, **given).fit(corpus)


def test_topics_that_are_there_come_back_with_any_seed(corpus):
    models = [fit(corpus, seed) for seed in range(3)]
    frame = engine.stability(models)
    assert frame.columns.tolist() == ["topic_id", "label", "weight", "stability", "words"]
    assert len(frame) == models[0].n_topics_
    assert (frame["weight"] * frame["stability"]).sum() > 0.9
    assert set(frame["stability"]) <= {0.0, 0.5, 1.0}
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
