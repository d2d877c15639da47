"""One run for the papers' claims: an algorithm with settings, on a part of the corpus, and its outcome."""

import time
from dataclasses import dataclass, replace
from functools import lru_cache

import numpy as np

from stickbreaker.engine import find_algorithm
from stickbreaker.engine.algorithms import gibbs_hdp
from stickbreaker.engine.evaluation.held_out import count_topics, fold_in, score, score_own
from stickbreaker.engine.executors import step as take_step
from stickbreaker.engine.inference.held_words import split_tokens, split_words
from stickbreaker.engine.runs.cells import fold_in_prior
from stickbreaker.engine.runs.compile import compile_algorithm
from stickbreaker.engine.runs.sampled_start import count_entries
from stickbreaker.engine.schedules import resolve
from tests.benchmarks.corpora import divide


@dataclass(frozen=True)
class Trial:
    """One run to be made: an algorithm with settings, passes, and the share of the training documents it may read.

    after_sweeps: of the HDP's sampler from 100 topics, from whose last state the run goes on; 0 for a start of its own.
    has_fold_in: score as in Wang 2011 sec. 4.1 (`tokens_90_10` by the fold-in), not `disjoint_words` by own inference.
    """

    name: str
    settings: tuple = ()
    passes: int | None = None
    share: float = 1.0
    after_sweeps: int = 0
    has_fold_in: bool = False


def trial(name, settings=None, passes=None, **more):
    """A trial whose settings are written as a dictionary."""
    return Trial(name, tuple(sorted((settings or {}).items())), passes, **more)


@dataclass(frozen=True)
class Outcome:
    """Of one trial and seed: nats per held-out word, seconds of learning, topics after each step, the last bound."""

    nats: float
    seconds: float
    topics: tuple[int, ...]
    bound: float | None


def attempt(each, corpus_name, documents, seed):
    """Make one run and score it."""
    train, test = divide(corpus_name, "shuffled", seed, documents)
    train = train.select(np.arange(round(each.share * train.num_documents)))
    algorithm = find_algorithm(each.name)
    config = resolve(algorithm.config(**dict(each.settings)), train.num_documents, train.num_tokens)
    compile_algorithm(algorithm, config)
    if each.after_sweeps:
        config, state = go_on(algorithm, config, train, sample(corpus_name, documents, seed, each.after_sweeps))
    else:
        state = algorithm.init(config, train.vocab_size, np.random.default_rng([seed, 0]))
    began = time.perf_counter()
    state, infos, topics = learn(algorithm, config, state, train, each.passes or algorithm.passes, seed)
    seconds = time.perf_counter() - began
    score_test = score_folded if each.has_fold_in else score_owned
    nats = score_test(algorithm, config, state, test, seed)
    return Outcome(nats, seconds, tuple(topics), infos[-1].bound)


def score_owned(algorithm, config, state, test, seed):
    """Nats per held-out word, `disjoint_words`, by the system's own inference."""
    return score_own(algorithm, config, state, split_words(test.documents(), test.doc_ids, seed))


def score_folded(algorithm, config, state, test, seed):
    """Nats per held-out word, `tokens_90_10`, by the fold-in of Wang 2011 sec. 4.1."""
    split, summary = split_tokens(test.documents(), test.doc_ids, seed), algorithm.summarize(config, state)
    prior = fold_in_prior(algorithm, config, summary.weights)
    return score(split, fold_in(split.observed, summary.topics, prior), summary.topics)


def learn(algorithm, config, state, train, passes, seed):
    """The last state, what each step said, and the number of topics after it."""
    infos, topics = [], []
    for _ in range(passes):
        for batch in train.batches(algorithm.step_size(config, train.num_documents)):
            state, info = take_step(algorithm, config, state, batch, np.random.default_rng([seed, state.step + 1]))
            infos.append(info)
            topics.append(count_topics(state.expected_tokens))
        if infos[-1].ends_run:
            break
    return state, infos, topics


@lru_cache(maxsize=3)
def sample(corpus_name, documents, seed, sweeps):
    """The state of the HDP's sampler from 100 topics after a number of sweeps."""
    train, _ = divide(corpus_name, "shuffled", seed, documents)
    config = gibbs_hdp.GibbsHDPConfig()
    state = gibbs_hdp.init(config, train.vocab_size, np.random.default_rng([seed, 0]))
    return learn(gibbs_hdp.ALGORITHM, config, state, train, sweeps, seed)[0]


def go_on(algorithm, config, train, sampled):
    """(config, state) of a collapsed system that continues from the sampler; its K is at least the sampler's."""
    config = replace(config, max_topics=max(config.max_topics, len(sampled.topic_ids)))
    batch = next(train.batches(train.num_documents))
    tokens = count_entries(batch, sampled, config.max_topics)
    return config, algorithm.start_from(config, train.vocab_size, batch, tokens)


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

    def all_bounds(self, trials):
        """As `all_nats`, of the bounds."""
        bounds = {name: self.bound(each) for name, each in trials.items()}
        return bounds, ", ".join(f"{name} {value:.3f}" for name, value in bounds.items())

    def all_nats(self, trials):
        """Mean over seeds of each of the trials by name, and the same as text."""
        nats = {name: self.nats(each) for name, each in trials.items()}
        return nats, ", ".join(f"{name} {value:.3f}" for name, value in nats.items())
