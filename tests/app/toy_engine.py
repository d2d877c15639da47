"""An engine that only counts: the events of the real one, in its order, in no time and without any mathematics."""

import threading
from dataclasses import dataclass, field, replace

import numpy as np

from stickbreaker.app.model.run_spec import RunSpec
from stickbreaker.app.server.compiling import Compilation, Job
from stickbreaker.app.server.runner import Engine
from stickbreaker.engine.algorithm import Algorithm, InfersBy, Reads, StepInfo, TopicSummary
from stickbreaker.engine.runs.events import Evaluated, Finished, Snapshot, Stepped
from stickbreaker.engine.runs.run import due_points


def setting(default, symbol, **metadata):
    return field(default=default, metadata={"symbol": symbol, "help": f"what {symbol} does", **metadata})


@dataclass(frozen=True)
class ToyConfig:
    max_topics: int = setting(3, "K", bounds=(1, 9))
    word_concentration: float = setting(0.01, "η", bounds=(1e-6, None))
    forgetting_rate: float = setting(0.6, "κ", bounds=(0.5, 1.0), live=True)
    delay: float = setting(64.0, "τ₀", bounds=(0.0, None), live=True)
    batch_size: int = setting(10, "S", bounds=(1, None), live=True)
    start: str = setting("warm", "", choices=("warm", "wang"))

    def __post_init__(self):
        if not 1 <= self.max_topics <= 9:
            raise ValueError(f"max_topics is {self.max_topics}, but must lie within 1 and 9: choose fewer topics")
        if not 0.5 <= self.forgetting_rate <= 1.0:
            raise ValueError(f"forgetting_rate is {self.forgetting_rate}, but must lie within 0.5 and 1")


@dataclass(frozen=True)
class SizedConfig(ToyConfig):
    """Leaves τ₀ and S to the corpus' size."""

    delay: float | None = setting(None, "τ₀", bounds=(0.0, None), live=True)
    batch_size: int | None = setting(None, "S", bounds=(1, None), live=True)


@dataclass(frozen=True)
class ToySettings:
    passes: int = setting(1, "", bounds=(1, None))
    num_test: int = setting(10, "", bounds=(0, None))
    num_evaluations: int = setting(10, "", bounds=(0, None))
    num_snapshots: int = setting(2, "", bounds=(1, None))
    is_shuffled: bool = setting(False, "")


@dataclass(frozen=True)
class ToyCorpus:
    num_documents: int = 110
    num_tokens: int = 1000
    vocabulary: tuple = tuple(f"word{i}" for i in range(20))


def summarize(config, state):
    topics = np.eye(config.max_topics, 20, dtype=np.float32)
    weights = np.full(config.max_topics, 1 / config.max_topics)
    return TopicSummary(np.arange(config.max_topics), topics, weights, weights * state)


def step(config, state, batch, rng):
    raise NotImplementedError("The runs of this engine take no step of an algorithm.")


TOY = Algorithm("toy", "Toy", ToyConfig, Reads.BATCHES, InfersBy.DIRICHLET, None, None, summarize, step=step)


class Toy:
    """Makes runs whose configs are kept; `fails_at` a step, or holds one up until `gate` is set."""

    def __init__(self, fails_at=None, gate=None):
        self.fails_at, self.gate = fails_at, gate
        self.configs = []
        self.num_open = self.most_open = 0
        self._lock = threading.Lock()

    def run(self, algorithm, config, corpus, settings):
        total = (corpus.num_documents - settings.num_test) * settings.passes
        seen = step = 0
        while seen < total:
            config = (yield Evaluated(seen, year(seen), "next_batch", "own", -8.0, 30)) or config
            if self.gate is not None:
                self.gate.wait(5)
            step += 1
            if step == self.fails_at:
                raise FloatingPointError("a topic has become infinite")
            self.configs.append(config)
            size = min(config.batch_size, total - seen)
            seen += size
            info = StepInfo(step, 1 / step, "warm-up" if step < 3 else "two-level", 1 / step)
            config = (yield Stepped(seen, year(seen), size, info, 3, seen, step * 0.01)) or config
            if is_due(total, settings.num_evaluations, seen - size, seen):
                config = (yield Evaluated(seen, year(seen), "disjoint_words", "own", -8.0 + step / 100, 500)) or config
            if is_due(total, settings.num_snapshots, seen - size, seen):
                config = (yield Snapshot(seen, year(seen), summarize(config, seen))) or config
        yield Finished(seen, seen, step * 0.01)

    def engine(self):
        def load(name, folder=None):
            return ToyCorpus()

        return Engine(load, lambda corpus, settings: corpus.num_documents - 10, self.run)


SIZED = replace(TOY, name="sized", title="Sized", config=SizedConfig)


def sized_recipe(**values):
    return RunSpec("toy-corpus", SIZED, SizedConfig(**values), ToySettings())


def is_due(total, number, before, seen):
    points = due_points(total, number)
    return bool(((points > before) & (points <= seen)).any())


def year(seen):
    return np.datetime64(1790 + seen, "Y")


def toy_recipe(**values):
    return RunSpec("toy-corpus", TOY, ToyConfig(**values), ToySettings())


class Compiled(Compilation):
    """Everything is compiled already."""

    def __init__(self):
        super().__init__(lambda algorithm, config, report: None)

    def ask(self, spec):
        return Job(is_done=True)
