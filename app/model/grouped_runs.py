"""What kept runs say of groups of documents, such as parties: held-out scores and topic shares."""

import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
import pandas as pd
from scipy.sparse import csr_array

from stickbreaker import engine
from stickbreaker.app.model.kept_runs import KeptContent, KeptRun
from stickbreaker.app.model.model_job import ModelJob
from stickbreaker.app.model.page_notes import read_spec
from stickbreaker.app.model.reading import Model, choose_read
from stickbreaker.app.model.record import Record
from stickbreaker.engine.corpora.corpus import Corpus
from stickbreaker.engine.corpora.rows import CorpusError
from stickbreaker.engine.corpora.stored import StoredCorpus
from stickbreaker.engine.evaluation.doc_shares import read_shares
from stickbreaker.engine.evaluation.group_scores import DocScores, score_documents
from stickbreaker.engine.evaluation.group_shares import Groups, find_groups, group_frame
from stickbreaker.engine.runs.checkpoint import Checkpoint

MOST_GROUPS = 40
NO_GROUPS = (
    "The corpus of “{}” has no groups: choose a group column, such as the party or author, when you"
    " bring your own text."
)


class GroupedRun(NamedTuple):
    """A kept run, and what its model says of groups of documents.

    scores: of the held-out documents (S,), with the held-out words of the run; doc_ids: (S,);
    groups: theirs; num_groups: those of the whole corpus. shares: of its topics in the MOST_GROUPS
    groups with the most tokens; the columns are those of `engine.evaluation.group_frame`, with
    topic_id in place of topic.
    """

    run: KeptRun
    content: KeptContent
    scores: DocScores
    doc_ids: np.ndarray
    groups: Groups
    num_groups: int
    shares: pd.DataFrame


@dataclass(frozen=True, eq=False)
class GroupJob(ModelJob):
    """The state of a comparison by group of two kept runs, left and right, and its result."""

    keys: tuple[str, ...] = ()
    runs: tuple[GroupedRun, ...] = ()


def find_largest(of_document: np.ndarray, tokens: np.ndarray, num_groups: int) -> np.ndarray:
    """The numbers of the groups with the most tokens, at most MOST_GROUPS, the largest first.

    of_document: (D,), -1 for none; tokens: (D,).

    >>> find_largest(np.array([2, 0, 2, -1]), np.array([3, 4, 3, 9]), 4).tolist()
    [2, 0]
    """
    known = of_document >= 0
    sizes = np.bincount(of_document[known], tokens[known], num_groups)
    return np.argsort(-sizes, kind="stable")[: min(MOST_GROUPS, np.count_nonzero(sizes))]


def keep_largest(groups: Groups, tokens: np.ndarray) -> Groups:
    """Only the groups with the most tokens, the largest first; other documents have none.

    tokens: (D,).
    """
    shown = find_largest(groups.of_document, tokens, len(groups.names))
    # The last place is that of documents without a group.
    places = np.full(len(groups.names) + 1, -1)
    places[shown] = np.arange(len(shown))
    names = tuple(groups.names[group] for group in shown)
    return groups._replace(of_document=places[groups.of_document], names=names)


def open_model(saved: Checkpoint, corpus: Corpus) -> Model:
    """The model of a kept run. Raises CorpusError if the corpus is another one."""
    spec = read_spec(saved)
    record = Record(spec, 0, time.perf_counter)
    record.open(corpus, engine.prepare(spec.algorithm, spec.config, corpus, spec.settings))
    record.restore(saved)
    model = record.model()
    assert model is not None
    return model


def read_by_group(
    run: KeptRun,
    content: KeptContent,
    model: Model,
    find_shares: Callable[[Model], csr_array | None],
    report: Callable[[float], bool],
) -> GroupedRun | None:
    """Read the corpus of a kept run with its model; None if `report`, which takes the share done,
    ends it.

    find_shares(model): the topic shares of all documents, if they are known. Raises CorpusError if
    the corpus has no groups.
    """
    found = find_groups(model.corpus)
    if found is None:
        raise CorpusError(NO_GROUPS.format(run.title))
    assert model.test is not None

    def select(part: Corpus) -> Groups:
        return found.select(np.flatnonzero(np.isin(model.corpus.doc_ids, part.doc_ids)))

    corpus = model.corpus
    if isinstance(corpus, StoredCorpus):
        corpus = choose_read(corpus).load()
    read = replace(model, corpus=corpus)
    shares = find_shares(read)
    if shares is None:
        shares = read_shares(
            model.algorithm,
            model.config,
            model.state,
            corpus,
            lambda done: report(done / max(1, corpus.num_documents)),
        )
    if shares is None:
        return None
    scores = score_documents(
        model.algorithm, model.config, model.state, model.test, model.settings.seed
    )
    return GroupedRun(
        run=run,
        content=content,
        scores=scores,
        doc_ids=model.test.doc_ids,
        groups=select(model.test),
        num_groups=len(found.names),
        shares=_share_groups(read, shares, select(corpus), content.topic_ids),
    )


def _share_groups(
    model: Model, shares: csr_array, groups: Groups, topic_ids: np.ndarray
) -> pd.DataFrame:
    tokens = np.asarray(model.corpus.counts.sum(1)).ravel()
    rows = np.flatnonzero(tokens)
    summary = model.algorithm.summarize(model.config, model.state)
    places = {topic_id: place for place, topic_id in enumerate(summary.topic_ids.tolist())}
    columns = [places[topic_id] for topic_id in topic_ids.tolist()]
    among = keep_largest(groups.select(rows), tokens[rows])
    frame = group_frame(csr_array(shares[rows][:, columns]), tokens[rows], among)
    frame.insert(0, "topic_id", topic_ids[frame.pop("topic")])
    return frame
