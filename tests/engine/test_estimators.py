"""Every algorithm as a scikit-learn estimator."""

import subprocess
import sys
import zipfile
from dataclasses import fields, replace
from itertools import combinations
from typing import get_type_hints

import numpy as np
import pandas as pd
import pytest
import sklearn
from packaging.version import Version
from scipy.sparse import csr_matrix
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.feature_extraction.text import CountVectorizer, TfidfTransformer
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.utils.estimator_checks import parametrize_with_checks

from stickbreaker import engine
from stickbreaker.engine import estimators
from stickbreaker.engine.algorithms import REGISTRY
from stickbreaker.engine.corpora.corpus import Corpus, Vocabulary
from stickbreaker.engine.estimators.write_classes import TARGET, write_source
from stickbreaker.engine.evaluation.coherence import npmi
from stickbreaker.engine.inference.held_words import split_words
from stickbreaker.engine.runs import checkpoint
from stickbreaker.engine.runs.count_check import can_check
from stickbreaker.engine.runs.prepared import prepare_training
from stickbreaker.engine.runs.run import run
from stickbreaker.engine.runs.settings import RunSettings

CLASSES = list(estimators.CLASSES.values())
ONLINE = [each for each in CLASSES if issubclass(each, estimators.OnlineTopicModel)]
of_all = pytest.mark.parametrize("kind", CLASSES, ids=lambda each: each.__name__)
of_online = pytest.mark.parametrize("kind", ONLINE, ids=lambda each: each.__name__)
# The checks of scikit-learn call partial_fit without corpus_size, and fit with one document.
unknown_length = pytest.mark.filterwarnings("ignore:partial_fit does not know how many documents will come")
single_document = pytest.mark.filterwarnings("ignore:X has only one document")
SMALL = {"max_topics": 8, "start_topics": 8, "batch_size": 4, "burn_in": 1, "passes": 3, "random_state": 0}
TEXTS = ["war and navy", "navy army war", "trade tariff cotton", "cotton trade trade", "war army army", "tariff cotton"]


def make(kind, **parameters):
    """A small model of that class."""
    small = {name: value for name, value in SMALL.items() if name in kind().get_params()}
    return kind(**small | parameters)


def bits(model):
    """The state, byte by byte."""
    return {name: array.tobytes() for name, array in checkpoint.flatten("state", model.state_)}


@pytest.fixture
def unskipped(monkeypatch):
    """Without this variable scikit-learn skips its check of arrays that are not numpy's."""
    monkeypatch.setenv("SCIPY_ARRAY_API", "1")


def expect_failures(estimator):
    """The checks that fail for every class of whole numbers, and why."""
    reason = "before version 1.8, this check subtracts a float from whole numbers in place"
    return {"check_positive_only_tag_during_fit": reason} if Version(sklearn.__version__) < Version("1.8") else {}


@unknown_length
@single_document
@parametrize_with_checks([make(estimators.OnlineHDP)], expected_failed_checks=expect_failures)
@pytest.mark.usefixtures("unskipped")
def test_the_online_hdp_passes_the_checks_of_scikit_learn(estimator, check):
    check(estimator)


@unknown_length
@single_document
@pytest.mark.recovery
@pytest.mark.usefixtures("unskipped")
@parametrize_with_checks([kind() for kind in CLASSES], expected_failed_checks=expect_failures)
def test_every_class_passes_the_checks_of_scikit_learn_at_its_defaults(estimator, check):
    check(estimator)


def test_the_classes_in_the_source_are_those_of_the_declared_settings():
    assert TARGET.read_text(encoding="utf-8") == write_source(), (
        "settings have changed: python -m stickbreaker.engine.estimators.write_classes"
    )


def test_each_parameter_has_its_type_and_its_help_in_the_source():
    for kind in CLASSES:
        hints = get_type_hints(kind.__init__)
        for each in fields(kind.algorithm.config):
            assert hints[each.name] == each.type
            assert f"    {each.name} : " in kind.__doc__


def test_every_algorithm_has_a_class_whose_parameters_are_its_settings_and_three_more():
    assert [each.algorithm for each in CLASSES] == list(REGISTRY)
    for kind in CLASSES:
        defaults = {each.name: each.default for each in fields(kind.algorithm.config)}
        assert kind().get_params() == defaults | {"passes": None, "random_state": None, "unused_topics": "keep"}
        assert all(name in kind.__doc__ for name in defaults)
        assert getattr(engine, kind.__name__) is kind
        assert hasattr(kind, "partial_fit") == kind.__name__.startswith("Online") == ("batch_size" in defaults)


@of_all
def test_fit_is_a_run_that_holds_nothing_out(kind, tiny_corpus):
    model = make(kind, random_state=5).fit(tiny_corpus)
    settings = RunSettings(passes=model.passes, seed=5)
    *_, end = run(prepare_training(kind.algorithm, model.config_, tiny_corpus, settings))
    assert bits(model) == {name: array.tobytes() for name, array in checkpoint.flatten("state", end.state)}


@of_all
def test_fit_calls_back_once_for_each_mini_batch_and_prints_nothing(kind, tiny_corpus, capfd):
    seen, model = [], make(kind)
    model.fit(tiny_corpus, callback=lambda update: seen.append(update.stepped.documents_seen))
    assert seen == list(range(4, 40, 4) if kind in ONLINE else range(12, 48, 12))
    assert "".join(capfd.readouterr()) == ""


def test_a_progress_bar_counts_the_documents_of_all_passes(tiny_corpus, capfd):
    make(engine.OnlineLDA).fit(tiny_corpus, verbose=True)
    printed, bar = capfd.readouterr()
    assert printed == ""
    assert "Learning: 100%" in bar
    assert "36/36" in bar


@of_online
def test_an_interrupted_fit_keeps_the_last_complete_step_and_learns_on_from_it(kind, tiny_corpus):
    def interrupt(update):
        if update.stepped.documents_seen == 8:
            raise KeyboardInterrupt

    model, stream = make(kind), make(kind)
    with pytest.warns(UserWarning, match="Interrupted: the model has read 8 of 36 documents"):
        model.fit(tiny_corpus, callback=interrupt)
    stream.partial_fit(tiny_corpus.select(range(8)), corpus_size=12)
    assert bits(model) == bits(stream)
    assert (model.documents_seen_, model.corpus_size_) == (8, 12)
    rest = tiny_corpus.select(range(8, 12))
    assert bits(model.partial_fit(rest, corpus_size=12)) == bits(stream.partial_fit(rest, corpus_size=12))


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
    assert 0 < len(seen) < (9 if kind in ONLINE else 3)
    again = make(kind).fit(tiny_corpus, checkpoint=path)
    assert (bits(again), again.documents_seen_) == (bits(whole), whole.documents_seen_)
    with pytest.raises(ValueError, match="other settings"):
        make(kind, passes=5).fit(tiny_corpus, checkpoint=path)


def test_a_fit_that_is_interrupted_before_its_first_step_raises(tiny_corpus, monkeypatch):
    def interrupt(*arguments):
        raise KeyboardInterrupt

    monkeypatch.setattr("stickbreaker.engine.runs.run.take_step", interrupt)
    with pytest.raises(KeyboardInterrupt):
        make(engine.OnlineLDA).fit(tiny_corpus)


@of_all
def test_counts_are_learned_alike_from_every_container(kind, tiny_corpus):
    dense = tiny_corpus.counts.toarray()
    frame = pd.DataFrame(dense, columns=list(tiny_corpus.vocabulary))
    models = [make(kind).fit(X) for X in (tiny_corpus, dense, dense.astype(np.float16), csr_matrix(dense), frame)]
    assert all(bits(model) == bits(models[0]) for model in models)
    assert models[0].words_ == models[-1].words_ == tuple(frame) == tuple(models[-1].feature_names_in_)
    assert models[1].words_ is None


@of_all
def test_a_second_fit_starts_again(kind, tiny_corpus):
    model = make(kind).fit(tiny_corpus)
    first = bits(model)
    model.fit(tiny_corpus.counts[:5, :4])
    assert bits(model) == bits(make(kind).fit(tiny_corpus.counts[:5, :4]))
    assert (model.documents_seen_, model.n_features_in_, model.history_["documents_seen"].max()) == (5, 4, 15)
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
    assert list(table) == [f"topic{topic_id}" for topic_id in model.topic_ids_] == list(model.get_feature_names_out())


def test_an_unfitted_model_says_so():
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
        count * np.log(predicted[j, word]) for j, word, count in zip(split.rows, split.words, split.counts, strict=True)
    ]
    assert model.score(tiny_corpus.counts) == pytest.approx(sum(logs) / split.counts.sum(), rel=1e-5)


@of_online
def test_a_stream_of_known_length_is_learned_as_fit_learns_it(kind, tiny_corpus):
    whole = make(kind, passes=1).fit(tiny_corpus)
    stream = make(kind)
    for first in (0, 4, 8):
        stream.partial_fit(tiny_corpus.counts[first : first + 4], corpus_size=12)
    assert bits(stream) == bits(whole)
    assert (stream.documents_seen_, stream.corpus_size_) == (12, 12)


@unknown_length
@of_online
def test_a_model_that_starts_empty_streams_and_stays_finite(kind):
    model, rng = make(kind), np.random.default_rng(0)
    for number in range(1, 20):
        model.partial_fit(rng.poisson(0.5 * (number > 1), (1, 7)))
        assert np.isfinite(model.components_).all()
        assert np.isfinite(model.transform(np.eye(7, dtype=int))).all()
        assert model.documents_seen_ == number


@of_online
def test_partial_fit_after_a_fit_learns_from_every_document(kind):
    early, late = np.random.default_rng(0).poisson(1.0, (2, 12, 9))
    learned = [bits(make(kind).fit(early))]
    for changed in (None, 0, 5, 11):
        others = late.copy()
        if changed is not None:
            others[changed] += 1
        model = make(kind).fit(early)
        steps = model.state_.step
        learned.append(bits(model.partial_fit(others)))
        assert (model.state_.step, model.documents_seen_) == (steps + 3, 24)
    assert all(one != other for one, other in combinations(learned, 2))


@unknown_length
@of_online
def test_the_corpus_size_follows_the_stream(kind):
    model, chunk = make(kind, batch_size=350), np.ones((700, 2), int)
    for seen in range(700, 5601, 700):
        # Who takes what has been seen for all there is has a first pass that is over at each step.
        assert model.partial_fit(chunk).corpus_size_ == max(seen, 4096)
    tokens = model.algorithm.summarize(model.config_, model.state_).expected_tokens.sum()
    assert 2 * 4096 < tokens <= 2 * 5600 * (1 + 1e-6)
    model.partial_fit(chunk, corpus_size=10_000)
    assert model.corpus_size_ == 10_000
    assert model.fit(chunk).corpus_size_ == 700


@of_all
def test_fit_warns_of_a_single_document(kind):
    with pytest.warns(UserWarning, match="X has only one document"):
        make(kind).fit([[3, 1, 2]])


@of_online
def test_only_a_new_model_warns_that_the_number_of_documents_is_not_known(kind, tiny_corpus):
    model = make(kind)
    with pytest.warns(UserWarning, match="pass corpus_size, their number or a guess"):
        model.partial_fit(tiny_corpus)
    model.partial_fit(tiny_corpus)
    make(kind).fit(tiny_corpus).partial_fit(tiny_corpus)


def test_a_model_without_a_seed_draws_one(tiny_corpus):
    model = make(engine.OnlineLDA, random_state=None)
    one, other = (bits(model.fit(tiny_corpus)) for _ in range(2))
    assert one != other
    drawn = [make(engine.OnlineLDA, random_state=np.random.RandomState(3)).fit(tiny_corpus).seed_ for _ in range(2)]
    assert drawn[0] == drawn[1]


@pytest.mark.parametrize(
    ("X", "message"),
    [
        ([[0.5, 1]], "X holds 0.5: counts are whole numbers .* do not weigh them"),
        ([[2.0**31, 1]], "X holds 2147483648.0"),
        ([[-1, 1]], "Negative values"),
        ([[np.nan, 1]], "NaN"),
        ([[1, 1, 1]], "3 features, but OnlineHDP is expecting 2"),
        (["peace", "war"], "X holds texts: count their words with CorpusVectorizer first"),
        (pd.Series(["peace", "war"]), "X holds texts"),
    ],
)
def test_values_that_are_not_counts_are_refused(X, message):
    model = make(engine.OnlineHDP).fit([[1, 2], [2, 1]])
    for read in (model.transform, model.partial_fit, model.score):
        with pytest.raises(ValueError, match=message):
            read(X)


def test_errors_of_fit_and_score_name_the_remedy(tiny_corpus):
    model = make(engine.OnlineHDP).fit(tiny_corpus)
    with pytest.raises(ValueError, match="two distinct words"):
        model.score(Corpus("short", [[4, 0, 0, 0, 0, 0]], tiny_corpus.vocabulary, ["1790"], ["Short"]))
    others = replace(tiny_corpus, vocabulary=Vocabulary(tuple("abcdef")))
    with pytest.raises(ValueError, match="not the 6 that the model was fitted with"):
        model.transform(others)
    with pytest.raises(ValueError, match="has no document"):
        model.fit(tiny_corpus.select([]))
    for empty in (np.zeros((3, 2), int), csr_matrix((3, 2), dtype=int), replace(tiny_corpus, counts=np.zeros((12, 6)))):
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
    with pytest.raises(ValueError, match="1 words for 6 columns of counts: give one word per column"):
        make(engine.OnlineHDP).fit(tiny_corpus.counts).topics_frame(words=["peace"])
    with pytest.raises(ValueError, match="The words are a set: give a list of them"):
        make(engine.OnlineHDP).fit(tiny_corpus.counts).topics_frame(words=set("abcdef"))
    with pytest.raises(NotFittedError):
        model.transform(tiny_corpus)


def test_whole_numbers_may_come_as_floats(tiny_corpus):
    whole = make(engine.OnlineHDP).set_params(max_topics=4, max_slots=3).fit(tiny_corpus)
    floats = make(engine.OnlineHDP).set_params(max_topics=4.0, max_slots=np.float64(3)).fit(tiny_corpus)
    assert bits(floats) == bits(whole)


def test_a_pipeline_counts_words_and_a_grid_search_chooses_by_score(tmp_path):
    pipeline = make_pipeline(CountVectorizer(), make(engine.OnlineLDA))
    search = GridSearchCV(pipeline, {"onlinelda__max_topics": np.array([2, 5])}, cv=2).fit(TEXTS)
    assert np.isfinite(search.cv_results_["mean_test_score"]).all()
    vectorizer, model = (step for _, step in search.best_estimator_.steps)
    assert search.transform(TEXTS).shape == (6, search.best_params_["onlinelda__max_topics"])
    words = vectorizer.get_feature_names_out()
    assert set(model.topics_frame(words=words)["word"]) <= set(words)
    labelled = pd.Series(words, index=range(len(words), 0, -1))
    pd.testing.assert_frame_equal(model.topics_frame(words=labelled), model.topics_frame(words=words))
    assert set(model.topics_frame()["word"]) <= {f"x{column}" for column in range(len(words))}
    model.save(tmp_path / "chosen.npz")
    assert engine.load(tmp_path / "chosen.npz").max_topics == model.max_topics
    with pytest.raises(ValueError, match="TfidfTransformer"):
        make_pipeline(CountVectorizer(), TfidfTransformer(), clone(model)).fit(TEXTS)


def test_a_pipeline_with_corpora_passes_words_and_dates_on_and_counts_like_scikit_learn(tmp_path):
    pipeline = make_pipeline(estimators.CorpusVectorizer(), make(engine.OnlineLDA))
    shares = pipeline.fit_transform(TEXTS, corpusvectorizer__dates=range(1810, 1816))
    counts, model = CountVectorizer().fit_transform(TEXTS), pipeline[-1]
    assert shares.tobytes() == make(engine.OnlineLDA).fit_transform(counts).tobytes()
    np.testing.assert_array_equal(pipeline[0].transform(TEXTS).counts.toarray(), counts.toarray())
    assert model.words_ == tuple(pipeline[0].get_feature_names_out())
    assert set(model.topics_frame()["word"]) <= {"war", "and", "navy", "army", "trade", "tariff", "cotton"}
    assert model.history_["date"].dt.year.max() == 1815
    model.save(tmp_path / "model.npz")
    pd.testing.assert_frame_equal(engine.load(tmp_path / "model.npz").topics_frame(), model.topics_frame())
    parameters = {"corpusvectorizer__binary": [False, True]}
    assert np.isfinite(GridSearchCV(clone(pipeline), parameters, cv=2).fit(TEXTS).cv_results_["mean_test_score"]).all()


@pytest.mark.parametrize(
    ("dates", "message"), [(["1812", "soon"], "Document 2: .*'soon'"), ([1812], "2 documents but 1 dates")]
)
def test_dates_of_texts_that_cannot_be_used_are_named(dates, message):
    with pytest.raises(engine.CorpusError, match=message):
        estimators.CorpusVectorizer().fit_transform(["war", "peace"], dates=dates)


@of_all
def test_a_loaded_model_equals_the_saved_one_and_learns_on_in_the_same_way(kind, tiny_corpus, tmp_path):
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
    assert bits(loaded.fit(tiny_corpus)) == bits(model.set_params(random_state=model.seed_).fit(tiny_corpus))


def test_a_model_of_a_run_has_an_empty_history_and_no_names_also_from_a_file(tiny_corpus, tmp_path):
    learned = make(engine.OnlineHDP).fit(tiny_corpus)
    position = engine.Position("hdp", learned.config_, RunSettings(), learned.state_, 12, 0.0)
    model = estimators.from_position(position, tiny_corpus.vocabulary.words, 12)
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
    assert engine.load(tmp_path / "model.npz").transform(frame).tobytes() == model.transform(frame).tobytes()
    position = engine.Position("hdp", model.config_, RunSettings(), model.state_, 12, 0.0)
    checkpoint.save(tmp_path / "run.npz", position)
    with pytest.raises(checkpoint.CheckpointError, match="holds a run"):
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
    assert loaded.fit(tiny_corpus).transform(tiny_corpus).tobytes() == model.transform(tiny_corpus).tobytes()


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
    shares = table.drop_duplicates("topic_id")["share"]
    assert shares.is_monotonic_decreasing
    assert 0.5 < shares.sum() <= 1 + 1e-6


@of_all
def test_transform_can_leave_out_the_topics_that_are_not_in_use(kind, tiny_corpus):
    model = make(kind).fit(tiny_corpus)
    every, names = model.transform(tiny_corpus), list(model.get_feature_names_out())
    used = model.set_params(unused_topics="drop").set_output(transform="pandas").transform(tiny_corpus)
    assert set(used) == {f"topic{topic_id}" for topic_id in model.topics_frame()["topic_id"]}
    assert used.shape[1] == model.n_topics_
    np.testing.assert_array_equal(used.to_numpy(), every[:, [names.index(name) for name in used]])
    with pytest.raises(ValueError, match="choose one of keep, drop"):
        model.set_params(unused_topics="hide").transform(tiny_corpus)


@of_all
def test_coherence_has_a_row_for_each_topic_in_use_with_its_label_npmi_and_exclusivity(kind, tiny_corpus):
    model = make(kind).fit(tiny_corpus)
    state, frame = model.components_.tobytes(), model.coherence(tiny_corpus)
    assert list(frame) == ["topic_id", "label", "share", "npmi", "exclusivity", "words"]
    assert dict(zip(frame["topic_id"], frame["label"], strict=True)) == model.topic_labels()
    top = [[tiny_corpus.vocabulary.index(word) for word in words.split(", ")] for words in frame["words"]]
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
    check = model.check_count(tiny_corpus, sweeps=6, seed=1)
    assert check.counts.shape == (7,)
    assert 1 <= check.interval[0] <= check.interval[1]
    np.testing.assert_array_equal(model.check_count(tiny_corpus.counts, 6, 1).counts, check.counts)
    assert bits(model) == state


@of_all
def test_a_model_writes_arrays_and_sheets_for_other_programs_and_for_people(kind, tiny_corpus, tmp_path):
    model = make(kind).fit(tiny_corpus)
    model.save_arrays(tmp_path / "arrays.zip", tiny_corpus)
    with np.load(tmp_path / "arrays.zip") as arrays:
        np.testing.assert_array_equal(arrays["theta"], model.transform(tiny_corpus).astype(np.float32))
        np.testing.assert_array_equal(arrays["topics"], model.components_)
    model.save_sheets(tmp_path / "sheets.zip", tiny_corpus)
    with zipfile.ZipFile(tmp_path / "sheets.zip") as archive, archive.open("word-intrusion-key.csv") as file:
        assert set(pd.read_csv(file)["topic_id"]) <= set(model.topic_ids_)


def test_labels_come_from_a_callable_or_a_person_where_there_is_one(tiny_corpus):
    model = make(engine.OnlineHDP).fit(tiny_corpus)
    first = next(iter(model.topic_labels()))
    assert len(set(model.topic_labels().values())) == len(model.topic_labels())
    named = model.topics_frame(label_with=lambda words: words[0].upper())
    firsts = named[named["rank"] == 1]
    assert (firsts["label"] == firsts["word"].str.upper()).all()
    model.topic_names_ = {first: "War and peace"}
    assert model.topic_labels()[first] == "War and peace"
    assert model.coherence(tiny_corpus)["label"].iloc[0] == "War and peace"


@of_online
def test_the_history_has_each_topic_at_each_checkpoint_under_its_own_id(kind, tiny_corpus):
    model = make(kind).fit(tiny_corpus)
    columns = ["topic_id", "checkpoint", "documents_seen", "date", "share", "rank", "word", "probability"]
    assert list(model.history_) == columns
    last = model.history_.query("checkpoint == checkpoint.max()").reset_index(drop=True)
    now = model.topics_frame().drop(columns="label")
    pd.testing.assert_frame_equal(last[list(now)], now)
    ends = model.history_.groupby("checkpoint")[["documents_seen", "date"]].first()
    assert ends["documents_seen"].tolist() == list(range(4, 40, 4))
    assert ends["date"].dt.year.tolist() == [1791, 1793, 1795] * 3
    model.partial_fit(tiny_corpus.select(range(6)))
    added = model.history_[model.history_["checkpoint"] == 9]
    assert (added["documents_seen"].unique().tolist(), added["date"].dt.year.unique().tolist()) == ([18], [1792])


@of_all
def test_the_history_of_counts_is_that_of_their_corpus_without_words_and_dates(kind, tiny_corpus):
    of_corpus, of_counts = make(kind).fit(tiny_corpus).history_, make(kind).fit(tiny_corpus.counts).history_
    unnamed = ["word", "date"]
    pd.testing.assert_frame_equal(of_counts.drop(columns=unnamed), of_corpus.drop(columns=unnamed))
    assert of_counts["date"].isna().all()
    assert set(of_counts["word"]) <= {f"x{column}" for column in range(6)}


@of_online
def test_a_stream_of_counts_adds_a_checkpoint_when_it_is_a_quarter_longer(kind, tiny_corpus):
    model = make(kind)
    for row in range(12):
        model.partial_fit(tiny_corpus.counts[row : row + 1], corpus_size=12)
    seen = model.history_.groupby("checkpoint")["documents_seen"].first()
    assert seen.tolist() == [1, 2, 3, 4, 5, 7, 9, 12]
    for first in (0, 2, 4):
        model.partial_fit(tiny_corpus.counts[first : first + 2], corpus_size=18)
    assert model.history_["documents_seen"].max() == 16


def test_a_notebook_shows_the_ten_largest_topics_with_their_words_escaped():
    words = ["<blink>", *(f"word{number}" for number in range(30))]
    counts = 5 * np.eye(31, dtype=int)[np.arange(310) % 31] + np.eye(31, dtype=int)[np.arange(310) // 10]
    model = engine.OnlineLDA(max_topics=31, passes=5, random_state=0).fit(pd.DataFrame(counts, columns=words))
    shown = model._repr_mimebundle_()["text/html"]
    table = shown[shown.index("<caption>") :]
    assert table.count("<tr>") == 1 + 10
    assert f"OnlineLDA: {model.n_topics_} topics from 310 documents" in table
    assert set(model.topics_frame()["word"]) >= {"<blink>"}
    assert "<blink>" not in shown
    assert "<caption>" not in clone(model)._repr_html_()


def test_importing_the_engine_does_not_import_scikit_learn_or_pandas():
    program = "import sys; from stickbreaker import engine; assert not {'sklearn', 'pandas'} & set(sys.modules)"
    subprocess.run([sys.executable, "-c", program], check=True)
    assert dir(engine) == sorted(engine.__all__)
    with pytest.raises(AttributeError, match="no attribute 'OnlineNothing'"):
        engine.OnlineNothing  # noqa: B018


def test_a_frame_with_columns_in_another_order_than_the_words_is_refused(tiny_corpus):
    model = estimators.OnlineHDP(max_topics=3, random_state=0).fit(tiny_corpus)
    frame = pd.DataFrame(tiny_corpus.counts.toarray(), columns=list(tiny_corpus.vocabulary.words))
    with pytest.warns(UserWarning, match="has feature names"):
        np.testing.assert_array_equal(model.transform(frame), model.transform(tiny_corpus))
    with pytest.raises(ValueError, match="they are in another order"):
        model.transform(frame[frame.columns[::-1]])
