import pytest

from stickbreaker.app.model.limits import (
    ALL_SAVED_RUNS,
    GIGABYTE,
    KEPT_MODELS,
    LIMITS,
    READINGS,
    RUN_MEMORY,
    LimitError,
    check_limits,
    find_limit,
)
from stickbreaker.engine.runs.memory import machine_memory

CAN_BE_SET = [limit for limit in LIMITS if limit.variable]


def test_the_limits_have_defaults_and_follow_their_variables(monkeypatch):
    assert find_limit(RUN_MEMORY) == pytest.approx(machine_memory() / 4, abs=1)
    for limit in CAN_BE_SET:
        monkeypatch.setenv(limit.variable, "2.5")
        assert find_limit(limit) == int(2.5 * limit.size)
    check_limits()


@pytest.mark.parametrize("written", ["1 GB", "-1", "nan", "inf", "much"])
@pytest.mark.parametrize("limit", CAN_BE_SET, ids=lambda limit: limit.variable)
def test_a_wrong_limit_names_its_variable_and_what_to_write(monkeypatch, limit, written):
    monkeypatch.setenv(limit.variable, written)
    with pytest.raises(
        LimitError, match=f"{limit.variable} is '{written}'.*number of {limit.unit}.*or remove it"
    ):
        check_limits()


def test_limits_without_a_variable_are_fixed_or_follow_another_limit(monkeypatch):
    assert (find_limit(READINGS), find_limit(ALL_SAVED_RUNS)) == (4, 40 * GIGABYTE)
    monkeypatch.setenv(KEPT_MODELS.variable, "0.5")
    assert find_limit(ALL_SAVED_RUNS) == 20 * GIGABYTE


def test_an_empty_variable_leaves_the_default(monkeypatch):
    monkeypatch.setenv(KEPT_MODELS.variable, "")
    assert find_limit(KEPT_MODELS) == GIGABYTE
