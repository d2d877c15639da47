"""Labels of the map of topics cover each other less than labels above their dots, on a wide page
and on a phone.
"""

import numpy as np

from stickbreaker.app.plots.map_labels import (
    LETTER_PIXELS,
    LINE_PIXELS,
    MAP_SHARES,
    place_labels,
)


def count_covered(x, bottoms, texts):
    """The number of pairs of labels that cover a part of each other."""
    widths = LETTER_PIXELS * np.array([len(text) + 1 for text in texts])
    across = (widths[:, None] + widths) / 2 > np.abs(x[:, None] - x)
    down = np.abs(bottoms[:, None] - bottoms) < LINE_PIXELS
    return int(np.triu(across & down, 1).sum())


def test_most_labels_that_would_cover_each_other_are_moved():
    rng = np.random.default_rng(0)
    above, placed = 0, 0
    for _ in range(20):
        x, y, sizes = rng.uniform(0, 400, 15), rng.uniform(0, 400, 15), rng.uniform(8, 60, 15)
        texts = ["public, treasury"] * 15
        offsets = np.array(place_labels(x, y, sizes, texts))
        assert np.all(
            (np.abs(offsets) >= sizes / 2) & (np.abs(offsets) <= sizes / 2 + 3 * LINE_PIXELS)
        )
        for share in MAP_SHARES:
            above += count_covered(share * x, share * y - sizes / 2, texts)
            placed += count_covered(share * x, share * y + offsets, texts)
    assert placed < above / 4


def test_no_labels_and_one_label_are_placed():
    assert place_labels(np.empty(0), np.empty(0), np.empty(0), []) == []
    assert place_labels(np.zeros(1), np.zeros(1), np.full(1, 8.0), ["war"]) == [-4.0]
