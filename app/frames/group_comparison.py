"""Two kept runs by group of documents: held-out scores, and shares of matched topics. Pure."""

from html import escape
from typing import NamedTuple

import numpy as np
import pandas as pd

from stickbreaker.app.frames.compare_frames import keep_large, match_runs, topic_title
from stickbreaker.app.frames.progress_frames import topic_choices
from stickbreaker.app.model.counting import count, only_if
from stickbreaker.app.model.grouped_runs import GroupedRun, GroupJob, keep_largest
from stickbreaker.engine.evaluation.group_scores import DocScores, score_frame
from stickbreaker.engine.evaluation.group_shares import Groups

SIDES = ("left", "right")
# No group has this name.
ALL = ""


def describe_comparison(job: GroupJob) -> str:
    """Say how far a comparison is, or why there is none; empty once it is ready."""
    texts = {
        "waiting": job.message or "Waiting.",
        "working": f"Reading the documents with both models: {100 * job.share:.0f} %.",
        "cancelled": "The comparison was cancelled.",
        "failed": f"The runs could not be compared. {job.message}",
    }
    return texts.get(job.status, "")


def has_same_words(left: GroupedRun, right: GroupedRun) -> bool:
    """Whether two runs were scored on the same held-out words."""
    return (
        left.run.corpus_name == right.run.corpus_name
        and left.run.settings.get("seed") == right.run.settings.get("seed")
        and np.array_equal(left.doc_ids, right.doc_ids)
        and np.array_equal(left.scores.tokens, right.scores.tokens)
    )


def score_table(left: GroupedRun, right: GroupedRun) -> pd.DataFrame:
    """The held-out scores of two runs: all documents, then the groups with the most held-out words.

    Columns group, documents and tokens (held out; of the left run, or of the right one where it has
    none), left, left_error, right, right_error (nats per held-out word and standard errors), and,
    if both runs were scored on the same words, difference (right - left), difference_error, low,
    high (its 95 % interval).
    """
    frames = [_score(side.scores, side.groups) for side in (left, right)]
    table = frames[0].merge(frames[1], on="group", how="outer", suffixes=("_left", "_right"))
    parts = {"group": table["group"]}
    for name in ("documents", "tokens"):
        parts[name] = table[f"{name}_left"].fillna(table[f"{name}_right"]).astype(np.int64)
    for side in SIDES:
        parts[side] = table[f"nats_per_word_{side}"]
        parts[f"{side}_error"] = table[f"standard_error_{side}"]
    table = pd.DataFrame(parts)
    if has_same_words(left, right):
        nats = right.scores.nats - left.scores.nats
        gained = _score(DocScores(nats, left.scores.tokens), left.groups)
        names = {"nats_per_word": "difference", "standard_error": "difference_error"}
        gained = gained.rename(columns=names).drop(columns=["documents", "tokens"])
        table = table.merge(gained, on="group")
    is_all = table["group"] == ALL
    rest = table[~is_all].sort_values("tokens", ascending=False, kind="stable")
    table = pd.concat([table[is_all], rest], ignore_index=True)
    return table.replace({"group": {ALL: "All documents"}})


def _score(scores: DocScores, groups: Groups) -> pd.DataFrame:
    """The scores of all documents and of the groups with the most held-out tokens."""
    whole = Groups(np.zeros(len(scores.nats), np.int64), (ALL,), groups.texts)
    largest = keep_largest(groups, scores.tokens)
    frames = [score_frame(scores, each) for each in (whole, largest)]
    return pd.concat(frames, ignore_index=True)


def describe_held_out(left: GroupedRun, right: GroupedRun) -> str:
    """Say which groups have held-out documents, and why there may be no difference."""
    scored = np.unique(left.groups.of_document[left.scores.tokens > 0])
    scored = scored[scored >= 0]
    texts = []
    if len(scored) < left.num_groups:
        texts.append(
            f"{len(scored):,} of {count(left.num_groups, 'group')} have held-out documents."
        )
    if not has_same_words(left, right):
        texts.append("No differences: the held-out words of the two runs are not the same.")
    return " ".join(texts)


def score_html(table: pd.DataFrame) -> str:
    """A frame of `score_table` as a table; a difference beyond its interval is bold."""
    has_difference = "difference" in table
    heads = ["Left run", "Right run", *(["Right − left"] if has_difference else [])]
    rows = []
    for row in table.to_dict("records"):
        cells = [_write(row[side], row[f"{side}_error"]) for side in SIDES]
        if has_difference:
            text = _write(row["difference"], row["difference_error"], "+")
            is_far = row["low"] > 0 or row["high"] < 0
            cells.append(f"<b>{text}</b>" if is_far else text)
        documents = count(row["documents"], "document")
        rows.append(
            f"<tr><th scope='row'>{escape(row['group'])}<br><small>{documents}</small></th>"
            f"{''.join(f'<td>{cell}</td>' for cell in cells)}</tr>"
        )
    columns = "".join(f"<th scope='col'>{head}</th>" for head in ("Group", *heads))
    return f"<table><thead><tr>{columns}</tr></thead><tbody>{''.join(rows)}</tbody></table>"


def _write(value: float, error: float, sign: str = "") -> str:
    """A score with its standard error, where it has one.

    >>> _write(-7.25, 0.0123), _write(0.02, float("nan"), "+"), _write(float("nan"), 0.0)
    ('−7.250 ±\xa00.012', '+0.020', '–')
    """
    if np.isnan(value):
        return "–"
    text = f"{value:{sign}.3f}".replace("-", "−")
    return text + only_if(not np.isnan(error), f" ±\u00a0{error:.3f}")


class Matched(NamedTuple):
    """Ids of two matched topics, the title of the right one, and their divergence in nats."""

    left: int
    right: int
    partner: str
    divergence: float


def matched_choices(left: GroupedRun, right: GroupedRun) -> dict[str, Matched]:
    """Choices of a menu: matched topics, by the title and share of the left one."""
    contents = [keep_large(side.content) for side in (left, right)]
    pairs = match_runs(*contents).pairs
    found = {}
    titles = []
    for i, j, divergence in pairs:
        ours, theirs = (int(each.topic_ids[k]) for each, k in zip(contents, (i, j), strict=True))
        partner = topic_title(right.run, contents[1], j)
        found[ours] = Matched(ours, theirs, partner, divergence)
        titles.append((ours, topic_title(left.run, contents[0], i)))
    choices = topic_choices(titles, [contents[0].sizes[i] for i, _, _ in pairs])
    return {text: found[ours] for text, ours in choices.items()}


def matched_frame(left: GroupedRun, right: GroupedRun, pair: Matched) -> pd.DataFrame:
    """The shares of two matched topics in each group, in falling order of their mean.

    Columns group, side ("left" or "right"), share, low, high, documents, whole; a row for each
    group and side.
    """
    frames = []
    for name, side, topic_id in zip(SIDES, (left, right), pair[:2], strict=True):
        frame = side.shares[side.shares["topic_id"] == topic_id].drop(columns="topic_id")
        frame.insert(1, "side", name)
        frames.append(frame)
    frame = pd.concat(frames, ignore_index=True)
    means = frame.groupby("group")["share"].mean()
    order = frame["group"].map(means)
    return frame.iloc[np.argsort(-order, kind="stable")].reset_index(drop=True)
