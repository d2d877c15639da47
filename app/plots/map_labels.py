"""Where the labels of the map of topics stand: each next to its dot, none over a dot or a label.

Pure.
"""

import numpy as np
import pandas as pd

from stickbreaker.app.theme import NOTE, ON_CHIP

SMALLEST_DOT = 8
LARGEST_DOT = 48
# Room for the largest dot at the edge of the map on a phone.
MAP_PADDING = 0.25
CHIP = {
    "text_color": ON_CHIP,
    "text_font_size": "11px",
    "text_baseline": "middle",
    "background_fill_color": NOTE,
    "background_fill_alpha": 0.85,
    "border_radius": 3,
    "padding": (6, 2),
}
MOST_LABELS = 15
MOST_DOT_LABEL = 26
# Width and height in pixels of the map: in a notebook, and the smallest and the largest on a wide
# page and on a phone.
NOTEBOOK_MAP = (430.0, 420.0)
WIDE_MAPS = ((540.0, 450.0), (965.0, 450.0))
PHONE_MAPS = ((301.0, 450.0), (371.0, 450.0))
# Pixels: of a line and a letter of a label with its padding, and between a label and its dot.
LINE_PIXELS = 17.0
LETTER_PIXELS = 6.6
GAP = 2.0
# Directions from a dot in which a label is tried: straight ones first, then corners. TOWARDS is for
# its half width and height, AWAY for the radius of the dot.
TOWARDS = np.array(
    [(0, -1), (0, 1), (1, 0), (-1, 0)] + [(x, y) for x in (0.5, -0.5, 1, -1) for y in (-1, 1)],
    float,
)
AWAY = np.where(np.abs(TOWARDS) < 1, 0, TOWARDS)
AWAY /= np.linalg.norm(AWAY, axis=1)[:, None]


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


def size_dots(shares: pd.Series) -> np.ndarray:
    """Diameters (N,) of dots in pixels: the area of a dot is its share."""
    largest = max(shares, default=1.0)
    return np.asarray(np.maximum(LARGEST_DOT * np.sqrt(shares / max(largest, 1e-30)), SMALLEST_DOT))


def fit_map(frame: pd.DataFrame, pixels: tuple[float, float]) -> tuple[np.ndarray, float]:
    """The middle (2,) of a map frame, and the pixels of its unit on a map of this size."""
    places = frame[["x", "y"]].to_numpy(float) if len(frame) else np.zeros((1, 2))
    spans = np.maximum((1 + MAP_PADDING) * np.ptp(places, axis=0), 1e-9)
    middle = (places.min(axis=0) + places.max(axis=0)) / 2
    return middle, float(np.min(np.array(pixels) / spans))


def label_dots(frame: pd.DataFrame, *maps: tuple[float, float]) -> pd.DataFrame:
    """Labels of a map frame with sizes, the largest topics first, for dots with room for a label
    on maps of all these sizes in pixels.

    x, y: of the dots; text; aside, offset: pixels to the right and down from there to the middle of
    the label. Without room for its title, a topic is labelled by the first words of it.

    >>> frame = pd.DataFrame({"x": 0.0, "y": [0.0, 0.03, 0.2], "share": [0.6, 0.3, 0.1]})
    >>> frame = frame.assign(size=20.0, title=["treaty, navy", "school, pupil, child", "bank"])
    >>> label_dots(frame, (100.0, 300.0))[["text", "offset"]].values.tolist()
    [['treaty, navy', 21.5], ['school, pupil', -21.5], ['bank', -21.5]]
    """
    frame = frame.sort_values("share", ascending=False, kind="stable")
    places = frame[["x", "y"]].to_numpy(float)
    fits = [fit_map(frame, pixels) for pixels in maps]
    dots = np.array([(places - middle) * (scale, -scale) for middle, scale in fits])
    # With half of the outline.
    radii = frame["size"].to_numpy(float) / 2 + 1
    edges = np.array(maps) / 2
    rows: dict[str, tuple[float, ...]] = {}
    middles = np.empty((0, len(maps), 2))
    halves = np.empty((0, 1, 2))
    for dot, title in enumerate(frame["title"]):
        words = title.split(", ")
        for most in range(len(words), 0, -1):
            text = shorten(", ".join(words[:most]), MOST_DOT_LABEL)
            half = np.array([LETTER_PIXELS * (len(text) + 1), LINE_PIXELS]) / 2
            shifts = TOWARDS * half + AWAY * (radii[dot] + GAP)
            tries = dots[:, dot] + shifts[:, None]
            to_dots = np.maximum(np.abs(dots - tries[:, :, None]) - half, 0.0)
            apart = np.abs(middles - tries[:, None]) >= halves + half
            is_free = (
                (np.abs(tries) + half <= edges).all((1, 2))
                & (np.hypot(to_dots[..., 0], to_dots[..., 1]) >= radii).all((1, 2))
                & apart.any(-1).all((1, 2))
            )
            if is_free.any() and text not in rows:
                best = is_free.argmax()
                rows[text] = (*places[dot], *shifts[best])
                middles = np.concatenate([middles, tries[[best]]])
                halves = np.concatenate([halves, half[None, None]])
                break
        if len(rows) == MOST_LABELS:
            break
    found = pd.DataFrame.from_dict(rows, orient="index", columns=["x", "y", "aside", "offset"])
    return found.rename_axis("text").reset_index()
