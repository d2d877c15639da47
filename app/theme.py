"""Colours of topics and of run states, the same on all pages, light and dark.

Everything on a plot has a contrast of at least 3 with both backgrounds, because the colours of a
plot do not change when the page becomes dark. For the same reason, text on a plot is white on a
coloured background.
"""

import colorsys
from functools import lru_cache

LIGHT_BACKGROUND = "#ffffff"
DARK_BACKGROUND = "#1e1e1e"

THIS_RUN = "#1976d2"
EARLIER_RUN = "#808080"
WARM_UP = "#8a6500"
MARK = "#9a52c2"
NOTE = "#455a64"
ON_CHIP = "#ffffff"

# The focus ring has the colour of the button's text, which contrasts with any background.
KEYBOARD_FOCUS = {"outline": "2px solid currentColor", "outlineOffset": "-4px"}
FOCUSED_BUTTONS = {
    "MuiButtonBase": {"styleOverrides": {"root": {"&.Mui-focusVisible": KEYBOARD_FOCUS}}}
}

STATUS_COLORS = {
    "ready": "#546e7a",
    "opening": "#8a5a00",
    "compiling": "#8a5a00",
    "waiting": "#8a5a00",
    "running": "#1565c0",
    "paused": "#6a4fa3",
    "finished": "#2e7d32",
    "failed": "#c62828",
}

GOLDEN_ANGLE = 0.618033988749895
TOPIC_LUMINANCES = (0.20, 0.26, 0.16)
TOPIC_SATURATIONS = (0.75, 0.5)


def luminance(color: str) -> float:
    """Relative luminance of a hex colour, 0 for black to 1 for white (WCAG 2).

    >>> luminance("#000000"), luminance("#ffffff")
    (0.0, 1.0)
    """
    channels = (int(color[i : i + 2], 16) / 255 for i in (1, 3, 5))
    red, green, blue = (
        c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels
    )
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(one: str, other: str) -> float:
    """Contrast ratio of two hex colours, from 1 to 21 (WCAG 2).

    >>> round(contrast("#000000", "#ffffff"), 6)
    21.0
    """
    dark, light = sorted((luminance(one), luminance(other)))
    return (light + 0.05) / (dark + 0.05)


def ink_on(color: str) -> str:
    """Black or white, whichever is easier to read on a colour.

    >>> ink_on("#000000")
    '#ffffff'
    """
    return max(("#ffffff", "#000000"), key=lambda ink: contrast(ink, color))


@lru_cache(maxsize=4096)
def topic_color(topic_id: int) -> str:
    """The colour of a topic; it depends only on the id, so it never changes.

    The hues of successive ids differ by the golden angle; luminance and saturation alternate, so
    150 topics differ.

    >>> topic_color(17) == topic_color(17) != topic_color(18)
    True
    """
    topic_id = int(topic_id)
    hue = (0.58 + topic_id * GOLDEN_ANGLE) % 1.0
    target = TOPIC_LUMINANCES[topic_id % len(TOPIC_LUMINANCES)]
    saturation = TOPIC_SATURATIONS[topic_id // len(TOPIC_LUMINANCES) % len(TOPIC_SATURATIONS)]
    return _color_of_luminance(hue, saturation, target)


def _color_of_luminance(hue: float, saturation: float, target: float) -> str:
    """The hex colour of this hue and saturation with the luminance nearest the target."""
    low = 0.0
    high = 1.0
    for _ in range(12):
        middle = (low + high) / 2
        if luminance(_hex(hue, middle, saturation)) < target:
            low = middle
        else:
            high = middle
    return _hex(hue, high, saturation)


def _hex(hue: float, lightness: float, saturation: float) -> str:
    return "#" + "".join(
        f"{round(255 * c):02x}" for c in colorsys.hls_to_rgb(hue, lightness, saturation)
    )
