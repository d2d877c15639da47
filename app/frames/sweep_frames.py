"""The final scores of a sweep as a frame."""

from collections.abc import Sequence

import pandas as pd

from stickbreaker.app.model.counting import only_if
from stickbreaker.app.model.sweep_plan import SWEPT, SweepPoint
from stickbreaker.app.theme import topic_color
from stickbreaker.engine.runs.grid import name_values


def x_setting(points: Sequence[SweepPoint]) -> str:
    """The setting to draw the scores over: the first of `SWEPT` with several values, else S."""
    for name in SWEPT:
        if len({point.config_value(name) for point in points} - {None}) > 1:
            return name
    return "batch_size"


def sweep_frame(points: Sequence[SweepPoint], x: str) -> pd.DataFrame:
    """Final scores: columns line (a choice of the other settings), color, x, y, label."""
    drawn = [
        point for point in points if point.heldout is not None and point.config_value(x) is not None
    ]
    varied = [
        name
        for name in SWEPT
        if name != x and len({point.config_value(name) for point in points}) > 1
    ]
    has_systems = len({point.title for point in points}) > 1
    lines = [_name_line(point, varied, has_systems) for point in drawn]
    places = {line: place for place, line in enumerate(dict.fromkeys(lines))}
    rows = [
        (
            line,
            topic_color(3 * places[line]),
            float(point.config_value(x) or 0.0),
            point.heldout,
            point.label,
        )
        for line, point in zip(lines, drawn, strict=True)
    ]
    return pd.DataFrame(rows, columns=["line", "color", "x", "y", "label"])


def _name_line(point: SweepPoint, varied: Sequence[str], has_systems: bool) -> str:
    parts = [only_if(has_systems, point.title), name_values(point.config, varied)]
    return ", ".join(filter(None, parts)) or point.title
