"""A topic in groups of documents, such as authors or parties. Pure."""

from base64 import b64encode
from html import escape

import numpy as np
import pandas as pd
from scipy.sparse import csr_array

from stickbreaker.app.frames.reading_frames import Span, in_span, read_shares
from stickbreaker.app.model.reading import Reading
from stickbreaker.engine.evaluation import group_shares
from stickbreaker.engine.evaluation.archives import neutralise_formulas
from stickbreaker.engine.evaluation.group_shares import Groups
from stickbreaker.engine.evaluation.group_words import topic_tokens, word_frame

MOST_GROUPS = 40
NUM_WORDS = 15


def group_frame(reading: Reading, groups: Groups, position: int, span: Span | None) -> pd.DataFrame:
    """The share of a topic in the groups with the most tokens in a span, largest share first.

    Columns group, share, low, high, documents, whole: the share in all documents of the span.
    """
    rows = np.flatnonzero(in_span(reading, span) & (reading.doc_tokens > 0))
    tokens = reading.doc_tokens[rows]
    sizes = np.bincount(groups.of_document[rows], tokens, len(groups.names))
    shown = np.argsort(-sizes, kind="stable")[: min(MOST_GROUPS, np.count_nonzero(sizes))]
    places = np.full(len(groups.names), -1)
    places[shown] = np.arange(len(shown))
    among = groups.select(rows)._replace(
        of_document=places[groups.of_document[rows]],
        names=tuple(groups.names[group] for group in shown),
    )
    shares = csr_array(read_shares(reading)[rows][:, [position]])
    frame = group_shares.group_frame(shares, tokens, among).drop(columns="topic")
    return frame.sort_values("share", ascending=False, kind="stable", ignore_index=True)


def group_words_frame(
    reading: Reading, groups: Groups, position: int, span: Span | None, pair: tuple[str, str]
) -> pd.DataFrame:
    """The words of a topic in two groups and a span, those that the first has more come first.

    The columns are those of `engine.evaluation.group_words.word_frame`.
    """
    column = read_shares(reading)[:, [position]].toarray().ravel()
    rows = np.flatnonzero(in_span(reading, span) & (column > 0))
    shares = read_shares(reading)[rows].toarray()
    documents = reading.corpus.select(rows).documents()
    topics = reading.summary.topics
    tokens = topic_tokens(documents, shares, topics, position)
    words = list(reading.corpus.vocabulary)
    return word_frame(tokens, groups.select(rows), pair, topics[position], words)


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
        '<table style="text-align:left">'
        f'<caption style="white-space:nowrap">More in {escape(group)}</caption>'
        f"<thead><tr><th>word</th><th>z</th></tr></thead><tbody>{rows}</tbody></table>"
    )
