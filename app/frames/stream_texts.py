"""What the page says about a stream without an end, as text. Pure."""

from typing import NamedTuple

from stickbreaker.app.frames.progress_frames import date_text
from stickbreaker.app.model.counting import agree, count, only_if
from stickbreaker.app.model.progress import Progress, StreamFacts


class Fact(NamedTuple):
    """A line about a stream: what it is, and its value; `words` are listed below it."""

    label: str
    value: str
    words: str = ""


def describe_stream(progress: Progress, stream: StreamFacts) -> str:
    """Say in one sentence what is followed, and how far it has come."""
    name = progress.corpus_name
    if not progress.documents_seen:
        if progress.status == "compiling":
            return f"About to follow {name}."
        waiting = f"{stream.num_waiting:,} of {count(stream.batch_size, 'document')}"
        have = agree(stream.num_waiting, "has", "have")
        return f"Waiting for documents: {waiting} {have} arrived."
    verb = "Followed" if progress.status == "failed" else "Following"
    last = date_text(progress.date, has_times=True)
    how = only_if(last, f", the last {'of' if stream.is_dated else 'at'} {last}")
    return f"{verb} {name}: {count(progress.documents_seen, 'document')} read{how}."


def name_recent(stream: StreamFacts) -> str:
    """Name the last mini-batches.

    >>> name_recent(StreamFacts(batch_size=256, num_batches=2, num_documents=512))
    'the last 512 documents'
    """
    return f"the last {count(stream.num_documents, 'document')}"


def list_facts(stream: StreamFacts) -> list[Fact]:
    """List what is waiting, and the words and tokens of the last mini-batches."""
    waiting = f"{stream.num_waiting:,} of {count(stream.batch_size, 'document')}"
    facts = [Fact(label="Next mini-batch", value=f"{waiting} so far")]
    if not stream.num_batches:
        return facts
    share = 100 * stream.num_left_out / max(1, stream.num_tokens)
    return [
        *facts,
        Fact(label="Vocabulary", value=count(stream.num_words, "word")),
        Fact(
            label="New words",
            value=f"{stream.num_new:,}",
            words=_list_words(stream.new_words, stream.num_new),
        ),
        Fact(
            label="Dropped words",
            value=f"{stream.num_dropped:,}",
            words=_list_words(stream.dropped_words, stream.num_dropped),
        ),
        Fact(
            label="Left out",
            value=f"{stream.num_left_out:,} of {count(stream.num_tokens, 'token')} ({share:.1f} %)",
        ),
    ]


def _list_words(words: tuple[str, ...], number: int) -> str:
    more = only_if(number > len(words), f" and {number - len(words):,} more")
    return ", ".join(words) + more
