"""A model's topics as tidy data frames and as HTML."""

from collections.abc import Mapping, Sequence, Set
from html import escape
from typing import Any

import numpy as np
import pandas as pd

from stickbreaker.engine.algorithm import TopicSummary
from stickbreaker.engine.evaluation.coherence import TopicQuality
from stickbreaker.engine.evaluation.held_out import rank_topics
from stickbreaker.engine.evaluation.topic_space import find_top_words

NUM_WORDS = 10
NUM_TOPICS_SHOWN = 10


def topics_frame(
    summary: TopicSummary, words: Sequence[str] | None, num_words: int = NUM_WORDS
) -> pd.DataFrame:
    """The topics in use, largest first: columns topic_id, weight, rank (from 1), word, probability.

    weight: the part of the tokens that all topics explain. The topics in use are those of
    `rank_topics`. words: the V words; without them the columns of the counts are named x0, x1, ...
    Raises ValueError if the number of words is not V, if they have no order, or if num_words is
    below 1.
    """
    if num_words < 1:
        raise ValueError(f"num_words is {num_words!r}: ask for at least one word per topic.")
    words = name_words(words, summary.topics.shape[1])
    tokens = summary.expected_tokens
    used = rank_topics(tokens)
    top = find_top_words(summary.topics[used], num_words)
    return pd.DataFrame(
        {
            "topic_id": np.repeat(summary.topic_ids[used], top.shape[1]),
            "weight": np.repeat(tokens[used] / max(tokens.sum(), 1e-300), top.shape[1]),
            "rank": np.tile(np.arange(1, top.shape[1] + 1), len(used)),
            "word": pd.Series([str(words[column]) for column in top.ravel()], dtype=str),
            "probability": np.take_along_axis(summary.topics[used], top, 1).ravel().astype(float),
        }
    )


def name_words(words: Sequence[str] | None, vocab_size: int) -> list[str]:
    """The V words as a list; without words, x0, x1, ... Raises ValueError as `topics_frame` does.

    >>> name_words(None, 2)
    ['x0', 'x1']
    """
    if words is None:
        return [f"x{column}" for column in range(vocab_size)]
    if isinstance(words, (Set, Mapping)):
        raise ValueError(
            f"The words are a {type(words).__name__}: give a list of them, in the order of the"
            " columns."
        )
    # Indexing a pandas Series by place would look up labels.
    words = list(words)
    if len(words) != vocab_size:
        raise ValueError(
            f"{len(words)} words for {vocab_size} columns of counts: give one word per column."
        )
    return words


def quality_frame(
    quality: TopicQuality, words: Sequence[str], labels: Mapping[int, str]
) -> pd.DataFrame:
    """The quality of topics, one row each: columns topic_id, label, weight, npmi, exclusivity,
    words (ten, as text).

    words: the V words; labels: by topic id.
    """
    return pd.DataFrame(
        {
            "topic_id": quality.topic_ids,
            "label": pd.Series(
                [labels[topic_id] for topic_id in quality.topic_ids.tolist()], dtype=str
            ),
            "weight": quality.shares,
            "npmi": quality.npmi,
            "exclusivity": quality.exclusivity,
            "words": pd.Series(
                [", ".join(words[w] for w in row) for row in quality.top_words.tolist()], dtype=str
            ),
        }
    )


def checkpoint_frame(
    number: int, documents_seen: int, date: Any, summary: TopicSummary, words: Sequence[str] | None
) -> pd.DataFrame:
    """The topics at one checkpoint: columns topic_id, checkpoint, documents_seen, date, weight,
    rank, word, probability.

    date: of the newest document read in this pass; NaT without dates.
    """
    frame = topics_frame(summary, words)
    frame.insert(1, "checkpoint", number)
    frame.insert(2, "documents_seen", documents_seen)
    frame.insert(3, "date", np.full(len(frame), date).astype("datetime64[s]"))
    return frame


def empty_history() -> pd.DataFrame:
    """A history without checkpoints: a frame with the columns of `checkpoint_frame` and no row.

    >>> list(empty_history())[:3]
    ['topic_id', 'checkpoint', 'documents_seen']
    """
    kinds = {
        "topic_id": np.int64,
        "checkpoint": np.int64,
        "documents_seen": np.int64,
        "date": "datetime64[s]",
    }
    kinds |= {"weight": np.float64, "rank": np.int64, "word": str, "probability": np.float64}
    return pd.DataFrame({name: pd.Series(dtype=kind) for name, kind in kinds.items()})


def topics_html(topics: pd.DataFrame, caption: str) -> str:
    """The largest topics of an estimator's `topics_frame` as an HTML table; every word is escaped.

    >>> row = {"topic_id": [7], "label": ["bold"], "weight": [0.25], "rank": [1], "word": ["<b>"],
    ...     "probability": [1.0]}
    >>> topics_html(pd.DataFrame(row), "One topic").partition("25.0 %")[2]
    '</td><td style="text-align: left">&lt;b&gt;</td></tr></tbody></table>'
    """
    rows = [
        f"<tr><td>{topic_id}</td><td>{escape(label)}</td><td>{100 * weight:.1f} %</td>"
        f'<td style="text-align: left">{escape(", ".join(words))}</td></tr>'
        for (topic_id, label, weight), words in _largest(topics)
    ]
    names = ("topic", "label", "weight in the model", "most probable words")
    head = "".join(f"<th>{name}</th>" for name in names)
    return (
        f"<table><caption>{escape(caption)}</caption><thead><tr>{head}</tr></thead><tbody>"
        + "".join(rows)
        + "</tbody></table>"
    )


def _largest(topics: pd.DataFrame) -> list[tuple[tuple[int, str, float], list[str]]]:
    grouped = topics.groupby(["topic_id", "label", "weight"], sort=False)["word"]
    return [(key, list(words)) for key, words in grouped][:NUM_TOPICS_SHOWN]
