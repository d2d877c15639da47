"""The cells of studies: one run each, everything that its result depends on, and its measured
scores.
"""

import hashlib
import json
import os
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from stickbreaker.engine.algorithm import Algorithm, InfersBy
from stickbreaker.engine.algorithms import find_algorithm
from stickbreaker.engine.corpora.corpus import Corpus
from stickbreaker.engine.corpora.library import find_folder, name_folder
from stickbreaker.engine.corpora.load import list_corpora, load_corpus
from stickbreaker.engine.corpora.rows import CorpusError
from stickbreaker.engine.evaluation.held_out import (
    fold_in,
    importance_sampling,
    lda_bound_as_its_authors_ran_it,
    lda_bound_as_printed,
    mixture_likelihood,
    perplexity_bound,
    score,
    score_own,
)
from stickbreaker.engine.inference.held_words import split_tokens
from stickbreaker.engine.parallel.clusters import (
    ClusterError,
    TaskCancelledError,
    stop_if_cancelled,
    worker_address,
)
from stickbreaker.engine.runs.compile import compile_algorithm
from stickbreaker.engine.runs.compile_steps import list_choices
from stickbreaker.engine.runs.events import Evaluated, Stepped, Update
from stickbreaker.engine.runs.prepared import Prepared, prepare
from stickbreaker.engine.runs.run import run
from stickbreaker.engine.runs.settings import RunSettings
from stickbreaker.engine.versions import find_versions

FURTHER_PROTOCOLS = ("tokens_90_10", "perplexity_bound", "importance_sampling")


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
        """All settings of the system."""
        return find_algorithm(self.system).config(**self.chosen)

    def asked(self) -> dict[str, Any]:
        """What the result depends on: settings, the contents of the corpus, and versions."""
        own = {
            "config": asdict(self.config),
            "run": asdict(self.run),
            "protocols": list(self.protocols),
        }
        corpus = {
            "corpus": digest_corpus(self.corpus, _stamp(self.corpus)),
            "num_documents": self.num_documents,
        }
        return {"system": self.system, **own, **corpus, "versions": find_versions()}

    def key(self) -> str:
        """The name of the cell's file: a hash of everything that the result depends on."""
        return hashlib.sha256(json.dumps(self.asked(), sort_keys=True).encode()).hexdigest()[:32]

    def columns(self) -> dict[str, Any]:
        """The columns that identify the cell in a table."""
        run = {"order": self.run.order, "seed": self.run.seed}
        return {"corpus": self.corpus, "system": self.system, **self.chosen, **run}


# The columns of a cell's rows.
SCORES = (
    *("documents_seen", "seconds", "protocol", "predictive", "nats_per_word"),
    *("num_topics", "learning_rate", "startup_share", "bound", "error"),
)


def measure(cell: Cell, check: Callable[[], object] = lambda: None) -> pd.DataFrame:
    """Run a cell now and return a row for each score; `check` may raise to stop it."""
    corpus = _load(cell.corpus, _stamp(cell.corpus), cell.num_documents, cell.run.seed)
    prepared = prepare(find_algorithm(cell.system), cell.config, corpus, cell.run)
    compile_once(cell.system, tuple(list_choices(prepared.config).items()))
    rows: list[dict[str, Any]] = []
    before: Stepped | None = None
    for update in run(prepared):
        if update.next_batch is not None:
            rows.append(_score_row(update.next_batch, before))
        if update.held_out is not None:
            rows.append(_score_row(update.held_out, update.stepped))
            rows += _further_rows(cell, prepared, update)
        before = update.stepped
        check()
    if not rows:
        raise ValueError(
            "Nothing was scored: set num_evaluations to 1 or more, and use documents of two words"
            " or more."
        )
    return pd.DataFrame(rows)


class CellTask(NamedTuple):
    """A cell for a worker of a cluster, and its key in the process that sends it."""

    cell: Cell
    key: str


def send_cell(cell: Cell, key: str) -> CellTask:
    """A cell as a worker gets it: a corpus that is not named has its absolute path."""
    if cell.corpus not in list_corpora():
        cell = replace(cell, corpus=str(Path(cell.corpus).expanduser().absolute()))
    return CellTask(cell=cell, key=key)


def measure_sent(task: CellTask) -> pd.DataFrame:
    """Run a cell on a worker.

    Its error is in the result, unless the worker has another corpus or none.

    Raises ClusterError that names the worker and the corpus, and TaskCancelledError.
    """
    advice = "All machines need the same corpus under the same name or path"
    try:
        key = task.cell.key()
    except (CorpusError, OSError) as error:
        reason = str(error).rstrip(".")
        raise ClusterError(
            f"Worker {worker_address()} cannot read a corpus ({reason}). {advice}."
        ) from error
    if key != task.key:
        raise ClusterError(
            f"Worker {worker_address()} has another corpus {task.cell.corpus}. {advice}."
        )
    try:
        return measure(task.cell, stop_if_cancelled)
    except TaskCancelledError:
        raise
    except Exception as error:
        return describe_failure(error)


def describe_failure(error: Exception) -> pd.DataFrame:
    """The row of a cell that has failed."""
    return pd.DataFrame([{"error": f"{type(error).__name__}: {error}"}])


def _score_row(event: Evaluated, stepped: Stepped | None) -> dict[str, Any]:
    return _row(
        event.documents_seen, stepped, event.protocol, event.predictive, event.nats_per_word
    )


def _further_rows(cell: Cell, prepared: Prepared, update: Update) -> list[dict[str, Any]]:
    """Rows of the cell's further protocols after a mini-batch."""
    rows = []
    for protocol in cell.protocols:
        scores = score_further(protocol, prepared, update.state)
        rows += [
            _row(update.stepped.documents_seen, update.stepped, protocol, *each)
            for each in scores.items()
        ]
    return rows


def _row(
    documents_seen: int, stepped: Stepped | None, protocol: str, predictive: str, nats: float
) -> dict[str, Any]:
    row: dict[str, Any] = {
        "documents_seen": documents_seen,
        "seconds": 0.0,
        "protocol": protocol,
        "predictive": predictive,
        "nats_per_word": nats,
        "num_topics": 0,
        "learning_rate": np.nan,
        "startup_share": np.nan,
        "bound": np.nan,
        "error": None,
    }
    if stepped is not None:
        taken = {"seconds": stepped.seconds, "num_topics": stepped.num_topics}
        taken |= stepped.info._asdict()
        row |= {name: taken[name] for name in row.keys() & taken if taken[name] is not None}
    return row


def score_further(protocol: str, prepared: Prepared, state: Any) -> dict[str, float]:
    """Nats per held-out token of the run's test documents by one of FURTHER_PROTOCOLS, by
    predictive.

    Raises ValueError if nothing is held out, and for the bound of a mixture, whose likelihood has a
    closed form.
    """
    test = prepared.test
    if test is None:
        raise ValueError("The run has no held-out documents: prepare it with test documents.")
    algorithm = prepared.algorithm
    config = prepared.config
    seed = prepared.settings.seed
    summary = algorithm.summarize(config, state)
    documents = test.documents()
    topics = summary.topics
    prior = fold_in_prior(algorithm, config, summary.weights)
    if protocol == "tokens_90_10":
        split = split_tokens(documents, test.doc_ids, seed)
        folded = score(split, fold_in(split.observed, topics, prior), topics)
        return {"own": score_own(algorithm, config, state, split), "fold_in": folded}
    if algorithm.infers_by is InfersBy.MIXTURE:
        if protocol == "perplexity_bound":
            raise ValueError(
                "A mixture has no perplexity_bound: use importance_sampling, which is exact for it."
            )
        return {"own": mixture_likelihood(documents, topics, summary.weights)}
    if protocol == "perplexity_bound":
        return {
            "fold_in": perplexity_bound(documents, topics, prior),
            **_bounds_of_lda(prepared, state),
        }
    return {
        "fold_in": importance_sampling(documents, topics, prior, np.random.default_rng([seed, 1]))
    }


def _bounds_of_lda(prepared: Prepared, state: Any) -> dict[str, float]:
    """Hoffman 2010 Eq. 16 of an LDA in both forms, by name; empty for other systems."""
    if prepared.test is None or prepared.algorithm.lda_priors is None:
        return {}
    prior, word_concentration = prepared.algorithm.lda_priors(prepared.config, state)
    of_lda = prepared.test.documents(), state.topic_counts, prior, word_concentration
    corpus_size = prepared.train.num_documents
    return {
        "as printed": lda_bound_as_printed(*of_lda),
        "as its authors ran it": lda_bound_as_its_authors_ran_it(*of_lda, corpus_size),
    }


def fold_in_prior(algorithm: Algorithm, config: Any, weights: np.ndarray) -> np.ndarray:
    """α₀ E[β] (K,), with α₀ as set, or 1 where no setting gives it; uniform for an LDA."""
    if not algorithm.has_corpus_weights:
        weights = np.full(len(weights), 1.0 / len(weights))
    if "doc_concentration" in algorithm.concentrations:
        weights = config.doc_concentration * weights
    return weights


def _stamp(name: str) -> tuple[int, int] | None:
    """The newest time and the size of all files of that name; None if there is no file."""
    own = find_folder() / name_folder(name)
    path = own if os.path.isdir(own) else Path(name).expanduser()
    found = [each.stat() for each in (path, *path.rglob("*")) if each.is_file()]
    if not found:
        return None
    return max(each.st_mtime_ns for each in found), sum(each.st_size for each in found)


@lru_cache(maxsize=2)
def _load(name: str, stamp: tuple[int, int] | None, num_documents: int | None, seed: int) -> Corpus:
    """The corpus, or a random subset of this number of its documents, in their order."""
    corpus = load_corpus(name)
    if num_documents is None or num_documents >= corpus.num_documents:
        return corpus
    chosen = np.random.default_rng(seed).choice(corpus.num_documents, num_documents, replace=False)
    return corpus.select(np.sort(chosen))


@lru_cache
def compile_once(system: str, choices: tuple[tuple[str, Any], ...]) -> None:
    """Compile once per process, so that the seconds of a cell do not include compilation."""
    algorithm = find_algorithm(system)
    compile_algorithm(algorithm, algorithm.config(**dict(choices)))


@lru_cache
def digest_corpus(name: str, stamp: tuple[int, int] | None) -> str:
    """The SHA-256 of what a run reads of a corpus, until its files change."""
    corpus = load_corpus(name)
    counts = corpus.counts
    words = "\n".join(corpus.vocabulary.words)
    digest = hashlib.sha256(f"{corpus.split_by}\n{words}".encode())
    for array in (
        counts.indptr,
        counts.indices,
        counts.data,
        corpus.dates,
        corpus.doc_ids,
        corpus.groups,
    ):
        digest.update(np.ascontiguousarray(array).view(np.uint8).data)
    return digest.hexdigest()
