"""Under the hood: every algorithm shows its parts and explains missing ones, only while the page is
open.
"""

from dataclasses import replace
from functools import cache
from types import SimpleNamespace

import numpy as np
import pytest

from stickbreaker.app.frames.anatomy_captions import explain_end
from stickbreaker.app.frames.anatomy_frames import (
    arrow_frame,
    bound_frame,
    slot_frame,
    slot_rows,
    stick_frame,
)
from stickbreaker.app.model.anatomy import Anatomist, AnatomyQuestion
from stickbreaker.app.model.run_spec import RunSpec
from stickbreaker.app.pages.hood import Hood
from stickbreaker.app.pages.page import Page, Pages
from stickbreaker.app.server.cpu_queue import CpuQueue
from stickbreaker.app.server.runner import Runner
from stickbreaker.app.state import RunState
from stickbreaker.app.views.rate_sketch import RateSketch
from stickbreaker.app.views.under_the_hood import UnderTheHood
from stickbreaker.engine import REGISTRY, RunSettings, find_algorithm
from stickbreaker.engine.corpora.corpus import Vocabulary
from stickbreaker.engine.evaluation.anatomy import MOST_ITERATIONS, NO_TOPIC
from stickbreaker.engine.runs.compile import compile_algorithm
from tests.app.conftest import eventually
from tests.app.small_runs import Compiled

HOSTILE = "<img src=x onerror=alert(1)>"
FIGURES = {"stick", "slots", "own", "arrows", "bound"}
STICKLESS = {each.name for each in REGISTRY if each.stick is None}
SLOTTED = {each.name for each in REGISTRY if each.trace is not None}
STEPPING = {each.name for each in REGISTRY if each.preview is not None}
BOUNDED = {each.name for each in REGISTRY if each.has_bound}


class Toy(Page):
    title = "Toy"

    def view(self):
        return ["Nothing."]


def title(topic_id):
    return f"topic {topic_id}"


@pytest.fixture(scope="module")
def learn(tiny_corpus):
    """Run an algorithm on the tiny corpus with a hostile title and word, once for all tests."""
    words = Vocabulary((HOSTILE, *tiny_corpus.vocabulary.words[1:]))
    corpus, runners = replace(tiny_corpus, vocabulary=words, titles=[HOSTILE] * 12), []

    @cache
    def make(name):
        algorithm = find_algorithm(name)
        runner = Runner(lambda name: corpus, CpuQueue(1), Compiled())
        runners.append(runner)
        runner.set_pace(0)
        # The time that compiling takes says nothing about the run.
        compile_algorithm(algorithm, algorithm.config())
        settings = RunSettings(passes=min(algorithm.passes, 6), num_moments=2)
        runner.restart(RunSpec("tiny", algorithm, algorithm.config(), settings))
        eventually(lambda: runner.progress.status in ("finished", "failed"))
        return runner

    yield make
    for runner in runners:
        runner.close()


@pytest.fixture
def answer(learn):
    """Answer a question about the model at the end of a run."""

    def ask(name="hdp", **chosen):
        runner, anatomist = learn(name), Anatomist(lambda: None)
        anatomist.ask(AnatomyQuestion(runner.model(), **chosen))
        anatomist.join()
        assert anatomist.job.status == "ready"
        return anatomist.job.dissection

    return ask


def make_page(find_model, notify=lambda: None, state=None):
    state = state or RunState()
    return UnderTheHood(state, RateSketch(state, is_replayed=False), find_model, notify)


def open_page(runner, state=None):
    """Open the page of a run and wait until it is complete."""
    notifies = []
    page = make_page(runner.model, lambda: notifies.append(page.job), state)
    page.state.publish(runner.progress)
    page.look()
    page.sent = page.topic.get_root()
    page.anatomist.join()
    page.look()
    return page, notifies


@pytest.mark.parametrize("name", [each.name for each in REGISTRY])
def test_every_algorithm_shows_its_parts_and_explains_missing_ones(name, learn):
    page, notifies = open_page(learn(name))
    assert [job.status for job in notifies] == ["ready"]
    visible = {figure for figure in FIGURES if page.panes[figure].visible}
    has = {
        "stick": name not in STICKLESS,
        "slots": name in SLOTTED,
        "own": name in SLOTTED,
        "arrows": name in STEPPING,
    }
    assert visible - {"bound"} == {figure for figure, is_there in has.items() if is_there}
    assert ("bound" in visible) <= (name in BOUNDED)
    for part in ("stick", "slots", "rate", "arrows", "bound"):
        assert len(page.texts[part].object) > 40
        assert HOSTILE not in page.texts[part].object
    assert "Eq. 14" in page.texts["bound"].object or "no bound" in page.texts["bound"].object


@pytest.mark.parametrize(
    ("name", "sentence"),
    [
        ("dp-mixture", "This figure is not drawn for"),
        ("free-dp-mixture", "samples the topics"),
        ("batch-dp-mixture", "full steps"),
    ],
)
def test_a_mixture_assigns_documents_and_not_words(name, sentence, learn):
    page, _ = open_page(learn(name))
    assert "each document as a whole to one topic" in page.texts["slots"].object
    assert "expected number of documents with topic k" in page.texts["stick"].object
    assert sentence in page.texts["arrows"].object


def test_the_button_for_the_current_model_is_disabled_while_it_is_shown(learn):
    page, _ = open_page(learn("hdp"))
    assert page.again.disabled
    page.state.publish(
        replace(page.state.progress, documents_seen=page.state.progress.documents_seen + 1)
    )
    assert not page.again.disabled


def test_the_topic_of_the_arrows_is_selected_in_the_browser(learn):
    page, _ = open_page(learn("hdp"))
    topic = page.job.dissection.topic
    assert page.sent.data.value == next(
        label for label, each in page.topic.options.items() if each == topic
    )


def test_a_new_label_of_the_selected_topic_is_shown_in_the_browser(learn):
    page, _ = open_page(learn("hdp"))
    topic = page.job.dissection.topic
    page.state.publish(replace(page.state.progress, names={topic: "war"}))
    assert page.sent.data.value == next(
        label for label, each in page.topic.options.items() if each == topic
    )
    assert page.sent.data.value.startswith("war")


def test_nothing_is_computed_before_the_page_is_opened_or_after_it_is_closed(learn):
    runner, state = learn("hdp"), RunState()
    pages = Pages(
        state, [Toy(state, None), Hood(state.freeze(), SimpleNamespace(find_model=runner.model))]
    )
    pages.open("Toy")
    state.publish(runner.progress)
    state.topic = 1
    pages.open("Under the hood")
    view = pages["Under the hood"].parts
    view.anatomist.join()
    assert view.job.status == "ready"
    pages.open("Toy")
    state.topic = 2
    assert (view.job.status, view.anatomist.asked) == ("none", None)


def test_before_the_first_mini_batch_the_page_says_when_it_is_available():
    page = make_page(lambda: None)
    page.look()
    assert "first mini-batch" in page.moment.object
    assert not any(pane.visible for pane in page.panes.values())


def test_selecting_a_topic_draws_its_arrows_without_computing_the_step_again(learn):
    state = RunState()
    page, notifies = open_page(learn("hdp"), state)
    first = page.job.dissection
    other = next(topic for topic in page.topic.options.values() if topic != first.topic)
    page.topic.value = other
    page.anatomist.join()
    page.look()
    assert (state.topic, page.job.dissection.topic, page.topic.value) == (other, other, other)
    assert page.job.dissection.noisy is first.noisy
    assert len(notifies) == 2
    page.look()
    assert page.job.dissection.topic == other


def test_another_document_is_the_next_document_to_be_read(learn):
    page, _ = open_page(learn("hdp"))
    first = page.job.dissection.row
    page.show_next_document()
    page.anatomist.join()
    page.look()
    assert page.job.dissection.row != first
    assert "Next document" in page.texts["slots"].object


def test_a_failed_computation_is_explained_and_not_repeated(learn, caplog):
    runner = learn("hdp")
    broken = replace(runner.model(), state=None)
    page = make_page(lambda: broken)
    page.state.publish(runner.progress)
    for _ in range(3):
        page.look()
        page.anatomist.join()
    page.look()
    assert "could not be computed" in page.moment.object
    assert caplog.text.count("could not be computed") == 1


def test_the_pieces_of_the_stick_are_adjacent_and_have_length_one(answer):
    frame = stick_frame(answer().stick, title)
    np.testing.assert_allclose(frame["end"][:-1], frame["start"][1:], atol=1e-12)
    assert (frame["start"].iloc[0], frame["end"].iloc[-1]) == (0.0, pytest.approx(1.0))
    np.testing.assert_allclose(frame["end"] - frame["start"], frame["weight"], atol=1e-12)


def test_the_rest_of_a_stick_is_left_for_new_topics(answer):
    stick = answer("free-hdp").stick
    frame = stick_frame(stick, title)
    assert stick.topic_ids[-1] == NO_TOPIC
    assert frame["title"].iloc[-1] == "left for new topics"


def test_the_slots_contain_the_whole_document_after_each_round(answer):
    trace = answer(document=3).trace
    frame = slot_frame(trace, title)
    assert frame["iteration"].nunique() == len(trace.bounds) == len(bound_frame(trace))
    np.testing.assert_allclose(frame.groupby("iteration")["top"].max(), 1.0)
    np.testing.assert_allclose(frame.groupby("iteration")["share"].sum(), 1.0)
    listed = slot_rows(trace, title)
    tokens = [trace.tokens[trace.num_taken - 1, row["key"] - 1] for row in listed]
    assert tokens == sorted(tokens, reverse=True)


def test_the_caption_says_where_the_run_stops_and_whether_the_slots_have_settled():
    assert (
        explain_end(3, 66)
        == "The run stops after 3 iterations, up to the dashed line. In iteration 66, less than 0.1"
        " % of the words move to another slot."
    )
    assert explain_end(1, 1).startswith("The run stops after 1 iteration. In iteration 1,")
    end = f"After {MOST_ITERATIONS} iterations, words still move between slots."
    assert explain_end(3, MOST_ITERATIONS).endswith(end)
    assert (
        explain_end(200, MOST_ITERATIONS)
        == f"The run uses more than these {MOST_ITERATIONS} iterations."
    )


def test_a_step_ends_between_its_start_and_its_target(answer):
    found = answer(topic=0)
    frame = arrow_frame(found.arrows, found.model.corpus.vocabulary)
    low, high = frame[["before", "target"]].min(axis=1), frame[["before", "target"]].max(axis=1)
    assert ((low <= frame["after"]) & (frame["after"] <= high)).all()
    assert set(frame["word"]) <= set(found.model.corpus.vocabulary)
