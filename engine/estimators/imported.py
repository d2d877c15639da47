"""Models of other libraries as models of this one, and their learning as a run.

A model of another library becomes an `OnlineLDA` whose topics are exactly those of the other model,
and whose α of each topic is the other's. `transform` infers topic shares by its own fold-in.
"""

import gzip
import time
import zlib
from collections import Counter
from collections.abc import Callable, Sequence
from os import PathLike
from typing import Any

import numpy as np
import pandas as pd
from sklearn.utils.validation import check_is_fitted

from stickbreaker.engine.algorithm import Phase, StepInfo
from stickbreaker.engine.algorithms.lda import ALGORITHM, LDAConfig, LDAState
from stickbreaker.engine.corpora.corpus import Corpus, check_corpus
from stickbreaker.engine.declarations import check_whole
from stickbreaker.engine.estimators.fitted import FittedModel
from stickbreaker.engine.estimators.model import TopicModel
from stickbreaker.engine.estimators.restored import from_checkpoint
from stickbreaker.engine.evaluation.held_out import count_topics
from stickbreaker.engine.evaluation.topic_frames import checkpoint_frame
from stickbreaker.engine.inference.states import HIGHEST, LOWEST, Concentrations, DocPosterior
from stickbreaker.engine.inference.topic_counts import decayed_counts
from stickbreaker.engine.runs.checkpoint import Checkpoint
from stickbreaker.engine.runs.events import Moment, Stepped, Update
from stickbreaker.engine.runs.settings import RunSettings
from stickbreaker.engine.schedules import resolve

SMALLEST_ETA = 1e-6
KINDS = {
    "gensim": "LdaModel, HdpModel or Nmf",
    "sklearn": "LatentDirichletAllocation or NMF",
    "tomotopy": "LDAModel or HDPModel",
}


def from_gensim(model: Any, corpus: Corpus) -> TopicModel:
    """A model of gensim as a model of this library.

    Parameters
    ----------
    model : gensim.models.LdaModel, LdaMulticore, HdpModel or Nmf
        A fitted model with its `id2word`.
    corpus : Corpus
        The documents, whose words are matched by their text. Words that the corpus lacks are left
        out.

    Returns
    -------
    OnlineLDA
        The model, with the words of the corpus.

    Raises
    ------
    TypeError
        If `corpus` is no corpus.
    ValueError
        If the model is another one or not fitted, or the corpus has no word of it.
    """
    _check_given(model, corpus, "gensim", "id2word")
    words = [model.id2word[place] for place in range(len(model.id2word))]
    if hasattr(model, "m_lambda"):
        weights = model.m_lambda + model.m_eta
        on, after = model.m_var_sticks
        on = np.append(on / (on + after), 1.0)
        alpha = model.m_alpha * on * np.append(1.0, np.cumprod(1.0 - on[:-1]))
    elif hasattr(model, "state"):
        weights, alpha = model.state.get_lambda(), model.alpha
    else:
        weights = model.get_topics() * corpus.num_tokens / model.num_topics
        alpha = np.full(len(weights), 1.0 / len(weights))
    return _adopt(weights, alpha, corpus, words)


def from_sklearn(model: Any, corpus: Corpus) -> TopicModel:
    """A topic model of scikit-learn as a model of this library.

    Parameters
    ----------
    model : sklearn.decomposition.LatentDirichletAllocation, NMF or MiniBatchNMF
        A fitted model whose columns are the words of the corpus. Components of an NMF become topics
        after division by their sum, with α = 1/K.
    corpus : Corpus
        The documents.

    Returns
    -------
    OnlineLDA
        The model.

    Raises
    ------
    TypeError
        If `corpus` is no corpus.
    ValueError
        If the model is another one or not fitted, or the numbers of words differ.
    """
    _check_given(model, corpus, "sklearn", "components_")
    weights = model.components_
    alpha = np.full(len(weights), getattr(model, "doc_topic_prior_", 1.0 / len(weights)))
    if not hasattr(model, "doc_topic_prior_"):
        parts = weights / np.maximum(weights.sum(1, keepdims=True), 1e-300)
        weights = parts * corpus.num_tokens / len(parts)
    return _adopt(weights, alpha, corpus)


def from_tomotopy(model: Any, corpus: Corpus) -> TopicModel:
    """A model of tomotopy as a model of this library.

    Parameters
    ----------
    model : tomotopy.LDAModel or HDPModel
        A trained model; of an HDP the live topics are taken.
    corpus : Corpus
        The documents, whose words are matched by their text.

    Returns
    -------
    OnlineLDA
        The model, with the words of the corpus.

    Raises
    ------
    TypeError
        If `corpus` is no corpus.
    ValueError
        If the model is another one or not fitted, or the corpus has no word of it.
    """
    _check_given(model, corpus, "tomotopy", "used_vocabs", "alpha")
    if not model.num_words:
        # tomotopy ends the process if it is asked for topics before.
        raise ValueError("The model of tomotopy has no topics yet: call train first.")
    is_live = getattr(model, "is_live_topic", lambda topic: True)
    live = [topic for topic in range(model.k) if is_live(topic)]
    tokens = np.array(model.get_count_by_topics(), float)[live]
    words = np.array([model.get_topic_word_dist(topic) for topic in live])
    alpha = np.asarray(model.alpha, float)
    alpha = alpha * tokens / tokens.sum() if alpha.ndim == 0 else alpha[live]
    return _adopt(words * np.maximum(tokens, 1.0)[:, None], alpha, corpus, model.used_vocabs)


def load_mallet(path: str | PathLike[str], corpus: Corpus | None = None) -> TopicModel:
    """A model of MALLET as a model of this library.

    Parameters
    ----------
    path : str or path
        The file that `mallet train-topics --output-state` has written (.gz).
    corpus : Corpus, optional
        The documents, whose words are matched by their text. By default the words are those of the
        file, and the tokens of a topic those that it has there.

    Returns
    -------
    OnlineLDA
        The model.

    Raises
    ------
    TypeError
        If `corpus` is no corpus.
    ValueError
        If the file is not a state of MALLET, or the corpus has no word of the model.
    """
    try:
        words, counts, alpha, beta, num_documents = _read_mallet(path)
    except (gzip.BadGzipFile, zlib.error, EOFError, ValueError, IndexError) as error:
        raise ValueError(
            f"{path} is not a state of MALLET: give the file (.gz) of `train-topics"
            " --output-state`."
        ) from error
    if corpus is not None:
        check_corpus(corpus)
        return _adopt(counts + beta, alpha, corpus, words)
    model = _build(counts + beta, alpha, words, num_documents, int(counts.sum()))
    model.state_ = model.state_._replace(expected_tokens=counts.sum(1))
    return model


def _read_mallet(
    path: str | PathLike[str],
) -> tuple[tuple[str, ...], np.ndarray, np.ndarray, float, int]:
    """The words (V,) of a state of MALLET, their tokens (K, V), α (K,), β and the number of
    documents.
    """
    tokens: Counter[tuple[str, str]] = Counter()
    documents = set()
    with gzip.open(path, "rt", encoding="utf-8") as file:
        heads = [next(file, "").split() for _ in range(3)]
        if [head[0] for head in heads] != ["#doc", "#alpha", "#beta"]:
            raise ValueError("other heads")
        for line in file:
            # The second column, a path, may have spaces.
            start, word, topic = line.rstrip("\n").rsplit(" ", 2)
            tokens[word, topic] += 1
            documents.add(start.partition(" ")[0])
    alpha = np.array(heads[1][2:], float)
    places = {word: place for place, word in enumerate(dict.fromkeys(word for word, _ in tokens))}
    counts = np.zeros((len(alpha), len(places)))
    for (word, topic), number in tokens.items():
        counts[int(topic), places[word]] = number
    if not documents:
        raise ValueError("no tokens")
    return tuple(places), counts, alpha, float(heads[2][2]), len(documents)


def _check_given(model: Any, corpus: Corpus, library: str, *needed: str) -> None:
    """Refuse what is no fitted topic model of a library, and no corpus."""
    check_corpus(corpus)
    if not all(hasattr(model, name) for name in needed):
        raise ValueError(
            f"This {type(model).__name__} is not a fitted {KINDS[library]} of {library}."
        )


def _adopt(
    weights: np.ndarray, alpha: np.ndarray, corpus: Corpus, words: Sequence[str] | None = None
) -> TopicModel:
    """The model with the topics of weights (K, U) of words (U,), by default those of the corpus,
    and the tokens of the corpus in each topic.
    """
    if not (weights.min() >= 0.0 and 0.0 < weights.sum() < np.inf):
        raise ValueError(
            "The model has no topics: its weights of words are negative or all 0. Give a fitted"
            " LDA, HDP or NMF."
        )
    if words is None and weights.shape[1] != corpus.vocab_size:
        raise ValueError(
            f"The model has {weights.shape[1]} words and the corpus {corpus.vocab_size}: give the"
            " corpus whose counts the model was fitted to."
        )
    if words is not None:
        known = [place for place, word in enumerate(words) if word in corpus.vocabulary]
        if not known:
            raise ValueError(
                "The corpus has no word of the model: give its own corpus, and a model of gensim"
                " its id2word."
            )
        columns = [corpus.vocabulary.index(words[place]) for place in known]
        # A word that the model does not know is as rare as its rarest.
        full = np.full((len(weights), corpus.vocab_size), weights.min())
        full[:, columns] = weights[:, known]
        weights = full
    words = corpus.vocabulary.words
    model = _build(weights, alpha, words, corpus.num_documents, corpus.num_tokens)
    tokens = corpus.documents().sizes() @ model.transform(corpus)
    model.state_ = model.state_._replace(expected_tokens=tokens)
    return model


def _build(
    weights: np.ndarray,
    alpha: np.ndarray,
    words: tuple[str, ...],
    corpus_size: int,
    num_tokens: int,
) -> TopicModel:
    """An `OnlineLDA` with E[topics] in proportion to weights (K, V) and α (K,)."""
    # Libraries scale them to a corpus of another size.
    weights = weights * (num_tokens / weights.sum())
    eta = float(max(weights.min(), SMALLEST_ETA))
    alpha = np.clip(np.asarray(alpha, float), LOWEST, HIGHEST)
    config = LDAConfig(
        max_topics=len(weights),
        doc_concentration=float(alpha.sum()),
        word_concentration=eta,
        # Documents are inferred with the topics as they are.
        topic_expectation="mean",
    )
    config = resolve(config, corpus_size, num_tokens)
    counts = np.ascontiguousarray(np.maximum(weights - eta, 0.0).T, np.float32)
    state = LDAState(
        topic_counts=decayed_counts(counts),
        expected_tokens=weights.sum(1),
        step=-(-corpus_size // int(config.batch_size or 1)),
        rate_spent=1.0,
        startup_share=0.0,
        phase=Phase.LEARNING,
        temperature=1.0,
        concentrations=Concentrations(DocPosterior(alpha, 1.0), corpus=0.0, word=eta),
    )
    found = Checkpoint(ALGORITHM.name, config, RunSettings(), state, corpus_size, 0.0)
    return from_checkpoint(found, words, corpus_size)


READERS: dict[str, Callable[[Any, Corpus], TopicModel]] = {
    "gensim": from_gensim,
    "sklearn": from_sklearn,
    "tomotopy": from_tomotopy,
}


class Recorder:
    """Records a model of any library while it learns, as a run that the app can replay.

    Call `record` after each mini-batch, or a few times in a pass.

    Parameters
    ----------
    corpus : Corpus
        The documents that the model learns from.

    Attributes
    ----------
    model : TopicModel or None
        The model when it was last recorded; its `history_` has all records.
    updates : list of Update
        The records, as `engine.run` yields them; each has a copy of the topics.

    Raises
    ------
    TypeError
        If `corpus` is no corpus.

    Examples
    --------
    >>> from sklearn.decomposition import LatentDirichletAllocation
    >>> from stickbreaker.engine import CorpusVectorizer
    >>> corpus = CorpusVectorizer().fit_transform(["war peace", "war war", "cotton trade"])
    >>> lda, recorder = LatentDirichletAllocation(2, random_state=0), Recorder(corpus)
    >>> for seen in (1, 2, 3):
    ...     _ = lda.partial_fit(corpus.counts[seen - 1 : seen])
    ...     recorder.record(lda, seen)
    >>> recorder.model.history_["documents_seen"].unique().tolist()
    [1, 2, 3]
    """

    def __init__(self, corpus: Corpus) -> None:
        check_corpus(corpus)
        self.corpus = corpus
        self.model: TopicModel | None = None
        self.updates: list[Update] = []
        self._began = time.perf_counter()

    def record(self, model: Any, documents_seen: int | None = None) -> None:
        """Add the present topics of a model.

        Parameters
        ----------
        model : object
            A model of gensim, scikit-learn or tomotopy, or of this library.
        documents_seen : int, optional
            The number of documents that it has learned from so far, over all passes, at least that
            of the last record; by default all documents of the corpus.

        Raises
        ------
        ValueError
            If the model is of another library, its words are not those of the corpus, or
            `documents_seen` is smaller than before.
        """
        found = model
        if isinstance(model, FittedModel):
            check_is_fitted(model)
            model._check_words(self.corpus.vocabulary.words, repr(self.corpus.name))
        else:
            library = type(model).__module__.partition(".")[0]
            if library not in READERS:
                raise ValueError(
                    f"The model is of {library}: record models of {', '.join(READERS)}, or of"
                    " stickbreaker."
                )
            found = READERS[library](model, self.corpus)
        before = self.updates[-1].stepped.documents_seen if self.updates else 1
        if documents_seen is None:
            documents_seen = max(before, self.corpus.num_documents)
        seen = check_whole("documents_seen", documents_seen, before)
        self._add(found, seen, found is not model)

    def _add(self, model: TopicModel, seen: int, is_imported: bool) -> None:
        before = self.updates[-1].stepped.documents_seen if self.updates else 0
        place = (seen - 1) % max(1, self.corpus.num_documents) + 1
        date = self.corpus.dates[:place].max()
        summary = model.algorithm.summarize(model.config_, model.state_)
        step = len(self.updates) + 1
        stepped = Stepped(
            documents_seen=seen,
            date=date,
            batch_size=max(1, seen - before),
            info=StepInfo(step=step, learning_rate=np.nan, phase=Phase.LEARNING, startup_share=0.0),
            num_topics=count_topics(summary.expected_tokens),
            state=model.state_,
            seconds=time.perf_counter() - self._began,
        )
        self.updates.append(Update(stepped, moment=Moment(seen, date, summary)))
        if is_imported:
            frame = checkpoint_frame(step - 1, seen, date, summary, model.words_)
            earlier = [] if self.model is None else [self.model.history_]
            model.history_ = pd.concat([*earlier, frame], ignore_index=True)
        self.model = model
