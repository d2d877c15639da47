"""Pipelines from texts."""

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csr_array
from sklearn.base import clone
from sklearn.feature_extraction.text import CountVectorizer, TfidfTransformer
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline

from stickbreaker import engine
from stickbreaker.engine import estimators
from stickbreaker.engine.corpora.rows import CorpusError
from tests.engine.estimators.small_models import TEXTS, make


def test_a_pipeline_counts_words_and_a_grid_search_chooses_by_score(tmp_path):
    pipeline = make_pipeline(CountVectorizer(), make(engine.OnlineLDA))
    search = GridSearchCV(pipeline, {"onlinelda__max_topics": np.array([2, 5])}, cv=2).fit(TEXTS)
    assert np.isfinite(search.cv_results_["mean_test_score"]).all()
    vectorizer, model = (step for _, step in search.best_estimator_.steps)
    assert search.transform(TEXTS).shape == (6, search.best_params_["onlinelda__max_topics"])
    words = vectorizer.get_feature_names_out()
    assert set(model.topics_frame(words=words)["word"]) <= set(words)
    labelled = pd.Series(words, index=range(len(words), 0, -1))
    pd.testing.assert_frame_equal(
        model.topics_frame(words=labelled), model.topics_frame(words=words)
    )
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
    assert set(model.topics_frame()["word"]) <= {
        "war",
        "and",
        "navy",
        "army",
        "trade",
        "tariff",
        "cotton",
    }
    assert model.history_["date"].dt.year.max() == 1815
    model.save(tmp_path / "model.npz")
    pd.testing.assert_frame_equal(
        engine.load(tmp_path / "model.npz").topics_frame(), model.topics_frame()
    )
    parameters = {"corpusvectorizer__binary": [False, True]}
    assert np.isfinite(
        GridSearchCV(clone(pipeline), parameters, cv=2).fit(TEXTS).cv_results_["mean_test_score"]
    ).all()


@pytest.mark.parametrize(
    ("dates", "message"),
    [(["1812", "soon"], "Document 2: .*'soon'"), ([1812], "2 documents but 1 dates")],
)
def test_the_error_for_dates_that_cannot_be_used_names_them(dates, message):
    with pytest.raises(engine.CorpusError, match=message):
        estimators.CorpusVectorizer().fit_transform(["war", "peace"], dates=dates)


def test_a_pipeline_can_set_the_output_of_its_steps_to_pandas():
    pipeline = make_pipeline(engine.CorpusVectorizer(), engine.OnlineLDA(max_topics=2))
    shares = pipeline.set_output(transform="pandas").fit_transform(["war and peace", "peace now"])
    assert shares.shape == (2, 2)
    assert list(shares.columns) == pipeline.get_feature_names_out().tolist()


def test_the_texts_of_a_data_frame_are_asked_for_or_its_only_column_is_taken():
    frame = pd.DataFrame({"id": [1, 2], "text": ["war", "peace"]})
    with pytest.raises(CorpusError, match=r'the columns id, text: .* such as df\["text"\]'):
        estimators.CorpusVectorizer().fit_transform(frame)
    for texts in (frame[["text"]], frame["text"], frame[["text"]].to_numpy()):
        assert set(estimators.CorpusVectorizer().fit_transform(texts).vocabulary) == {
            "war",
            "peace",
        }


@pytest.mark.parametrize(
    ("texts", "said"),
    [
        ([["war", "peace"], ["trade"]], "Document 1 is .*join its words with spaces"),
        (["war", {"peace": 2}], "Document 2 is .*counts of words go to the model"),
        (np.ones((2, 3)), "2 rows and 3 columns: give one text for each"),
        (csr_array(np.ones((2, 3))), "2 rows and 3 columns: .*without CorpusVectorizer"),
        ([1, 2], "Document 1 is 1: give a text"),
        ("war and peace", "X is one text: give a list of texts"),
        ({"first": "war", "second": "peace"}, "X is a dict: give a list of texts"),
    ],
)
def test_the_error_for_other_data_than_texts_names_the_remedy(texts, said):
    with pytest.raises(CorpusError, match=said):
        estimators.CorpusVectorizer().fit_transform(texts)


def test_token_lists_are_counted_by_an_analyzer():
    corpus = estimators.CorpusVectorizer(analyzer=list).fit_transform(
        [["war", "new york"], ["war"]]
    )
    assert corpus.counts.toarray().tolist() == [[1, 1], [0, 1]]


def test_transform_reads_dates_in_the_order_of_the_fit():
    vectorizer = estimators.CorpusVectorizer()
    vectorizer.fit_transform(["war", "peace"], dates=["13/4/1863", "3/4/1863"])
    dates = vectorizer.transform(["war"], dates=["5/4/1863"]).dates
    assert dates.astype(str).tolist() == ["1863-04-05"]
    with pytest.warns(UserWarning, match="'3/4/1863' is read as 1863-03-04: set day_first"):
        vectorizer.fit_transform(["war"], dates=["3/4/1863"])
    read = vectorizer.fit_transform(["war"], dates=["3/4/1863"], day_first=True).dates
    assert read.astype(str).tolist() == ["1863-04-03"]
