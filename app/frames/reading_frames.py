"""Readings of the corpus as rows for lists and as frames for plots. Pure."""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from scipy.cluster.hierarchy import dendrogram, linkage
from scipy.sparse import csr_array
from scipy.spatial.distance import squareform

from stickbreaker.app.frames.progress_frames import date_text, tell_apart, topic_choices
from stickbreaker.app.model.counting import count, only_if
from stickbreaker.app.model.progress import Moment
from stickbreaker.app.model.reading import Reading
from stickbreaker.app.theme import topic_color
from stickbreaker.engine.evaluation.doc_shares import Periods, add_up, divide, find_typical
from stickbreaker.engine.evaluation.held_out import rank_topics
from stickbreaker.engine.evaluation.topic_space import find_top_words, lay_out, relevance

SMALLEST_HOLDER = 0.005
NUM_WORDS = 20
NUM_NEAREST = 6
NUM_TYPICAL = 10
NUM_FOUND = 40
NUM_ROWS = 15
NUM_LEAVES = 30
MOST_AT_FIRST = 40
REST = -1
REST_COLOR = "#9e9e9e"

ROWS_RULE = (
    f"Up to {NUM_ROWS} topics are shown: topics that rank first in some period come first, then"
    " those that rank second in some period, and so on. The selected topic is always shown. In the"
    " heat map the rows are in the order of their largest value."
)
TYPICAL_RULE = (
    "The documents with the most tokens of the topic; those with at least half of their tokens in"
    " it come first. Percentages are shares of the document's tokens."
)
OF_WORDS = "of all tokens"
OF_WEIGHT = "of the model's weight now (recent text counts more)"

Title = Callable[[int], str]
Span = tuple[np.datetime64, np.datetime64]


def read_shares(reading: Reading) -> csr_array:
    """Topic shares (D, K) of all documents. Raises ValueError before all documents are read."""
    if reading.doc_shares is None:
        raise ValueError("The documents have not all been read yet: wait for the reading to end.")
    return reading.doc_shares


def _share_of_topic(reading: Reading, position: int) -> np.ndarray:
    """The share (D,) of one topic in each document."""
    return np.asarray(read_shares(reading)[:, [position]].todense(), float).ravel()


def _shares_of_document(reading: Reading, row: int) -> np.ndarray:
    """The topic shares (K,) of one document."""
    return np.asarray(read_shares(reading)[[row]].todense()).ravel()


def percent(share: float) -> str:
    """Write a share as a percentage.

    >>> percent(0.0423)
    '4.2 %'
    """
    return f"{100 * share:.1f} %"


def topic_share(reading: Reading, position: int) -> float:
    """A topic's share of all words as read; before that, the model's weight."""
    tokens = reading.summary.expected_tokens
    return float(tokens[position] / max(tokens.sum(), 1e-30))


def name_whole(reading: Reading) -> str:
    """Say of what `topic_share` is a share."""
    return OF_WORDS if reading.is_read else OF_WEIGHT


def top_words(reading: Reading, position: int, number: int = 5) -> str:
    """Write the most probable words of a topic."""
    (words,) = find_top_words(reading.summary.topics[[position]], number)
    return ", ".join(reading.corpus.vocabulary[int(word)] for word in words)


def topic_options(reading: Reading, title: Title, selected: int | None = None) -> dict[str, int]:
    """The topics in use, largest first, as "war, peace · 4.2 %", and the selected one."""
    ids = reading.summary.topic_ids[reading.used].tolist()
    unused = [(k, title(k)) for k in (selected,) if k is not None and k not in ids]
    return topic_choices(
        [(k, title(k)) for k in ids], [topic_share(reading, k) for k in reading.used], unused
    )


def word_rows(reading: Reading, position: int, weight: float) -> list[dict[str, Any]]:
    """List a topic's most relevant words with their probability and their lift."""
    topic = reading.summary.topics[position].astype(float)
    shares = reading.word_shares
    order = np.argsort(-relevance(topic, shares, weight), kind="stable")[:NUM_WORDS]
    largest = topic[order].max(initial=1e-30)
    return [
        {
            "key": int(word),
            "title": reading.corpus.vocabulary[int(word)],
            "color": topic_color(reading.summary.topic_ids[position]),
            "weight": f"{100 * topic[word]:.2f} %",
            "share": float(topic[word] / largest),
            "words": f"{topic[word] / max(shares[word], 1e-30):.1f} × its corpus share",
            "action": "show topics",
            "button": "topics",
        }
        for word in order
    ]


def nearest_rows(reading: Reading, position: int, title: Title) -> list[dict[str, Any]]:
    """List the nearest topics of a topic by Jensen-Shannon divergence."""
    (place,) = np.flatnonzero(reading.used == position)
    distances = reading.divergences[place]
    order = [each for each in np.argsort(distances, kind="stable") if each != place][:NUM_NEAREST]
    return [
        _topic_row(
            reading,
            reading.used[each],
            title,
            f"{distances[each]:.2f}",
            1 - distances[each] / np.log(2),
        )
        for each in order
    ]


def _topic_row(
    reading: Reading, position: int, title: Title, weight: str, share: float
) -> dict[str, Any]:
    topic_id = int(reading.summary.topic_ids[position])
    return {
        "key": topic_id,
        "title": title(topic_id),
        "color": topic_color(topic_id),
        "weight": weight,
        "share": float(share),
        "words": top_words(reading, position),
        "action": "select",
    }


def holder_rows(reading: Reading, word: int, title: Title) -> list[dict[str, Any]]:
    """List the topics of a word's tokens, p(topic | word)."""
    places, shares = find_holders(reading, word)
    return [
        _topic_row(reading, k, title, percent(share), share)
        for k, share in zip(places, shares, strict=True)
    ]


def find_holders(reading: Reading, word: int) -> tuple[np.ndarray, np.ndarray]:
    """The topics with the most tokens of a word, and their shares p(topic | word)."""
    joint = reading.summary.topics[:, word] * reading.summary.expected_tokens
    shares = joint / max(joint.sum(), 1e-30)
    places = np.argsort(-shares, kind="stable")[:NUM_NEAREST]
    places = places[shares[places] >= SMALLEST_HOLDER]
    return places, shares[places]


def typical_rows(reading: Reading, position: int, span: Span | None) -> list[dict[str, Any]]:
    """List the typical documents of a topic, from a span of time if one is given.

    There are none before all documents have been read.
    """
    if reading.doc_shares is None:
        return []
    among = in_span(reading, span)
    rows = find_typical(reading.doc_shares, reading.doc_tokens, position, NUM_TYPICAL, among)
    column = _share_of_topic(reading, position)
    color = topic_color(reading.summary.topic_ids[position])
    return [document_row(reading, row, column[row], color) for row in rows]


def document_row(
    reading: Reading, row: int, share: float, color: str, piece: str = ""
) -> dict[str, Any]:
    """The row of one document: title, date, a share as a bar, and a piece of its text."""
    corpus = reading.corpus
    facts = [date_text(corpus.dates[row]), count(reading.doc_tokens[row], "token"), piece]
    return {
        "key": int(row),
        "title": str(corpus.titles[row]),
        "color": color,
        "weight": only_if(color, percent(share)),
        "share": float(share),
        "words": " · ".join(filter(None, facts)),
        "action": "open",
    }


def in_span(reading: Reading, span: Span | None) -> np.ndarray:
    """Whether each document (D,) is dated between two dates, inclusive; all are without a span."""
    if span is None:
        return np.ones(reading.corpus.num_documents, bool)
    days = reading.corpus.dates.astype("datetime64[D]")
    return np.asarray((days >= span[0]) & (days <= span[1]))


def find_documents(
    reading: Reading,
    text: str,
    topic: tuple[int, float] | None,
    span: Span | None,
    order: str,
    in_text: np.ndarray | None = None,
) -> np.ndarray:
    """Rows of documents with a text in the title or as a word, sorted by "share" of a topic or by
    "date".

    topic: its place, and the smallest share of it that a document has. in_text: (n,) more rows,
    whose stored text contains the text.
    """
    corpus = reading.corpus
    found = np.ones(corpus.num_documents, bool)
    if text:
        found = np.array([text.casefold() in str(title).casefold() for title in corpus.titles])
        if text.casefold() in corpus.vocabulary:
            column = corpus.counts[:, [corpus.vocabulary.index(text.casefold())]]
            found |= np.asarray(column.sum(1)).ravel() > 0
        if in_text is not None:
            found[in_text] = True
    found &= in_span(reading, span)
    shares = np.zeros(corpus.num_documents)
    if topic is not None:
        shares = _share_of_topic(reading, topic[0])
        found &= (shares > 0) & (shares >= topic[1])
    rows = np.flatnonzero(found)
    if order == "share" and topic is not None:
        return rows[np.argsort(-shares[rows], kind="stable")]
    return rows[np.argsort(corpus.dates[rows], kind="stable")]


def share_rows(reading: Reading, row: int, title: Title) -> list[dict[str, Any]]:
    """List the topics of one document, largest first."""
    shares = _shares_of_document(reading, row)
    order = [k for k in np.argsort(-shares, kind="stable") if shares[k] > 0]
    return [_topic_row(reading, k, title, percent(shares[k]), shares[k]) for k in order]


def word_topics(reading: Reading, row: int) -> list[tuple[str, int, int]]:
    """Words of a document with counts and most probable topics, θ_k φ_kw, by topic."""
    counts = reading.corpus.counts[[row]]
    shares = _shares_of_document(reading, row)
    weights = shares[:, None] * reading.summary.topics[:, counts.indices]
    best = weights.argmax(0) if len(shares) else np.zeros(0, int)
    order = np.lexsort((-counts.data, -shares[best]))
    ids = reading.summary.topic_ids[best]
    vocabulary = reading.corpus.vocabulary
    return [(vocabulary[int(counts.indices[i])], int(counts.data[i]), int(ids[i])) for i in order]


def fitting_unit(dates: np.ndarray) -> str:
    """Choose the shortest period that divides these dates into at most forty periods.

    >>> fitting_unit(np.array(["1790", "2021"], "datetime64[Y]"))
    'decade'
    """
    for unit in ("month", "year"):
        if len(divide(dates, unit).names) <= MOST_AT_FIRST:
            return unit
    return "decade"


def calendar_frame(
    reading: Reading, unit: str, measure: str, chosen: int | None, title: Title
) -> pd.DataFrame:
    """A measure of the largest topics by period, tidy: columns place, period, start, topic_id,
    title, value, documents.

    The topics of `choose_rows`, always with the selected one, and all other topics together under
    id -1.
    """
    periods = divide(reading.corpus.dates, unit)
    values = add_up(read_shares(reading), reading.doc_tokens, periods, measure)
    shown = choose_rows(values, reading.summary.expected_tokens, chosen)
    ids = {k: int(reading.summary.topic_ids[k]) for k in shown}
    titles = [called for _, called in tell_apart([(ids[k], title(ids[k])) for k in shown])]
    return period_frame(periods, values, ids, titles)


def choose_rows(values: np.ndarray, tokens: np.ndarray, chosen: int | None) -> list[int]:
    """Columns of values (P, K) by period to show, by `ROWS_RULE`; the most tokens (K,) first.

    Only topics in use are shown. Of those with the same best rank, the ones that have it in more
    periods go first, then those with more tokens.
    """
    order = np.argsort(-np.nan_to_num(values), axis=1, kind="stable")
    ranks = np.argsort(order, axis=1)
    ranks[~(values > 0)] = values.shape[1]
    best = ranks.min(0, initial=values.shape[1])
    ranked = np.lexsort((-tokens, -(ranks == best).sum(0), best))
    used = set(rank_topics(tokens).tolist())
    shown = [k for k in ranked.tolist() if k in used][:NUM_ROWS]
    if chosen is not None and chosen not in shown:
        shown[-1:] = [chosen]
    return sorted(shown, key=lambda k: -tokens[k])


def period_frame(
    periods: Periods, values: np.ndarray, shown: dict[int, int], titles: list[str]
) -> pd.DataFrame:
    """Values (P, K) by period in the form of `calendar_frame`. shown: columns by topic id."""
    others = np.setdiff1d(np.arange(values.shape[1]), list(shown))
    # A period without documents has no value for the rest either, even if the sum over no topics
    # would be 0.
    rest = np.where(np.isnan(values).any(1), np.nan, values[:, others].sum(1))
    columns = np.column_stack([values[:, list(shown)], rest])
    documents = np.bincount(
        periods.of_document[periods.of_document >= 0], minlength=len(periods.names)
    )
    topics = [*zip(shown.values(), titles, strict=True), (REST, "all other topics")]
    rows = [
        (p, name, periods.starts[p], topic_id, called, value, documents[p])
        for p, name in enumerate(periods.names)
        for (topic_id, called), value in zip(topics, columns[p], strict=True)
    ]
    return pd.DataFrame(
        rows, columns=["place", "period", "start", "topic_id", "title", "value", "documents"]
    )


def order_by_peak(frame: pd.DataFrame) -> pd.DataFrame:
    """The rows of a calendar frame by the period in which their topic has its largest value.

    The first period comes first; topics with the same one stay in their order. The row of all
    other topics is left out.
    """
    frame = frame[frame["topic_id"] != REST]
    values = frame.pivot_table("value", "place", "title", sort=False, observed=False)
    peaks = values.fillna(0).sort_index().idxmax() if len(values) else pd.Series(dtype=float)
    return frame.sort_values("title", key=lambda titles: titles.map(peaks), kind="stable")


def map_frame(
    reading: Reading, title: Title, last: tuple[np.ndarray, np.ndarray] | None
) -> pd.DataFrame:
    """Topics in use on the map: columns topic_id, title, x, y, share, whole, words, color."""
    ids = reading.summary.topic_ids[reading.used]
    places = lay_out(np.sqrt(reading.divergences), ids, last)
    return pd.DataFrame(
        {
            "topic_id": ids,
            "title": [title(topic_id) for topic_id in ids],
            "x": places[:, 0],
            "y": places[:, 1],
            "share": [topic_share(reading, k) for k in reading.used],
            "whole": name_whole(reading),
            "words": [top_words(reading, k) for k in reading.used],
            "color": [topic_color(topic_id) for topic_id in ids],
        }
    )


def map_then(frame: pd.DataFrame, moment: Moment | None) -> pd.DataFrame:
    """A map with the shares at an earlier moment, without topics not in use then."""
    if moment is None:
        return frame.iloc[:0]
    used = rank_topics(moment.expected_tokens)
    weights = dict(zip(moment.topic_ids[used].tolist(), moment.weights[used].tolist(), strict=True))
    frame = frame[frame["topic_id"].isin(list(weights))]
    return frame.assign(
        share=frame["topic_id"].map(weights), whole="of the weight in the model at that moment"
    )


class TopicLines(NamedTuple):
    """The topics of the map over calendar time: `lines` (topic_id, title, color, xs, ys), and the
    unit of a period.

    xs: starts of the periods in milliseconds since 1970; ys: the topic's share of the tokens of
    each period.
    """

    lines: pd.DataFrame
    unit: str


def topic_lines(reading: Reading, title: Title) -> TopicLines | None:
    """The topics in use over calendar time; None without two periods or all documents."""
    unit = fitting_unit(reading.corpus.dates)
    periods = divide(reading.corpus.dates, unit)
    if reading.doc_shares is None or len(periods.names) < 2:
        return None
    values = add_up(reading.doc_shares, reading.doc_tokens, periods, "share of tokens")
    # A period without documents has no point: the line continues to the next one.
    has_documents = ~np.isnan(values).any(1)
    xs = periods.starts[has_documents].astype("datetime64[ms]").astype(float).tolist()
    ids = [int(reading.summary.topic_ids[k]) for k in reading.used]
    lines = {
        "topic_id": ids,
        "title": list(map(title, ids)),
        "color": list(map(topic_color, ids)),
        "xs": [xs] * len(ids),
        "ys": [values[has_documents, k].tolist() for k in reading.used],
    }
    return TopicLines(lines=pd.DataFrame(lines), unit=unit)


class TopicTree(NamedTuple):
    """Topics by similarity: `leaves` (topic_id, title, color, y) from bottom to top, and the
    branches as lines.

    xs, ys: each branch is a line of four points; x is the mean Jensen-Shannon distance of what it
    joins, in square roots of nats.
    """

    leaves: pd.DataFrame
    xs: list[list[float]]
    ys: list[list[float]]


def topic_tree(reading: Reading, title: Title) -> TopicTree | None:
    """Join the most similar large topics step by step (average linkage); None for one."""
    shown = np.arange(min(NUM_LEAVES, len(reading.used)))
    if len(shown) < 2:
        return None
    distances = np.sqrt(np.maximum(reading.divergences[np.ix_(shown, shown)], 0.0))
    joined = linkage(squareform(distances, checks=False), "average")
    drawn = dendrogram(joined, no_plot=True)
    ids = [int(reading.summary.topic_ids[reading.used[leaf]]) for leaf in drawn["leaves"]]
    leaves = pd.DataFrame(
        {
            "topic_id": ids,
            "title": [name for _, name in tell_apart([(k, title(k)) for k in ids])],
            "color": [topic_color(k) for k in ids],
            "y": np.arange(len(ids), dtype=float),
        }
    )
    # scipy puts the leaves at 5, 15, 25 and so on.
    return TopicTree(
        leaves=leaves,
        xs=drawn["dcoord"],
        ys=[[(each - 5) / 10 for each in ys] for ys in drawn["icoord"]],
    )
