"""The stick: a piece for each topic in use."""

from dataclasses import replace

import pytest

from stickbreaker.app.frames.word_table import list_shares
from stickbreaker.app.state import RunState
from stickbreaker.app.theme import contrast, ink_on, topic_color
from stickbreaker.app.views.stick import Stick
from tests.app.views.test_views import progress, send


def test_the_pieces_are_the_topics_in_use_with_their_shares_in_the_order_of_their_ids():
    stick = Stick(state := RunState())
    assert stick.pieces.ids == []
    state.publish(progress(3, tokens=(20, 0, 60, 120)))
    assert stick.pieces.ids == [0, 2, 3]
    assert stick.pieces.shares == pytest.approx([0.1, 0.3, 0.6])
    assert stick.pieces.titles == ["topic 0", "topic 2", "topic 3"]
    assert stick.pieces.colors[1] == topic_color(2)
    state.publish(replace(progress(4, tokens=(20, 0, 60, 120)), names={2: "war"}))
    assert stick.pieces.titles[1] == "war"
    assert list_shares(None) == {}


def test_a_press_picks_a_topic_and_other_messages_are_ignored():
    stick = Stick(state := RunState())
    state.publish(progress(3))
    for message in ({"key": 1}, {"key": 1}, {"key": 99}, {"key": None}, {"key": [1]}, "1", None):
        send(stick.pieces, message)
    assert (state.topic, state.num_picked, stick.pieces.topic) == (1, 2, 1)
    for pointed in (2, 99, "2"):
        send(stick.pieces, {"pointed": pointed})
    assert state.pointed_topic == stick.pieces.pointed == 2
    send(stick.pieces, {"pointed": None})
    assert state.pointed_topic is None


def test_labels_on_pieces_are_easy_to_read():
    colors = [topic_color(topic_id) for topic_id in range(300)]
    assert min(contrast(color, ink_on(color)) for color in colors) > 4.5
