"""What the page says about a stream."""

import numpy as np
import pytest

from stickbreaker.app.frames.stream_texts import Fact, describe_stream, list_facts
from stickbreaker.app.model.progress import Progress, StreamFacts

DATE = np.datetime64("2026-11-26T10:05:12")


@pytest.mark.parametrize(
    ("seen", "status", "is_dated", "says"),
    [
        (0, "compiling", False, "About to follow news.jsonl."),
        (0, "waiting", False, "Waiting for documents: 3 of 256 documents have arrived."),
        (
            12_345,
            "running",
            True,
            "Following news.jsonl: 12,345 documents read, the last of 2026-11-26 10:05.",
        ),
        (
            12_345,
            "running",
            False,
            "Following news.jsonl: 12,345 documents read, the last at 2026-11-26 10:05.",
        ),
        (
            256,
            "failed",
            True,
            "Followed news.jsonl: 256 documents read, the last of 2026-11-26 10:05.",
        ),
    ],
)
def test_one_sentence_says_what_is_followed_and_how_far_it_has_come(seen, status, is_dated, says):
    stream = StreamFacts(batch_size=256, num_waiting=3, is_dated=is_dated)
    progress = Progress(
        status=status, corpus_name="news.jsonl", documents_seen=seen, date=DATE, stream=stream
    )
    assert describe_stream(progress, stream) == says


def test_the_facts_list_words_and_say_how_many_more_there_are():
    stream = StreamFacts(
        batch_size=256,
        num_waiting=1,
        num_words=9_000,
        num_batches=10,
        num_documents=2_560,
        new_words=("storm", "flood"),
        num_new=1_202,
        num_tokens=20_000,
        num_left_out=500,
    )
    assert list_facts(stream) == [
        Fact("Next mini-batch", "1 of 256 documents so far"),
        Fact("Vocabulary", "9,000 words"),
        Fact("New words", "1,202", "storm, flood and 1,200 more"),
        Fact("Dropped words", "0"),
        Fact("Left out", "500 of 20,000 tokens (2.5 %)"),
    ]
    assert list_facts(StreamFacts(batch_size=256)) == [
        Fact("Next mini-batch", "0 of 256 documents so far")
    ]
