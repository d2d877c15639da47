"""A compiled algorithm compiles nothing more in a run, and compiling reports its progress."""

import subprocess
import sys
from pathlib import Path

import pytest

from stickbreaker.engine.algorithms import REGISTRY
from stickbreaker.engine.runs.compile import compile_algorithm, find_kernels

ROOT = Path(__file__).resolve().parents[3]
# Each line of the input is a system and its choices. It is answered by a new process that has
# compiled nothing: the process from which it is forked has only imported the engine.
RUNS_AFTER_COMPILING = """
import os
import sys
from dataclasses import replace
from importlib import import_module
from stickbreaker import engine
from stickbreaker.engine.runs.compile import compile_algorithm, find_kernels

def count_signatures():
    return sum(len(getattr(import_module(module), name).signatures) for module, name in find_kernels())

corpus = engine.load_corpus("state-of-the-union").select(range(0, 10000, 160))
for line in sys.stdin:
    if os.fork():
        _, status = os.wait()
        print("failed" if status else "", flush=True)
        continue
    name, *choices = line.split()
    algorithm = engine.find_algorithm(name)
    config = algorithm.config(**dict(choice.split("=") for choice in choices))
    compile_algorithm(algorithm, config)
    before = count_signatures()
    smaller = {name: number for name, number in (("batch_size", 25), ("max_topics", 20)) if hasattr(config, name)}
    settings = engine.RunSettings(passes=min(algorithm.passes, 3))
    for update in engine.run(engine.prepare(algorithm, replace(config, **smaller), corpus, settings)):
        pass
    print(before, count_signatures(), end=" ", flush=True)
    os._exit(0)
"""


@pytest.fixture(scope="module")
def runs_after_compiling():
    """A process that runs systems, each in a process of its own."""
    command = [sys.executable, "-c", RUNS_AFTER_COMPILING]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, cwd=ROOT
    ) as process:
        yield process
        process.stdin.close()


def pick_choices(algorithm, place):
    """The first or the last of each choice that a config offers."""
    offered = {
        name: each.metadata.get("choices")
        for name, each in algorithm.config.__dataclass_fields__.items()
    }
    return [f"{name}={choices[place]}" for name, choices in offered.items() if choices]


@pytest.mark.parametrize("place", [0, -1], ids=["first", "last"])
@pytest.mark.parametrize("algorithm", REGISTRY, ids=lambda each: each.name)
def test_a_run_after_compiling_compiles_nothing_more(algorithm, place, runs_after_compiling):
    print(
        algorithm.name, *pick_choices(algorithm, place), file=runs_after_compiling.stdin, flush=True
    )
    before, after = map(int, runs_after_compiling.stdout.readline().split())
    assert before == after > 0


@pytest.mark.parametrize("algorithm", REGISTRY, ids=lambda each: each.name)
def test_reported_progress_rises_from_zero_to_the_number_of_kernels(algorithm):
    reports = []
    compile_algorithm(algorithm, algorithm.config(), lambda *report: reports.append(report))
    done = [each[0] for each in reports]
    assert done == sorted(done)
    assert done[0] == 0
    assert done[-1] == len(find_kernels()) > 0
    assert {total for _, total, _ in reports} == {done[-1]}
