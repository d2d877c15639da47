"""A class that watches: watchers change nothing, and no user sees the run, corpora or kept runs of
another.
"""

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import panel as pn
import pytest
from bokeh.core.json_encoder import serialize_json
from bokeh.document import Document
from bokeh.models import Line
from panel.io.location import Location
from panel.io.state import set_curdoc, state

from stickbreaker import engine
from stickbreaker.app.commands import class_commands
from stickbreaker.app.commands.class_commands import OTHER_SWEEP
from stickbreaker.app.commands.run_commands import WATCHING
from stickbreaker.app.model.run_spec import LiveSettings
from stickbreaker.app.model.sweep_plan import plan_sweep
from stickbreaker.app.server.claims import GUEST, Claims
from stickbreaker.app.server.run import FULL_CLASS
from stickbreaker.app.server.service import (
    CORPUS_NAME,
    NOT_YOURS,
    NOTHING_TO_WATCH,
    Service,
    load_by_name,
)
from stickbreaker.app.server.visitors import (
    Visitor,
    find_data,
    find_user,
    may_manage,
    may_name_paths,
)
from stickbreaker.app.session.page import lay_out
from stickbreaker.app.session.session import Session
from stickbreaker.app.state import CLASS
from stickbreaker.app.views.sharing import PRESENTER_GONE
from stickbreaker.app.views.watched_settings import list_settings
from stickbreaker.app.widgets.qr_code import ALT
from stickbreaker.engine.corpora.build_stored import BuildRequest, build_own
from stickbreaker.engine.corpora.columns import Columns
from stickbreaker.engine.corpora.library import list_own
from stickbreaker.engine.corpora.rows import CorpusError
from stickbreaker.engine.corpora.word_choices import WordChoices
from tests.app.browser_messages import send
from tests.app.small_runs import (
    NAME,
    SETTINGS,
    Compiled,
    Page,
    load_small,
    small_corpus,
    small_spec,
)

HERE = "http://class.example/app"
HOSTILE = (
    "../anna",
    "..",
    ".",
    "",
    "a/b",
    "/etc",
    "con",
    "a\\b",
    "Anna",
    "anna",
    "x" * 300,
    "ä\n",
    "\ud800",
)
# Everything a browser can ask for that would change the run or what is kept on the server, with
# what it might send.
ACTS = {
    "toggle": (),
    "step": (),
    "restart": (),
    "set_pace": (0.0,),
    "configure": (LiveSettings(delay=3.0),),
    "undo_names": (),
    "rename": (0, "mine"),
    "clear": (),
    "start_sweep": ((small_spec(),),),
    "cancel_sweep": (),
    "check_count": (),
    "cancel_check": (),
    "open_bring": (),
    "run_on": ("rfc",),
    "share": (),
}


@pytest.fixture
def data(tmp_path, monkeypatch):
    monkeypatch.setenv("STICKBREAKER_DATA", str(tmp_path))
    return tmp_path


@pytest.fixture
def service(data):
    service = Service(load_small, Compiled(), 1)
    yield service
    service.close()


def make_spec():
    """Long enough to be seen."""
    return replace(small_spec(), corpus_name=CORPUS_NAME, settings=replace(SETTINGS, passes=50))


@pytest.fixture
def visit(service):
    """Open an address as this user; gives the session and where its address stands."""
    opened = []

    def visit(search="", user=None):
        document = Document()
        with set_curdoc(document):
            location = state._locations[document] = Location(search=search)
            with pn.io.location.edit_readonly(location):
                location.href = HERE + search
            session = Session(service, make_spec, user)
            session.said = []
            session.commands.notify = session.said.append
            session.layout()
            session.start()
            # As the page does in its next tick.
            session.look()
        opened.append((document, session))
        return session

    yield visit
    for document, session in opened:
        with set_curdoc(document):
            session.stop()


@pytest.fixture
def presenter(visit, until):
    presenter = visit(user="anna")
    presenter.commands.set_pace(0.3)
    until(lambda: presenter.run.runner.progress.documents_seen)
    return presenter


def link_of(presenter):
    return presenter.address.share().removeprefix(HERE)


def test_a_watcher_sees_the_same_run_and_never_receives_its_address(presenter, visit):
    link = link_of(presenter)
    run = presenter.run
    assert link == f"?watch={run.watch}"
    watcher, other = visit(link, "ben"), visit(link)
    assert watcher.run is other.run is run
    assert not watcher.state.may_act
    assert presenter.state.may_act
    watcher.look()
    assert watcher.address.query == link
    with set_curdoc(watcher.document):
        lay_out(watcher).server_doc(watcher.document)
        sent = serialize_json(watcher.document.to_json())
    assert run.key not in sent
    assert WATCHING in sent
    assert (watcher.sharing.said.watching, watcher.said) == (WATCHING, [])
    presenter.look()
    assert presenter.sharing.link.watching == "2 watchers now."


def test_the_two_addresses_of_a_run_are_not_interchangeable(presenter, visit):
    run = presenter.run
    assert min(len(run.key), len(run.watch)) >= 20
    for search in (f"?run={run.watch}", f"?watch={run.key}"):
        assert visit(search, "anna").run is not run


def test_the_server_refuses_the_requests_of_a_watcher_s_browser(presenter, visit, until):
    run = presenter.run
    presenter.commands.toggle()
    until(lambda: run.runner.progress.status == "paused")
    watcher = visit(link_of(presenter), "ben")
    runner = run.runner

    def look():
        return runner.requests.number, runner.seconds_per_batch, runner.progress, run.sweep.state

    before = look()
    for act, sent in ACTS.items():
        getattr(watcher.commands, act)(*sent)
        assert look() == before, act
        assert (watcher.bring.is_open, watcher.sharing.link.link) == (False, "")


def test_every_button_of_a_watcher_s_page_is_missing_or_its_request_is_refused(presenter, visit):
    watcher = visit(link_of(presenter), "ben")
    watcher.look()
    watcher.unfold()
    watcher.drawer.is_open = True
    assert not watcher.header.buttons.objects
    (settings,) = watcher.side
    assert settings.object.startswith("<h2>Settings of this run</h2>")
    assert "controls" not in vars(watcher)
    watcher.state.page = "Topics"
    assert watcher.pages["Topics"].explorer.name_field.disabled
    watcher.state.page = "Compare"
    sweep = watcher.pages["Compare"].sweep
    assert not sweep.asked.visible
    number = presenter.run.runner.requests.number
    for button in (watcher.header.run, watcher.header.step, watcher.header.restart):
        button.param.trigger("clicks")
    watcher.header.pace.value = 0.0
    sweep.start.param.trigger("clicks")
    assert presenter.run.runner.requests.number == number


def test_a_watcher_does_not_change_kept_runs(presenter, visit, until):
    presenter.commands.set_pace(0.0)
    kept = presenter.commands.kept
    until(lambda: kept.listing().runs)
    watcher = visit(link_of(presenter), "anna")
    watcher.state.page = "Compare"
    (run,) = kept.listing().runs
    for asked in (
        {"do": "rename", "key": run.key, "value": "mine"},
        {"do": "delete", "key": run.key},
    ):
        send(watcher.pages["Compare"].runs.table, asked)
    assert kept.listing().runs == (run,)
    assert watcher.pages["Compare"].runs.table.is_fixed


def test_watchers_have_separate_selections_and_follow_the_presenter_s_controls(
    presenter, visit, until
):
    watcher = visit(f"{link_of(presenter)}&page=Export&topic=2", "ben")
    other = visit(link_of(presenter), "cleo")
    assert (watcher.state.page, watcher.state.topic) == ("Export", 2)
    assert (other.state.page, other.state.topic) == ("Live", None)
    presenter.commands.configure(LiveSettings(delay=8.0))
    until(lambda: presenter.run.runner.progress.config.delay == 8.0)
    watcher.look()
    assert list_settings(watcher.run.runner.progress)[-2:] == [
        "Learning with κ 0.6, τ₀ 8, S 10.",
        "The presenter can change them.",
    ]
    assert f"watch={presenter.run.watch}&page=Export&topic=2" in watcher.address.query


def test_a_run_continues_for_its_watchers_after_the_presenter_has_left_and_their_pages_say_so(
    presenter, visit
):
    run, link = presenter.run, link_of(presenter)
    watcher = visit(link, "ben")
    presenter.stop()
    watcher.look()
    assert run.runner.wants_to_run
    assert watcher.sharing.said.watching == PRESENTER_GONE
    back = visit(f"?run={run.key}", "anna")
    watcher.look()
    assert back.run is run
    assert watcher.sharing.said.watching == WATCHING
    back.stop()
    watcher.stop()
    assert not run.runner.wants_to_run


@pytest.mark.parametrize("token", ["", "none", "ünknown<b>"])
def test_an_unknown_link_to_watch_is_reported_and_starts_a_separate_run(token, visit):
    session = visit(f"?watch={token}")
    # An empty value in an address is none.
    assert session.said == ([NOTHING_TO_WATCH] if token else [])
    assert session.state.may_act
    assert session.header.buttons.visible
    assert f"run={session.run.key}" in session.address.query


def test_a_link_to_watch_opens_the_saved_run_after_it_has_left_the_memory(
    presenter, visit, service, until
):
    link, run = link_of(presenter), presenter.run
    until(lambda: run.runner.progress.documents_seen)
    presenter.stop()
    service.clock = lambda: 1e9
    service.remove_idle()
    until(lambda: not run.runner.wants_to_run)
    watcher = visit(link, "ben")
    assert (watcher.said, watcher.state.may_act) == ([], False)
    assert (watcher.run.key, watcher.run.user) == (run.key, "anna")
    assert watcher.run is not run


def test_the_address_of_another_user_s_run_is_refused_with_a_sentence_that_reveals_nothing(
    presenter, visit
):
    for user in ("ben", None):
        stranger = visit(f"?run={presenter.run.key}", user)
        assert stranger.run is not presenter.run
        assert stranger.said == [NOT_YOURS]
    again = visit(f"?run={presenter.run.key}", "anna")
    assert again.run is presenter.run


def build(user, name, words="peace war navy treaty"):
    folder = find_data(user) / "corpora"
    path = folder.parent.parent / f"{name}.csv"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("text\n" + f"{words}\n" * 40)
    build_own(BuildRequest(path, name, Columns("text"), WordChoices(max_share=1.0)), folder=folder)


def test_only_their_owner_sees_own_corpora_even_under_the_same_name(visit, data):
    build("anna", "letters")
    build("ben", "letters", "cotton grain tariff trade")
    build("anna", "diary")
    refused = visit("?corpus=diary", "ben")
    sessions = {"anna": visit(user="anna"), "ben": refused, None: visit()}
    of = {
        user: list(session.controls.corpus.options.values()) for user, session in sessions.items()
    }
    assert (of["anna"][4:], of["ben"][4:], of[None][4:]) == (["diary", "letters"], ["letters"], [])
    texts = [
        load_by_name("letters", find_data(user) / "corpora").vocabulary.words
        for user in ("anna", "ben", "anna")
    ]
    assert texts == [
        ("navy", "peace", "treaty", "war"),
        ("cotton", "grain", "tariff", "trade"),
        texts[0],
    ]
    with pytest.raises(CorpusError, match="No corpus 'diary' has been built"):
        load_by_name("diary", find_data("ben") / "corpora")
    assert refused.said == ["Unknown corpus in the link: “diary”; state-of-the-union is used."]
    assert list_own() == ()


def test_the_menu_of_a_user_lists_and_deletes_only_their_own_corpora(visit):
    build("anna", "letters")
    build("ben", "letters")
    ben = visit(user="ben")
    ben.commands.open_bring()
    assert ben.bring.corpus_menu.menu.options == ["letters"]
    ben.bring.corpus_menu.delete_corpus(None)
    ben.bring.corpus_menu.delete_corpus(None)
    assert [len(list_own(find_data(user) / "corpora")) for user in ("anna", "ben")] == [1, 0]
    assert "letters" not in ben.controls.corpus.options.values()


def test_a_run_loads_its_corpus_from_the_folder_of_its_owner(data, until):
    asked = []

    def load(name, folder):
        asked.append((name, folder))
        return small_corpus()

    service = Service(load, Compiled(), 2)
    runs = [service.join(Visitor(user), Page(), small_spec).run for user in ("anna", None)]
    until(lambda: len(asked) == 2)
    service.close()
    folders = {(NAME, find_data(user) / "corpora") for user in ("anna", None)}
    assert set(asked) == folders
    assert [run.user for run in runs] == ["anna", None]


def test_kept_runs_belong_to_their_owner_even_if_others_have_watched(
    presenter, visit, service, until
):
    watcher = visit(link_of(presenter), "ben")
    presenter.commands.set_pace(0.0)
    until(lambda: service.find_files("anna").kept.listing().runs)
    assert watcher.commands.kept.listing().runs == ()
    assert service.find_files(None).kept.listing().runs == ()
    watcher.state.page = "Compare"
    assert watcher.pages["Compare"].runs.table.rows == []
    assert {path.parent.parent for path in find_data(None).rglob("*.npz")} == {find_data("anna")}


def test_another_user_s_run_waits_for_a_core_and_says_so_and_watchers_take_none(
    presenter, visit, until
):
    for user in ("ben", "cleo"):
        visit(link_of(presenter), user)
    waiting = visit(user="dora")
    until(lambda: waiting.run.runner.progress.status == "waiting")
    waiting.look()
    assert (
        waiting.header.bar.note
        == "Waiting for a free processor core: another run is learning, this run is next."
    )
    presenter.commands.toggle()
    until(lambda: waiting.run.runner.progress.status == "running")


def test_in_a_full_class_watchers_update_once_a_second_and_the_presenter_is_still_notified(
    service, until
):
    presenter, watchers = Page(), [Page() for _ in range(FULL_CLASS + 1)]
    run = service.join(Visitor(), presenter, make_spec).run
    for page in watchers:
        assert service.join(Visitor(watch=run.watch), page, make_spec) == (run, True, "")
    before = presenter.num_notified, [page.num_notified for page in watchers]
    run.runner.configure(LiveSettings(delay=3.0))
    until(lambda: presenter.num_notified > before[0])
    assert [page.num_notified for page in watchers] == before[1]
    service.leave(run, watchers[0])
    run.runner.configure(LiveSettings(delay=4.0))
    until(
        lambda: all(
            page.num_notified > notified
            for page, notified in zip(watchers[1:], before[1][1:], strict=True)
        )
    )


def test_no_user_name_leads_out_of_the_folder_of_users_or_into_another_one(data):
    folders = [find_data(name) for name in HOSTILE]
    assert len(set(folders)) == len(HOSTILE)
    assert {folder.parent for folder in folders} == {data / "users"}
    assert all(
        folder.name.replace("-", "").isalnum() and folder.name.isascii() for folder in folders
    )
    assert find_data(None) == data


@pytest.mark.parametrize(
    ("payload", "user", "rights"),
    [
        (Claims(None, frozenset(("manage", "paths"))).to_payload(), None, (True, True)),
        (Claims(None).to_payload(), None, (False, False)),
        (Claims("anna", frozenset(("manage",))).to_payload(), "anna", (True, False)),
        (Claims(GUEST).to_payload(), GUEST, (False, False)),
        ({}, GUEST, (False, False)),
        # What a client writes into a token of its own.
        ({"stickbreaker": {"user": None, "rights": ["manage", "paths"]}}, GUEST, (False, False)),
        (
            {"stickbreaker": {"user": "anna", "rights": []}, "stickbreaker_seal": "\ud800"},
            GUEST,
            (False, False),
        ),
        (
            Claims("anna").to_payload() | {"stickbreaker": {"user": "ben", "rights": []}},
            GUEST,
            (False, False),
        ),
    ],
)
def test_a_user_is_who_the_signed_token_of_the_session_names(payload, user, rights):
    document, context = Document(), type("Context", (), {"token_payload": payload})
    document._session_context = lambda: context
    with set_curdoc(document):
        assert find_user() == user
        assert (may_manage(), may_name_paths()) == rights


def test_without_a_server_there_is_no_user_and_the_bundled_corpora_are_for_all(data):
    assert find_user() is None
    for user in (None, "anna"):
        assert engine.list_corpora(find_data(user) / "corpora") == engine.list_corpora()[:4]


@pytest.fixture
def class_of_two(presenter, visit, until):
    """A presenter whose run is paused after at least three mini-batches, and two watchers."""
    runner = presenter.run.runner
    # Single steps do not wait for the pace.
    presenter.commands.step()
    presenter.commands.step()
    until(lambda: runner.progress.status == "paused" and runner.progress.documents_seen >= 30)
    link = link_of(presenter)
    return presenter, visit(link, "ben"), visit(link)


def tap(watcher, option, number=None):
    """Answer as the browser of a watcher does."""
    view = watcher.pages[CLASS].tasks.question
    send(view, {"task": view.number if number is None else number, "option": option})


def test_a_task_opens_on_the_pages_of_watchers_whose_answers_are_counted_on_the_presenter_s(
    class_of_two,
):
    presenter, ben, other = class_of_two
    assert CLASS not in ben.tabs.buttons.options
    presenter.commands.share()
    assert CLASS in presenter.tabs.buttons.options
    presenter.pages[CLASS].asks.intruder()
    for session in class_of_two:
        session.look()
    assert [session.state.page for session in class_of_two] == ["Live", CLASS, CLASS]
    presenter.state.page = CLASS
    asked = [session.pages[CLASS].tasks.question for session in class_of_two]
    assert {tuple(each.options) for each in asked} == {presenter.run.board.state.task.options}
    tap(ben, 0)
    tap(ben, 2)
    tap(other, 2)
    for session in class_of_two:
        session.look()
    assert [each.counts for each in asked] == [[0, 0, 2, 0, 0, 0], [], []]
    assert [each.correct for each in asked] == [-1, -1, -1]
    assert [each.chosen for each in asked] == [-1, 2, 2]
    presenter.pages[CLASS].asks.reveal()
    for session in class_of_two:
        session.look()
    correct = presenter.run.board.state.task.correct
    assert [each.correct for each in asked] == [correct] * 3
    assert [each.counts for each in asked] == [[0, 0, 2, 0, 0, 0]] * 3
    assert asked[1].said == ("Your answer is right." if correct == 2 else "Your answer is wrong.")
    (result,) = presenter.run.board.state.all_results
    assert (result.counts, result.task.topic_id is not None) == ((0, 0, 2, 0, 0, 0), True)


def test_the_right_answer_is_not_sent_to_watchers_before_it_is_revealed(class_of_two):
    presenter, ben, _ = class_of_two
    presenter.pages[CLASS].asks.intruder()
    ben.look()
    label = presenter.run.board.state.task.label
    with set_curdoc(ben.document):
        lay_out(ben).server_doc(ben.document)
        question = ben.pages[CLASS].tasks.question
        assert label not in str(question.param.values())
    assert question.correct == -1


def test_a_watcher_asks_and_reveals_nothing_and_a_presenter_does_not_answer(class_of_two):
    presenter, ben, _ = class_of_two
    asks = ben.pages[CLASS].asks
    for act in (asks.intruder, asks.period, asks.rate, asks.reveal):
        act()
    ben.pages[CLASS].asks.first("word3")
    assert presenter.run.board.state.number == 0
    ben.state.page = presenter.state.page = CLASS
    assert not ben.pages[CLASS].tasks.buttons.visible
    presenter.pages[CLASS].asks.first("word3")
    tap(presenter, 0, 1)
    assert presenter.run.board.state.answers == {}
    ben.pages[CLASS].asks.reveal()
    assert not presenter.run.board.state.is_revealed


def test_a_message_that_is_no_answer_to_the_present_task_changes_nothing(class_of_two):
    presenter, ben, _ = class_of_two
    ben.state.page = CLASS
    presenter.pages[CLASS].asks.period()
    before = presenter.run.board.state
    assert before.task is not None
    for sent in (None, {"task": 1}, {"task": True, "option": True}, {"task": 1, "option": -1}):
        send(ben.pages[CLASS].tasks.question, sent)
        assert presenter.run.board.state is before, sent


def test_the_class_sees_a_passage_as_text_and_its_words_if_the_text_cannot_be_read(
    class_of_two, monkeypatch
):
    presenter, ben, _ = class_of_two
    texts = SimpleNamespace(read=lambda rows: [f"Text of {rows[0]}"])
    monkeypatch.setattr(presenter.pages[CLASS].asks, "find_texts", lambda name: texts)
    presenter.pages[CLASS].asks.period()
    ben.look()
    assert ben.pages[CLASS].tasks.question.shown.startswith("Text of ")

    def refuse(name):
        raise CorpusError("the file is damaged")

    monkeypatch.setattr(presenter.pages[CLASS].asks, "find_texts", refuse)
    presenter.pages[CLASS].asks.period()
    ben.look()
    assert "word" in ben.pages[CLASS].tasks.question.shown
    assert "the file is damaged" in presenter.said[-1]


def test_each_watcher_chooses_a_forgetting_rate_and_all_see_the_curves_of_the_runs_with_each_value(
    class_of_two, until, monkeypatch
):
    presenter, ben, other = class_of_two
    # Each run reads the corpus once, not fifty times.
    monkeypatch.setattr(
        class_commands,
        "plan_sweep",
        lambda base, *more: plan_sweep(replace(base, settings=SETTINGS), *more),
    )
    presenter.state.page = CLASS
    presenter.pages[CLASS].asks.rate()
    for session in class_of_two:
        session.look()
    assert presenter.pages[CLASS].tasks.start_runs.visible
    tap(ben, 1)
    tap(other, 5)
    other.pages[CLASS].asks.start_runs()
    assert not presenter.run.sweep.is_running
    presenter.pages[CLASS].asks.start_runs()
    assert not presenter.run.board.state.is_open
    tap(ben, 2)
    until(lambda: presenter.run.sweep.state.status == "finished")
    for session in class_of_two:
        session.look()
    state = presenter.run.board.state
    assert state.counts == (0, 1, 0, 0, 0, 1)
    scores = [point.heldout for point in state.points]
    assert len(set(scores)) == len(state.task.rates)
    assert state.task.correct == int(np.argmax(scores))
    assert [point.config.forgetting_rate for point in state.points] == list(state.task.rates)
    assert all(point.nats_per_word[-1] == point.heldout for point in state.points)
    assert [len(session.pages[CLASS].tasks.curves) for session in class_of_two] == [1, 1, 1]
    widths = [line.glyph.line_width for line in lines_of(ben.pages[CLASS].tasks.curves[0].object)]
    assert widths == [2, 5, 2, 2, 2, 2]
    assert not presenter.pages[CLASS].tasks.start_runs.visible
    presenter.pages[CLASS].asks.period()
    presenter.look()
    assert len(presenter.pages[CLASS].tasks.curves) == 0


def lines_of(figure):
    return [each for each in figure.renderers if isinstance(each.glyph, Line)]


def test_the_values_of_a_class_do_not_run_while_another_sweep_runs_and_can_run_again_after_a_cancellation(
    class_of_two,
):
    presenter, *_ = class_of_two
    presenter.state.page = CLASS
    presenter.pages[CLASS].asks.rate()
    presenter.run.sweep.start((replace(make_spec(), settings=replace(SETTINGS, passes=1_000)),))
    presenter.pages[CLASS].asks.start_runs()
    assert presenter.said[-1] == OTHER_SWEEP
    assert presenter.run.board.state.is_open
    presenter.run.sweep.cancel()
    presenter.pages[CLASS].asks.start_runs()
    presenter.run.sweep.cancel()
    presenter.look()
    assert presenter.pages[CLASS].tasks.start_runs.visible
    assert presenter.run.board.state.needs_runs


def test_a_question_that_cannot_be_asked_says_why(class_of_two):
    presenter, *_ = class_of_two
    presenter.pages[CLASS].asks.first("zebra")
    assert presenter.run.board.state.task is None
    assert "zebra" in presenter.said[-1]


def test_an_address_opens_the_page_of_the_class_and_its_qr_code(class_of_two, visit):
    presenter, *_ = class_of_two
    watcher = visit(f"{link_of(presenter)}&page=Class")
    assert watcher.state.page == CLASS
    presenter.state.page = CLASS
    assert ALT in presenter.pages[CLASS].tasks.code.object
    assert watcher.pages[CLASS].tasks.code.object == ""
    assert "page=Class" in presenter.address.query
