"""Topics and documents as pictures, for a corpus whose words are pixels. Pure."""

from base64 import b64encode
from io import BytesIO
from typing import NamedTuple

import numpy as np
from PIL import Image

from stickbreaker.app.frames.word_table import list_shares
from stickbreaker.app.model.progress import Moment
from stickbreaker.engine.corpora.bars import SIDE, find_true_topics
from stickbreaker.engine.corpora.corpus import Corpus

MOST_TOPICS = 20
# The probability of each pixel of a true topic is drawn in black.
DARKEST = 1 / SIDE
LOOK = (
    "display: block; box-sizing: border-box; width: 48px; height: 48px; margin: 2px 0;"
    " border: 1px solid #808080; image-rendering: pixelated"
)


class LearnedPicture(NamedTuple):
    """A learned topic as a picture: its id, its share, p(word | topic) (V,), and the place of the
    true topic from which it differs least, by half of Σ_w |φ_w - φ'_w|.
    """

    topic_id: int
    share: float
    topic: np.ndarray
    nearest: int
    difference: float


def match_pictures(now: Moment | None, true: np.ndarray) -> list[LearnedPicture]:
    """The topics in use, the largest first, each with the nearest of the true topics (K, V)."""
    if now is None or now.lists is None:
        return []
    topics = np.zeros((len(now.lists.topic_ids), true.shape[1]))
    np.put_along_axis(topics, now.lists.words, now.lists.shares, axis=1)
    differences = np.abs(topics[:, None] - true).sum(2) / 2
    shares = list_shares(now)
    matched = [
        LearnedPicture(topic_id, shares[topic_id], topic, int(apart.argmin()), float(apart.min()))
        for topic_id, topic, apart in zip(
            now.lists.topic_ids.tolist(), topics, differences, strict=True
        )
        if topic_id in shares
    ]
    return sorted(matched, key=lambda each: (-each.share, each.topic_id))


def document_html(corpus: Corpus, row: int) -> str:
    """An image of the shares of a document's words; empty unless they are pixels."""
    if not len(find_true_topics(corpus.vocabulary)):
        return ""
    counts = corpus.counts[[row]].toarray()[0]
    return picture_html(counts / max(1, counts.sum()), "the document as a picture")


def picture_html(pixels: np.ndarray, about: str) -> str:
    """An image of probabilities (V,), from 0 in white to a fifth and more in black.

    about: for screen readers, escaped.
    """
    shades = 255 - np.rint(255 * np.minimum(pixels / DARKEST, 1)).astype(np.uint8)
    buffer = BytesIO()
    Image.fromarray(shades.reshape(SIDE, SIDE)).save(buffer, "PNG")
    data = b64encode(buffer.getvalue()).decode()
    return f'<img style="{LOOK}" src="data:image/png;base64,{data}" alt="{about}">'
