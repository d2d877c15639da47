"""Models of other libraries: their topics, priors and words, and their learning as a run."""

import gzip
import warnings
from dataclasses import replace

import numpy as np
import pytest
from gensim.models import HdpModel, LdaModel
from sklearn.decomposition import NMF, LatentDirichletAllocation, TruncatedSVD

from stickbreaker import engine
from stickbreaker.engine.corpora.corpus import Vocabulary

# Its extension cannot be loaded where warnings are errors (0.14).
with warnings.catch_warnings(action="ignore"):
    import tomotopy


@pytest.fixture(scope="module")
def corpus(tiny_corpus):
    """The tiny corpus with a word more, which no document has."""
    counts = np.pad(tiny_corpus.counts.toarray(), ((0, 0), (1, 0)))
    words = Vocabulary(("aardvark", *tiny_corpus.vocabulary))
    return replace(tiny_corpus, counts=counts, vocabulary=words)


def as_gensim(corpus):
    """Documents and words as gensim takes them; its ids are in the reverse order."""
    words = list(corpus.vocabulary)[::-1]
    last = corpus.vocab_size - 1
    rows = [
        [(last - int(word), int(row[word])) for word in np.flatnonzero(row)]
        for row in corpus.counts.toarray()
    ]
    return rows, dict(enumerate(words))


def fit_tomotopy(model, corpus):
    for row in corpus.counts.toarray():
        model.add_doc(np.repeat(list(corpus.vocabulary), row).tolist())
    model.train(50, workers=1)
    return model


def check(found, topics, alpha, corpus):
    """The topics are those of the other model, α is, and documents are inferred with both."""
    np.testing.assert_allclose(found.components_, topics, atol=2e-4)
    np.testing.assert_allclose(found.state_.concentrations.doc.mean, alpha, rtol=1e-6)
    shares = found.transform(corpus)
    np.testing.assert_allclose(shares.sum(1), 1, rtol=1e-5)
    tokens = found.state_.expected_tokens
    np.testing.assert_allclose(tokens, corpus.documents().sizes() @ shares, rtol=1e-6)


def test_an_lda_of_gensim_keeps_its_topics_whose_words_are_matched(corpus):
    rows, words = as_gensim(corpus)
    lda = LdaModel(rows, 2, words, passes=20, alpha="auto", random_state=0)
    check(engine.from_gensim(lda, corpus), lda.get_topics()[:, ::-1], lda.alpha, corpus)


def test_an_hdp_of_gensim_has_alpha_from_its_sticks(corpus):
    rows, words = as_gensim(corpus)
    hdp = HdpModel(rows, words, T=8, K=4, random_state=np.random.RandomState(0))
    found = engine.from_gensim(hdp, corpus)
    topics = (hdp.m_lambda + hdp.m_eta)[:, ::-1]
    np.testing.assert_allclose(found.components_, topics / topics.sum(1, keepdims=True), atol=2e-4)
    alpha = found.state_.concentrations.doc.mean
    assert alpha.sum() == pytest.approx(hdp.m_alpha)
    on, after = hdp.m_var_sticks
    assert alpha[0] / alpha.sum() == pytest.approx(on[0] / (on[0] + after[0]))


def test_an_lda_and_an_nmf_of_scikit_learn_keep_their_components(corpus):
    lda = LatentDirichletAllocation(2, max_iter=50, doc_topic_prior=0.2, random_state=0)
    lda.fit(corpus.counts)
    topics = lda.components_ / lda.components_.sum(1, keepdims=True)
    check(engine.from_sklearn(lda, corpus), topics, [0.2, 0.2], corpus)
    nmf = NMF(2, random_state=0).fit(corpus.counts)
    shares = engine.from_sklearn(lda, corpus).transform(corpus)
    # Documents of war and of trade have different topics.
    assert set(shares.argmax(1)[::2]).isdisjoint(shares.argmax(1)[1::2])
    topics = nmf.components_ / nmf.components_.sum(1, keepdims=True)
    check(engine.from_sklearn(nmf, corpus), topics, [0.5, 0.5], corpus)


def test_models_of_tomotopy_keep_their_live_topics(corpus):
    lda = fit_tomotopy(tomotopy.LDAModel(k=2, alpha=0.3, eta=0.1, seed=1), corpus)
    found = engine.from_tomotopy(lda, corpus)
    theirs = np.array([lda.get_topic_word_dist(topic) for topic in range(2)])
    columns = [corpus.vocabulary.index(word) for word in lda.used_vocabs]
    # The word that tomotopy does not know is as rare as its rarest.
    assert found.components_[:, 0] == pytest.approx(found.components_.min(1), rel=0.5)
    ours = found.components_[:, columns]
    np.testing.assert_allclose(ours / ours.sum(1, keepdims=True), theirs, atol=1e-3)
    hdp = fit_tomotopy(tomotopy.HDPModel(initial_k=4, alpha=0.5, seed=1), corpus)
    found = engine.from_tomotopy(hdp, corpus)
    assert len(found.components_) == sum(hdp.is_live_topic(topic) for topic in range(hdp.k))
    assert found.state_.concentrations.doc.total == pytest.approx(hdp.alpha, rel=1e-3)


STATE = """#doc source pos typeindex type topic
#alpha : 0.5 1.5
#beta : 0.01
0 NA 0 0 nan 0
0 NA 1 1 peace 0
1 NA 0 2 "trade 1
1 C:/My texts/2.txt 1 1 peace 1
1 NA 2 1 peace 0
"""


def test_a_state_of_mallet_has_its_counts(tmp_path, corpus):
    path = tmp_path / "state.gz"
    path.write_bytes(gzip.compress(STATE.encode()))
    model = engine.load_mallet(path)
    assert model.words_ == ("nan", "peace", '"trade')
    counts = np.array([[1, 2, 0], [0, 1, 1]]) + 0.01
    np.testing.assert_allclose(model.components_, counts / counts.sum(1, keepdims=True), rtol=1e-5)
    assert model.state_.concentrations.doc.mean.tolist() == [0.5, 1.5]
    assert model.state_.expected_tokens.tolist() == [3, 2]
    assert engine.load_mallet(path, corpus).words_ == corpus.vocabulary.words
    more = STATE.encode() + b"1 NA 3 1 peace 2\n"
    written = gzip.compress(STATE.encode())
    packed = map(gzip.compress, (b"war peace", b"", more))
    for damaged in (STATE.encode(), written[:-12], *packed):
        path.write_bytes(damaged)
        with pytest.raises(ValueError, match="not a state of MALLET"):
            engine.load_mallet(path)


def test_an_imported_model_is_saved_loaded_and_learns_on(tmp_path, corpus):
    lda = LatentDirichletAllocation(2, max_iter=50, random_state=0).fit(corpus.counts)
    model = engine.from_sklearn(lda, corpus)
    model.save(tmp_path / "model.npz")
    loaded = engine.load(tmp_path / "model.npz")
    np.testing.assert_array_equal(loaded.transform(corpus), model.transform(corpus))
    assert loaded.topics_frame().equals(model.topics_frame())
    assert loaded.n_topics_ == 2
    before = model.components_
    model.partial_fit(corpus, corpus_size=24)
    assert model.documents_seen_ == 24
    assert 0 < np.abs(model.components_ - before).max() < 0.2


def test_models_with_other_words_and_of_other_libraries_are_refused(corpus, tiny_corpus):
    lda = LatentDirichletAllocation(2, random_state=0).fit(corpus.counts)
    with pytest.raises(ValueError, match="has 7 words and the corpus 6"):
        engine.from_sklearn(lda, tiny_corpus)
    other = replace(corpus, vocabulary=Vocabulary(tuple("abcdefg")))
    rows, words = as_gensim(corpus)
    with pytest.raises(ValueError, match="has no word of the model"):
        engine.from_gensim(LdaModel(rows, 2, words, random_state=0), other)
    recorder = engine.Recorder(corpus)
    with pytest.raises(ValueError, match="The model is of builtins: record models of gensim"):
        recorder.record(3)
    with pytest.raises(ValueError, match="The 7 words of"):
        recorder.record(engine.OnlineLDA(max_topics=2).fit(tiny_corpus))
    recorder.record(lda, 12)
    with pytest.raises(ValueError, match="documents_seen is 4: .* at least 12"):
        recorder.record(lda, 4)


def test_what_is_no_fitted_topic_model_is_refused(corpus):
    unfitted = LatentDirichletAllocation(2)
    for read in (engine.from_gensim, engine.from_sklearn, engine.from_tomotopy):
        with pytest.raises(ValueError, match="This LatentDirichletAllocation is not a fitted"):
            read(unfitted, corpus)
    signed = TruncatedSVD(2).fit(corpus.counts)
    with pytest.raises(ValueError, match="negative or all 0"):
        engine.from_sklearn(signed, corpus)
    untrained = tomotopy.LDAModel(k=2)
    untrained.add_doc(["war"])
    with pytest.raises(ValueError, match="call train first"):
        engine.from_tomotopy(untrained, corpus)


def test_a_recorder_keeps_the_topics_of_each_record(corpus):
    recorder = engine.Recorder(corpus)
    rows, words = as_gensim(corpus)
    lda = LdaModel(id2word=words, num_topics=2, random_state=0)
    topics = []
    for start in range(0, 12, 4):
        lda.update(rows[start : start + 4])
        recorder.record(lda, start + 4)
        topics.append(lda.get_topics()[:, ::-1])
    for update, theirs in zip(recorder.updates, topics, strict=True):
        np.testing.assert_allclose(update.moment.summary.topics, theirs, atol=2e-4)
    history = recorder.model.history_
    assert history.groupby("checkpoint")["documents_seen"].first().tolist() == [4, 8, 12]
    dates = [str(date)[:4] for date in history.groupby("checkpoint")["date"].first()]
    assert dates == ["1791", "1793", "1795"]
    last = history[history["checkpoint"] == 2].merge(recorder.model.topics_frame())
    assert len(last) == len(recorder.model.topics_frame())
    ours = engine.OnlineLDA(max_topics=2, random_state=0).fit(corpus)
    recorder.record(ours)
    assert recorder.updates[-1].state is ours.state_
    assert recorder.updates[-1].stepped.documents_seen == 12
