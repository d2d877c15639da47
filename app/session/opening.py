"""What a browser shows of a run until the page is drawn: text and one curve, no script. Pure."""

from typing import Any

import numpy as np

from stickbreaker.app.frames.progress_frames import axis_span, curve_columns
from stickbreaker.app.frames.summary_texts import describe_reading, list_figures
from stickbreaker.app.frames.word_table import fill_first, table_blocks, table_columns
from stickbreaker.app.model.progress import Progress
from stickbreaker.app.model.run_spec import title_corpus
from stickbreaker.app.plots.curve_plots import curve_title
from stickbreaker.app.views.topics_now import name_whole, topic_rows

MOST_COLUMNS = 12
# More do not fit on a phone.
PHONE_COLUMNS = 4
CURVE_WIDTH = 400
CURVE_HEIGHT = 140


def describe_opening(progress: Progress, corpus_name: str) -> dict[str, Any]:
    """Describe a run for the template of the page, in text.

    figures: (label, value, unit). topics: rows of the largest topics; whole: what their shares are
    of. columns, blocks: the newest columns of the word lists, `blocks[i]["words"][rank][column]`;
    columns before first_on_phone are for wide windows. curve: the held-out likelihood, of a stream
    the next-batch likelihood; None before its second value.
    """
    columns, blocks = _describe_lists(progress)
    return {
        "corpus": title_corpus(progress.corpus_name or corpus_name),
        "sentence": describe_reading(progress),
        "figures": [*map(tuple, list_figures(progress))] if progress.documents_seen else [],
        "topics": topic_rows(progress, ()),
        "whole": name_whole(progress),
        "columns": columns,
        "blocks": blocks,
        "first_on_phone": len(columns) - PHONE_COLUMNS,
        "curve": _describe_curve(progress),
        "is_recorded": bool(progress.recorded_on),
        "is_stream": progress.stream is not None,
    }


def _describe_lists(progress: Progress) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """The heads of the newest columns, and the word lists of the first topics shown."""
    filled = fill_first(progress).columns
    reached = len(filled)
    kept = slice(max(0, reached - MOST_COLUMNS), reached)
    blocks = [
        {
            "title": block["title"],
            "color": block["color"],
            "words": [[cell[0] if cell else "" for cell in row[kept]] for row in block["cells"]],
        }
        for block in table_blocks(progress)
    ]
    return table_columns(progress)[kept], blocks


def _describe_curve(progress: Progress) -> dict[str, Any] | None:
    """The held-out curve's title, points in a fixed box, lowest and highest value."""
    name = "heldout" if progress.stream is None else "next_batch"
    columns = curve_columns(progress, name)
    span = axis_span((progress,), "documents")
    is_known = np.isfinite(columns["y"])
    x, y = (columns[axis][is_known] for axis in "xy")
    if len(y) < 2 or span is None or y.max() == y.min():
        return None
    across = CURVE_WIDTH * (x - span[0]) / (span[1] - span[0])
    down = CURVE_HEIGHT * (y.max() - y) / (y.max() - y.min())
    points = " ".join(f"{a:.1f},{b:.1f}" for a, b in zip(across, down, strict=True))
    low, high = (f"{value:.2f}".replace("-", "−") for value in (np.min(y), np.max(y)))
    return {"title": curve_title(name, y[-1]), "points": points, "low": low, "high": high}
