import threading
import time
from dataclasses import FrozenInstanceError, replace

import numpy as np
import pytest

from stickbreaker.app.model.limits import RUN_MEMORY
from stickbreaker.app.model.page_notes import read_status
from stickbreaker.app.model.record import SLOW_SECONDS
from stickbreaker.app.model.run_spec import LiveSettings, RunSpec
from stickbreaker.app.model.run_store import RunStore
from stickbreaker.app.model.topic_names import NamedTopic, TopicNameError, TopicNames
from stickbreaker.app.server.compiling import Compilation
from stickbreaker.app.server.cpu_queue import CpuQueue
from stickbreaker.app.server.runner import LONG_PAUSE_SECONDS, MAX_EARLIER, PAUSE, PUBLISH_SECONDS
from stickbreaker.engine import Corpus, RunSettings, TopicEdit, Vocabulary, prepare, run
from stickbreaker.engine.runs.compile import LEARNS
from stickbreaker.engine.schedules import TOKENS_OF_A_TOPIC
from tests.app.small_runs import HDP, SETTINGS, Watched, load_small, open_spec, small_spec
from tests.patience import limit


class Saving(RunStore):
    """Lists the positions of runs that have learned."""

    def __init__(self, saved):
        self._saved = saved

    def save(self, checkpoint):
        if checkpoint.documents_seen:
            self._saved.append(checkpoint)


class Naming(RunStore):
    """Keeps the names of topics only."""

    def __init__(self, names):
        self.keep_names, self.find_names = names.change, names.read


def test_a_run_goes_through_the_whole_stream_and_finishes(make_runner, until):
    runner = make_runner()
    runner.restart(small_spec())
    until(lambda: runner.progress.status == "finished")
    progress = runner.progress
    assert progress.documents_seen == 100
    assert progress.documents_total == 100
    assert progress.share_done == 1.0
    assert len(progress.steps) == len(progress.heldout) == len(progress.next_batch) == 10
    assert [c.documents_seen for c in progress.columns] == [50, 100]
    assert progress.planned_columns == ()


def test_a_step_learns_from_one_mini_batch_and_pauses(make_runner, until):
    watched, runner = Watched(), make_runner()
    runner.restart(watched.spec(), is_running=False)
    until(lambda: runner.progress.status == "ready" and runner.progress.documents_total == 100)
    assert runner.progress.planned_columns == (50, 100)
    runner.step()
    until(lambda: runner.progress.documents_seen == 10 and runner.progress.status == "paused")
    runner.step()
    runner.step()
    until(lambda: runner.progress.documents_seen == 30 and runner.progress.status == "paused")
    assert len(watched.configs) == len(runner.progress.heldout) == 3


@pytest.mark.parametrize(
    ("pace", "states"), [(None, [("running", 10), ("paused", 10)]), (0.0, [("paused", 10)])]
)
def test_the_first_mini_batch_is_saved_at_once_but_not_at_full_speed(
    pace, states, make_runner, until
):
    saved = []
    runner = make_runner(store=Saving(saved))
    runner.set_pace(pace)
    runner.restart(small_spec(), is_running=False)
    until(lambda: runner.progress.documents_total == 100)
    runner.step()
    until(lambda: saved and read_status(saved[-1]) == "paused")
    assert [(read_status(each), each.documents_seen) for each in saved] == states


def test_a_step_takes_one_mini_batch_when_nothing_is_scored_or_listed(make_runner, until):
    runner = make_runner()
    quiet = replace(SETTINGS, num_evaluations=0, num_moments=0, score_next_batch=False)
    runner.restart(replace(small_spec(), settings=quiet), is_running=False)
    for seen in (10, 20, 30):
        runner.step()
        until(
            lambda seen=seen: (
                runner.progress.documents_seen == seen and runner.progress.status == "paused"
            )
        )
    assert len(runner.progress.steps) == 3
    assert len(runner.progress.heldout) == 0
    assert len(runner.progress.next_batch) == 0


def test_the_page_and_the_engine_learn_the_same_bits_from_a_million_tokens(make_runner, until):
    corpus = million_tokens()
    assert corpus.num_tokens == 1_000_000
    spec = RunSpec(
        corpus.name, HDP, HDP.config(batch_size=900), RunSettings(num_test=200, num_evaluations=1)
    )
    runner = make_runner(load=lambda name: corpus)
    runner.restart(spec)
    until(lambda: is_finished(runner))
    prepared = prepare(HDP, spec.config, corpus, spec.settings)
    *_, last = run(prepared)
    # By a share of all tokens, as an estimate would have it, K is another.
    assert (
        corpus.num_tokens * prepared.corpus_size // corpus.num_documents // TOKENS_OF_A_TOPIC == 180
    )
    assert runner.progress.config.max_topics == prepared.config.max_topics == 171
    theirs, ours = (state.topic_counts.dense() for state in (last.state, runner.model().state))
    assert ours.tobytes() == theirs.tobytes()


def million_tokens():
    """2,000 documents of uneven length, 1,000,000 tokens in all."""
    rng = np.random.default_rng(3)
    sizes = rng.multinomial(1_000_000, rng.dirichlet(np.full(2000, 0.05)))
    counts = np.array([rng.multinomial(size, np.full(30, 1 / 30)) for size in sizes])
    dates = np.full(2000, "NaT", "datetime64[Y]")
    return Corpus(
        "uneven", counts, Vocabulary(tuple(f"word{i}" for i in range(30))), dates, ("",) * 2000
    )


def test_a_paused_run_waits_until_it_is_resumed(make_runner, until):
    gate = threading.Event()
    runner = make_runner()
    runner.restart(Watched(gate=gate).spec())
    until(lambda: runner.progress.status == "running")
    runner.pause()
    gate.set()
    until(lambda: runner.progress.status == "paused")
    assert runner.progress.documents_seen == 10
    runner.resume()
    until(lambda: runner.progress.status == "finished")


def test_the_first_step_is_announced_and_later_ones_if_steps_are_slow(make_runner, until):
    gate, told = threading.Event(), []
    watched = Watched(gate=gate)
    runner = make_runner(notify=lambda: told.append(runner.progress.work))
    runner.restart(watched.spec(batch_size=100), is_running=False)
    runner.resume()
    until(lambda: runner.progress.work)
    progress = runner.progress
    assert (progress.work, progress.documents_seen) == ("Pass 1 over all 100 documents", 0)
    assert 0.0 <= time.perf_counter() - progress.begun_at < limit(5.0)
    gate.set()
    until(lambda: runner.progress.status == "finished")
    assert runner.progress.work == ""
    gate.clear()
    runner.restart(watched.spec())
    until(lambda: runner.progress.work == "Learning from documents 1 to 10")
    time.sleep(SLOW_SECONDS)
    del told[:]
    gate.set()
    until(lambda: runner.progress.status == "finished")
    assert [text for text in told if text] == ["Learning from documents 11 to 20"]


def test_a_run_at_a_slow_pace_says_that_it_waits(make_runner, until):
    runner = make_runner()
    runner.set_pace(LONG_PAUSE_SECONDS)
    runner.restart(small_spec())
    until(lambda: runner.progress.documents_seen and runner.progress.message)
    assert runner.progress.message == PAUSE.format(LONG_PAUSE_SECONDS)
    assert (runner.progress.status, runner.progress.documents_seen) == ("running", 10)
    runner.set_pace(LONG_PAUSE_SECONDS / 1000)
    until(lambda: runner.progress.documents_seen > 10)
    assert runner.progress.message == ""


def test_a_live_setting_acts_from_the_next_mini_batch_and_leaves_a_mark(make_runner, until):
    watched, runner = Watched(), make_runner()
    runner.restart(watched.spec(), is_running=False)
    runner.step()
    until(lambda: runner.progress.documents_seen == 10)
    runner.configure(LiveSettings(forgetting_rate=0.8, batch_size=20))
    until(lambda: runner.progress.marks)
    runner.step()
    until(lambda: runner.progress.documents_seen == 30)
    assert [config.forgetting_rate for config in watched.configs] == [0.6, 0.8]
    (mark,) = runner.progress.marks
    assert (mark.documents_seen, mark.text) == (10, "κ 0.6 → 0.8, S 10 → 20")
    assert runner.progress.label == "Online HDP, κ 0.8, τ₀ 64, S 20, K 3, duplicates keep"


def test_two_changes_between_mini_batches_leave_one_mark_and_a_change_back_leaves_none(
    make_runner, until
):
    runner = make_runner()
    runner.restart(small_spec(), is_running=False)
    runner.step()
    until(lambda: runner.progress.documents_seen == 10)
    runner.configure(LiveSettings(delay=1.0))
    until(lambda: runner.progress.marks)
    runner.configure(LiveSettings(delay=2.0))
    until(lambda: runner.progress.config.delay == 2.0)
    assert [mark.text for mark in runner.progress.marks] == ["τ₀ 64 → 2"]
    runner.configure(LiveSettings(delay=64.0))
    until(lambda: not runner.progress.marks)


def test_settings_left_to_the_corpus_get_values_when_it_is_open(make_runner, until):
    watched, runner = Watched(), make_runner()
    runner.restart(watched.spec(open_spec), is_running=False)
    until(lambda: runner.progress.documents_total == 100)
    config = runner.progress.config
    assert (config.batch_size, config.delay) == (7, 7.0)
    assert runner.progress.label == "Online HDP, κ 0.6, τ₀ 7, S 7, K 3, duplicates keep"
    runner.step()
    until(lambda: runner.progress.documents_seen == 7)
    assert watched.configs == [config]


def test_a_chosen_setting_is_distinguished_and_can_be_left_to_the_corpus_again(make_runner, until):
    runner = make_runner()
    runner.restart(open_spec(), is_running=False)
    until(lambda: runner.progress.documents_total == 100)
    runner.configure(LiveSettings(batch_size=4))
    until(lambda: runner.progress.chosen == {"batch_size"})
    assert (runner.progress.config.batch_size, runner.progress.config.delay) == (4, 7.0)
    runner.configure(LiveSettings(forgetting_rate=0.6, batch_size=None, delay=None))
    until(lambda: runner.progress.chosen == {"forgetting_rate"})
    assert runner.progress.config == replace(open_spec().config, batch_size=7, delay=7.0)


def test_a_setting_changed_while_the_corpus_is_opened_is_kept_and_the_others_get_values(
    make_runner, until
):
    gate = threading.Event()

    def load_late(name):
        gate.wait(limit(60))
        return load_small(name)

    runner = make_runner(load=load_late)
    runner.restart(open_spec(), is_running=False)
    until(lambda: runner.progress.status == "opening")
    runner.configure(LiveSettings(batch_size=20))
    gate.set()
    until(
        lambda: runner.progress.chosen == {"batch_size"} and runner.progress.documents_total == 100
    )
    assert (runner.progress.config.batch_size, runner.progress.config.delay) == (20, 2.0)
    runner.step()
    until(lambda: runner.progress.documents_seen == 20)
    assert runner.progress.marks == ()


def test_a_corpus_that_is_being_opened_is_named(make_runner, until):
    said = []
    runner = make_runner(
        notify=lambda: said.append((runner.progress.status, runner.progress.message))
    )
    runner.restart(replace(small_spec(), corpus_name="rfc"))
    until(lambda: runner.progress.status == "finished")
    assert said[0] == ("opening", "Opening the corpus: Internet standards (RFCs)")


def test_a_setting_changed_before_the_first_mini_batch_needs_no_mark(make_runner, until):
    watched, runner = Watched(), make_runner()
    runner.restart(watched.spec(), is_running=False)
    runner.configure(LiveSettings(forgetting_rate=0.9))
    runner.step()
    until(lambda: runner.progress.documents_seen == 10)
    assert watched.configs[0].forgetting_rate == 0.9
    assert runner.progress.marks == ()


def test_a_refused_setting_raises_in_the_caller_and_does_not_change_the_run(make_runner, until):
    runner = make_runner()
    runner.restart(small_spec(), is_running=False)
    until(lambda: runner.progress.documents_total == 100)
    with pytest.raises(ValueError, match="from 0.5 to 1"):
        runner.configure(LiveSettings(forgetting_rate=2.0))
    assert runner.progress.status == "ready"


def test_a_failed_engine_is_reported_with_its_reason_and_keeps_what_it_computed(make_runner, until):
    runner = make_runner()
    runner.restart(Watched(fails_at=4).spec())
    until(lambda: runner.progress.status == "failed")
    progress = runner.progress
    assert progress.message == "FloatingPointError: a topic has become infinite"
    assert len(progress.steps) == 3
    assert progress.now is not None
    assert not runner.wants_to_run


def test_a_state_that_cannot_be_shown_is_a_failed_run_that_keeps_the_topics_before(
    make_runner, until
):
    spec = small_spec()

    def summarize_two(config, state):
        if state.step > 2:
            raise ZeroDivisionError("no topic is left")
        return spec.algorithm.summarize(config, state)

    runner = make_runner()
    runner.restart(
        replace(spec, algorithm=replace(spec.algorithm, summarize=summarize_two)), is_running=False
    )
    for seen in (10, 20):
        runner.step()
        until(lambda seen=seen: runner.progress.documents_seen == seen)
    until(lambda: runner.progress.status == "paused")
    runner.step()
    until(lambda: runner.progress.status == "failed")
    assert runner.progress.now.documents_seen == 20


def test_a_failed_run_can_be_restarted(make_runner, until):
    watched, runner = Watched(fails_at=2), make_runner()
    runner.restart(watched.spec())
    until(lambda: runner.progress.status == "failed")
    watched.fails_at = None
    runner.restart(watched.spec())
    until(lambda: runner.progress.status == "finished")


def test_a_restart_begins_again_and_keeps_the_run_before(make_runner, until):
    runner = make_runner()
    runner.restart(small_spec())
    until(lambda: runner.progress.status == "finished")
    runner.restart(small_spec(forgetting_rate=0.9), is_running=False)
    until(lambda: runner.progress.run_id == 2 and runner.progress.documents_total == 100)
    assert runner.progress.documents_seen == len(runner.progress.steps) == 0
    (before,) = runner.earlier
    assert (before.run_id, before.documents_seen, before.config.forgetting_rate) == (1, 100, 0.6)
    runner.forget_earlier()
    until(lambda: runner.earlier == ())


def test_a_name_of_a_topic_returns_with_a_run_of_the_same_settings_and_with_no_other(
    make_runner, until
):
    runner = make_runner()

    def restart(spec):
        number = runner.progress.run_id + 1
        runner.restart(spec)
        until(lambda: runner.progress.run_id == number and runner.progress.status == "finished")
        return dict(runner.progress.names)

    assert restart(open_spec()) == {}
    runner.rename(2, "war")
    until(lambda: runner.progress.names == {2: "war"})
    assert restart(open_spec()) == {2: "war"}
    assert restart(open_spec(forgetting_rate=0.9)) == {}
    assert restart(replace(open_spec(), settings=replace(SETTINGS, seed=1))) == {}
    assert restart(open_spec()) == {2: "war"}
    runner.rename(2, "")
    until(lambda: runner.progress.titles.get(2) != "war")
    assert not any(restart(open_spec()).values())


def test_names_given_after_a_change_of_settings_are_of_that_run_alone(make_runner, until):
    runner = make_runner()
    runner.restart(small_spec(), is_running=False)
    runner.step()
    until(lambda: runner.progress.documents_seen == 10)
    runner.rename(0, "before")
    runner.configure(LiveSettings(forgetting_rate=0.9))
    until(lambda: runner.progress.marks)
    runner.rename(1, "after")
    until(lambda: runner.progress.names == {0: "before", 1: "after"})
    runner.restart(small_spec())
    until(lambda: runner.progress.run_id == 2 and runner.progress.status == "finished")
    assert runner.progress.names == {0: "before"}


def test_names_of_a_corpus_return_at_the_end_of_a_run_of_other_settings_and_can_be_taken_back(
    make_runner, until, tmp_path
):
    kept = TopicNames(tmp_path)
    store = Naming(kept)
    runner = make_runner(store=store)
    runner.restart(open_spec())
    until(lambda: is_finished(runner))
    runner.rename(2, "war")
    until(lambda: kept.count("small") == 1)
    # As after a restart of the server: nothing is in memory.
    later = make_runner(store=store)
    later.restart(open_spec(forgetting_rate=0.9), is_running=False)
    later.step()
    until(lambda: later.progress.documents_seen > 0)
    assert later.progress.returned.num_sought == 0
    later.resume()
    until(lambda: is_finished(later) and later.progress.returned.num_sought == 1)
    assert dict(later.progress.returned.given) == dict(later.progress.names)
    assert set(later.progress.names.values()) == {"war"}
    later.undo_names()
    until(lambda: not later.progress.names)
    assert later.progress.returned.num_sought == 0
    assert [topic.name for topic in kept.read("small")] == ["war"]


def test_an_emptied_name_is_forgotten_and_a_replaced_one_of_a_match_is_not(
    make_runner, until, tmp_path
):
    kept = TopicNames(tmp_path)
    kept.change("small", [NamedTopic("flat", {f"word{i}": 0.05 for i in range(20)})])
    runner = make_runner(store=Naming(kept))
    runner.restart(open_spec())
    until(lambda: is_finished(runner) and runner.progress.names)
    ((topic_id, name),) = runner.progress.names.items()
    assert name == "flat"
    runner.rename(topic_id, "mine")
    until(lambda: [topic.name for topic in kept.read("small")] == ["flat", "mine"])
    runner.rename(topic_id, "")
    until(lambda: [topic.name for topic in kept.read("small")] == ["flat"])


def test_names_that_cannot_be_kept_are_reported_and_the_run_goes_on(make_runner, until):
    class Full(RunStore):
        def keep_names(self, *arguments):
            raise TopicNameError("The disk is full.")

        find_names = keep_names

    runner = make_runner(store=Full())
    runner.restart(open_spec())
    until(lambda: is_finished(runner) and runner.progress.returned.fault == "The disk is full.")
    runner.rename(0, "war")
    until(lambda: runner.progress.names == {0: "war"})
    assert runner.progress.returned.fault == "The disk is full."


def test_only_the_last_earlier_runs_are_kept(make_runner, until):
    runner = make_runner()
    for number in range(1, MAX_EARLIER + 3):
        runner.restart(small_spec())
        until(
            lambda number=number: (
                runner.progress.run_id == number and runner.progress.status == "finished"
            )
        )
    assert [progress.run_id for progress in runner.earlier] == list(range(2, MAX_EARLIER + 2))


def test_what_is_published_cannot_be_changed_and_its_version_only_grows(make_runner, until):
    seen = []
    runner = make_runner(notify=lambda: seen.append(runner.progress.version))
    runner.restart(small_spec())
    until(lambda: runner.progress.status == "finished")
    assert seen == sorted(set(seen))
    with pytest.raises(FrozenInstanceError):
        runner.progress.status = "paused"
    with pytest.raises(ValueError, match="read-only"):
        runner.progress.steps["seconds"][0] = 1.0
    with pytest.raises(ValueError, match="read-only"):
        runner.progress.now.weights[0] = 1.0


def test_a_fast_run_does_not_publish_every_step(make_runner, until):
    notifies = []
    runner = make_runner(notify=lambda: notifies.append(1))
    runner.restart(small_spec(batch_size=1))
    until(lambda: runner.progress.status == "finished")
    assert len(notifies) <= 6 + runner.progress.steps["seconds"][-1] / PUBLISH_SECONDS
    assert len(runner.progress.steps) == 100


def test_the_pace_separates_mini_batches_and_can_be_removed(make_runner, until):
    runner = make_runner()
    runner.set_pace(30.0)
    runner.restart(small_spec())
    until(lambda: runner.progress.documents_seen == 10)
    runner.set_pace(0.0)
    until(lambda: runner.progress.status == "finished")


def test_a_run_begins_when_the_kernels_of_its_first_mini_batch_are_compiled(make_runner, until):
    gate = threading.Event()

    def compile_slowly(algorithm, config, report):
        report(1, 4, LEARNS)
        gate.wait(limit(60))

    runner = make_runner(compilation=Compilation(compile_slowly))
    runner.restart(small_spec())
    until(lambda: runner.progress.status == "finished")
    gate.set()


def test_a_new_choice_is_compiled_once_before_its_run(make_runner, until):
    gate, asked = threading.Event(), []

    def compile_slowly(algorithm, config, report):
        asked.append((algorithm.name, config.start))
        report(1, 2, "local step")
        if config.start == "wang":
            gate.wait(limit(60))

    watched, runner = Watched(), make_runner(compilation=Compilation(compile_slowly))
    for config in ({}, {"max_topics": 5}):
        runner.restart(watched.spec(**config))
        until(
            lambda config=config: (
                runner.progress.config == small_spec(**config).config and is_finished(runner)
            )
        )
    num_learned = len(watched.configs)
    runner.restart(watched.spec(start="wang"))
    until(lambda: runner.progress.status == "compiling" and runner.progress.compile_share == 0.5)
    assert "for start wang" in runner.progress.message
    assert "1 of 2, local step" in runner.progress.message
    assert len(watched.configs) == num_learned
    gate.set()
    until(lambda: is_finished(runner))
    assert asked == [("hdp", "warm"), ("hdp", "wang")]


def is_finished(runner):
    return runner.progress.status == "finished"


def test_a_run_that_is_asked_to_learn_is_never_shown_as_ready(make_runner, until):
    cpu_queue, said = CpuQueue(1), []
    cpu_queue.take("another")
    runner = make_runner(cpu_queue=cpu_queue, notify=lambda: said.append(runner.progress.status))
    runner.restart(small_spec())
    until(lambda: "this run is next" in runner.progress.message)
    assert set(said) == {"waiting"}
    cpu_queue.leave("another")
    until(lambda: is_finished(runner))


def test_an_engine_that_cannot_be_compiled_is_a_failed_run(make_runner, until):
    def compile_slowly(algorithm, config, report):
        raise OSError("the cache folder is full")

    runner = make_runner(compilation=Compilation(compile_slowly))
    runner.restart(small_spec())
    until(lambda: runner.progress.status == "failed")
    assert "the cache folder is full" in runner.progress.message


def test_runs_beyond_the_number_of_cores_wait_and_say_so(make_runner, until):
    cpu_queue, gate = CpuQueue(1), threading.Event()
    first = make_runner(cpu_queue)
    first.restart(Watched(gate=gate).spec())
    until(lambda: first.progress.status == "running")
    second, third = make_runner(cpu_queue=cpu_queue), make_runner(cpu_queue=cpu_queue)
    second.restart(small_spec())
    until(lambda: second.progress.status == "waiting")
    third.restart(small_spec())
    until(lambda: third.progress.status == "waiting")
    assert "this run is next" in second.progress.message
    assert "1 more ahead" in third.progress.message
    first.pause()
    gate.set()
    until(lambda: second.progress.status == third.progress.status == "finished")


def test_a_corpus_that_cannot_be_loaded_is_a_failed_run(make_runner, until):
    def refuse(name):
        raise ValueError(f"no corpus {name}")

    runner = make_runner(load=refuse)
    runner.restart(small_spec())
    until(lambda: runner.progress.status == "failed")
    assert runner.progress.message == "ValueError: no corpus small"


def test_a_run_that_needs_too_much_memory_is_refused_before_it_starts(
    make_runner, until, monkeypatch
):
    monkeypatch.setenv(RUN_MEMORY.variable, "0.0000018")
    runner = make_runner()
    runner.restart(small_spec())
    until(lambda: runner.progress.status == "failed")
    said = (
        "This run needs about 2.4e-06 GB of memory, but the limit is 1.8e-06 GB: choose K of at"
        " most 2."
    )
    assert said in runner.progress.message
    monkeypatch.setenv(RUN_MEMORY.variable, "much")
    runner.restart(small_spec())
    until(lambda: "a number of gigabytes" in runner.progress.message)
    monkeypatch.setenv(RUN_MEMORY.variable, "1")
    runner.set_pace(0.0)
    runner.restart(small_spec())
    until(lambda: runner.progress.status == "finished")


def test_topics_are_edited_between_mini_batches_and_an_undo_goes_back(make_runner, until):
    runner = make_runner()
    runner.restart(small_spec())
    until(lambda: runner.progress.status == "finished")
    untouched = runner.progress
    runner.edit(TopicEdit("merge", (0, 2)))
    until(lambda: runner.progress.edits.done)
    assert runner.progress.edits.can_undo
    assert runner.progress.now.num_topics == untouched.now.num_topics - 1
    runner.extend()
    until(lambda: runner.progress.documents_seen == 200 and runner.progress.status == "finished")
    assert [each.kind for each in runner.progress.edits.done] == ["merge"]
    runner.undo_edit()
    until(lambda: not runner.progress.edits.done and runner.progress.status == "finished")
    assert runner.progress.documents_seen == 100
    np.testing.assert_array_equal(
        runner.progress.now.expected_tokens, untouched.now.expected_tokens
    )
    assert not runner.progress.edits.can_undo
    runner.undo_edit()


def test_a_run_that_learns_continues_after_an_edit_and_after_an_undo(make_runner, until):
    gate = threading.Event()
    watched = Watched(gate=gate)
    runner = make_runner()
    runner.restart(replace(watched.spec(), settings=replace(SETTINGS, passes=1)), is_running=False)
    until(lambda: runner.progress.documents_total == 100)
    gate.set()
    runner.step()
    until(lambda: runner.progress.documents_seen == 10 and runner.progress.status == "paused")
    runner.edit(TopicEdit("seed", (), ("word3",), "Third"))
    until(lambda: runner.progress.edits.done)
    assert runner.progress.names == {3: "Third"}
    runner.resume()
    until(lambda: runner.progress.status == "finished")
    assert runner.progress.documents_seen == 100
    runner.undo_edit()
    until(lambda: runner.progress.documents_seen == 10)
    assert runner.progress.names == {}


def test_an_edit_that_is_not_possible_is_explained_and_the_run_goes_on(make_runner, until):
    runner = make_runner()
    runner.restart(small_spec(), is_running=False)
    runner.edit(TopicEdit("remove", (0,)))
    until(lambda: "learn first" in runner.progress.edits.fault)
    runner.resume()
    until(lambda: runner.progress.status == "finished")
