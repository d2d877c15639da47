"""Topics that begin and end in a stream are found, and the delay is reported."""

import numpy as np
import pytest

from stickbreaker.engine.corpora.word_choices import WordChoices
from stickbreaker.engine.estimators import Follower, OnlineHDP, OnlineLDA

pytestmark = pytest.mark.extended

SIZE, NUM_BATCHES, CHANGE = 20, 30, 15
WORDS = {
    name: [name + letter * 3 for letter in "abcdefghij"]
    for name in ("ending", "lasting", "beginning")
}


def draw_text(topics, rng):
    """A text of 40 words, each from one of two topics, with shares that are uniform."""
    share = rng.random()
    return " ".join(rng.choice(WORDS[topics[int(rng.random() < share)]]) for _ in range(40))


def draw_stream(rng):
    """Texts in which one topic lasts, and another follows a third after CHANGE batches."""
    for place in range(SIZE * NUM_BATCHES):
        yield None, draw_text(("lasting", "ending" if place < SIZE * CHANGE else "beginning"), rng)


def measure_share(model, event, name):
    """The share of a mini-batch on topics that are mostly words of a true topic."""
    columns = [place for place, word in enumerate(model.words_) if word in WORDS[name]]
    return float(
        event.topic_shares[
            model.components_[:, columns].sum(1) > 0.5 * model.components_.sum(1)
        ].sum()
    )


@pytest.mark.parametrize("kind", [OnlineHDP, OnlineLDA])
def test_a_topic_that_begins_and_one_that_ends_are_found_before_as_long_again_has_passed(kind):
    model = kind(max_topics=10, batch_size=SIZE, random_state=0)
    follower = Follower(
        model, WordChoices(max_words=30, max_share=1.0), corpus_size=SIZE * NUM_BATCHES
    )
    shares = np.array(
        [
            [measure_share(model, event, name) for name in WORDS]
            for event in follower.follow(draw_stream(np.random.default_rng(0)))
        ]
    )
    ending, _, beginning = shares.T
    # True shares are a half before the change or after it, and otherwise 0.
    assert ending[CHANGE - 1] > 0.25
    assert (beginning[:CHANGE] == 0).all()
    is_found, is_over = beginning[CHANGE:] > 0.25, ending[CHANGE:] < 0.05
    assert is_found[-1]
    assert is_over[-1]
    print(
        f"{kind.__name__}: found after {is_found.argmax() + 1} mini-batches, over after"
        f" {is_over.argmax() + 1}"
    )
