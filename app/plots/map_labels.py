"""Where the labels of the map of topics are placed, so that they overlap little. Pure."""

from collections.abc import Sequence

import numpy as np
import pandas as pd

from stickbreaker.app.theme import NOTE, ON_CHIP

SMALLEST_DOT = 8
LARGEST_DOT = 60
# Room for the largest dot at the edge of the map on a phone.
MAP_PADDING = 0.25
NUM_NAMED_DOTS = 15
CHIP = {
    "text_color": ON_CHIP,
    "text_font_size": "11px",
    "background_fill_color": NOTE,
    "background_fill_alpha": 0.85,
    "border_radius": 3,
    "padding": (6, 2),
}
MOST_DOT_LABEL = 26
# Pixels: of the map on a wide page, and of a line and a letter of a label with its padding.
MAP_PIXELS = (430.0, 420.0)
# Widths for which labels are placed, as shares of the width on a wide page; the other one is that
# of a phone.
MAP_SHARES = np.array([1.0, 0.77])
LINE_PIXELS = 17.0
LETTER_PIXELS = 6.6


def shorten(title: str, most: int) -> str:
    """Remove the last word from a title with more than `most` letters, then cut it.

    >>> shorten("treaty, commerce, navy", 17), shorten("constitutional", 10)
    ('treaty, commerce', 'constitut…')
    """
    if len(title) > most:
        title = title.rpartition(", ")[0] or title
    if len(title) > most:
        title = f"{title[: most - 1]}…"
    return title


def keep_inside(x: np.ndarray, texts: Sequence[str], width: float) -> np.ndarray:
    """Shifts (N,) in pixels, to the right, that keep centred labels inside a figure.

    x (N,): their places in pixels from the middle of the figure; width: of the figure in pixels.

    >>> keep_inside(np.array([-95.0, 0.0, 95.0]), ["navy"] * 3, 200.0).tolist()
    [11.5, 0.0, -11.5]
    """
    most = np.maximum((width - _measure(texts)) / 2, 0.0)
    return np.asarray(np.clip(x, -most, most) - x)


def _measure(texts: Sequence[str]) -> np.ndarray:
    """Estimated widths (N,) of labels in pixels, with their padding."""
    return LETTER_PIXELS * np.array([len(text) + 1 for text in texts], float)


def place_labels(
    x: np.ndarray, y: np.ndarray, sizes: np.ndarray, texts: Sequence[str], height: float = np.inf
) -> list[float]:
    """Offsets in pixels, down from each dot's centre, of the lower edges of labels, so that labels
    overlap little.

    x, y (N,): centres of the dots in pixels from the middle of the map, y downwards; sizes (N,):
    their diameters; height: of the map in pixels. The first label is placed first, above its dot; a
    later one is above or below its dot, or up to two lines further away, where it covers earlier
    labels least, on a wide page and on a phone together. A label stays inside the map if one of
    these places is inside.

    >>> place_labels(np.zeros(2), np.array([0.0, 4.0]), np.full(2, 20.0), ["navy", "war"])
    [-10.0, 27.0]
    >>> place_labels(np.zeros(1), np.array([-90.0]), np.array([20.0]), ["navy"], 200.0)
    [27.0]
    """
    widths = _measure(texts)
    offsets = np.empty(0)
    for place in range(len(texts)):
        radius = sizes[place] / 2
        before = slice(0, place)
        lines = LINE_PIXELS * np.arange(3)
        tries = np.stack([-radius - lines, radius + LINE_PIXELS + lines], axis=1).ravel()
        apart = np.abs(x[before] - x[place]) * MAP_SHARES[:, None]
        higher = (y[before] - y[place]) * MAP_SHARES[:, None] + offsets - tries[:, None, None]
        across = np.maximum((widths[before] + widths[place]) / 2 - apart, 0.0)
        covered = (across * np.maximum(LINE_PIXELS - np.abs(higher), 0.0)).sum((1, 2))
        lower = y[place] + tries
        outside = np.maximum(np.maximum(lower, LINE_PIXELS - lower) - height / 2, 0.0)
        offsets = np.append(offsets, tries[np.lexsort((covered, outside))[0]])
    found: list[float] = offsets.tolist()
    return found


def size_dots(shares: pd.Series) -> np.ndarray:
    """Diameters (N,) of dots in pixels: the area of a dot is its share."""
    largest = max(shares, default=1.0)
    return np.asarray(np.maximum(LARGEST_DOT * np.sqrt(shares / max(largest, 1e-30)), SMALLEST_DOT))


def fit_map(frame: pd.DataFrame) -> tuple[float, float, float]:
    """The middle (x, y) of a map frame, and the pixels of its unit on a wide page."""
    corners = [
        (min(frame[axis], default=0.0), max(frame[axis], default=0.0)) for axis in ("x", "y")
    ]
    scales = [
        pixels / max((1 + MAP_PADDING) * (high - low), 1e-9)
        for pixels, (low, high) in zip(MAP_PIXELS, corners, strict=True)
    ]
    middle, level = ((low + high) / 2 for low, high in corners)
    return float(middle), float(level), float(min(scales))


def label_dots(frame: pd.DataFrame) -> pd.DataFrame:
    """Labels of the largest dots of a map frame with sizes, so that they overlap little.

    x, y: of their dots; text; aside, offset: pixels to the right and down from there to the middle
    of the lower edge.
    """
    named = frame.nlargest(NUM_NAMED_DOTS, "share")
    texts = [shorten(title, MOST_DOT_LABEL) for title in named["title"]]
    middle, level, scale = fit_map(frame)
    x, y, size = (named[name].to_numpy(float) for name in ("x", "y", "size"))
    across = scale * (x - middle)
    asides = keep_inside(across, texts, MAP_PIXELS[0])
    offsets = place_labels(across + asides, scale * (level - y), size, texts, MAP_PIXELS[1])
    return pd.DataFrame({"x": x, "y": y, "text": texts, "aside": asides, "offset": offsets})
