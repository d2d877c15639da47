"""The sentences and the two numbers at the top of the live page. Pure: no widget, no plot."""

from collections.abc import Mapping
from dataclasses import replace
from typing import NamedTuple

from stickbreaker.app.frames.progress_frames import date_text, write_score
from stickbreaker.app.frames.stream_texts import describe_stream
from stickbreaker.app.model.checked_count import CountJob
from stickbreaker.app.model.counting import agree, count, only_if, span
from stickbreaker.app.model.progress import Progress, ReturnedNames, has_no_topic
from stickbreaker.app.model.replay import REPLAYED
from stickbreaker.engine.evaluation.held_out import rank_topics
from stickbreaker.engine.runs.count_check import CountCheck, Trend

OPENING = "The corpus is being opened."
NO_VALUE = "–"
NUM_LISTED_NAMES = 5
TRENDS = {
    Trend.STABLE: "",
    Trend.RISING: " The count is still rising.",
    Trend.FALLING: " The count is still falling.",
}
PLACES = {"running": "now", "paused": "paused at", "failed": "stopped at", REPLAYED: "at"}


class Figure(NamedTuple):
    """A number with its label and its unit, all as text."""

    label: str
    value: str
    unit: str


def describe_reading(progress: Progress) -> str:
    """Say in one sentence what is read, in which order, and how far the run has come."""
    if progress.stream is not None:
        return describe_stream(progress, progress.stream)
    if recorded_on := progress.recorded_on:
        progress = replace(progress, recorded_on="")
        if progress.status != REPLAYED:
            progress = replace(progress, status="finished")
        return f"Recorded on {recorded_on}. {describe_reading(progress)}"
    if not progress.corpus_size:
        return OPENING
    verb = "Reading" if progress.documents_seen else "About to read"
    verb = {"finished": "Read", REPLAYED: "Replay of reading"}.get(progress.status, verb)
    num_passes = round(progress.documents_total / progress.corpus_size)
    passes = only_if(num_passes > 1, f" {num_passes} times")
    read = f"{verb} {count(progress.corpus_size, 'document')}{passes}"
    if progress.reads_corpus:
        return f"{read}, all of them in each step."
    place = PLACES.get(progress.status)
    date = date_text(progress.date)
    where = only_if(place and date and progress.documents_seen, f": {place} {date}")
    return f"{read} {_describe_order(progress)}{where}."


def _describe_order(progress: Progress) -> str:
    if progress.settings is not None and progress.settings.order != "chronological":
        return "in shuffled order"
    if progress.date_span is None:
        return "in the order of the file"
    first, last = map(date_text, progress.date_span)
    return f"in date order, {only_if(first == last, 'all from ')}{span(first, last)}"


def list_figures(progress: Progress) -> tuple[Figure, Figure]:
    """Return the newest score and the number of topics in use; a dash before there is one.

    The score is that of the held-out documents, and in a stream that of the next mini-batch.
    """
    label = "Held-out log likelihood"
    scores = progress.heldout
    if progress.stream is not None:
        label = "Next-batch log likelihood"
        scores = progress.next_batch
    newest = number = NO_VALUE
    if len(scores):
        newest = write_score(scores["nats_per_word"][-1]) or NO_VALUE
    topics = progress.steps["num_topics"]
    if len(topics) and not has_no_topic(progress):
        now = progress.now
        number = f"{topics[-1]:,}"
        if now is not None and now.is_read:
            # The number that Topics has.
            number = f"{len(rank_topics(now.tokens)):,}"
    counted = f"Topics in use{only_if(progress.status != 'finished', ', so far')}"
    return (
        Figure(label=label, value=newest, unit="nats per held-out word"),
        Figure(label=counted, value=number, unit=""),
    )


def describe_check(job: CountJob, progress: Progress) -> str:
    """Say what the check of the number of topics has found or does, if there is one."""
    if job.status == "none" or job.run_id != progress.run_id:
        return ""
    if job.status == "failed":
        return f"The count could not be checked: {job.message}"
    if job.status == "cancelled":
        return "The check of the count was cancelled."
    if job.check is None:
        return job.message or "Checking the count with the Gibbs sampler …"
    is_old = job.documents_seen != progress.documents_seen
    model = f"the model after {count(job.documents_seen, 'document')}" if is_old else "this model"
    return (
        f"Gibbs sampler started from {model}:"
        f" {_describe_counts(job.check)}.{TRENDS[job.check.trend]}"
    )


def _describe_counts(check: CountCheck) -> str:
    low, high = check.interval
    number = f"{only_if(low != high, f'{low:,} to ')}{count(high, 'topic')} in use"
    documents = count(check.num_documents, "document")
    if check.num_documents < check.corpus_size:
        documents = (
            f"{check.num_documents:,} of {count(check.corpus_size, 'document')}, drawn at random"
        )
    return f"{number} over the last {len(check.last)} of {check.num_passes:,} passes ({documents})"


def describe_names(returned: ReturnedNames) -> str:
    """Say how many kept names the topics of a run were given, and what happens to the others.

    Empty without any.

    >>> describe_names(ReturnedNames({4: "war"}, 5)).partition(": ")[2]
    'war. The others are kept for later runs.'
    """
    if returned.fault:
        return returned.fault
    number = len(returned.given)
    total = returned.num_sought
    if not total:
        return ""
    names = f"{agree(total, 'name', count(total, 'name'))} kept for this corpus"
    if not number:
        kept = agree(total, "It is", "They are")
        return f"No topic of this run fits the {names}. {kept} kept for later runs."
    given = agree(
        number, "was given to the most similar topic", "were given to the most similar topics"
    )
    if number == total:
        return f"The {names} {given}: {_list(returned.given)}."
    return (
        f"{number} of {names} {given}: {_list(returned.given)}. The others are kept for later runs."
    )


def _list(given: Mapping[int, str]) -> str:
    """The first names, and how many others there are."""
    others = max(0, len(given) - NUM_LISTED_NAMES)
    first = ", ".join(list(given.values())[:NUM_LISTED_NAMES])
    return first + only_if(others, f" and {count(others, 'other')}")
