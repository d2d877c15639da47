"""A check of the number of topics in use: the Gibbs sampler of the HDP continues from a model (Teh
2007 sec. 4).

The topic of each token is drawn from the model: z = k with probability proportional to E[θ_dk]
E[topic_kw]. From there the sampler of `gibbs_hdp` makes passes, in which topics can be born and
die. After each pass the topics in use are counted by the rule of `count_topics`, of the tokens in
each topic.

One chain proves nothing: a sampler removes small topics and adds new ones, but rarely merges or
splits large ones, so a different start can give a different number.
"""

from collections.abc import Callable, Iterator
from enum import StrEnum
from typing import Any, NamedTuple

import numpy as np

from stickbreaker.engine.algorithm import Algorithm, InfersBy, TopicSummary
from stickbreaker.engine.algorithms import gibbs_hdp
from stickbreaker.engine.algorithms.gibbs_hdp import GibbsHDPConfig, GibbsHDPState
from stickbreaker.engine.corpora.corpus import Corpus
from stickbreaker.engine.corpora.documents import Batch, Documents
from stickbreaker.engine.corpora.rows import CorpusError
from stickbreaker.engine.declarations import check_whole
from stickbreaker.engine.evaluation.held_out import count_topics
from stickbreaker.engine.executors import map_shards
from stickbreaker.engine.inference.gibbs import Assignments, no_averages

PASSES = 40
MOST_TOKENS = 2_000_000
# Numbers that are held at once while topics are drawn, and documents that are read at once.
MOST_NUMBERS = 2_000_000
DOCUMENTS_AT_ONCE = 1024
# The part of the progress that the drawing of the start takes.
DRAWING_SHARE = 0.2
# The count is called stable if it differs by at most this share between the middle and the end of
# the passes.
STABLE_SHARE = 0.05


class Trend(StrEnum):
    """Which way the count moved over the last half of the passes."""

    STABLE = "stable"
    RISING = "rising"
    FALLING = "falling"


class CheckPlan(NamedTuple):
    """How much a check does: its passes, its most tokens, and the seed of all draws."""

    passes: int = PASSES
    max_tokens: int = MOST_TOKENS
    seed: int = 0


class CountCheck(NamedTuple):
    """The topics in use at the start of the sampler and after each pass.

    counts: (passes + 1,) int64; the first is that of the topics drawn from the model.
    num_documents, num_tokens: of the documents that were read.
    corpus_size: the number of documents from which they were drawn.
    """

    counts: np.ndarray
    num_documents: int
    num_tokens: int
    corpus_size: int

    @property
    def num_passes(self) -> int:
        """The number of passes."""
        return len(self.counts) - 1

    @property
    def last(self) -> np.ndarray:
        """The counts of the last half of the passes, at least one."""
        return self.counts[-((self.num_passes + 1) // 2) :]

    @property
    def interval(self) -> tuple[int, int]:
        """The smallest and the largest count of the last half of the passes."""
        return int(self.last.min()), int(self.last.max())

    @property
    def trend(self) -> Trend:
        """Whether the count rose or fell by over a twentieth in the last half of the passes."""
        first = int(self.last[0])
        end = int(self.last[-1])
        if abs(end - first) <= STABLE_SHARE * first:
            return Trend.STABLE
        return Trend.RISING if end > first else Trend.FALLING


def can_check(algorithm: Algorithm) -> bool:
    """Whether the sampler can start from this model: a mixture is another model."""
    return algorithm.infers_by is not InfersBy.MIXTURE


def check_count(
    algorithm: Algorithm,
    config: Any,
    state: Any,
    corpus: Corpus,
    plan: CheckPlan | None = None,
    report: Callable[[float], bool] = lambda share: True,
) -> CountCheck | None:
    """Count the topics in use while the sampler of the HDP continues from a model, which does not
    change.

    The sampler has the model's α₀, γ and η where the model has these settings, and its own defaults
    otherwise; it resamples α₀ and γ in each pass. The same seed gives the same counts, bit for bit.
    Of a corpus with more than `max_tokens` tokens a random sample is read.
    report: gets the share that is done; if it returns False, the check ends and the result is None.
    Raises ValueError if the sampler cannot start from this model, or if the plan has no pass or no
    token, and CorpusError if the documents have no words.
    """
    plan = _check_plan(plan or CheckPlan())
    _refuse_impossible(algorithm, corpus)
    sample = _draw_documents(corpus, plan)
    summary = algorithm.summarize(config, state)
    parts: list[np.ndarray] = []
    for part in draw_topics(
        summary, sample, plan.seed, lambda documents: algorithm.infer(config, state, documents)
    ):
        if not report(DRAWING_SHARE * len(parts) * DOCUMENTS_AT_ONCE / sample.num_documents):
            return None
        parts.append(part)
    settings = _share_settings(algorithm, config, plan)
    batch = next(sample.batches(sample.num_documents))
    counts: list[int] = []
    for drawn in _sample(
        settings, _begin(settings, summary, batch, np.concatenate(parts)), batch, plan
    ):
        if not report(DRAWING_SHARE + (1.0 - DRAWING_SHARE) * (len(counts) / plan.passes)):
            return None
        counts.append(count_topics(drawn.expected_tokens))
    return CountCheck(
        counts=np.array(counts),
        num_documents=sample.num_documents,
        num_tokens=int(sample.num_tokens),
        corpus_size=corpus.num_documents,
    )


def _check_plan(plan: CheckPlan) -> CheckPlan:
    least = CheckPlan(passes=1, max_tokens=1, seed=0)
    checked = map(check_whole, CheckPlan._fields, plan, least)
    return CheckPlan(**dict(zip(CheckPlan._fields, checked, strict=True)))


def _refuse_impossible(algorithm: Algorithm, corpus: Corpus) -> None:
    if not can_check(algorithm):
        raise ValueError(
            f"{algorithm.title} gives a document one topic: the sampler of the HDP cannot start"
            " from it."
        )
    if not corpus.num_tokens:
        raise CorpusError(f"{corpus.name} has no counted word, so there is no topic to count.")


def _sample(
    config: GibbsHDPConfig, state: GibbsHDPState, batch: Batch, plan: CheckPlan
) -> Iterator[GibbsHDPState]:
    """Yield the state at the start of the sampler and after each pass."""
    yield state
    for number in range(plan.passes):
        state, _ = gibbs_hdp.step(
            config, state, batch, np.random.default_rng([plan.seed, number + 1])
        )
        yield state


def _draw_documents(corpus: Corpus, plan: CheckPlan) -> Corpus:
    """All documents, or a random part of them that has about `max_tokens` tokens."""
    number = max(1, corpus.num_documents * plan.max_tokens // corpus.num_tokens)
    if number >= corpus.num_documents:
        return corpus
    rng = np.random.default_rng([plan.seed, 0, 1])
    return corpus.select(np.sort(rng.choice(corpus.num_documents, number, replace=False)))


def _share_settings(algorithm: Algorithm, config: Any, plan: CheckPlan) -> GibbsHDPConfig:
    """The sampler's settings: α₀, γ and η of the model where it has them."""
    shared = {name: getattr(config, name) for name in algorithm.concentrations}
    return GibbsHDPConfig(**shared, burn_in=plan.passes)


def draw_topics(
    summary: TopicSummary, sample: Corpus, seed: int, infer: Callable[[Documents], np.ndarray]
) -> Iterator[np.ndarray]:
    """The topic (n,) of each token, in proportion to E[θ_dk] E[topic_kw]."""
    words = np.ascontiguousarray(summary.topics.T)
    rng = np.random.default_rng([seed, 0])
    size = max(1, MOST_NUMBERS // words.shape[1])
    for batch in sample.batches(DOCUMENTS_AT_ONCE):
        documents = batch.documents
        parts = [np.zeros(0, np.int32)]
        shares = np.concatenate(map_shards(infer, documents))
        rows = documents.rows()
        for first in range(0, len(rows), size):
            part = slice(first, first + size)
            sums = np.cumsum(shares[rows[part]] * words[documents.words[part]], 1, dtype=np.float64)
            entries = np.repeat(np.arange(len(sums)), documents.counts[part])
            drawn = rng.random(len(entries)) * sums[entries, -1]
            # Of a token at x, the first topic whose sum is above x.
            parts.append((sums[entries, :-1] <= drawn[:, None]).sum(1, dtype=np.int32))
        yield np.concatenate(parts)


def _begin(
    settings: GibbsHDPConfig, summary: TopicSummary, batch: Batch, topics: np.ndarray
) -> GibbsHDPState:
    """The sampler's state with these topics (N,), and weight for new ones."""
    num_topics, vocab_size = summary.topics.shape
    flat = (
        np.repeat(batch.documents.words.astype(np.int64), batch.documents.counts) * num_topics
        + topics
    )
    of_words = np.bincount(flat, minlength=vocab_size * num_topics).reshape(vocab_size, num_topics)
    unused = 1.0 / (num_topics + 1)
    return GibbsHDPState(
        assignments=Assignments(
            doc_ids=np.array(batch.doc_ids),
            doc_sizes=batch.documents.sizes(),
            topics=topics,
            topic_words=of_words.astype(np.int32),
        ),
        averages=no_averages(num_topics),
        topic_ids=np.array(summary.topic_ids),
        weights=summary.weights * (1.0 - unused),
        tables=np.zeros(num_topics),
        expected_tokens=of_words.sum(0).astype(float),
        unused_weight=unused,
        doc_concentration=settings.doc_concentration,
        corpus_concentration=settings.corpus_concentration,
        next_id=int(summary.topic_ids.max(initial=-1)) + 1,
        step=0,
    )
