"""The runs behind the papers' figures: studies, runs that are followed step by step, and their
means over the seeds.
"""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from scipy.sparse import csr_array

from notebooks.drawings import WORDS
from stickbreaker import engine
from stickbreaker.engine.algorithms import gibbs_hdp, gibbs_lda
from stickbreaker.engine.corpora.corpus import Corpus
from stickbreaker.engine.evaluation.held_out import score_own
from stickbreaker.engine.inference.gibbs import is_sample
from stickbreaker.engine.inference.held_words import split_tokens, split_words
from stickbreaker.engine.runs.cells import compile_once, score_further
from stickbreaker.engine.runs.compile_steps import list_choices
from stickbreaker.engine.runs.prepared import Prepared, prepare_training, split_corpus
from stickbreaker.engine.runs.settings import RunSettings
from stickbreaker.engine.runs.study import SHUFFLED, Study, run_study

SPEECHES = "state-of-the-union"
# How each protocol is scored in a followed run.
PREDICTIVES = {"tokens_90_10": "fold_in", "perplexity_bound": "as printed"}
SAMPLERS = {"gibbs-hdp": gibbs_hdp.predict_words, "gibbs-lda": gibbs_lda.predict_words}


class Followed(NamedTuple):
    """A run that is scored after 1, 2, 4, 8 … and all steps.

    num_documents: the most documents of the corpus, drawn by the seed; share: the part of the
    training documents that the run reads; protocol: one of PREDICTIVES, or within_documents by the
    system's own inference.
    """

    system: str
    values: Mapping[str, Any]
    passes: int
    corpus: str = "state-of-the-union"
    num_documents: int | None = None
    share: float = 1.0
    protocol: str = "tokens_90_10"


class Setup(NamedTuple):
    """The folder for stored runs, the seeds, and the most documents of any run.

    None leaves that to each figure.
    """

    folder: Path
    seeds: tuple[int, ...] = (0,)
    num_documents: int | None = None

    def limit(self, number: int | None) -> int | None:
        """The number of documents of a run that would have this number of them.

        None stands for all.
        """
        known = [each for each in (number, self.num_documents) if each is not None]
        return min(known) if known else None

    def run(self, lines: Mapping[str, Study], protocol: str, predictive: str) -> pd.DataFrame:
        """Return the scores of one protocol and predictive, with a column "line" that names their
        study.

        A name in braces is replaced by the setting's value: "LDA, K={max_topics}". Raises
        RuntimeError if a run failed.
        """
        parts = []
        for name, study in lines.items():
            own = replace(study, seeds=self.seeds, num_documents=self.limit(study.num_documents))
            frame = run_study(own, self.folder)
            if frame["error"].notna().any():
                raise RuntimeError(f"{name}: {frame['error'].dropna().iloc[0]}")
            frame = frame[(frame["protocol"] == protocol) & (frame["predictive"] == predictive)]
            parts.append(
                frame.assign(line=[name.format(**cell) for cell in frame.to_dict("records")])
            )
        return pd.concat(parts, ignore_index=True)

    def add_words(
        self, frame: pd.DataFrame, protocol: str, corpus: str = SPEECHES, number: int | None = None
    ) -> Any:
        """Return a frame for one y axis with a level line in each panel: the score of word
        frequencies alone.

        number: the most documents of the runs, drawn by the seed. A perplexity is drawn where its
        frame has one.
        """
        scores = [
            score_words(draw_documents(corpus, self.limit(number), seed), protocol, seed)
            for seed in self.seeds
        ]
        nats = float(np.mean(scores))
        ends = frame.groupby("panel", sort=False)["x"].agg(["min", "max"]).stack().droplevel(1)
        level = np.exp(-nats) if protocol == "perplexity_bound" else nats
        words = pd.DataFrame({"panel": ends.index, "line": WORDS, "x": ends.to_numpy(), "y": level})
        return pd.concat([frame, words], ignore_index=True)

    def follow(self, lines: Mapping[str, Followed]) -> pd.DataFrame:
        """Return columns line, seed, step, documents, seconds, nats, bound, num_topics of runs,
        which are stored.
        """
        self.folder.mkdir(parents=True, exist_ok=True)
        parts = []
        for line, each in lines.items():
            values, number = dict(sorted(each.values.items())), self.limit(each.num_documents)
            asked = each._replace(values=values, num_documents=number)
            for seed in self.seeds:
                key = hashlib.sha256(repr((asked, seed)).encode()).hexdigest()[:32]
                path = self.folder / f"followed-{key}.parquet"
                if not path.exists():
                    follow(asked, seed).to_parquet(path, index=False)
                parts.append(pd.read_parquet(path).assign(line=line, seed=seed))
        return pd.concat(parts, ignore_index=True).astype({"bound": float})


def score_words(corpus: Corpus, protocol: str, seed: int) -> float:
    """Nats per held-out word of the word frequencies of the training documents, with η = .01 more
    of each word.
    """
    train, test = split_corpus(corpus, replace(SHUFFLED, seed=seed))
    counts, held = train.counts.sum(0), test.documents()
    if protocol == "within_documents":
        known = corpus.select(corpus.counts.sum(1) >= 2)
        held = split_tokens(known.documents(), known.doc_ids, seed)
        counts = np.bincount(held.observed.words, held.observed.counts, corpus.vocab_size)
    elif protocol == "tokens_90_10":
        held = split_tokens(held, test.doc_ids, seed)
    elif protocol == "disjoint_words":
        held = split_words(held, test.doc_ids, seed)
    logs = np.log((counts + 0.01) / (counts + 0.01).sum())
    return float(held.counts @ logs[held.words] / held.num_tokens)


def draw_documents(name: str, number: int | None, seed: int) -> Corpus:
    """The corpus, or this number of its documents, drawn by the seed."""
    corpus = engine.load_corpus(name)
    if number is None or number >= corpus.num_documents:
        return corpus
    return corpus.select(
        np.sort(np.random.default_rng(seed).choice(corpus.num_documents, number, replace=False))
    )


def follow(asked: Followed, seed: int) -> pd.DataFrame:
    """Return a row for each scored step of a run: step, documents, seconds, nats, bound,
    num_topics.
    """
    algorithm = engine.find_algorithm(asked.system)
    settings = replace(SHUFFLED, passes=asked.passes, seed=seed)
    corpus = draw_documents(asked.corpus, asked.num_documents, seed)
    train, test = split_corpus(corpus, settings)
    config, held = algorithm.config(**asked.values), None
    if asked.protocol == "within_documents":
        train = corpus.select(corpus.counts.sum(1) >= 2)
        held = split_tokens(train.documents(), train.doc_ids, seed)
        counts = (held.observed.counts, held.observed.words, held.observed.starts)
        train = replace(train, counts=csr_array(counts, shape=train.counts.shape))
    train = train.select(np.arange(round(asked.share * train.num_documents)))
    prepared = replace(prepare_training(algorithm, config, train, settings), test=test)
    compile_once(asked.system, tuple(list_choices(prepared.config).items()))
    rows, samples = [], []
    for update in engine.run(prepared):
        stepped, number = update.stepped, update.stepped.info.step
        if held is not None and asked.system in SAMPLERS and is_sample(prepared.config, number):
            samples.append(
                SAMPLERS[asked.system](prepared.config, update.state, held.rows, held.words)
            )
        if update.is_last or number & (number - 1) == 0:
            nats = score(asked.protocol, prepared, update.state, held, samples)
            facts = (
                number,
                stepped.documents_seen,
                stepped.seconds,
                nats,
                stepped.info.bound,
                stepped.num_topics,
            )
            rows.append(facts)
    return pd.DataFrame(
        rows, columns=["step", "documents", "seconds", "nats", "bound", "num_topics"]
    )


def score(
    protocol: str, prepared: Prepared, state: Any, held: Any, samples: Sequence[np.ndarray]
) -> float:
    """Nats per held-out word.

    Of a sampler's known documents by the mean over its samples (Teh 2007 Eq. 17).
    """
    if samples:
        return float((held.counts * np.log(np.mean(samples, 0))).sum() / held.num_tokens)
    if held is not None:
        return score_own(prepared.algorithm, prepared.config, state, held)
    return score_further(protocol, prepared, state)[PREDICTIVES[protocol]]


def average(frame: pd.DataFrame, by: Sequence[str], x: str, y: str) -> pd.DataFrame:
    """Return columns line, `by`, x, y and deviation: means and standard deviations over the seeds.

    Points that some seeds of a line did not reach are left out.
    """
    points = frame.assign(x=frame[x], y=frame[y]).groupby(["line", *by], sort=False, dropna=False)
    means = points.agg(
        x=("x", "mean"), y=("y", "mean"), deviation=("y", "std"), seeds=("seed", "nunique")
    )
    means = means.reset_index()
    return means[means["seeds"] == means.groupby("line")["seeds"].transform("max")].drop(
        columns="seeds"
    )


def last_scores(frame: pd.DataFrame, x: str, y: str, *by: str) -> pd.DataFrame:
    """Return the averages of the last score of each run, by line, x and these settings."""
    keys = ["line", x, *by]
    ends = (
        frame.sort_values("documents_seen", kind="stable")
        .groupby([*keys, "seed"], sort=False, dropna=False)
        .tail(1)
    )
    return average(ends, [x, *by], x, y)


def curves(frame: pd.DataFrame, x: str, y: str) -> pd.DataFrame:
    """Return averages over documents or seconds."""
    frame = frame.assign(number=frame.groupby(["line", "seed"], sort=False).cumcount())
    return average(frame, ["number"], x, y)


def read(passes: int | None, num_evaluations: int = 1) -> RunSettings:
    """Return settings of a shuffled run with this number of passes, and of evaluations per pass."""
    return replace(SHUFFLED, passes=passes, num_evaluations=num_evaluations)
