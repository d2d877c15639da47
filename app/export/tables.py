"""Exports of a run: tables, sheets, arrays, the input of pyLDAvis, and the model.

Pure, but for the file written.

Each topic has its id, the name that a user has given it, and its label.
"""

import csv
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
import pandas as pd
from scipy.sparse import csr_array

from stickbreaker.app.frames.group_frames import all_group_words
from stickbreaker.app.frames.progress_frames import CURVES, curve_frame, date_text
from stickbreaker.app.frames.quality_frames import NOT_LOOKED_FOR, describe_topics_again
from stickbreaker.app.frames.reading_frames import read_shares
from stickbreaker.app.frames.word_table import table_frame
from stickbreaker.app.model.counting import only_if
from stickbreaker.app.model.progress import Progress
from stickbreaker.app.model.reading import Reading, to_estimator
from stickbreaker.engine.evaluation.archives import neutralise_formulas, write_arrays, write_sheets
from stickbreaker.engine.evaluation.group_shares import Groups, find_groups, group_frame
from stickbreaker.engine.evaluation.intrusion import ReadDocuments
from stickbreaker.engine.evaluation.topic_frames import topics_frame
from stickbreaker.engine.files.whole_files import replacing
from stickbreaker.engine.runs.settings import RunSettings

NUM_WORDS = 100
ROWS_AT_ONCE = 20_000
UNITS = {
    "heldout": "nats per held-out word (disjoint_words, own)",
    "next_batch": "nats per held-out word (next_batch, own)",
    "num_topics": "topics that cover 99 % of the expected tokens",
    "learning_rate": "rho",
}


def topics_table(reading: Reading, progress: Progress) -> pd.DataFrame:
    """The topics in use, largest first, by their most probable words.

    Columns topic_id, name, label, npmi, exclusivity, share (of all words, as read), rank (from 1),
    word, probability. NPMI is that of the ten most probable words in the documents of the run's
    corpus. With other runs also found_in (their number that has the topic), other_runs, the
    smallest and the largest share, and is_constant (the word is among the ten in nine tenths
    of these runs).
    """
    frame = topics_frame(reading.summary, reading.corpus.vocabulary.words, NUM_WORDS)
    frame = frame.rename(columns={"weight": "share"})
    quality = reading.quality
    for place, name in enumerate(("npmi", "exclusivity"), 1):
        of_topic = dict(zip(quality.topic_ids, getattr(quality, name), strict=True))
        frame.insert(place, name, frame["topic_id"].map(of_topic))
    return _with_names(_with_other_runs(frame, reading), progress)


def _with_other_runs(frame: pd.DataFrame, reading: Reading) -> pd.DataFrame:
    """Append what other runs say of the topics and of their ten words, if there are any."""
    again = describe_topics_again(reading)
    if not again:
        return frame
    topics = [again.get(topic_id, NOT_LOOKED_FOR) for topic_id in frame["topic_id"]]
    index = reading.corpus.vocabulary.index
    shares = np.array([topic.shares for topic in topics]).reshape(-1, 2)
    constant = [
        topic.find_mark(index(word)) == "constant"
        for topic, word in zip(topics, frame["word"], strict=True)
    ]
    return frame.assign(
        found_in=pd.array([topic.num_runs for topic in topics], "Int64"),
        other_runs=len(reading.again.scores),
        smallest_share=shares[:, 0],
        largest_share=shares[:, 1],
        is_constant=constant,
    )


def shares_table(reading: Reading, progress: Progress) -> pd.DataFrame:
    """Topic shares of at least 0.005 of all documents, largest first, rescaled to sum to 1 in each
    document.

    Columns doc_id, title, date (text, in the precision known), tokens, topic_id, name, label,
    share.
    """
    corpus = reading.corpus
    shares = read_shares(reading).tocoo()
    order = np.lexsort((-shares.data, shares.row))
    rows = shares.row[order]
    topics = shares.col[order]
    dates = np.array([date_text(date) for date in corpus.dates], object)
    frame = pd.DataFrame(
        {
            "doc_id": corpus.doc_ids[rows],
            "title": pd.Series(np.array(corpus.titles, object)[rows], dtype=str),
            "date": pd.Series(dates[rows], dtype=str),
            "tokens": reading.doc_tokens[rows],
            "topic_id": reading.summary.topic_ids[topics],
            "share": shares.data[order],
        }
    )
    return _with_names(frame, progress)


def group_shares_table(reading: Reading, progress: Progress) -> pd.DataFrame:
    """The shares of the topics in use, largest first, in all groups of documents.

    Columns topic_id, name, label, group, share, low, high (parts of the tokens of the group, and
    the ends of the 95 % interval), documents (of the group), whole (the share in all documents).
    Raises ValueError if the corpus has no groups.
    """
    rows = np.flatnonzero(reading.doc_tokens)
    groups = _find_groups(reading).select(rows)
    shares = read_shares(reading)[rows][:, reading.used]
    frame = group_frame(csr_array(shares), reading.doc_tokens[rows], groups)
    frame.insert(0, "topic_id", reading.summary.topic_ids[reading.used[frame.pop("topic")]])
    return _with_names(frame, progress)


def group_words_table(reading: Reading, progress: Progress) -> pd.DataFrame:
    """The words that a topic has more in one group of documents than in all others.

    Columns topic_id, name, label, group, rank (from 1), word, z (the difference of the log odds in
    standard errors), log_odds (the difference), tokens (of the word in the topic and group, as the
    model expects), other_tokens (the same in all other groups). Raises ValueError if the corpus has
    no groups.
    """
    groups = _find_groups(reading)
    frames = []
    for position in reading.used:
        frame = all_group_words(reading, groups, position)
        frame.insert(0, "topic_id", reading.summary.topic_ids[position])
        frames.append(frame)
    return _with_names(pd.concat(frames, ignore_index=True), progress)


def _find_groups(reading: Reading) -> Groups:
    groups = find_groups(reading.corpus)
    if groups is None:
        raise ValueError("The documents have no groups: name their column when you load them.")
    return groups


def history_table(progress: Progress) -> pd.DataFrame:
    """The word lists of all topics at all moments and now.

    Columns topic_id, name, label, checkpoint (from 0), documents_seen, date (text), weight (in the
    model then), rank (from 1), word, is_new, has_risen.
    """
    moments = list(progress.columns)
    now = progress.now
    if now is not None and (not moments or now.documents_seen > moments[-1].documents_seen):
        moments.append(now)
    topic_ids = sorted({int(topic_id) for moment in moments for topic_id in moment.topic_ids})
    frame = table_frame(moments, progress.vocabulary or (), topic_ids)
    frame["rank"] += 1
    return _with_names(frame.rename(columns={"column": "checkpoint"}), progress)


def curves_table(progress: Progress, earlier: Sequence[Progress] = ()) -> pd.DataFrame:
    """The four curves of a run and of earlier runs, one row per point.

    Columns run_id, run (its settings), corpus, curve, unit, documents_seen, date (text), seconds,
    value.
    """
    frames = []
    for run in (*earlier, progress):
        for name in CURVES:
            frame = curve_frame(run, name)
            columns = {
                "run_id": run.run_id,
                "run": run.label,
                "corpus": run.corpus_name,
                "curve": name,
                "unit": UNITS[name],
                "documents_seen": frame["documents_seen"],
                "date": frame["date"].replace("NaT", ""),
                "seconds": frame["seconds"],
                "value": frame["y"],
            }
            frames.append(pd.DataFrame(columns, frame.index))
    return pd.concat(frames, ignore_index=True)


def _with_names(frame: pd.DataFrame, progress: Progress) -> pd.DataFrame:
    """Insert columns "name" (if a person has given one) and "label" after the ids."""
    ids = [int(topic_id) for topic_id in frame["topic_id"]]
    place = frame.columns.get_loc("topic_id")
    for number, (column, called) in enumerate(
        {"name": progress.names, "label": progress.labels}.items()
    ):
        texts = [called.get(topic_id, "") for topic_id in ids]
        frame.insert(place + 1 + number, column, pd.Series(texts, dtype=str, index=frame.index))
    return frame


def write_table(frame: pd.DataFrame, path: Path) -> None:
    """Write a table as Parquet or CSV, according to the file name.

    Every CSV file of the page and of the notebooks is written here. CSV is written in parts, so
    that other threads can run in between.
    """
    with replacing(path) as file:
        if path.suffix == ".parquet":
            frame.to_parquet(file, index=False)
            return
        frame.head(0).to_csv(file, index=False)
        for first in range(0, len(frame), ROWS_AT_ONCE):
            part = neutralise_formulas(frame.iloc[first : first + ROWS_AT_ONCE])
            part.to_csv(file, index=False, header=False, quoting=csv.QUOTE_MINIMAL)


def write_pyldavis(reading: Reading, names: Mapping[int, str], path: Path) -> None:
    """Write the input of `pyLDAvis.prepare` as JSON; `prepare(**json.load(file))` reads it.

    It contains the topics in use, largest first, and the words and documents with tokens; rows sum
    to 1 over these. pyLDAvis is told to keep this order. Ids and names of the topics are in
    plot_opts. Raises ValueError if no topic is in use.
    """
    if not len(reading.used):
        raise ValueError("No topic is in use yet: let the run continue.")
    corpus = reading.corpus
    frequency = np.asarray(corpus.counts.sum(0)).ravel()
    words = np.flatnonzero(frequency)
    shares = read_shares(reading)[:, reading.used]
    documents = np.flatnonzero((reading.doc_tokens > 0) & (np.asarray(shares.sum(1)).ravel() > 0))
    ids = [int(reading.summary.topic_ids[k]) for k in reading.used]
    topics = (_rounded(reading.summary.topics[k][words]) for k in reading.used)
    with replacing(path) as file:
        _write_rows(file, '{"topic_term_dists": ', topics)
        _write_rows(
            file,
            ', "doc_topic_dists": ',
            (_rounded(shares[[row]].toarray()[0]) for row in documents),
        )
        rest = {
            "doc_lengths": reading.doc_tokens[documents].tolist(),
            "vocab": [corpus.vocabulary[int(word)] for word in words],
            "term_frequency": frequency[words].tolist(),
            "sort_topics": False,
            "plot_opts": {
                "xlab": "PC1",
                "ylab": "PC2",
                "topic_ids": ids,
                "topic_names": [names.get(topic_id, "") for topic_id in ids],
            },
        }
        file.write((", " + json.dumps(rest, ensure_ascii=False)[1:]).encode())


def _rounded(row: np.ndarray) -> list[float]:
    """A distribution with nine digits, which is more than the precision of float32."""
    row = row.astype(float)
    return [float(f"{share:.9g}") for share in row / row.sum()]


def _write_rows(file: BinaryIO, head: str, rows: Any) -> None:
    """Write a list of lists row by row, to need little memory and not block the page."""
    file.write(head.encode() + b"[")
    for place, row in enumerate(rows):
        file.write((only_if(place, ",\n") + json.dumps(row)).encode())
    file.write(b"]")


def write_sheet_files(reading: Reading, progress: Progress, path: Path) -> None:
    """Write word-intrusion and topic-intrusion sheets with their keys into a zip file."""
    words = reading.corpus.vocabulary.words
    read = _read_documents(reading)
    write_sheets(path, reading.summary, words, progress.titles, read, progress.seed)


def write_array_files(reading: Reading, progress: Progress, path: Path) -> None:
    """Write θ and the topics as .npy and the vocabulary as JSON into a zip file."""
    words = reading.corpus.vocabulary.words
    write_arrays(path, reading.summary, words, progress.titles, _read_documents(reading))


def _read_documents(reading: Reading) -> ReadDocuments:
    corpus = reading.corpus
    return ReadDocuments(
        titles=corpus.titles,
        doc_ids=corpus.doc_ids,
        counts=corpus.counts,
        shares=read_shares(reading),
    )


def write_model(reading: Reading, progress: Progress, path: Path) -> None:
    """Write the model with the names of its topics, for `engine.load`."""
    estimator = to_estimator(reading.model, progress.settings or RunSettings())
    estimator.topic_names_ = dict(progress.names)
    estimator.edits_ = progress.edits.done
    estimator.save(path)
