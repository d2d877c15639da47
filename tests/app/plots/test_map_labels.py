"""Labels of the map of topics stand next to their dots, and cover no other dot and no other label,
in a notebook, on a wide page and on a phone.
"""

import numpy as np
import pandas as pd
import pytest

from stickbreaker.app.plots.map_labels import (
    GAP,
    LETTER_PIXELS,
    LINE_PIXELS,
    NOTEBOOK_MAP,
    PHONE_MAPS,
    WIDE_MAPS,
    fit_map,
    label_dots,
    size_dots,
)
from stickbreaker.engine.evaluation.topic_space import divergences, lay_out

TITLES = ["treaty, commerce, navy", "war", "public, treasury", "constitution, law"]


def map_of_model(num_topics, seed):
    """The map of a model whose topics are drawn from a few common ones."""
    rng = np.random.default_rng(seed)
    common = rng.dirichlet(np.full(200, 0.05), size=6)
    topics = rng.dirichlet(np.full(6, 0.3), size=num_topics) @ common
    places = lay_out(np.sqrt(divergences(topics)), np.arange(num_topics))
    shares = rng.dirichlet(np.full(num_topics, 0.5))
    titles = [f"{TITLES[topic % 4]}, {topic}" for topic in range(num_topics)]
    frame = pd.DataFrame({"title": titles, "x": places[:, 0], "y": places[:, 1], "share": shares})
    return frame.assign(size=size_dots(frame["share"]))


@pytest.mark.parametrize("maps", [(NOTEBOOK_MAP,), WIDE_MAPS, PHONE_MAPS])
@pytest.mark.parametrize(("num_topics", "seed"), [(1, 0), (12, 1), (40, 2), (150, 3)])
def test_a_label_is_next_to_its_dot_and_covers_no_other_dot_and_no_other_label(
    maps, num_topics, seed
):
    frame = map_of_model(num_topics, seed)
    labels = label_dots(frame, *maps)
    assert len(labels) >= min(num_topics, 5)
    sizes = pd.merge(labels, frame, on=["x", "y"])["size"].to_numpy()
    assert len(sizes) == len(labels)
    halves = np.stack([LETTER_PIXELS * (labels["text"].str.len() + 1), [LINE_PIXELS] * len(labels)])
    halves = halves.T / 2
    shifts = labels[["aside", "offset"]].to_numpy()
    from_dot = np.linalg.norm(np.maximum(np.abs(shifts) - halves, 0), axis=1) - sizes / 2
    assert ((from_dot > 0) & (from_dot < 2 * GAP)).all()
    for pixels in maps:
        middle, scale = fit_map(frame, pixels)
        scales = np.array([scale, -scale])
        dots = (frame[["x", "y"]].to_numpy() - middle) * scales
        boxes = (labels[["x", "y"]].to_numpy() - middle) * scales + shifts
        assert (np.abs(boxes) + halves <= np.array(pixels) / 2 + 1e-9).all()
        outside = np.maximum(np.abs(dots - boxes[:, None]) - halves[:, None], 0)
        covered_dots = np.linalg.norm(outside, axis=2) < frame["size"].to_numpy() / 2
        apart = np.abs(boxes - boxes[:, None]) - halves - halves[:, None]
        covered_labels = np.triu((apart < -1e-9).all(axis=2), 1)
        assert (covered_dots.sum(), covered_labels.sum()) == (0, 0)


def test_the_largest_topics_come_first_and_an_empty_map_has_no_labels():
    frame = map_of_model(2, 0).assign(x=[0.0, 0.0], y=0.0, share=[0.4, 0.6])
    assert label_dots(frame, NOTEBOOK_MAP)["text"].tolist() == frame["title"][[1]].tolist()
    assert label_dots(frame.iloc[:0], NOTEBOOK_MAP).empty
