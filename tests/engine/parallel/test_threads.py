"""Work on threads: the order of results, errors, and nested work."""

import threading
import weakref

import numpy as np
import pytest

from stickbreaker.engine.parallel import threads
from tests.patience import limit


@pytest.fixture(params=[1, 2, 5])
def cores(request, monkeypatch):
    monkeypatch.setattr(threads, "count_cores", lambda: request.param)
    return request.param


@pytest.mark.parametrize("number", [0, 1, 2, 7, 20])
@pytest.mark.usefixtures("cores")
def test_results_are_in_the_order_of_the_arguments_for_any_number_of_cores(number):
    found = threads.map_on_threads(
        lambda one, other: (one, other), list(range(number)), list("abcdefghijklmnopqrst")
    )
    assert found == list(zip(range(number), "abcdefghijklmnopqrst", strict=False))


def test_work_runs_on_one_thread_per_core_at_the_same_time(monkeypatch):
    monkeypatch.setattr(threads, "count_cores", lambda: 2)
    together = threading.Barrier(2, timeout=limit(30))
    assert len(set(threads.map_on_threads(lambda _: together.wait(), range(2)))) == 2


@pytest.mark.usefixtures("cores")
def test_an_error_on_any_thread_is_raised():
    for failing in range(4):
        with pytest.raises(ZeroDivisionError):
            threads.map_on_threads(lambda number, failing=failing: 1 / (number - failing), range(4))


@pytest.mark.usefixtures("cores")
def test_nested_work_runs_on_the_thread_that_calls_it():
    def add_up(number):
        names = threads.map_on_threads(lambda _: threading.get_ident(), range(3))
        assert names == [threading.get_ident()] * 3
        return sum(threads.map_on_threads(lambda other: number * other, range(4)))

    for _ in range(2):
        assert threads.map_on_threads(add_up, range(20)) == [6 * number for number in range(20)]


def test_rows_are_divided_only_if_each_thread_has_enough_work(cores):
    few, many = threads.split_rows(10, 100), threads.split_rows(1000, threads.LEAST_NUMBERS)
    assert few == [(0, 10)]
    assert threads.split_rows(0, 100) == [(0, 0)]
    assert (many[0][0], many[-1][1], len(many)) == (0, 1000, cores)


def test_arrays_are_freed_if_the_threads_of_the_pool_are_busy(monkeypatch):
    threads.map_on_threads(abs, range(2))
    has_begun, is_over = threading.Semaphore(0), threading.Event()

    def occupy(_):
        has_begun.release()
        is_over.wait(timeout=limit(60))

    monkeypatch.setattr(threads, "count_cores", lambda: 20)
    occupied = threading.Thread(target=threads.map_on_threads, args=(occupy, range(20)))
    occupied.start()
    try:
        while has_begun.acquire(timeout=0.5):
            pass
        array = np.zeros(1000)
        reference = weakref.ref(array)
        threads.map_on_threads(array.take, [0, 1])
        del array
        assert reference() is None
    finally:
        is_over.set()
        occupied.join()
