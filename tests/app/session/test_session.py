import asyncio
import gc
import weakref
from dataclasses import replace
from pathlib import Path
from threading import Event

import panel as pn
import panel_material_ui as pmui
import pytest
from bokeh.document import Document
from bokeh.models import ImportedStyleSheet
from panel.io.state import set_curdoc

from stickbreaker.app.export.offered import EXPORTS
from stickbreaker.app.frames.summary_texts import OPENING
from stickbreaker.app.model.limits import RUNS, TEXT_PROCESSES, UPLOAD
from stickbreaker.app.model.progress import Progress, ReturnedNames
from stickbreaker.app.model.recorded_run import FOLLOWS, HELD, WAITS
from stickbreaker.app.model.run_spec import LiveSettings
from stickbreaker.app.model.text_tasks import TextTaskRunner
from stickbreaker.app.model.topic_names import NamedTopic
from stickbreaker.app.server.compiling import Compilation
from stickbreaker.app.server.service import CORPUS_NAME, Service, load_by_name
from stickbreaker.app.session import page
from stickbreaker.app.session.page import keep_to_own_files, lay_out
from stickbreaker.app.session.session import Session
from stickbreaker.app.state import LIVE, PRESENTER, WATCHER
from stickbreaker.app.views import curves
from stickbreaker.app.widgets.layouts import Sight
from stickbreaker.engine import find_algorithm
from stickbreaker.engine.corpora.rows import CorpusError
from tests.app.browser_messages import send
from tests.app.small_runs import Compiled, load_small, small_corpus, small_spec
from tests.chaos.disks import Disk
from tests.patience import limit

TOPICS, EXPORT, HOOD = "Topics", "Export", "Under the hood"


def make_spec():
    return replace(small_spec(), corpus_name=CORPUS_NAME)


@pytest.fixture
def service(tmp_path, monkeypatch):
    monkeypatch.setenv("STICKBREAKER_DATA", str(tmp_path))
    service = Service(load_small, Compiled(), 2)
    yield service
    service.close()


@pytest.fixture
def session(service):
    document = Document()
    with set_curdoc(document):
        session = Session(service, make_spec)
        lay_out(session).server_doc(document)
        session.start()
        session.unfold()
        yield session
        session.stop()


def test_settings_that_are_open_are_drawn_in_the_message_that_draws_the_page(service):
    document = Document()
    with set_curdoc(document):
        session = Session(service, make_spec)
        lay_out(session).server_doc(document)
        session.start()
        session.drawer.is_open = True
        held = []
        session.side.param.watch(
            lambda event: held.append(document.callbacks.hold_value), "objects"
        )
        session.unfold()
        session.stop()
    assert held == ["combine"]


def test_a_page_begins_a_run_by_itself_and_follows_it(session, until):
    runner = session.run.runner
    until(lambda: runner.progress.documents_seen > 0)
    session.look()
    assert session.header.bar.status == runner.progress.status
    assert session.header.bar.documents.startswith(f"{runner.progress.documents_seen:,} of 100")


def test_a_page_says_that_its_run_is_not_saved_while_a_disk_is_full(session, until):
    runner = session.run.runner
    until(lambda: runner.progress.documents_seen > 0)
    session.commands.toggle()
    until(lambda: runner.progress.status == "paused")
    with Disk(fails_at=1, error="ENOSPC").between():
        runner.configure(LiveSettings(forgetting_rate=0.9))
        until(lambda: session.run.save_fault)
    session.look()
    assert "could not be saved: No space left on device. Free some space" in session.header.bar.note
    runner.configure(LiveSettings(forgetting_rate=0.8))
    until(lambda: not session.run.save_fault)
    session.look()
    assert "could not be saved" not in session.header.bar.note


def test_a_page_says_that_it_waits_before_it_has_joined_its_run(service):
    service.cpu_queue.take("one")
    service.cpu_queue.take("other")
    document = Document()
    with set_curdoc(document):
        bar = Session(service, make_spec).header.bar
    assert (bar.state, bar.status) == ("Waiting", "waiting")
    assert "this run is next" in bar.note


def test_failures_of_a_page_are_counted_in_the_log_of_the_server(
    service, session, until, monkeypatch, set_limit
):
    def fail(taken, path):
        raise OSError("no space for a secret")

    for _ in range(2):
        session.report(ValueError("secret"))
    until(lambda: session.run.runner.progress.documents_seen > 0)
    session.look()
    session.state.page = EXPORT
    view = session.pages[EXPORT].panel
    monkeypatch.setitem(EXPORTS, "curves", EXPORTS["curves"]._replace(write=fail))
    asyncio.run(view.take("curves"))
    session.bring.open()
    send(session.bring.mover, {"kind": "begin"})
    send(session.bring.mover, {"kind": "open", "name": "mine.csv", "size": 1e400, "folders": []})
    counts = service.events.counts()
    assert {event: counts[event] for event in ("page_error", "export_failed", "upload_failed")} == {
        "page_error": 1,
        "export_failed": 1,
        "upload_failed": 1,
    }
    monkeypatch.setenv(UPLOAD.variable, "0")
    send(session.bring.mover, {"kind": "open", "name": "mine.csv", "size": 1, "folders": []})
    set_limit(TEXT_PROCESSES, 0)
    with pytest.raises(CorpusError, match="0 pages are importing text"):
        asyncio.run(session.bring.text_tasks.ask(TextTaskRunner.look, Path("mine.csv"), {}))
    assert service.events.counts()["limit_reached"] == 2


def test_a_page_for_which_there_is_no_run_says_why_and_does_nothing(service, set_limit):
    set_limit(RUNS, 0)
    document = Document()
    with set_curdoc(document):
        session = Session(service, make_spec)
        lay_out(session).server_doc(document)
        session.start()
        session.unfold()
        assert session.run is None
        assert "This server has 0 runs in memory, which is its maximum" in session.header.bar.note
        session.commands.toggle()
        session.commands.restart()
        session.commands.share()
        session.look()
        for name in session.pages.titles:
            session.state.page = name
        session.stop()
    assert len(service) == 0


def test_a_page_takes_its_style_sheets_from_its_own_server():
    document = Document()
    with set_curdoc(document):
        keep_to_own_files(document)
        button = pmui.Button(label="Run").get_root(document)
    sheets = [sheet.url for sheet in button.select({"type": ImportedStyleSheet})]
    assert sheets
    assert all(url.startswith("static/extensions/panel/") for url in sheets)


def test_space_and_the_main_button_pause_and_continue_the_run(session, until):
    runner = session.run.runner
    until(lambda: runner.progress.status == "running")
    session.commands.toggle()
    until(lambda: runner.progress.status == "paused")
    session.commands.toggle()
    until(lambda: runner.progress.status == "running")


def test_a_restart_uses_the_sliders_and_the_forms(session, until):
    runner = session.run.runner
    until(lambda: runner.progress.documents_seen > 0)
    session.controls.set_live({"forgetting_rate": 0.75})
    session.controls.forms[0].widgets["max_topics"].value = 5
    session.controls.forms[1].widgets["passes"].value = 7
    session.commands.restart()
    until(lambda: runner.progress.run_id == 2)
    config, settings = runner.progress.config, runner.progress.settings
    assert (config.forgetting_rate, config.max_topics, settings.passes) == (0.75, 5, 7)


def test_a_restart_uses_the_chosen_algorithm(session, until):
    runner = session.run.runner
    until(lambda: runner.progress.documents_seen > 0)
    session.look()
    session.controls.algorithm.value = "lda"
    session.commands.restart()
    until(lambda: runner.progress.run_id == 2)
    assert runner.progress.algorithm == "lda"
    assert type(runner.progress.config).__name__ == "LDAConfig"
    assert runner.progress.label.startswith("Online LDA, κ 0.6")
    assert [run.label.split(",")[0] for run in runner.earlier] == ["Online HDP"]


def test_a_view_that_cannot_draw_does_not_stop_the_others(session, until, caplog, monkeypatch):
    def fail(progress):
        raise ZeroDivisionError("no width")

    monkeypatch.setattr(curves, "help_html", fail)
    until(lambda: session.run.runner.progress.documents_seen > 0)
    session.run.runner.pause()
    until(lambda: session.run.runner.progress.status == "paused")
    session.look()
    assert session.header.bar.status == "paused"
    assert "An error on the page" in caplog.text


def test_a_page_is_sent_with_everything_known_so_far(session, until):
    until(lambda: session.run.runner.progress.documents_seen > 0)
    session.look()
    column, sent = session.pages.columns[session.pages.titles.index(EXPORT)], []

    def note(event):
        sent.append(session.pages[EXPORT].panel.buttons["curves"].disabled)

    column.param.watch(note, "objects")
    session.state.page = EXPORT
    assert sent == [False]


def test_a_closed_page_leaves_nothing_in_the_service(session):
    run = session.run
    assert len(run.subscribers) == 1
    session.stop()
    assert len(run.subscribers) == 0
    session.look()
    session.commands.toggle()
    session.stop()


def test_a_finished_run_is_kept_once_and_drawn_among_the_live_curves_on_request(
    session, service, until
):
    before = {run.key for run in service.find_files(None).kept.listing().runs}
    session.commands.set_pace(0.0)

    def find_new():
        return [
            run for run in service.find_files(None).kept.listing().runs if run.key not in before
        ]

    until(find_new)
    session.commands.restart()
    session.state.page = "Compare"
    until(lambda: session.run.runner.progress.run_id == 2 and len(find_new()) == 2)
    (new, *_) = find_new()
    session.look()
    runs = session.pages["Compare"].runs
    runs.left_choice.value = new.key
    runs.right_choice.value = find_new()[1].key
    send(runs.table, {"do": "tick", "key": new.key, "value": True})
    runs.on_live.value = True
    assert session.state.kept_on_live[0].heldout["nats_per_word"][-1] == new.heldout
    send(runs.table, {"do": "rename", "key": new.key, "value": "<i>mine</i>"})
    assert session.state.kept_on_live[0].label == "<i>mine</i>"
    assert "&lt;i&gt;mine" in runs.pair.object
    session.state.page = LIVE
    assert [run.label for run in session.pages[LIVE].curves.earlier].count("<i>mine</i>") == 1
    session.state.page = "Compare"
    send(runs.table, {"do": "delete", "key": new.key})
    assert session.state.kept_on_live == ()
    assert new.key not in {run.key for run in service.find_files(None).kept.listing().runs}


def test_a_name_given_after_the_end_reaches_the_kept_run_and_the_next_run_of_the_same_settings(
    session, service, until
):
    session.commands.set_pace(0.0)
    until(lambda: session.run.runner.progress.run_id == 1)

    def restart(run_id):
        session.commands.restart()
        until(lambda: session.run.runner.progress.run_id == run_id)
        until(lambda: session.run.runner.progress.status == "finished")

    def find_named():
        return [
            run
            for run in service.find_files(None).kept.listing().runs
            if run.topic_names == {"1": "mine"}
        ]

    restart(2)
    session.commands.rename(1, "mine")
    until(lambda: session.run.runner.progress.topic_title(1) == "mine" and len(find_named()) == 1)
    restart(3)
    assert session.run.runner.progress.topic_title(1) == "mine"
    until(lambda: len(find_named()) == 2)


def test_the_page_says_which_names_of_the_corpus_returned_and_undo_takes_them_back(
    session, service, until
):
    flat = NamedTopic("flat", {f"word{i}": 0.05 for i in range(20)})
    service.find_files(None).names.change(CORPUS_NAME, [flat, NamedTopic("sea", {"ship": 1.0})])
    note, runner = session.names_note, session.run.runner
    session.commands.set_pace(0.0)
    until(lambda: runner.progress.returned.num_sought)
    session.look()
    assert "1 of 2 names kept for this corpus was given" in note.text.object
    assert note.__panel__().visible
    session.state.page = EXPORT
    assert not note.__panel__().visible
    session.state.page = TOPICS
    assert note.__panel__().visible
    assert "flat" in runner.progress.titles.values()
    session.state.role = WATCHER
    assert not note.undo.visible
    session.state.role = PRESENTER
    note.undo.param.trigger("clicks")
    until(lambda: "flat" not in runner.progress.titles.values())
    session.look()
    assert not note.__panel__().visible
    assert service.find_files(None).names.count(CORPUS_NAME) == 2


def test_the_note_on_names_can_be_closed_and_returns_with_the_next_run(session):
    note, state = session.names_note, session.state
    progress = Progress(run_id=1, returned=ReturnedNames({0: "war"}, 1))
    state.publish(progress)
    assert note.__panel__().visible
    note.close.param.trigger("clicks")
    state.publish(replace(progress, version=2))
    assert not note.__panel__().visible
    state.publish(replace(progress, run_id=2))
    assert note.__panel__().visible


def test_the_server_does_not_keep_a_page_that_is_closed(service):
    with set_curdoc(Document()):
        page = lay_out(Session(service, make_spec))
    kept = weakref.ref(page)
    del page
    gc.collect()
    assert kept() is None


def test_a_page_is_not_told_of_what_other_pages_do(session):
    page = lay_out(session)
    pn.state._add_busy_event("elsewhere")
    try:
        assert pn.state.busy
        assert not page.busy
    finally:
        pn.state._remove_busy_event("elsewhere")


def test_the_memory_of_a_sampler_is_estimated_for_the_corpus_of_the_run(session, until):
    until(lambda: session.run.runner.corpus is not None)
    sampler, plain = find_algorithm("gibbs-hdp"), find_algorithm("hdp")
    expected = sampler.memory(sampler.config(), small_corpus().documents())
    assert session.commands.estimate_memory(sampler, sampler.config()) == expected > 0
    assert session.commands.estimate_memory(plain, plain.config()) == 0


def test_the_text_before_the_page_is_drawn_names_the_corpus_and_comes_before_the_scripts(session):
    opening = session.describe_opening()
    assert (opening["corpus"], opening["sentence"]) == ("State of the Union", OPENING)
    template = (Path(page.__file__).parent / "page.html").read_text(encoding="utf-8")
    assert template.count("{{ without_unused(bokeh_js) }}") == 1
    assert template.index("{{ opening.sentence | e }}") < template.index(
        "{{ without_unused(bokeh_js) }}"
    )


def test_a_moment_shows_the_run_as_it_was_in_all_views_of_the_live_page(session, until):
    runner = session.run.runner
    runner.set_pace(0.0)
    until(lambda: runner.progress.status == "finished")
    session.look()
    for sight in session.pages[LIVE].curves.__panel__().select(Sight):
        sight.is_seen = True
    session.state.moment = 50
    assert session.state.shown.documents_seen == 50
    assert session.pages[LIVE].curves.plots["num_topics"].points.data["documents_seen"][-1] == 50
    assert session.controls.sketch.plot.present.data["x"].tolist() == [
        len(session.state.shown.steps)
    ]
    columns = session.pages[LIVE].table.cells.columns
    assert sum(column["reached"] for column in columns) == len(session.state.shown.columns)
    session.commands.toggle()
    until(lambda: runner.progress.run_id == 2 and runner.progress.documents_seen > 0)
    session.look()
    assert session.state.moment is None


def read_on_topics(session, until):
    """Finish the run and read the corpus on Topics: the largest topic and another one."""
    runner, reader = session.run.runner, session.run.reader
    session.state.page = TOPICS
    runner.set_pace(0.0)
    runner.resume()

    def has_read():
        session.look()
        reading = reader.job.reading
        return reader.job.status == "ready" and reading.model.run_id == runner.progress.run_id

    until(lambda: runner.progress.status == "finished" and has_read())
    session.look()
    reading = reader.job.reading
    return reading.summary.topic_ids[reading.used[:2]].tolist()


def test_a_topic_that_is_selected_in_the_reading_of_the_previous_run_is_not_selected_in_the_next(
    session, until
):
    largest, other = read_on_topics(session, until)
    assert session.state.topic == largest
    session.run.runner.restart(make_spec(), is_running=False)
    until(lambda: session.run.runner.progress.run_id == 2)
    session.look()
    assert session.state.topic is None
    # The new run has learned nothing yet, so Topics shows the previous reading. The same settings
    # give the same ids.
    session.state.topic = other
    assert read_on_topics(session, until) == [largest, other]
    assert session.state.topic == largest


@pytest.mark.parametrize("page", [LIVE, HOOD])
def test_a_topic_that_is_selected_elsewhere_stays_selected_when_its_run_is_read(
    session, until, page
):
    _, other = read_on_topics(session, until)
    session.run.runner.restart(make_spec(), is_running=False)
    until(lambda: session.run.runner.progress.run_id == 2)
    session.look()
    session.state.page = page
    session.state.topic = other
    read_on_topics(session, until)
    assert session.state.topic == other


def test_a_topic_stays_selected_while_its_run_continues_and_in_its_replay(session, until):
    runner = session.run.runner
    until(lambda: runner.progress.documents_seen > 0)
    runner.pause()
    session.state.page = TOPICS

    def has_read():
        session.look()
        return session.state.job.status == "ready"

    until(has_read)
    other = next(
        iter(set(session.pages[TOPICS].explorer.topic.options.values()) - {session.state.topic})
    )
    session.state.topic = other
    read_on_topics(session, until)
    assert session.state.topic == other
    session.state.moment = 50
    session.look()
    assert session.state.topic == other


def test_topics_stay_selected_in_another_pass_of_their_run(session, until):
    _, other = read_on_topics(session, until)
    session.state.topic = other
    session.state.page = LIVE
    table = session.pages[LIVE].table
    shown = next(k for k in session.state.titles if k not in table.topics)
    table.show(shown)
    session.commands.toggle()
    until(lambda: session.run.runner.progress.run_id == 2)
    session.look()
    assert (session.state.topic, session.state.moment) == (other, None)
    session.state.page = TOPICS
    # Until the new pass is read, Topics shows the previous reading, whose numbers mean the same
    # topics.
    session.state.topic = None
    session.state.topic = other
    read_on_topics(session, until)
    assert session.state.topic == other
    assert shown in table.topics
    assert session.state.listed_topics == table.topics


@pytest.fixture
def gate():
    return Event()


@pytest.fixture
def compiling(tmp_path, monkeypatch, gate):
    """A page on a server that compiles until the gate opens."""
    monkeypatch.setenv("STICKBREAKER_DATA", str(tmp_path))

    def compile_slowly(algorithm, config, report):
        report(1, 2, "digamma")
        gate.wait(limit(60))

    service = Service(load_by_name, Compilation(compile_slowly), 2)
    document = Document()
    with set_curdoc(document):
        session = Session(service)
        opening = session.describe_opening()
        lay_out(session).server_doc(document)
        session.start()
        session.unfold()
        yield session, opening
        session.stop()
    gate.set()
    service.close()


def test_a_recorded_run_plays_to_its_end_and_the_run_follows(compiling, gate, until):
    session, opening = compiling
    assert opening["is_recorded"]
    assert opening["blocks"][0]["words"][0][0]
    until(lambda: session.run.progress.status == "compiling")
    session.look()
    assert session.state.shown.recorded_on
    assert len(session.state.shown.columns) == 1
    assert (session.header.bar.state, session.player.bar.is_playing) == ("Compiling", True)
    assert WAITS in session.pages[LIVE].summary.__panel__().object
    assert not session.header.bar.note
    session.state.page = EXPORT
    assert not session.state.progress.documents_seen
    session.state.page = LIVE
    assert session.state.progress.recorded_on
    session.state.moment = session.state.progress.columns[-2].documents_seen
    session.player.play()
    gate.set()
    until(lambda: session.run.progress.documents_seen)
    session.look()
    assert session.state.progress.message == FOLLOWS
    session.player.pause()
    session.look()
    assert not session.state.progress.recorded_on
    assert session.state.moment is None
    assert not session.player.bar.is_playing


def test_a_run_waits_while_its_user_looks_at_the_recorded_one(compiling, gate, until):
    session, _ = compiling
    send(session.player.bar, {"what": "place", "value": 20})
    until(lambda: session.run.progress.status in ("ready", "paused"))
    gate.set()
    session.look()
    assert session.state.progress.message == HELD
    assert session.header.run.label == "Run"
    place = session.player.bar.place
    assert place == 20
    session.commands.toggle()
    until(lambda: session.run.progress.documents_seen)
    session.look()
    assert not session.state.progress.recorded_on
