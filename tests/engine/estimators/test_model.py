"""Every algorithm as an estimator: fit, transform, score, tables, labels and history."""

import zipfile
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from pandas.testing import assert_frame_equal
from scipy.sparse import csr_matrix
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

from stickbreaker import engine
from stickbreaker.engine.corpora.corpus import Corpus, Vocabulary
from stickbreaker.engine.estimators.model import MOST_PASSES
from stickbreaker.engine.evaluation.coherence import npmi
from stickbreaker.engine.inference.held_words import split_words
from stickbreaker.engine.runs import checkpoint
from stickbreaker.engine.runs.count_check import can_check
from stickbreaker.engine.runs.prepared import prepare_training
from stickbreaker.engine.runs.run import run
from stickbreaker.engine.runs.settings import RunSettings
from stickbreaker.engine.simulate import simulate_hdp
from tests.engine.estimators.small_models import ONLINE, bits, make, of_all


@of_all
def test_fit_is_a_run_that_holds_nothing_out(kind, tiny_corpus):
    model = make(kind, random_state=5).fit(tiny_corpus)
    settings = RunSettings(passes=model.passes, seed=5)
    *_, end = run(prepare_training(kind.algorithm, model.config_, tiny_corpus, settings))
    assert bits(model) == {
        name: array.tobytes() for name, array in checkpoint.flatten("state", end.state)
    }


@of_all
def test_fit_calls_its_callback_once_for_each_mini_batch_and_prints_nothing(
    kind, tiny_corpus, capfd
):
    seen, model = [], make(kind)
    model.fit(tiny_corpus, callback=lambda update: seen.append(update.stepped.documents_seen))
    assert seen == list(range(4, 40, 4) if kind in ONLINE else range(12, 48, 12))
    assert "".join(capfd.readouterr()) == ""


def test_a_progress_bar_counts_the_documents_of_all_passes(tiny_corpus, capfd):
    make(engine.OnlineLDA).fit(tiny_corpus, verbose=True)
    printed, bar = capfd.readouterr()
    assert printed == ""
    assert "Pass 3: 100%" in bar
    assert "36/36" in bar


@of_all
def test_an_interrupted_fit_continues_from_its_checkpoint_bit_for_bit(kind, tiny_corpus, tmp_path):
    def interrupt(update):
        raise KeyboardInterrupt

    whole, path = make(kind).fit(tiny_corpus), tmp_path / "fit.npz"
    with pytest.warns(UserWarning, match="Interrupted"):
        make(kind).fit(tiny_corpus, callback=interrupt, checkpoint=path)
    seen = []
    model = make(kind).fit(tiny_corpus, checkpoint=path, callback=seen.append)
    assert bits(model) == bits(whole)
    assert_frame_equal(model.history_, whole.history_, check_dtype=False)
    assert 0 < len(seen) < (9 if kind in ONLINE else 3)
    again = make(kind).fit(tiny_corpus, checkpoint=path)
    assert (bits(again), again.documents_seen_) == (bits(whole), whole.documents_seen_)
    assert_frame_equal(again.history_, whole.history_, check_dtype=False)
    with pytest.raises(ValueError, match="written with another"):
        make(kind, passes=5).fit(tiny_corpus, checkpoint=path)


def test_a_fit_that_is_interrupted_before_its_first_step_raises(tiny_corpus, monkeypatch):
    def interrupt(*arguments):
        raise KeyboardInterrupt

    monkeypatch.setattr("stickbreaker.engine.runs.run.take_step", interrupt)
    with pytest.raises(KeyboardInterrupt):
        make(engine.OnlineLDA).fit(tiny_corpus)


@of_all
def test_a_second_fit_starts_again(kind, tiny_corpus):
    model = make(kind).fit(tiny_corpus)
    first = bits(model)
    model.fit(tiny_corpus.counts[:5, :4])
    assert bits(model) == bits(make(kind).fit(tiny_corpus.counts[:5, :4]))
    assert model.documents_seen_ == 5
    assert model.n_features_in_ == 4
    assert model.history_["documents_seen"].max() == 15
    assert bits(model.fit(tiny_corpus)) == first


@of_all
def test_reading_documents_never_changes_the_model(kind, tiny_corpus):
    model = make(kind).fit(tiny_corpus)
    before, read = bits(model), [[0, 7, 0, 1, 0, 2], [0, 0, 0, 0, 0, 0]]
    shares, nats = model.transform(read), model.score(tiny_corpus)
    assert model.transform(read).tobytes() == shares.tobytes()
    assert model.score(tiny_corpus) == nats
    assert bits(model) == before
    assert shares.dtype == float
    np.testing.assert_allclose(shares.sum(1), 1.0, rtol=1e-5)


@of_all
def test_fitted_attributes_have_the_shapes_of_scikit_learn(kind, tiny_corpus):
    model = make(kind).fit(tiny_corpus)
    num_topics = len(model.topic_ids_)
    assert model.components_.shape == (num_topics, 6)
    assert model.topic_weights_.shape == (num_topics,)
    np.testing.assert_allclose(model.components_.sum(1), 1.0, rtol=1e-5)
    assert model.topic_weights_.sum() == pytest.approx(1.0)
    assert 1 <= model.n_topics_ <= num_topics
    table = model.set_output(transform="pandas").transform(tiny_corpus)
    assert (
        list(table)
        == [f"topic{topic_id}" for topic_id in model.topic_ids_]
        == list(model.get_feature_names_out())
    )


def test_a_model_that_is_not_fitted_has_no_attributes_and_raises_not_fitted_error():
    model = engine.OnlineHDP()
    for name in ("components_", "topic_weights_", "topic_ids_", "n_topics_", "history_"):
        assert not hasattr(model, name)
    for read in (model.transform, model.score, model.save):
        with pytest.raises(NotFittedError):
            read([[1, 2]])


@of_all
def test_score_is_the_mean_log_likelihood_of_a_held_out_token(kind, tiny_corpus):
    model = make(kind).fit(tiny_corpus)
    split = split_words(tiny_corpus.documents(), np.arange(12), seed=0)
    observed = np.zeros((12, 6), int)
    for j in range(12):
        entries = slice(split.observed.starts[j], split.observed.starts[j + 1])
        observed[j, split.observed.words[entries]] = split.observed.counts[entries]
    predicted = model.transform(observed) @ model.components_
    logs = [
        count * np.log(predicted[j, word])
        for j, word, count in zip(split.rows, split.words, split.counts, strict=True)
    ]
    assert model.score(tiny_corpus.counts) == pytest.approx(
        sum(logs) / split.counts.sum(), rel=1e-5
    )


@of_all
def test_fit_warns_about_a_single_document(kind):
    with pytest.warns(UserWarning, match="X has one document"):
        make(kind).fit([[3, 1, 2]])


def test_a_model_without_a_seed_draws_one(tiny_corpus):
    model = make(engine.OnlineLDA, random_state=None)
    one, other = (bits(model.fit(tiny_corpus)) for _ in range(2))
    assert one != other
    drawn = [
        make(engine.OnlineLDA, random_state=np.random.RandomState(3)).fit(tiny_corpus).seed_
        for _ in range(2)
    ]
    assert drawn[0] == drawn[1]


def test_errors_of_fit_and_score_name_the_remedy(tiny_corpus):
    model = make(engine.OnlineHDP).fit(tiny_corpus)
    with pytest.raises(ValueError, match="two or more distinct words"):
        model.score(
            Corpus("short", [[4, 0, 0, 0, 0, 0]], tiny_corpus.vocabulary, ["1790"], ["Short"])
        )
    others = replace(tiny_corpus, vocabulary=Vocabulary(tuple("abcdef")))
    with pytest.raises(ValueError, match="not the 6 that the model was fitted with"):
        model.transform(others)
    with pytest.raises(ValueError, match="has no document"):
        model.fit(tiny_corpus.select([]))
    for empty in (
        np.zeros((3, 2), int),
        csr_matrix((3, 2), dtype=int),
        replace(tiny_corpus, counts=np.zeros((12, 6))),
    ):
        with pytest.raises(ValueError, match="X holds no words, since all counts are 0"):
            model.fit(empty)
    with pytest.raises(ValueError, match="max_topics is 0"):
        engine.OnlineHDP(max_topics=0).fit(tiny_corpus)
    with pytest.raises(ValueError, match="delay is inf: give a number of at least 0"):
        engine.OnlineHDP(delay=np.inf).fit(tiny_corpus)
    with pytest.raises(ValueError, match="holds 0.5"):
        model.fit([[0.5]])
    with pytest.raises(ValueError, match="corpus_size is '3': give a whole number of at least 1"):
        model.partial_fit(tiny_corpus, corpus_size="3")
    with pytest.raises(ValueError, match="corpus_size is True"):
        model.partial_fit(tiny_corpus, corpus_size=True)
    with pytest.raises(
        ValueError, match="1 words for 6 columns of counts: give one word per column"
    ):
        make(engine.OnlineHDP).fit(tiny_corpus.counts).topics_frame(words=["peace"])
    with pytest.raises(ValueError, match="The words are a set: give a list of them"):
        make(engine.OnlineHDP).fit(tiny_corpus.counts).topics_frame(words=set("abcdef"))
    with pytest.raises(NotFittedError):
        model.transform(tiny_corpus)


def test_settings_of_whole_numbers_can_be_given_as_floats(tiny_corpus):
    whole = make(engine.OnlineHDP).set_params(max_topics=4, max_slots=3).fit(tiny_corpus)
    floats = (
        make(engine.OnlineHDP).set_params(max_topics=4.0, max_slots=np.float64(3)).fit(tiny_corpus)
    )
    assert bits(floats) == bits(whole)


@of_all
def test_the_table_of_topics_agrees_with_the_components_largest_topic_first(kind, tiny_corpus):
    model = make(kind).fit(tiny_corpus)
    table = model.topics_frame(num_words=4)
    row_of = {topic_id: row for row, topic_id in enumerate(model.topic_ids_)}
    for topic_id, topic in table.groupby("topic_id"):
        probabilities = model.components_[row_of[topic_id]]
        words = [tiny_corpus.vocabulary.index(word) for word in topic["word"]]
        assert topic["rank"].tolist() == [1, 2, 3, 4]
        np.testing.assert_array_equal(topic["probability"], np.sort(probabilities)[::-1][:4])
        np.testing.assert_array_equal(topic["probability"], probabilities[words])
    wide = model.topics_frame(num_words=4, wide=True)
    assert wide["topic_id"].tolist() == table["topic_id"].unique().tolist()
    assert ", ".join(wide["words"]).split(", ") == table["word"].tolist()
    shares = table.drop_duplicates("topic_id")["weight"]
    assert shares.is_monotonic_decreasing
    assert 0.5 < shares.sum() <= 1 + 1e-6


@of_all
def test_transform_can_omit_the_topics_that_are_not_in_use(kind, tiny_corpus):
    model = make(kind).fit(tiny_corpus)
    every, names = model.transform(tiny_corpus), list(model.get_feature_names_out())
    used = (
        model.set_params(unused_topics="drop").set_output(transform="pandas").transform(tiny_corpus)
    )
    assert set(used) == {f"topic{topic_id}" for topic_id in model.topics_frame()["topic_id"]}
    assert used.shape[1] == model.n_topics_
    np.testing.assert_array_equal(used.to_numpy(), every[:, [names.index(name) for name in used]])
    with pytest.raises(ValueError, match="choose one of keep, drop"):
        model.set_params(unused_topics="hide").transform(tiny_corpus)


@of_all
def test_coherence_has_a_row_for_each_topic_in_use_with_its_label_npmi_and_exclusivity(
    kind, tiny_corpus
):
    model = make(kind).fit(tiny_corpus)
    state, frame = model.components_.tobytes(), model.coherence(tiny_corpus)
    assert list(frame) == ["topic_id", "label", "weight", "npmi", "exclusivity", "words"]
    assert dict(zip(frame["topic_id"], frame["label"], strict=True)) == model.topic_labels()
    top = [
        [tiny_corpus.vocabulary.index(word) for word in words.split(", ")]
        for words in frame["words"]
    ]
    np.testing.assert_array_equal(frame["npmi"], npmi(np.array(top), tiny_corpus.counts))
    assert model.quality(tiny_corpus).npmi == pytest.approx(frame["npmi"].mean())
    np.testing.assert_array_equal(model.coherence(tiny_corpus.counts)["npmi"], frame["npmi"])
    assert model.components_.tobytes() == state


@of_all
def test_the_number_of_topics_can_be_checked_unless_the_model_is_a_mixture(kind, tiny_corpus):
    model = make(kind).fit(tiny_corpus)
    if not can_check(model.algorithm):
        with pytest.raises(ValueError, match="gives a document one topic"):
            model.check_count(tiny_corpus)
        return
    state = bits(model)
    check = model.check_count(tiny_corpus, passes=6, seed=1)
    assert check.counts.shape == (7,)
    assert 1 <= check.interval[0] <= check.interval[1]
    np.testing.assert_array_equal(model.check_count(tiny_corpus.counts, 6, 1).counts, check.counts)
    assert bits(model) == state


@of_all
def test_a_model_writes_arrays_for_programs_and_sheets_for_people(kind, tiny_corpus, tmp_path):
    model = make(kind).fit(tiny_corpus)
    model.save_arrays(tmp_path / "arrays.zip", tiny_corpus)
    with np.load(tmp_path / "arrays.zip") as arrays:
        np.testing.assert_array_equal(
            arrays["theta"], model.transform(tiny_corpus).astype(np.float32)
        )
        np.testing.assert_array_equal(arrays["topics"], model.components_)
    model.save_sheets(tmp_path / "sheets.zip", tiny_corpus)
    with (
        zipfile.ZipFile(tmp_path / "sheets.zip") as archive,
        archive.open("word-intrusion-key.csv") as file,
    ):
        assert set(pd.read_csv(file)["topic_id"]) <= set(model.topic_ids_)


def test_a_callable_or_a_given_name_replaces_a_label(tiny_corpus):
    model = make(engine.OnlineHDP).fit(tiny_corpus)
    first = next(iter(model.topic_labels()))
    assert len(set(model.topic_labels().values())) == len(model.topic_labels())
    named = model.topics_frame(label_with=lambda words: words[0].upper())
    firsts = named[named["rank"] == 1]
    assert (firsts["label"] == firsts["word"].str.upper()).all()
    model.topic_names_ = {first: "War and peace"}
    assert model.topic_labels()[first] == "War and peace"
    assert model.coherence(tiny_corpus)["label"].iloc[0] == "War and peace"


@of_all
def test_the_history_of_counts_is_that_of_their_corpus_without_words_and_dates(kind, tiny_corpus):
    of_corpus = make(kind).fit(tiny_corpus).history_
    of_counts = make(kind).fit(tiny_corpus.counts).history_
    unnamed = ["word", "date"]
    pd.testing.assert_frame_equal(of_counts.drop(columns=unnamed), of_corpus.drop(columns=unnamed))
    assert of_counts["date"].isna().all()
    assert set(of_counts["word"]) <= {f"x{column}" for column in range(6)}


def test_a_notebook_shows_the_ten_largest_topics_with_their_words_escaped():
    words = ["<blink>", *(f"word{number}" for number in range(30))]
    counts = (
        5 * np.eye(31, dtype=int)[np.arange(310) % 31] + np.eye(31, dtype=int)[np.arange(310) // 10]
    )
    model = engine.OnlineLDA(max_topics=31, passes=5, random_state=0).fit(
        pd.DataFrame(counts, columns=words)
    )
    shown = model._repr_mimebundle_()["text/html"]
    table = shown[shown.index("<caption>") :]
    assert table.count("<tr>") == 1 + 10
    assert f"OnlineLDA: {model.n_topics_} topics from 310 documents" in table
    assert set(model.topics_frame()["word"]) >= {"<blink>"}
    assert "<blink>" not in shown
    assert "<caption>" not in clone(model)._repr_html_()


def read_until_settled(**given):
    """A model that has read its corpus until documents set aside had settled."""
    truth = np.random.default_rng(2).dirichlet(np.full(200, 0.1), 5)
    corpus = simulate_hdp(truth, 1000, 40, 1.0, 5.0, np.random.default_rng(3)).corpus
    return corpus, engine.OnlineHDP(random_state=0, **given)


def test_a_fit_reads_the_corpus_until_documents_set_aside_are_predicted_no_better(capfd):
    corpus, model = read_until_settled()
    model.fit(corpus, verbose=True)
    assert 1 < model.n_iter_ < MOST_PASSES
    assert model.state_.has_converged
    assert (
        f"Read {model.n_iter_} times: documents set aside are predicted no better"
        in capfd.readouterr().err
    )
    assert model.history_["documents_seen"].max() == model.n_iter_ * corpus.num_documents
    given = read_until_settled(passes=model.n_iter_)[1].fit(corpus)
    assert bits(given) == bits(model)
    assert read_until_settled(passes=1)[1].fit(corpus).n_iter_ == 1
    assert read_until_settled(duplicates="keep")[1].fit(corpus).n_iter_ == 1


def test_a_large_corpus_is_read_once(monkeypatch):
    monkeypatch.setattr("stickbreaker.engine.estimators.model.MOST_REREAD", 999)
    corpus, model = read_until_settled()
    assert model.fit(corpus).n_iter_ == 1


def test_a_fit_that_has_settled_or_was_interrupted_continues_from_its_checkpoint(tmp_path):
    corpus, whole = read_until_settled()
    whole.fit(corpus, checkpoint=tmp_path / "whole.npz")
    seen = []
    again = read_until_settled()[1].fit(
        corpus, checkpoint=tmp_path / "whole.npz", callback=seen.append
    )
    assert (bits(again), again.n_iter_, seen) == (bits(whole), whole.n_iter_, [])

    def interrupt(update):
        if update.stepped.documents_seen > corpus.num_documents:
            raise KeyboardInterrupt

    with pytest.warns(UserWarning, match="Interrupted"):
        read_until_settled()[1].fit(corpus, callback=interrupt, checkpoint=tmp_path / "part.npz")
    part = read_until_settled()[1].fit(corpus, checkpoint=tmp_path / "part.npz")
    assert (bits(part), part.n_iter_) == (bits(whole), whole.n_iter_)
    assert_frame_equal(part.history_, whole.history_, check_dtype=False)


def test_without_unused_topics_all_attributes_have_the_topics_of_transform(tiny_corpus):
    kept = make(engine.OnlineHDP, max_topics=40).fit(tiny_corpus)
    dropped = make(engine.OnlineHDP, max_topics=40, unused_topics="drop").fit(tiny_corpus)
    num_topics = dropped.transform(tiny_corpus).shape[1]
    assert num_topics == len(dropped.topic_ids_) < len(kept.topic_ids_)
    assert dropped.components_.shape[0] == len(dropped.topic_weights_) == num_topics
    assert list(dropped.get_feature_names_out()) == [f"topic{n}" for n in dropped.topic_ids_]
    places = np.flatnonzero(np.isin(kept.topic_ids_, dropped.topic_ids_))
    np.testing.assert_array_equal(kept.components_[places], dropped.components_)
    np.testing.assert_array_equal(kept.topic_weights_[places], dropped.topic_weights_)
