"""Kept runs as rows and frames: the table, their curves together, settings that differ, matched
topics. Pure.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from scipy.sparse import csr_array

from stickbreaker import engine
from stickbreaker.app.frames.progress_frames import AXES, axis_values, write_score
from stickbreaker.app.frames.word_table import NO_TOPIC
from stickbreaker.app.model.counting import count, only_if
from stickbreaker.app.model.kept_runs import KeptContent, KeptRun, Size
from stickbreaker.app.model.progress import Progress
from stickbreaker.app.model.run_spec import format_value, name_setting, title_corpus
from stickbreaker.app.theme import topic_color
from stickbreaker.engine.evaluation.topic_space import divergences_between, match_topics

COLUMNS = (
    "Run",
    "Corpus",
    "Held-out, nats per word",
    "Topics",
    "Mean NPMI",
    "NPMI below 0",
    "Diversity",
    "Read",
    "Seconds",
    "Seed",
    "Kept (UTC)",
    "Size, MB",
)
NUM_SHOWN_WORDS = 12
LEAST_SIZE = 0.001
NO_SIZE = Size(results=0, model=0)
NO_SIZES: Mapping[str, Size] = MappingProxyType({})
NO_SUCH_SETTING = "(none)"
SYMBOLS = {
    "forgetting_rate": "κ",
    "delay": "τ₀",
    "batch_size": "S",
    "max_topics": "K",
    "max_slots": "T",
    "doc_concentration": "α₀",
    "corpus_concentration": "γ",
    "word_concentration": "η",
}


class MatchedTopics(NamedTuple):
    """Topics of two runs side by side: `pairs` of places with their divergence, and unmatched
    places on each side.

    `left` and `right` of a pair are places in the two contents; `divergence` is in nats, 0 to log
    2.
    """

    pairs: tuple[tuple[int, int, float], ...]
    only_left: tuple[int, ...]
    only_right: tuple[int, ...]


def run_rows(
    runs: Sequence[KeptRun], ticked: Sequence[str], sizes: Mapping[str, Size] = NO_SIZES
) -> list[dict[str, Any]]:
    """Rows of the table: values as text in the order of `COLUMNS`, except the first."""
    colors = run_colors(ticked)
    return [
        {
            "key": run.key,
            "name": run.name,
            "label": run.label,
            "title": run.title,
            "color": colors.get(run.key, ""),
            "is_ticked": run.key in ticked,
            "cells": [
                title_corpus(run.corpus_name),
                write_score(run.heldout),
                f"{run.num_topics:,}",
                *quality_cells(run.quality),
                f"{run.documents_seen:,}"
                + only_if(run.status != "finished", f" of {run.documents_total:,}"),
                f"{run.seconds:.1f}",
                str(run.settings.get("seed", "")),
                describe_time(run).replace(" ", "\n"),
                f"{sum(sizes.get(run.key, NO_SIZE)) / 1e6:.1f}",
            ],
            "has_model": sizes.get(run.key, NO_SIZE).model > 0,
            "note": "; ".join(
                filter(
                    None, (run.sweep, describe_changes(run), only_if(not run.num_topics, NO_TOPIC))
                )
            ),
        }
        for run in runs
    ]


def quality_cells(quality: Mapping[str, float]) -> tuple[str, str, str]:
    """Mean NPMI, share of topics below zero, and diversity as text, if they were measured."""
    if not quality:
        return "", "", ""
    return (
        write_score(quality["weighted_npmi"]),
        f"{100 * quality['below_zero']:.0f} %",
        f"{quality['diversity']:.2f}",
    )


def describe_changes(run: KeptRun) -> str:
    """Say what was changed during a run, and whether it ended early."""
    changes = "; ".join(f"{text} after {seen:,} documents" for seen, text in run.changes)
    early = only_if(run.status != "finished", "ended early")
    return ", ".join(filter(None, [early, only_if(changes, f"changed during the run: {changes}")]))


def describe_end(run: KeptRun) -> str:
    """Say that a run ended early, and after how many documents."""
    read = f"{run.documents_seen:,} of {count(run.documents_total, 'document')}"
    return f"{run.title} ended early, after {read}: its topics are those of that moment."


def describe_time(run: KeptRun) -> str:
    """The time (UTC) at which a run was kept."""
    return run.kept_at[:16].replace("T", " ")


def run_colors(keys: Sequence[str]) -> dict[str, str]:
    """Give each run a colour by the order in which runs were selected."""
    return {key: topic_color(3 * place) for place, key in enumerate(keys)}


def kept_progress(run: KeptRun, content: KeptContent) -> Progress:
    """A kept run in the form in which the live curves draw earlier runs."""
    return Progress(
        run_id=(run.key, run.title),
        corpus_name=run.corpus_name,
        documents_total=run.documents_total,
        documents_seen=run.documents_seen,
        steps=content.steps,
        heldout=content.heldout,
        next_batch=content.next_batch,
        label=run.title,
    )


def overlay_frame(chosen: Sequence[tuple[KeptRun, KeptContent]], axis: str) -> pd.DataFrame:
    """Held-out curves, one row per run: columns key, title, corpus, color, arrays x, y."""
    colors = run_colors([run.key for run, _ in chosen])
    rows = [
        (
            run.key,
            run.title,
            title_corpus(run.corpus_name),
            colors[run.key],
            axis_values(content.heldout[AXES[axis]]),
            np.asarray(content.heldout["nats_per_word"], float),
        )
        for run, content in chosen
        if len(content.heldout)
    ]
    return pd.DataFrame(rows, columns=["key", "title", "corpus", "color", "x", "y"])


def differing_settings(left: KeptRun, right: KeptRun) -> pd.DataFrame:
    """All differences between two runs: columns what, left, right, as text."""
    ours, theirs = map(_everything, (left, right))
    rows = [
        (
            name_setting(name, SYMBOLS.get(name, "")),
            ours.get(name, NO_SUCH_SETTING),
            theirs.get(name, NO_SUCH_SETTING),
        )
        for name in dict.fromkeys((*ours, *theirs))
        if ours.get(name) != theirs.get(name)
    ]
    return pd.DataFrame(rows, columns=["what", "left", "right"])


def _everything(run: KeptRun) -> dict[str, str]:
    algorithm = next((each for each in engine.REGISTRY if each.name == run.algorithm), None)
    settings = dict(run.settings)
    title = run.algorithm
    if algorithm is not None:
        title = algorithm.title
        # A run without passes of its own has those of its algorithm.
        if settings.get("passes") is None:
            settings["passes"] = algorithm.passes
    known = {"corpus": title_corpus(run.corpus_name), "algorithm": title}
    known |= _as_text(run.config) | _as_text(settings)
    known |= {f"version of {name}": str(number) for name, number in run.versions.items()}
    return known | {"changed or ended early": describe_changes(run) or "no"}


def _as_text(values: Mapping[str, Any]) -> dict[str, str]:
    return {name: format_value(value) for name, value in values.items()}


def choose_pair(runs: Sequence[KeptRun]) -> tuple[KeptRun, KeptRun] | None:
    """Two different runs of these, newest first: left and right; None if there are fewer than two.

    The right one is the newest that has finished. The left one has finished, if there is such a
    run, then differs from it in a setting, then has the same corpus, and is the newest of these.
    """
    if len(runs) < 2:
        return None
    right = min(runs, key=lambda run: run.status != "finished")
    others = [run for run in runs if run is not right]

    def miss(run: KeptRun) -> tuple[bool, bool, bool]:
        return (
            run.status != "finished",
            differing_settings(run, right).empty,
            run.corpus_name != right.corpus_name,
        )

    return min(others, key=miss), right


def keep_large(content: KeptContent) -> KeptContent:
    """The topics of a run that are at least a thousandth of it, the largest first."""
    order = np.argsort(-content.sizes, kind="stable")
    large = order[content.sizes[order] >= LEAST_SIZE]
    names = ("topic_ids", "weights", "shares", "top_words", "top_shares")
    return replace(content, **{name: getattr(content, name)[large] for name in names})


def describe_size(content: KeptContent, place: int) -> str:
    """The share of a topic.

    Its weight in the model, called so, where the documents have not been read.

    >>> from types import SimpleNamespace
    >>> describe_size(SimpleNamespace(is_read=False, sizes=[0.0423]), 0)
    'weight 4.2 %'
    """
    return f"{only_if(not content.is_read, 'weight ')}{100 * content.sizes[place]:.1f} %"


def match_runs(left: KeptContent, right: KeptContent) -> MatchedTopics:
    """Match the topics of two runs one to one, with the smallest sum of divergences of their most
    probable words.

    Each topic is the distribution of its fifty most probable words, rescaled to sum to 1. Words are
    compared by spelling, so runs on different vocabularies can be matched. The pairs with the
    largest left topics come first.
    """
    places = {str(word): place for place, word in enumerate(np.union1d(left.words, right.words))}
    distances = divergences_between(_word_shares(left, places), _word_shares(right, places))
    pairs = sorted(match_topics(distances), key=lambda pair: -left.sizes[pair[0]])
    ours, theirs = np.array(pairs, int).reshape(-1, 2).T
    return MatchedTopics(
        pairs=tuple((i, j, float(distances[i, j])) for i, j in pairs),
        only_left=tuple(np.setdiff1d(np.arange(len(left.topic_ids)), ours).tolist()),
        only_right=tuple(np.setdiff1d(np.arange(len(right.topic_ids)), theirs).tolist()),
    )


def _word_shares(content: KeptContent, places: Mapping[str, int]) -> csr_array:
    """The topics (U, W) as distributions over the words of both runs."""
    num_topics, number = content.top_words.shape
    columns = np.array([places[str(word)] for word in content.words], np.int64)
    shares = content.top_shares.astype(np.float64)
    shares /= np.maximum(shares.sum(1, keepdims=True), 1e-300)
    rows = np.repeat(np.arange(num_topics), number)
    return csr_array(
        (shares.ravel(), (rows, columns[content.top_words.ravel()])),
        shape=(num_topics, max(1, len(places))),
    )


def topic_words(content: KeptContent, place: int) -> list[str]:
    """The most probable words of a topic, limited to the number shown."""
    return [str(content.words[word]) for word in content.top_words[place, :NUM_SHOWN_WORDS]]


def all_words(content: KeptContent, place: int) -> set[str]:
    """All kept words of a topic."""
    return {str(content.words[word]) for word in content.top_words[place]}


def topic_title(run: KeptRun, content: KeptContent, place: int) -> str:
    """Return the name given to a topic, else its label, else "topic" with its id."""
    topic_id = str(content.topic_ids[place])
    return run.topic_names.get(topic_id) or run.topic_labels.get(topic_id) or f"topic {topic_id}"
