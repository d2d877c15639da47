"""What an estimator accepts as counts, and what it refuses."""

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csr_matrix

from stickbreaker import engine
from stickbreaker.engine import estimators
from tests.engine.estimators.small_models import bits, make, of_all


@of_all
def test_counts_in_every_container_give_the_same_model(kind, tiny_corpus):
    dense = tiny_corpus.counts.toarray()
    frame = pd.DataFrame(dense, columns=list(tiny_corpus.vocabulary))
    models = [
        make(kind).fit(X)
        for X in (tiny_corpus, dense, dense.astype(np.float16), csr_matrix(dense), frame)
    ]
    assert all(bits(model) == bits(models[0]) for model in models)
    assert (
        models[0].words_ == models[-1].words_ == tuple(frame) == tuple(models[-1].feature_names_in_)
    )
    assert models[1].words_ is None


@pytest.mark.parametrize(
    ("X", "message"),
    [
        ([[0.5, 1]], "X holds 0.5: counts are whole numbers .* do not weight the counts"),
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


def test_a_frame_with_columns_in_another_order_than_the_words_is_refused(tiny_corpus):
    model = estimators.OnlineHDP(max_topics=3, random_state=0).fit(tiny_corpus)
    frame = pd.DataFrame(tiny_corpus.counts.toarray(), columns=list(tiny_corpus.vocabulary.words))
    with pytest.warns(UserWarning, match="has feature names"):
        np.testing.assert_array_equal(model.transform(frame), model.transform(tiny_corpus))
    with pytest.raises(ValueError, match="they are in another order"):
        model.transform(frame[frame.columns[::-1]])
