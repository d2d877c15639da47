"""The whole state of a run as one HTML file without a server or network, with a replay of its
moments.

Text of the corpus and names of topics are in it as JSON, and its script writes them as text, never
as markup.
"""

import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from stickbreaker.app.export.single_page import read_texts, write_page
from stickbreaker.app.frames.progress_frames import CURVES, curve_frame, date_text
from stickbreaker.app.frames.reading_frames import (
    ROWS_RULE,
    TYPICAL_RULE,
    calendar_frame,
    fitting_unit,
    name_whole,
    percent,
    topic_share,
    typical_rows,
    word_rows,
)
from stickbreaker.app.frames.word_table import table_blocks, topics_frame
from stickbreaker.app.model.counting import count
from stickbreaker.app.model.progress import Moment, Progress
from stickbreaker.app.model.reading import Reading
from stickbreaker.app.model.run_spec import title_corpus
from stickbreaker.app.plots.curve_plots import CURVE_KINDS
from stickbreaker.app.theme import topic_color
from stickbreaker.engine.evaluation.held_out import NUM_TOPICS_RULE

NUM_DIGITS = 6
STYLE = read_texts("export/offline.css")
SCRIPT = read_texts("widgets/dom.js", "export/chart.js", "export/offline.js")
BODY = """<main><p id="about"></p></main>
<noscript><p>This page needs JavaScript. The script is in this file.</p></noscript>
<script type="application/json" id="state">{state}</script>"""


def write_offline(
    path: Path, progress: Progress, earlier: Sequence[Progress], reading: Reading | None
) -> None:
    """Write a run's state as a page; a reading adds topics in full and their shares by period."""
    title = f"Topics of {title_corpus(progress.corpus_name)}"
    write_page(
        path, title, BODY.format(state=embed(gather(progress, earlier, reading))), STYLE, SCRIPT
    )


def embed(state: Any) -> str:
    """Write JSON that is safe inside a script element.

    >>> embed({"word": "</script><b>"})
    '{"word": "\\\\u003c/script\\\\u003e\\\\u003cb\\\\u003e"}'
    """
    text = json.dumps(state, ensure_ascii=False, allow_nan=False)
    for sign in "<>&\u2028\u2029":
        text = text.replace(sign, f"\\u{ord(sign):04x}")
    return text


def gather(
    progress: Progress, earlier: Sequence[Progress], reading: Reading | None
) -> dict[str, Any]:
    """Collect all content of the page as values for JSON."""
    moments = list(progress.columns)
    now = progress.now
    if now is not None:
        # Of the last column and now, the one whose documents have been read knows more.
        is_same = bool(moments) and now.documents_seen == moments[-1].documents_seen
        moments[len(moments) - is_same :] = [now]
    ids = {int(topic_id) for moment in moments for topic_id in moment.topic_ids}
    return {
        "about": describe(progress),
        "rule": NUM_TOPICS_RULE,
        "typicalRule": TYPICAL_RULE,
        "rowsRule": ROWS_RULE.rpartition(" The ")[0],
        "topics": {
            topic_id: [progress.topic_title(topic_id), topic_color(topic_id)]
            for topic_id in sorted(ids)
        },
        "moments": _list_moments(progress, moments),
        "curves": [_curve(name, progress, earlier) for name in CURVES],
        "marks": [[mark.documents_seen, mark.text] for mark in progress.marks],
        "total": progress.documents_total,
        "details": _details(reading, progress),
        "periods": _periods(reading, progress),
    }


def describe(progress: Progress) -> str:
    """Name the run and say how many documents it has read."""
    read = f"{progress.documents_seen:,} of {count(progress.documents_total, 'document')} read"
    held_out = "single documents" if progress.held_out_by == "document" else "whole texts"
    return (
        f"{progress.label}. {title_corpus(progress.corpus_name)}: {read}; {held_out} are held out"
        " for scores."
    )


def _list_moments(progress: Progress, moments: Sequence[Moment]) -> list[dict[str, Any]]:
    """The topics in use at each moment, with their words and marks as in the table."""
    frames = [topics_frame(moment, progress.vocabulary, by_relevance=True) for moment in moments]
    ids = sorted({int(topic_id) for frame in frames for topic_id in frame["topic_id"]})
    blocks = table_blocks(replace(progress, columns=tuple(moments)), ids)
    cells = {block["topic_id"]: list(zip(*block["cells"], strict=True)) for block in blocks}
    return [
        {
            "seen": int(moment.documents_seen),
            "date": date_text(moment.date),
            "number": int(moment.num_topics),
            "isRead": moment.is_read,
            "topics": [
                [
                    int(topic_id),
                    _round(share),
                    [cell for cell in cells[int(topic_id)][column] if cell],
                ]
                for topic_id, share in zip(frame["topic_id"], frame["share"], strict=True)
            ],
        }
        for column, (moment, frame) in enumerate(zip(moments, frames, strict=True))
    ]


def _curve(name: str, progress: Progress, earlier: Sequence[Progress]) -> dict[str, Any]:
    runs = [run for run in earlier if run.corpus_name == progress.corpus_name]
    return describe_curve(name) | {
        "points": curve_points(progress, name),
        "earlier": [points for run in runs if (points := curve_points(run, name))],
    }


def describe_curve(name: str) -> dict[str, Any]:
    """The title, the unit and the axis of a curve."""
    kind = CURVE_KINDS[name]
    return {
        "title": kind.title,
        "unit": kind.y_label.replace("\n", " "),
        "digits": 0 if name == "num_topics" else 3,
        "fromZero": "start" in kind.y_range,
    }


def curve_points(progress: Progress, name: str) -> list[list[float]]:
    """The points of a curve: documents read and value."""
    frame = curve_frame(progress, name)
    frame = frame[np.isfinite(frame["y"])]
    return [
        [int(seen), _round(y)] for seen, y in zip(frame["documents_seen"], frame["y"], strict=True)
    ]


def _details(reading: Reading | None, progress: Progress) -> list[dict[str, Any]]:
    """The topics in use with more words and their typical documents."""
    if reading is None:
        return []
    ids = reading.summary.topic_ids
    return [
        {
            "id": int(ids[k]),
            "title": progress.topic_title(ids[k]),
            "share": f"{percent(topic_share(reading, k))} {name_whole(reading)}",
            "words": [[row["title"], row["weight"]] for row in word_rows(reading, k, 1.0)],
            "documents": [
                [row["title"], row["words"], row["weight"]]
                for row in typical_rows(reading, k, None)
            ],
        }
        for k in reading.used
    ]


def _periods(reading: Reading | None, progress: Progress) -> dict[str, Any] | None:
    """Shares of the largest topics by period; None without readings or dates of documents."""
    if reading is None or reading.doc_shares is None:
        return None
    frame = calendar_frame(
        reading, fitting_unit(reading.corpus.dates), "share of tokens", None, progress.topic_title
    )
    if frame.empty:
        return None
    table = frame.pivot(index="place", columns="topic_id", values="value")
    order = list(dict.fromkeys(frame["topic_id"]))
    values = [
        [None if np.isnan(each) else _round(each) for each in row]
        for row in table[order].to_numpy()
    ]
    return {
        "names": frame.drop_duplicates("place")["period"].tolist(),
        "topics": frame.drop_duplicates("topic_id")["title"].tolist(),
        "values": values,
    }


def _round(value: float) -> float:
    return float(f"{float(value):.{NUM_DIGITS}g}")
