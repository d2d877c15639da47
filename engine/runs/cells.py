"""The cells of studies: one run each, all that its result depends on, and what is measured of it."""

import hashlib
import json
import platform
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from functools import lru_cache
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from stickbreaker.engine.algorithm import Algorithm
from stickbreaker.engine.algorithms import find_algorithm
from stickbreaker.engine.corpora.corpus import Corpus
from stickbreaker.engine.corpora.load import load_corpus
from stickbreaker.engine.evaluation.held_out import (
    fold_in,
    importance_sampling,
    mixture_likelihood,
    perplexity_bound,
    score,
    score_own,
    split_tokens,
)
from stickbreaker.engine.runs.compile import compile_algorithm, list_choices
from stickbreaker.engine.runs.events import Evaluated, Stepped
from stickbreaker.engine.runs.run import run, split_corpus
from stickbreaker.engine.runs.settings import RunSettings
from stickbreaker.engine.schedules import resolve

FURTHER_PROTOCOLS = ("tokens_90_10", "perplexity_bound", "importance_sampling")
MIXTURE = "free-dp-mixture"
LIBRARIES = ("numba", "numpy", "scipy")


@dataclass(frozen=True)
class Cell:
    """One run of a study; `chosen` are the settings that are not left at their defaults."""

    corpus: str
    num_documents: int | None
    system: str
    chosen: Mapping[str, Any]
    run: RunSettings
    protocols: tuple[str, ...] = ()

    @property
    def config(self) -> Any:
        """The settings in full."""
        return find_algorithm(self.system).config(**self.chosen)

    def asked(self) -> dict[str, Any]:
        """All that the result depends on: settings in full, what the corpus holds, and versions."""
        own = {"config": asdict(self.config), "run": asdict(self.run), "protocols": list(self.protocols)}
        corpus = {"corpus": _fingerprint(self.corpus, _stamp(self.corpus)), "num_documents": self.num_documents}
        return {"system": self.system, **own, **corpus, "versions": _versions()}

    def key(self) -> str:
        """A name for the file of the cell, another one for each thing that may be asked."""
        return hashlib.sha256(json.dumps(self.asked(), sort_keys=True).encode()).hexdigest()[:32]

    def columns(self) -> dict[str, Any]:
        """What tells the cell from others in a table."""
        run = {"order": self.run.order, "seed": self.run.seed}
        return {"corpus": self.corpus, "system": self.system, **self.chosen, **run}


# What a row of a cell has.
SCORES = (
    *("documents_seen", "seconds", "protocol", "predictive", "nats_per_word"),
    *("num_topics", "learning_rate", "startup_share", "bound", "error"),
)


def measure(cell: Cell) -> pd.DataFrame:
    """Run a cell now; a row for each score."""
    algorithm, seed = find_algorithm(cell.system), cell.run.seed
    corpus = _load(cell.corpus, _stamp(cell.corpus), cell.num_documents, seed)
    train, test = split_corpus(corpus, cell.run)
    config = resolve(cell.config, train.num_documents, train.num_tokens)
    _compile(cell.system, tuple(list_choices(config).items()))
    rows, stepped = [], None
    for event in run(algorithm, cell.config, corpus, cell.run):
        if isinstance(event, Stepped):
            stepped = event
        elif isinstance(event, Evaluated):
            rows.append(_row(event.documents_seen, stepped, event.protocol, event.predictive, event.nats_per_word))
            if event.protocol == "disjoint_words" and stepped is not None:
                for protocol in cell.protocols:
                    scores = score_further(protocol, algorithm, config, stepped.state, test, seed)
                    rows += [_row(event.documents_seen, stepped, protocol, *each) for each in scores.items()]
    if not rows:
        raise ValueError("nothing was scored: ask for at least one evaluation, and for documents of two words or more")
    return pd.DataFrame(rows)


def _row(documents_seen: int, stepped: Stepped | None, protocol: str, predictive: str, nats: float) -> dict[str, Any]:
    row: dict[str, Any] = {"documents_seen": documents_seen, "seconds": stepped.seconds if stepped else 0.0}
    row |= {"protocol": protocol, "predictive": predictive, "nats_per_word": nats}
    row |= {"num_topics": stepped.num_topics if stepped else 0}
    info = stepped.info._asdict() if stepped else {}
    row |= {name: info.get(name, np.nan) for name in ("learning_rate", "startup_share", "bound")}
    return row | {"bound": np.nan if row["bound"] is None else row["bound"], "error": None}


def score_further(
    protocol: str, algorithm: Algorithm, config: Any, state: Any, test: Corpus, seed: int
) -> dict[str, float]:
    """Nats per held-out token of one of FURTHER_PROTOCOLS, by predictive.

    Raises ValueError for the bound of a mixture, whose likelihood has a closed form.
    """
    summary, documents = algorithm.summarize(config, state), test.documents()
    topics, prior = summary.topics, fold_in_prior(algorithm, config, summary.weights)
    if protocol == "tokens_90_10":
        split = split_tokens(documents, test.doc_ids, seed)
        folded = score(split, fold_in(split.observed, topics, prior), topics)
        return {"own": score_own(algorithm, config, state, split), "fold_in": folded}
    if algorithm.name == MIXTURE:
        if protocol == "perplexity_bound":
            raise ValueError("a mixture has no perplexity_bound: ask for importance_sampling, there in closed form")
        return {"own": mixture_likelihood(documents, topics, summary.weights)}
    if protocol == "perplexity_bound":
        return {"fold_in": perplexity_bound(documents, topics, prior)}
    return {"fold_in": importance_sampling(documents, topics, prior, np.random.default_rng([seed, 1]))}


def fold_in_prior(algorithm: Algorithm, config: Any, weights: np.ndarray) -> np.ndarray:
    """α₀ E[β] (K,), α₀ as set and 1 where it has a posterior; of LDA α, since its weights are shares of tokens."""
    if algorithm.name.endswith("lda"):
        weights = np.full(len(weights), 1.0 / len(weights))
    return getattr(config, "doc_concentration", 1.0) * weights


def _stamp(name: str) -> tuple[int, int] | None:
    """What changes when the file of that name does."""
    path = Path(name)
    return (path.stat().st_mtime_ns, path.stat().st_size) if path.is_file() else None


@lru_cache(maxsize=2)
def _load(name: str, stamp: tuple[int, int] | None, num_documents: int | None, seed: int) -> Corpus:
    """The corpus, or so many of its documents in their order."""
    corpus = load_corpus(name)
    if num_documents is None or num_documents >= corpus.num_documents:
        return corpus
    chosen = np.random.default_rng(seed).choice(corpus.num_documents, num_documents, replace=False)
    return corpus.select(np.sort(chosen))


@lru_cache
def _compile(system: str, choices: tuple[tuple[str, Any], ...]) -> None:
    """Once a process, so that no cell's seconds hold a compiler's."""
    algorithm = find_algorithm(system)
    compile_algorithm(algorithm, algorithm.config(**dict(choices)))


@lru_cache
def settings_of(system: str) -> frozenset[str]:
    """Names of the settings that a system has."""
    return frozenset(each.name for each in fields(find_algorithm(system).config))


@lru_cache
def _fingerprint(name: str, stamp: tuple[int, int] | None) -> str:
    """The SHA-256 of what a run reads of a corpus; once a process, until its file changes."""
    corpus = load_corpus(name)
    counts, words = corpus.counts, "\n".join(corpus.vocabulary.words)
    digest = hashlib.sha256(f"{corpus.split_by}\n{words}".encode())
    for array in (counts.indptr, counts.indices, counts.data, corpus.dates, corpus.doc_ids, corpus.groups):
        digest.update(np.ascontiguousarray(array).view(np.uint8).data)
    return digest.hexdigest()


@lru_cache
def _versions() -> dict[str, str]:
    """Of Python, of the libraries that count, and of the engine: the SHA-256 of its code."""
    digest = hashlib.sha256()
    for file in sorted(Path(__file__).parents[1].rglob("*.py")):
        digest.update(file.read_bytes())
    libraries = {name: version(name) for name in LIBRARIES}
    return {"engine": digest.hexdigest(), "python": platform.python_version(), **libraries}
