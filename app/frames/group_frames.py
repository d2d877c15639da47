"""A topic in groups of documents, such as authors or parties. Pure."""

from base64 import b64encode
from html import escape

import numpy as np
import pandas as pd
from scipy.sparse import csr_array

from stickbreaker.app.frames.reading_frames import Span, in_span, read_shares
from stickbreaker.app.model.grouped_runs import find_largest, keep_largest
from stickbreaker.app.model.reading import Reading
from stickbreaker.engine.evaluation import group_shares
from stickbreaker.engine.evaluation.archives import neutralise_formulas
from stickbreaker.engine.evaluation.group_shares import Groups
from stickbreaker.engine.evaluation.group_words import (
    compare_with_others,
    topic_tokens,
    word_frame,
)

NUM_WORDS = 15
NUM_GROUP_WORDS = 50


def group_frame(reading: Reading, groups: Groups, position: int, span: Span | None) -> pd.DataFrame:
    """The share of a topic in the groups with the most tokens in a span, largest share first.

    Columns group, share, low, high, documents, whole: the share in all documents of the span.
    """
    rows = np.flatnonzero(in_span(reading, span) & (reading.doc_tokens > 0))
    tokens = reading.doc_tokens[rows]
    among = keep_largest(groups.select(rows), tokens)
    shares = csr_array(read_shares(reading)[rows][:, [position]])
    frame = group_shares.group_frame(shares, tokens, among).drop(columns="topic")
    return frame.sort_values("share", ascending=False, kind="stable", ignore_index=True)


def group_words_frame(
    reading: Reading, groups: Groups, position: int, span: Span | None, pair: tuple[str, str]
) -> pd.DataFrame:
    """The words of a topic in two groups and a span, those that the first has more come first.

    The columns are those of `engine.evaluation.group_words.word_frame`.
    """
    rows, tokens = _read_tokens(reading, position, span)
    topic = reading.summary.topics[position]
    words = list(reading.corpus.vocabulary)
    return word_frame(tokens, groups.select(rows), pair, topic, words)


def _read_tokens(
    reading: Reading, position: int, span: Span | None
) -> tuple[np.ndarray, csr_array]:
    """The documents (N,) of a span that have a topic, and its expected tokens in them (N, V)."""
    column = read_shares(reading)[:, [position]].toarray().ravel()
    rows = np.flatnonzero(in_span(reading, span) & (column > 0))
    shares = read_shares(reading)[rows].toarray()
    documents = reading.corpus.select(rows).documents()
    return rows, topic_tokens(documents, shares, reading.summary.topics, position)


def all_group_words(reading: Reading, groups: Groups, position: int) -> pd.DataFrame:
    """The words of a topic that each of the largest groups has more than all others.

    Columns group, rank (from 1), word, z, log_odds, tokens, other_tokens; NUM_GROUP_WORDS rows of a
    group, or fewer.
    """
    rows, tokens = _read_tokens(reading, position, None)
    among = groups.select(rows)
    topic = reading.summary.topics[position]
    largest = find_largest(groups.of_document, reading.doc_tokens, len(groups.names))
    found = compare_with_others(tokens, among, largest, topic)
    z = np.where(found.first + found.second >= 1, found.z, 0)
    order = np.argsort(-z, axis=1, kind="stable")[:, :NUM_GROUP_WORDS]
    places, ranks = np.nonzero(np.take_along_axis(z, order, 1) > 0)
    entries = places, order[places, ranks]
    frame = {
        "group": pd.Series([groups.names[largest[place]] for place in places], dtype=str),
        "rank": ranks + 1,
        "word": pd.Series([reading.corpus.vocabulary[int(word)] for word in entries[1]], dtype=str),
        "z": found.z[entries],
        "log_odds": found.log_odds[entries],
        "tokens": found.first[entries],
        "other_tokens": found.second[entries],
    }
    return pd.DataFrame(frame)


def group_words_html(words: pd.DataFrame, pair: tuple[str, str], topic: str) -> str:
    """Two lists of words of a frame of `group_words_frame`, each with z, and a link to all as CSV.

    topic: part of the name of the file.
    """
    lists = words[words["z"] > 0][:NUM_WORDS], words[words["z"] < 0][::-1][:NUM_WORDS]
    parts = [_list_html(name, part) for name, part in zip(pair, lists, strict=True)]
    named = words.rename(columns=dict(zip(("first", "second"), pair, strict=True)))
    style = "display:flex;flex-wrap:wrap;gap:8px 48px;font-size:14px"
    link = csv_link(named, f"{topic}-words.csv", "Words as CSV")
    return f'<div style="{style}">{"".join(parts)}</div>{link}'


def csv_link(frame: pd.DataFrame, file_name: str, label: str) -> str:
    """A link that holds a small table, to download as CSV."""
    content = b64encode(neutralise_formulas(frame).to_csv(index=False).encode()).decode()
    return (
        f'<a download="{escape(file_name)}" href="data:text/csv;base64,{content}"'
        f' style="font-size:14px;color:inherit">{label}</a>'
    )


def _list_html(group: str, words: pd.DataFrame) -> str:
    rows = "".join(
        f'<tr><td style="padding-right:24px">{escape(word)}</td><td>{abs(z):.1f}</td></tr>'
        for word, z in zip(words["word"], words["z"], strict=True)
    )
    return (
        '<table style="text-align:left;min-width:180px">'
        f'<caption style="text-align:left">More in {escape(group)}</caption>'
        f"<thead><tr><th>word</th><th>z</th></tr></thead><tbody>{rows}</tbody></table>"
    )
