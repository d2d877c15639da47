"""Coherence of topics that another library has found."""

from collections.abc import Sequence

import numpy as np
import pandas as pd

from stickbreaker.engine.corpora.corpus import Corpus
from stickbreaker.engine.evaluation.coherence import npmi


def score_topics(topics: Sequence[Sequence[str]], corpus: Corpus) -> pd.DataFrame:
    """Coherence (NPMI) of topics from any library, measured as `TopicModel.coherence` does.

    Parameters
    ----------
    topics : sequence of K sequences of str
        The top words of each topic; ten is usual. Numbers of words may differ.
    corpus : Corpus
        Reference documents, in which words occur together; the same ones for all models that are
        compared.

    Returns
    -------
    pandas.DataFrame
        A row for each topic, in the given order: npmi in [-1, 1] (NaN for fewer than two words),
        words (those that the corpus has, as text), missing (those that it does not have; they do
        not count).

    Raises
    ------
    ValueError
        If a topic is one text instead of a list of words.

    Examples
    --------
    >>> from stickbreaker.engine import CorpusVectorizer
    >>> corpus = CorpusVectorizer().fit_transform(["war peace", "war peace", "cotton"])
    >>> score_topics([["war", "peace"], ["war", "cotton", "tea"]], corpus).round(2).values.tolist()
    [[1.0, 'war, peace', ''], [-1.0, 'war, cotton', 'tea']]
    """
    columns = {word: column for column, word in enumerate(corpus.vocabulary)}
    rows = []
    for topic in topics:
        if isinstance(topic, str):
            raise ValueError(f"A topic is the text {topic!r:.60}: give a list of its words.")
        words = [word for word in topic if word in columns]
        (value,) = npmi(np.array([[columns[word] for word in words]], np.int64), corpus.counts)
        missing = ", ".join(word for word in topic if word not in columns)
        rows.append((value, ", ".join(words), missing))
    return pd.DataFrame(rows, columns=["npmi", "words", "missing"])
