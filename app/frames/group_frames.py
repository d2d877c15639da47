"""A topic in groups of documents, such as authors or parties. Pure."""

from typing import NamedTuple

import numpy as np
import pandas as pd
from scipy.sparse import csr_array

from stickbreaker.app.frames.reading_frames import Span, in_span, read_shares
from stickbreaker.app.model.reading import Reading
from stickbreaker.engine.corpora.corpus import Corpus
from stickbreaker.engine.evaluation.group_shares import shares_by_group

MOST_GROUPS = 40
# Its groups are addresses, called "1834 Andrew Jackson".
OF_PRESIDENTS = "state-of-the-union"


class Groups(NamedTuple):
    """The group of each document (D,), and the names of groups; for intervals, the text that each
    document is a passage of (D,).
    """

    of_document: np.ndarray
    names: tuple[str, ...]
    texts: np.ndarray


def find_groups(corpus: Corpus) -> Groups | None:
    """The groups of a corpus: the presidents of State of the Union. None if there is one, or each
    document has its own.
    """
    names = np.array(corpus.group_titles, dtype=object)
    texts = np.arange(corpus.num_documents)
    if corpus.name == OF_PRESIDENTS:
        names = np.array([title.partition(" ")[2] for title in names], dtype=object)
        texts = corpus.groups
    named, numbers = np.unique(names, return_inverse=True)
    of_document = numbers[corpus.groups]
    if not 1 < len(np.unique(of_document)) < corpus.num_documents:
        return None
    return Groups(of_document=of_document, names=tuple(named), texts=texts)


def group_frame(reading: Reading, groups: Groups, position: int, span: Span | None) -> pd.DataFrame:
    """The share of a topic in the groups with the most tokens in a span, largest share first.

    Columns group, share, low, high, documents, whole: the share in all documents of the span.
    """
    rows = np.flatnonzero(in_span(reading, span) & (reading.doc_tokens > 0))
    tokens = reading.doc_tokens[rows].astype(float)
    topic_tokens = read_shares(reading)[rows][:, [position]].toarray().ravel() * tokens
    sizes = np.bincount(groups.of_document[rows], tokens, len(groups.names))
    shown = np.argsort(-sizes, kind="stable")[: min(MOST_GROUPS, np.count_nonzero(sizes))]
    places = np.full(len(groups.names), -1)
    places[shown] = np.arange(len(shown))
    # Passages of one text are not independent: the text counts as one document.
    _, first, texts = np.unique(groups.texts[rows], return_index=True, return_inverse=True)
    text_tokens = np.bincount(texts, tokens)
    shares = csr_array((np.bincount(texts, topic_tokens) / text_tokens)[:, None])
    of_text = places[groups.of_document[rows[first]]]
    found = shares_by_group(shares, text_tokens, of_text, len(shown))
    frame = pd.DataFrame(
        {
            "group": [groups.names[group] for group in shown],
            "share": found.shares.ravel(),
            "low": found.low.ravel(),
            "high": found.high.ravel(),
            "documents": np.bincount(groups.of_document[rows], minlength=len(sizes))[shown],
            "whole": topic_tokens.sum() / max(tokens.sum(), 1.0),
        }
    )
    return frame.sort_values("share", ascending=False, kind="stable", ignore_index=True)
