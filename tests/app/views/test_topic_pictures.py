"""Topics as pictures: those of the model, each with the nearest true one."""

import re
from base64 import b64decode
from dataclasses import replace
from io import BytesIO

import numpy as np
import pytest
from PIL import Image

from stickbreaker import engine
from stickbreaker.app.frames.pictures import document_html, match_pictures, picture_html
from stickbreaker.app.model.run_spec import RunSpec
from stickbreaker.app.state import RunState
from stickbreaker.app.views.curves import Curves, legend_html
from stickbreaker.app.views.documents import DocumentBrowser
from stickbreaker.app.views.topic_pictures import TopicPictures
from stickbreaker.engine.corpora.bars import NAME, bar_topics, simulate_bars
from stickbreaker.engine.evaluation.held_out import rank_topics
from tests.app.small_runs import HDP, learn, read, small_corpus, small_spec


@pytest.fixture(scope="module")
def record():
    config = HDP.config(max_topics=20, word_concentration=0.1, batch_size=20)
    settings = engine.RunSettings(passes=2, num_moments=3)
    return learn(simulate_bars(400), RunSpec(NAME, HDP, config, settings))


def read_images(html):
    """The shades of all images, (25,) each, from 0 for black to 255."""
    found = re.findall(r"base64,([^\"]+)", html)
    return [np.asarray(Image.open(BytesIO(b64decode(each)))).ravel() for each in found]


def test_an_image_is_white_at_zero_and_black_at_the_probability_of_a_pixel_of_a_bar():
    (shades,) = read_images(picture_html(bar_topics()[0] / 2 + bar_topics()[1], "two rows"))
    assert shades.tolist() == [127] * 5 + [0] * 5 + [255] * 15


def test_the_pictures_are_the_topics_of_the_model_each_above_the_nearest_true_one(record):
    model = record.model()
    summary = model.algorithm.summarize(model.config, model.state)
    order = rank_topics(summary.expected_tokens)
    true = bar_topics()
    matched = match_pictures(record.progress(1).now, true)
    assert [each.topic_id for each in matched] == summary.topic_ids[order].tolist()
    np.testing.assert_allclose([each.topic for each in matched], summary.topics[order], rtol=1e-6)
    for each in matched:
        differences = abs(true - each.topic).sum(1) / 2
        assert each.nearest == differences.argmin()
        assert each.difference == pytest.approx(differences.min())
    view = TopicPictures(RunState())
    view.state.publish(record.progress(1))
    images = read_images(view.pictures.object)
    assert len(images) >= 2 * len(matched)
    for each, learned, below in zip(matched, images[::2], images[1::2], strict=False):
        assert abs(255 * (1 - np.minimum(5 * each.topic, 1)) - learned).max() <= 0.51
        assert (below == np.where(true[each.nearest] > 0, 0, 255)).all()


def test_before_the_first_mini_batch_there_are_only_the_ten_true_topics(record):
    view = TopicPictures(RunState())
    view.state.publish(replace(record.progress(1), now=None, columns=()))
    assert len(read_images(view.pictures.object)) == view.pictures.object.count(">none<") == 10


def test_a_replay_shows_the_pictures_of_its_moment(record):
    view = TopicPictures(RunState())
    view.state.publish(record.progress(1))
    at_the_end = view.pictures.object
    column = record.columns[0]
    view.state.moment = column.documents_seen
    assert view.pictures.object != at_the_end
    first = match_pictures(column, bar_topics())[0]
    assert (
        abs(255 * (1 - np.minimum(5 * first.topic, 1)) - read_images(view.pictures.object)[0]).max()
        <= 0.51
    )


def test_only_a_corpus_of_pixels_has_pictures_and_a_true_number_of_topics(record):
    state = RunState()
    pictures, curves = TopicPictures(state), Curves(state)
    for progress, truth in (
        (learn(small_corpus(), small_spec()).progress(1), []),
        (replace(record.progress(2), run_id=2), [10]),
    ):
        state.publish(progress)
        assert pictures.__panel__().visible == bool(truth)
        assert curves.plots["num_topics"].truth.data["y"] == truth
        assert curves.plots["heldout"].truth.data["y"] == []
        assert ("true number of topics, 10" in legend_html(progress, (), "documents")) == bool(
            truth
        )


def test_a_document_is_drawn_as_the_shares_of_its_pixels(record):
    corpus = record.corpus
    (shades,) = read_images(document_html(corpus, 3))
    counts = corpus.counts[[3]].toarray()[0]
    assert (abs(255 * (1 - np.minimum(5 * counts / counts.sum(), 1)) - shades) <= 0.51).all()
    assert document_html(small_corpus(), 3) == ""
    view = DocumentBrowser(RunState())
    view.state.publish(record.progress(1), job=read(record))
    view.state.document = 3
    assert document_html(corpus, 3) in view.words.object
    assert "without its text" not in view.words.object
