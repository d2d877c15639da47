"""The recorded run is one of the present engine, and stands in only for a run like it."""

from dataclasses import replace

import numpy as np
import pytest

from data.record_run import record_run
from stickbreaker import engine
from stickbreaker.app.frames.summary_texts import describe_reading
from stickbreaker.app.model.progress import Progress
from stickbreaker.app.model.recorded_run import (
    FILE,
    FOLLOWS,
    HELD,
    WAITS,
    can_stand_in,
    read_recording,
    stand_in,
)
from stickbreaker.app.model.replay import REPLAYED, can_replay, rewind
from stickbreaker.app.server.service import CORPUS_NAME, first_spec
from stickbreaker.engine.corpora.bundled import find_data_folder
from stickbreaker.engine.runs import checkpoint

MOST_BYTES = 1_000_000
# Between two processors, whose sums are rounded differently, a score differs by less; a change of
# the engine that matters to a reader moves it by more.
MOST_NATS = 0.02


@pytest.fixture(scope="module")
def corpus():
    return engine.load_corpus(CORPUS_NAME)


@pytest.fixture(scope="module")
def recorded(corpus):
    return read_recording(corpus)


def own_progress(**changed):
    spec = first_spec()
    own = Progress(
        version=7,
        run_id=3,
        status="compiling",
        message="2 of 9, digamma",
        compile_share=0.2,
        corpus_name=spec.corpus_name,
        algorithm=spec.algorithm.name,
        config=spec.config,
        settings=spec.settings,
    )
    return replace(own, **changed)


def test_the_recorded_run_is_small_and_has_no_model():
    path = find_data_folder() / FILE
    assert path.stat().st_size < MOST_BYTES
    assert checkpoint.load(path).state is None


def test_the_present_engine_learns_what_was_recorded(corpus, recorded):
    now = record_run(first_spec(), corpus).notes
    then = checkpoint.load(find_data_folder() / FILE).notes
    assert now.keys() == then.keys()
    assert (now["steps.documents_seen"] == then["steps.documents_seen"]).all()
    differences = now["heldout.nats_per_word"] - then["heldout.nats_per_word"]
    assert abs(differences).max() < MOST_NATS, "Run python -m data.record_run"
    last = recorded.columns[-1]
    words = now[f"column.{len(recorded.columns) - 1}.top_words"]
    largest = np.argsort(-last.expected_tokens)[:10]
    same = [len(np.intersect1d(words, last.top_words[row])) for row in largest]
    assert np.mean(same) >= 8


def test_the_recorded_run_can_be_replayed_and_says_what_it_is(recorded):
    shown = stand_in(recorded, own_progress())
    assert can_replay(shown)
    assert (shown.status, shown.compile_share, shown.version) == ("compiling", 0.2, 7)
    assert shown.message == f"{WAITS} 2 of 9, digamma"
    first = rewind(shown, recorded.columns[0].documents_seen)
    assert (first.status, len(first.columns)) == (REPLAYED, 1)
    for each in (first, shown):
        assert describe_reading(each).startswith(f"Recorded on {recorded.recorded_on}. Re")
    assert stand_in(recorded, own_progress(status="paused")).message == HELD
    assert stand_in(recorded, own_progress(status="running", documents_seen=256)).message == FOLLOWS


@pytest.mark.parametrize(
    "changed",
    [
        {"status": "failed"},
        {"corpus_name": "rfc"},
        {"algorithm": "lda"},
        {"config": replace(first_spec().config, max_topics=20)},
        {"settings": engine.RunSettings(seed=1)},
        {"config": None},
    ],
    ids=lambda changed: next(iter(changed)),
)
def test_the_recorded_run_stands_in_only_for_a_run_like_it(recorded, changed):
    assert can_stand_in(recorded, own_progress())
    assert can_stand_in(recorded, own_progress(config=recorded.config))
    assert not can_stand_in(recorded, own_progress(**changed))
