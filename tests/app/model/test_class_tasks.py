"""Answers of a class are counted once a page, and nothing but a valid answer changes a task."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stickbreaker.app.model.class_tasks import (
    FIRST,
    INTRUDER,
    MAX_ANSWERS,
    RATE,
    ClassState,
    Result,
    Task,
)
from stickbreaker.app.model.sweep_plan import SweepPoint, SweepState
from stickbreaker.app.views.class_tasks import describe_own
from tests.app.small_runs import small_spec

TASK = Task(
    INTRUDER, "Which word?", ("war", "peace", "cotton"), correct=2, topic_id=7, label="war, peace"
)
ASKED = ClassState().ask(TASK)
ODD = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.floats(),
    st.text(),
    st.lists(st.integers()),
    st.dictionaries(st.text(), st.text()),
)


def test_each_page_has_one_answer_and_may_change_it_until_the_task_is_revealed():
    state = ASKED.answer("a", 1, 0).answer("b", 1, 2).answer("a", 1, 2)
    assert (state.counts, len(state.answers)) == ((0, 0, 2), 2)
    shown = state.reveal()
    assert shown.answer("a", 1, 1) is shown
    assert shown.answer("c", 1, 1) is shown


@given(number=ODD, option=ODD)
def test_anything_but_the_number_of_the_task_and_a_place_among_its_options_changes_nothing(
    number, option
):
    is_valid = type(number) is int and number == 1 and type(option) is int and 0 <= option < 3
    after = ASKED.answer("a", number, option)
    assert (after is ASKED) != is_valid
    assert (after.task, after.number, after.results, after.is_revealed) == (TASK, 1, (), False)


def test_an_answer_to_an_earlier_task_is_not_taken():
    state = ASKED.ask(TASK)
    assert state.answer("a", 1, 0) is state
    assert state.answer("a", 2, 0).counts == (1, 0, 0)


def test_the_number_of_answers_is_limited_and_those_given_may_still_change():
    state = ASKED
    for page in range(MAX_ANSWERS):
        state = state.answer(str(page), 1, 0)
    assert state.answer("one more", 1, 0) is state
    assert state.answer("0", 1, 1).counts == (MAX_ANSWERS - 1, 1, 0)


def test_results_are_kept_once_a_task_is_revealed_and_has_answers():
    answered = ASKED.answer("a", 1, 2)
    assert (answered.all_results, answered.ask(TASK).results) == ((), ())
    result = Result(1, TASK, (0, 0, 1))
    assert answered.reveal().all_results == (result,)
    assert answered.reveal().ask(TASK).all_results == (result,)
    assert ASKED.reveal().ask(TASK).all_results == ()


def test_answers_to_a_prediction_end_when_it_comes_true_and_it_is_revealed_only_then():
    task = replace(TASK, kind=FIRST, correct=None, is_prediction=True)
    state = ClassState().ask(task).answer("a", 1, 1)
    assert (state.is_open, state.reveal() is state) == (True, True)
    settled = state.resolve(1)
    assert settled.answer("b", 1, 1) is settled
    assert settled.reveal().all_results[0].counts == (0, 1, 0)
    assert settled.resolve(2) is settled


def test_a_watcher_reads_until_when_the_answer_can_be_changed():
    assert describe_own(ASKED, "a") == "Tap your answer."
    answered = ASKED.answer("a", 1, 2)
    assert (
        describe_own(answered, "a")
        == "Answer sent. You can change it until the presenter reveals the answer."
    )
    assert describe_own(answered.reveal(), "a") == "Your answer is right."
    predicted = (
        ClassState()
        .ask(replace(TASK, kind=FIRST, correct=None, is_prediction=True))
        .answer("a", 1, 1)
    )
    assert (
        describe_own(predicted, "a")
        == "Answer sent. You can change it until the right answer is known."
    )
    assert describe_own(predicted.resolve(1), "a").startswith("Answers are no longer accepted.")


@pytest.mark.parametrize(
    "act",
    [ClassState().reveal, lambda: ClassState().resolve(0), lambda: ClassState().answer("a", 0, 0)],
)
def test_without_a_task_nothing_happens(act):
    assert act() == ClassState()


def test_runs_of_which_all_failed_settle_nothing():
    asked = ClassState().ask(
        Task(RATE, "Which?", ("κ = 0.5", "κ = 1"), rates=(0.5, 1.0), is_prediction=True)
    )
    plan = (small_spec(forgetting_rate=0.5), small_spec(forgetting_rate=1.0))
    point = SweepPoint(
        title="", label="", config=plan[0].config, status="failed", message="", heldout=None
    )
    sweep = SweepState(status="finished", plan=plan, points=(point, point))
    assert asked.follow(sweep) is asked
    begun = asked.begin(plan)
    assert not begun.is_open
    assert begun.follow(sweep).needs_runs
    better = replace(point, heldout=-7.0)
    assert begun.follow(replace(sweep, points=(point, better))).task.correct == 1
    assert begun.follow(replace(sweep, plan=plan[:1])) is begun
