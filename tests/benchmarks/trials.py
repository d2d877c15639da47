"""One run as the papers' claims need it: an algorithm with settings, on a part of the corpus, and its outcome."""

import time
from dataclasses import dataclass

import numpy as np

from engine import RunSettings, find_algorithm
from engine.compile import compile_algorithm
from engine.evaluation import count_topics, score_own, split_words
from engine.executors import step as take_step
from engine.run import split_corpus
from engine.schedules import settle, step_size
from tests.benchmarks.systems import load


@dataclass(frozen=True)
class Trial:
    """One run to be made: an algorithm with settings, passes, and the share of the training documents it may read."""

    name: str
    settings: tuple = ()
    passes: int | None = None
    share: float = 1.0


def trial(name, settings=None, passes=None, share=1.0):
    """A trial whose settings are written as a dictionary."""
    return Trial(name, tuple(sorted((settings or {}).items())), passes, share)


@dataclass(frozen=True)
class Outcome:
    """Of one trial and seed: nats per held-out word, seconds of learning, topics after each step, the last bound."""

    nats: float
    seconds: float
    topics: tuple[int, ...]
    bound: float | None


def attempt(each, corpus_name, documents, seed):
    """Make one run and score it."""
    settings = RunSettings(order="shuffled", seed=seed)
    train, test = split_corpus(load(corpus_name, documents, seed), settings)
    train = train.select(np.arange(round(each.share * train.num_documents)))
    algorithm = find_algorithm(each.name)
    config = settle(algorithm.config(**dict(each.settings)), train.num_documents, train.num_tokens)
    compile_algorithm(algorithm, config)
    began = time.perf_counter()
    state, infos, topics = learn(algorithm, config, train, each.passes or algorithm.passes, seed)
    seconds = time.perf_counter() - began
    nats = score_own(algorithm, config, state, split_words(test.documents(), test.doc_ids, seed))
    return Outcome(nats, seconds, tuple(topics), infos[-1].bound)


def learn(algorithm, config, train, passes, seed):
    """The last state, what each step said, and the number of topics after it."""
    state = algorithm.init(config, train.vocab_size, np.random.default_rng([seed, 0]))
    infos, topics = [], []
    for _ in range(passes):
        for batch in train.batches(step_size(config, train.num_documents)):
            state, info = take_step(algorithm, config, state, batch, np.random.default_rng([seed, state.step + 1]))
            infos.append(info)
            topics.append(count_topics(state.expected_tokens))
        if infos[-1].has_converged:
            break
    return state, infos, topics


class Outcomes:
    """Outcomes of every trial and seed."""

    def __init__(self, found):
        self.found = found

    def nats(self, each):
        """Mean over seeds."""
        return float(np.mean([outcome.nats for outcome in self.found[each]]))

    def seconds(self, each):
        """Mean over seeds."""
        return float(np.mean([outcome.seconds for outcome in self.found[each]]))

    def bound(self, each):
        """Mean over seeds, nats per token."""
        return float(np.mean([outcome.bound for outcome in self.found[each]]))

    def topics(self, each, share):
        """Mean over seeds of the number of topics after so much of the run."""
        return float(np.mean([o.topics[max(0, round(share * len(o.topics)) - 1)] for o in self.found[each]]))

    def all_nats(self, trials):
        """Mean over seeds of each of the trials by name, and the same as text."""
        nats = {name: self.nats(each) for name, each in trials.items()}
        return nats, ", ".join(f"{name} {value:.3f}" for name, value in nats.items())
