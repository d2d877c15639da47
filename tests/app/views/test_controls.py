import dataclasses
import time
from functools import partial
from types import SimpleNamespace

import numpy as np
import panel as pn
import param
import pytest

from stickbreaker.app.model.presets import COMPLETE_PRESETS, PRESETS
from stickbreaker.app.model.progress import Progress
from stickbreaker.app.model.replay import REPLAYED
from stickbreaker.app.model.run_spec import LiveSettings, RunSpec
from stickbreaker.app.state import RunState
from stickbreaker.app.views.controls import Controls
from stickbreaker.app.views.header import Header, StatusBar, describe_progress
from stickbreaker.app.views.rate_sketch import RateSketch, warn
from stickbreaker.app.widgets.sliders import show_value
from stickbreaker.engine import RunSettings, find_algorithm
from stickbreaker.engine.schedules import Forecast, forecast
from tests.app.small_runs import HDP, LDA, NAME, SETTINGS, open_spec, small_config, small_spec
from tests.app.views.test_views import progress as steps_progress

BATCH = find_algorithm("batch-hdp")


class Sketch(pn.viewable.Viewer):
    def show(self, algorithm, config, corpus_size, expected):
        self.shown = (config.forgetting_rate, expected.num_steps)

    def follow(self):
        pass

    def __panel__(self):
        return pn.Column()


@pytest.fixture
def acts():
    return []


def commands_into(acts, estimate_memory=lambda algorithm, config: 0):
    """Commands that only write down what was asked for."""
    names = ("configure", "restart", "clear", "open_bring")
    written = {name: lambda *values, name=name: acts.append((name, *values)) for name in names}
    return SimpleNamespace(**written, estimate_memory=estimate_memory)


@pytest.fixture
def header():
    return Header(RunState(), SimpleNamespace())


@pytest.fixture
def controls(acts):
    return Controls(
        RunState(), commands_into(acts), small_spec(batch_size=16), (NAME,), (HDP,), Sketch
    )


def progress_of(config, **values):
    names = {"version": 1, "run_id": 1, "corpus_name": NAME, "algorithm": "hdp"}
    return Progress(config=config, settings=SETTINGS, **names | values)


def test_every_preset_of_the_papers_can_be_shown_and_is_sent_whole(controls, acts):
    for preset in PRESETS:
        controls.choose(preset)
        assert controls.live_values() == acts[-1][1].given()
        assert acts[-1] == (
            "configure",
            LiveSettings(preset.forgetting_rate, preset.delay, preset.batch_size),
        )
    assert (PRESETS[0].forgetting_rate, PRESETS[0].delay, PRESETS[0].batch_size) == (0.6, 64.0, 256)


def test_the_name_of_a_preset_says_what_it_sets():
    assert [each.label for each in PRESETS][:2] == [
        "Wang 2011: κ 0.6, τ₀ 64, S 256",
        "Wang 2011, Table 1: κ 0.6, τ₀ 64, S 1024",
    ]


@pytest.mark.parametrize("preset", COMPLETE_PRESETS)
@pytest.mark.parametrize("before", ["hdp", "lda"])
def test_a_complete_preset_sets_everything_and_restarts(acts, preset, before):
    first = find_algorithm(before)
    algorithms = find_algorithm("hdp"), find_algorithm("lda")
    spec = RunSpec(NAME, first, first.config(), RunSettings())
    controls = Controls(RunState(), commands_into(acts), spec, (NAME, "other"), algorithms, Sketch)
    controls.forms[0].widgets["word_concentration"].value = 0.5
    controls.run_complete(preset)
    controls.corpus.value = "other"
    answers, _ = controls.read()
    assert acts == [("restart",)]
    assert controls.algorithm.value == "hdp"
    config = find_algorithm("hdp").config(**answers)
    assert config == find_algorithm("hdp").config(**preset.settings)


def test_a_slider_gets_a_new_place_for_a_value_between_its_places(controls):
    slider = controls.sliders["batch_size"]
    show_value(slider, 500)
    assert slider.value == 500
    assert sorted(slider.options) == slider.options


def test_the_controls_follow_a_run_changed_elsewhere_without_changing_it_back(controls, acts):
    controls.state.publish(
        progress_of(small_config(forgetting_rate=0.9, batch_size=64), corpus_size=1000)
    )
    assert controls.live_values() == {"forgetting_rate": 0.9, "delay": 64.0, "batch_size": 64}
    assert acts == []


def test_a_number_typed_during_a_restart_is_not_replaced_by_that_of_the_new_run(controls):
    field = controls.forms[0].widgets["max_topics"]
    controls.state.publish(progress_of(small_config(max_topics=3)))
    controls.apply()
    field.value = 5
    controls.state.publish(progress_of(small_config(max_topics=3), run_id=2))
    assert field.value == 5
    assert controls.read()[0]["max_topics"] == 5
    controls.apply()
    controls.state.publish(progress_of(small_config(max_topics=7), run_id=3))
    assert field.value == 7


def test_a_wrong_number_stays_with_its_reason_when_the_run_changes(controls):
    field = controls.forms[0].widgets["max_topics"]
    controls.state.publish(progress_of(small_config()))
    field.value = 9999
    assert controls.read() is None
    controls.state.publish(progress_of(small_config(), run_id=2))
    assert (field.value, field.error_state) == (9999, True)


OF_9384 = progress_of(small_config(delay=18.0, batch_size=256), corpus_size=9384)


@pytest.fixture
def open_controls(acts):
    return Controls(
        RunState(), commands_into(acts), open_spec(), (NAME, "larger"), (HDP, LDA), Sketch
    )


def test_settings_that_follow_the_corpus_size_are_shown_as_numbers_before_and_after_it_is_known(
    open_controls,
):
    assert open_controls.live_values() == {"forgetting_rate": 0.6, "delay": 64.0, "batch_size": 256}
    open_controls.state.publish(progress_of(open_spec().config))
    open_controls.state.publish(OF_9384)
    assert open_controls.live_values() == {"forgetting_rate": 0.6, "delay": 18.0, "batch_size": 256}
    assert open_controls.defaults.label == "Defaults for this corpus: κ 0.6, τ₀ 18, S 256"


def test_another_corpus_gets_its_own_defaults_except_for_what_a_person_has_set(open_controls, acts):
    open_controls.state.publish(OF_9384)
    config, _ = open_controls.read()
    assert (config["delay"], config["batch_size"]) == (18.0, 256)
    open_controls.corpus.value = "larger"
    config, _ = open_controls.read()
    assert (config["forgetting_rate"], config["delay"], config["batch_size"]) == (0.6, None, None)
    show_value(open_controls.sliders["batch_size"], 512)
    # Panel 1.10 notifies watchers of the new value already; Panel 1.9 waits for the browser.
    open_controls.sliders["batch_size"].param.trigger("value_throttled")
    assert {name for name, values in acts} == {"configure"}
    config, _ = open_controls.read()
    assert (config["delay"], config["batch_size"]) == (None, 512)


def test_a_corpus_and_an_algorithm_that_are_selected_stay_selected_when_a_run_starts(open_controls):
    open_controls.state.publish(OF_9384)
    open_controls.corpus.value = "larger"
    open_controls.algorithm.value = "lda"
    open_controls.state.publish(dataclasses.replace(OF_9384, run_id=2))
    assert (open_controls.corpus.value, open_controls.algorithm.value) == ("larger", "lda")
    open_controls.apply()
    open_controls.state.publish(dataclasses.replace(OF_9384, run_id=3))
    assert (open_controls.corpus.value, open_controls.algorithm.value) == (NAME, "hdp")


def move(controls, name, value):
    """Move a slider as a user does: the value comes first, and again when the slider is let go."""
    controls.sliders[name].value = value
    with param.edit_constant(controls.sliders[name]):
        controls.sliders[name].value_throttled = value


def test_a_slider_is_not_moved_back_while_the_run_is_late(controls):
    run = {"corpus_size": 1000}
    controls.state.publish(progress_of(small_config(forgetting_rate=0.6, batch_size=16), **run))
    move(controls, "forgetting_rate", 0.7)
    move(controls, "forgetting_rate", 0.8)
    shown = controls.sliders["forgetting_rate"]
    for late in (0.6, 0.7):
        config = small_config(forgetting_rate=late, batch_size=32 if late > 0.6 else 64)
        controls.state.publish(progress_of(config, **run))
        assert shown.value == 0.8
        assert "forgetting_rate" in controls.chosen
    controls.state.publish(progress_of(small_config(forgetting_rate=0.8, batch_size=32), **run))
    assert shown.value == 0.8
    controls.state.publish(progress_of(small_config(forgetting_rate=0.9, batch_size=32), **run))
    assert shown.value == 0.9


def test_a_slider_follows_another_page_that_changes_the_run_later(controls):
    run = {"corpus_size": 1000}
    controls.state.publish(progress_of(small_config(forgetting_rate=0.6), **run))
    move(controls, "forgetting_rate", 0.7)
    controls.state.publish(progress_of(small_config(forgetting_rate=0.95), **run))
    assert controls.sliders["forgetting_rate"].value == 0.95


def test_the_defaults_of_this_corpus_can_be_restored(open_controls, acts):
    open_controls.state.publish(OF_9384)
    open_controls.choose(PRESETS[-1])
    open_controls.choose_defaults()
    assert open_controls.live_values() == {"forgetting_rate": 0.6, "delay": 18.0, "batch_size": 256}
    assert acts[-1] == ("configure", LiveSettings(0.6, None, None))
    assert open_controls.chosen == frozenset()


def test_another_algorithm_brings_its_own_form_and_keeps_the_sliders(open_controls):
    open_controls.state.publish(OF_9384)
    open_controls.algorithm.value = "lda"
    config, _ = open_controls.read()
    assert LDA.config(**config) == LDA.config(delay=18.0, batch_size=256)
    assert "max_slots" not in open_controls.forms[0].widgets
    open_controls.state.publish(dataclasses.replace(OF_9384, version=9))
    assert open_controls.algorithm.value == "lda"


def test_a_form_with_a_fault_stops_a_restart_and_opens(controls):
    controls.state.publish(progress_of(small_config(batch_size=16), corpus_size=1000))
    controls.forms[0].widgets["max_topics"].value = 9999
    assert controls.read() is None
    assert controls.advanced.active == [0]
    controls.forms[0].widgets["max_topics"].value = 4
    config, settings = controls.read()
    assert (config["max_topics"], config["batch_size"], settings["passes"]) == (4, 16, None)


def test_the_page_warns_of_settings_that_learn_too_little_before_the_start():
    sketch = RateSketch(RunState())
    for size, is_warned in ((16, False), (4096, True)):
        config = small_config(batch_size=size)
        sketch.show(HDP, config, 10_000, forecast(HDP, config, 10_000, 1))
        assert ("role='status'" in sketch.text.object) is is_warned


def test_a_warning_names_what_is_wrong_and_what_to_do():
    assert warn(Forecast(37, 0.07, True), 9_384) == ""
    assert "warm-up does not end" in warn(Forecast(3, 0.7, False), 9_384)
    assert "lower κ" in warn(Forecast(10, 0.3, True), 9_384)


def test_no_smaller_steps_are_advised_where_documents_are_few():
    said = warn(Forecast(1, 0.0, False), 1)
    assert said == "Too few documents: 1. Use more passes or more documents."
    few = describe_progress(
        progress_of(small_config(), status="finished", corpus_size=1, documents_total=1)
    )
    assert few["documents"] == "0 of 1 document"
    assert "Too few documents: 1." in few["note"]
    assert "one paragraph per row" in few["note"]
    waiting = describe_progress(
        progress_of(small_config(), corpus_size=15, message="The next step waits.")
    )
    assert waiting["note"].endswith("per row. The next step waits.")
    assert describe_progress(progress_of(small_config(), corpus_size=16))["note"] == ""


def test_the_status_bar_says_how_far_the_stream_is():
    progress = progress_of(
        small_config(), status="running", phase="two-level", documents_seen=2_560, documents_total=9_445,
        num_held_out=1_000, date=np.datetime64("1863", "Y"), documents_per_second=158.7,
    )  # fmt: skip
    texts = describe_progress(progress)
    assert texts["state"] == "Running"
    assert texts["phase"] == ""
    assert texts["reading"] == "now at 1863"
    assert texts["documents"] == "2,560 of 9,445 documents, 1,000 held out"
    assert texts["speed"] == "159 a second"
    assert texts["share"] == pytest.approx(2_560 / 9_445, abs=1e-4)


def test_a_replay_shows_the_date_and_the_documents_of_its_moment(header):
    run = progress_of(
        small_config(), status="finished", phase="two-level", documents_seen=90, documents_total=90
    )
    run = dataclasses.replace(run, date=np.datetime64("2021", "Y"))
    moment = dataclasses.replace(
        run, status=REPLAYED, documents_seen=40, date=np.datetime64("1863", "Y")
    )
    header.state.param.update(progress=run, shown=moment)
    assert header.bar.state == "Finished"
    assert header.bar.reading == "replay at 1863"
    assert header.bar.documents == "40 of 90 documents"
    header.state.publish(run)
    assert (header.bar.reading, header.bar.documents) == ("read up to 2021", "90 of 90 documents")


def test_a_page_that_shows_a_state_shows_everything_that_led_to_it(header):
    running = progress_of(small_config(), status="running", documents_seen=30, documents_total=90)
    header.state.publish(running)
    sent, names = [], ["documents", "share", "state"]
    header.bar.param.watch(lambda *events: sent.append({event.name for event in events}), names)
    header.state.publish(dataclasses.replace(running, status="paused", documents_seen=60))
    assert sent == [{"documents", "share"}, {"state"}]


def test_the_warm_up_is_shown_and_explained_with_its_temperature():
    texts = describe_progress(progress_of(small_config(), phase="warm-up", temperature=1.84))
    assert texts["phase"] == "warm-up, temperature 1.8"
    assert "then the warm-up ends" in texts["phase_help"]
    assert describe_progress(progress_of(small_config(), phase="two-level"))["phase_help"] == ""


def test_a_failed_engine_is_reported_with_its_reason_and_an_empty_page_says_nothing_false():
    failed = describe_progress(Progress(status="failed", message="ValueError: too hot."))
    assert (
        failed["note"]
        == "The engine has stopped: ValueError: too hot. The results so far are below."
    )
    empty = describe_progress(Progress())
    assert empty["state"] == "Ready"
    assert empty["documents"] == ""
    assert empty["reading"] == ""
    assert empty["speed"] == ""


def test_a_running_step_is_shown_with_its_time_until_it_ends(header):
    began = time.perf_counter() - 40
    step = {"work": "Pass 1 over all 9,384 documents", "begun_at": began}
    header.state.publish(progress_of(small_config(), status="running", **step))
    assert header.bar.work == "Pass 1 over all 9,384 documents"
    assert 40 <= header.bar.work_seconds < 45
    header.state.publish(progress_of(small_config(), status="running"))
    assert header.bar.work == ""


def test_notes_appear_below_the_buttons_so_that_a_press_does_not_miss_them(header):
    assert header.__panel__() is header.bar
    assert header.bar.buttons is header.buttons
    places = [
        StatusBar._esm.index(part)
        for part in ("bar.append(buttons)", '"note", bar)', '"note work", bar)')
    ]
    assert places == sorted(places)


@pytest.mark.parametrize(
    ("status", "label"),
    [
        ("running", "Pause"),
        ("paused", "Run"),
        ("finished", "Another pass"),
        ("failed", "Run"),
        ("waiting", "Pause"),
    ],
)
def test_the_label_of_the_main_button_says_what_it_does(status, label, header):
    header.state.publish(progress_of(small_spec().config, status=status))
    assert header.run.label == label
    assert header.step.disabled == (status in ("finished", "failed"))
    assert header.run.disabled == (status == "failed")


def test_sliders_and_presets_without_a_setting_of_the_algorithm_are_hidden(acts):
    state = RunState()
    make_sketch = partial(RateSketch, state)
    controls = Controls(state, commands_into(acts), open_spec(), (NAME,), (HDP, BATCH), make_sketch)
    sketch = controls.sketch
    controls.state.publish(progress_of(small_config(delay=18.0, batch_size=256), corpus_size=1000))
    controls.algorithm.value = "batch-hdp"
    assert controls.live_values() == {}
    assert BATCH.config(**controls.read()[0]) == BATCH.config()
    hidden = (*controls.sliders.values(), controls.defaults)
    assert not any(part.visible for part in hidden)
    assert not sketch.is_shown
    controls.algorithm.value = "hdp"
    assert all(part.visible for part in hidden)
    assert sketch.is_shown
    assert controls.live_values().keys() == {"forgetting_rate", "delay", "batch_size"}
    assert acts == []


def test_a_slider_that_the_run_has_no_setting_for_changes_nothing():
    spec = RunSpec(NAME, BATCH, BATCH.config(), SETTINGS)
    assert spec.with_live(LiveSettings(delay=8.0)) == spec


def test_a_setting_that_follows_the_corpus_follows_the_next_one_too_unless_it_was_chosen(acts):
    spec = RunSpec(NAME, HDP, HDP.config(), SETTINGS)
    controls = Controls(RunState(), commands_into(acts), spec, (NAME, "larger"), (HDP,), Sketch)
    controls.state.publish(
        progress_of(small_config(max_topics=5, delay=18.0, batch_size=256), corpus_size=1000)
    )
    assert controls.read()[0]["max_topics"] == 5
    controls.corpus.value = "larger"
    assert controls.read()[0]["max_topics"] is None
    controls.forms[0].widgets["max_topics"].value = 7
    assert controls.read()[0]["max_topics"] == 7


def test_the_memory_that_an_algorithm_needs_is_shown_before_the_start(acts):
    commands = commands_into(
        acts, lambda algorithm, config: 25_400_000 if algorithm.name == "lda" else 0
    )
    controls = Controls(RunState(), commands, open_spec(), (NAME,), (HDP, LDA), Sketch)
    controls.state.publish(progress_of(small_config(batch_size=16, delay=1.0), corpus_size=64))
    assert "MB" not in controls.memory.object
    controls.algorithm.value = "lda"
    assert "about 25 MB here" in controls.memory.object


def test_after_the_first_pass_of_a_run_that_averages_the_page_says_that_some_sliders_have_no_effect(
    controls,
):
    def text_at(documents_seen, num_passes=3, **values):
        size = {
            "corpus_size": 1000,
            "documents_total": 1000 * num_passes,
            "documents_seen": documents_seen,
        }
        controls.state.publish(progress_of(small_config(**values), **size))
        return controls.learning_note.object

    assert text_at(500, 1) == "<p>Changes apply from the next mini-batch.</p>"
    assert "κ and τ₀ act in the first pass only" in text_at(500)
    assert "κ and τ₀ have no effect until a restart" in text_at(1000)
    assert text_at(1000, later_passes="forget") == "<p>Changes apply from the next mini-batch.</p>"


def test_the_sketch_of_a_page_that_opens_during_a_run_marks_its_present_step(acts):
    state = RunState()
    state.publish(steps_progress(3))
    controls = Controls(
        state, commands_into(acts), small_spec(), (NAME,), (HDP,), partial(RateSketch, state)
    )
    assert controls.sketch.plot.present.data["x"].tolist() == [3]
