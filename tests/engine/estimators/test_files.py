"""Saved and loaded models."""

import numpy as np
import pandas as pd
import pytest

from stickbreaker import engine
from stickbreaker.engine import estimators
from stickbreaker.engine.runs import checkpoint
from stickbreaker.engine.runs.settings import RunSettings
from tests.engine.estimators.small_models import ONLINE, bits, make, of_all, of_online


@of_all
def test_a_loaded_model_equals_the_saved_one_and_continues_in_the_same_way(
    kind, tiny_corpus, tmp_path
):
    model = make(kind, random_state=np.random.RandomState(1)).fit(tiny_corpus)
    model.save(tmp_path / "model.npz")
    loaded = engine.load(tmp_path / "model.npz")
    assert type(loaded) is kind
    assert bits(loaded) == bits(model)
    assert loaded.get_params() == model.get_params() | {"random_state": model.seed_}
    assert loaded.transform(tiny_corpus).tobytes() == model.transform(tiny_corpus).tobytes()
    pd.testing.assert_frame_equal(loaded.topics_frame(), model.topics_frame())
    pd.testing.assert_frame_equal(loaded.history_, model.history_)
    if kind in ONLINE:
        assert bits(loaded.partial_fit(tiny_corpus)) == bits(model.partial_fit(tiny_corpus))
        assert loaded.documents_seen_ == 24
    assert bits(loaded.fit(tiny_corpus)) == bits(
        model.set_params(random_state=model.seed_).fit(tiny_corpus)
    )


def test_a_model_of_a_run_has_an_empty_history_and_no_names_also_after_loading(
    tiny_corpus, tmp_path
):
    learned = make(engine.OnlineHDP).fit(tiny_corpus)
    saved = engine.Checkpoint("hdp", learned.config_, RunSettings(), learned.state_, 12, 0.0)
    model = estimators.from_checkpoint(saved, tiny_corpus.vocabulary.words, 12)
    model.save(tmp_path / "model.npz")
    for each in (model, engine.load(tmp_path / "model.npz")):
        assert each.history_.empty
        assert list(each.history_) == list(learned.history_)
        assert each.topic_names_ == {}
        assert each.topic_labels() == learned.topic_labels()
    model.partial_fit(tiny_corpus)
    assert list(model.history_) == list(learned.history_)
    assert model.history_["checkpoint"].unique().tolist() == [0]


def test_a_saved_model_holds_plain_arrays_and_a_run_is_not_loaded_as_a_model(tiny_corpus, tmp_path):
    model = make(engine.OnlineHDP).fit(tiny_corpus.counts)
    model.save(tmp_path / "model.npz")
    with np.load(tmp_path / "model.npz", allow_pickle=False) as arrays:
        # The manifest is text.
        assert all(np.asarray(arrays[name]).dtype != object for name in arrays.files)
    loaded = engine.load(tmp_path / "model.npz")
    pd.testing.assert_frame_equal(loaded.history_, model.history_)
    assert (loaded.words_, hasattr(loaded, "feature_names_in_")) == (None, False)
    frame = pd.DataFrame(tiny_corpus.counts.toarray(), columns=list("abcdef"))
    model.fit(frame).save(tmp_path / "model.npz")
    assert (
        engine.load(tmp_path / "model.npz").transform(frame).tobytes()
        == model.transform(frame).tobytes()
    )
    saved = engine.Checkpoint("hdp", model.config_, RunSettings(), model.state_, 12, 0.0)
    checkpoint.save(tmp_path / "run.npz", saved)
    with pytest.raises(checkpoint.CheckpointError, match="contains a run"):
        engine.load(tmp_path / "run.npz")
    with pytest.raises(checkpoint.CheckpointError, match="no checkpoint at"):
        engine.load(tmp_path / "nothing.npz")


@of_online
def test_a_loaded_model_leaves_the_same_settings_to_the_corpus(kind, tiny_corpus, tmp_path):
    model = kind(random_state=3).fit(tiny_corpus)
    model.save(tmp_path / "model.npz")
    loaded = engine.load(tmp_path / "model.npz")
    assert loaded.get_params() == model.get_params()
    assert (loaded.batch_size, loaded.config_) == (model.batch_size, model.config_)
    assert (
        loaded.fit(tiny_corpus).transform(tiny_corpus).tobytes()
        == model.transform(tiny_corpus).tobytes()
    )
