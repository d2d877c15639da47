"""The page's address: what is written there opens the same again, and what is wrong
in it is said.
"""

from dataclasses import fields, replace

import numpy as np
import pytest
from bokeh.document import Document
from panel.io.location import Location
from panel.io.state import set_curdoc, state

from stickbreaker import engine
from stickbreaker.app import pages
from stickbreaker.app.model.progress import Progress
from stickbreaker.app.model.run_spec import LiveSettings, RunSpec, left_fields
from stickbreaker.app.server.service import RUN_GONE, Service, first_spec
from stickbreaker.app.session.address import RUN_CHANGED
from stickbreaker.app.session.links import PARTS, Place, read_link, write_link
from stickbreaker.app.session.page import lay_out
from stickbreaker.app.session.session import Session
from stickbreaker.app.state import DOCUMENTS, EARLIEST, LATEST
from stickbreaker.engine.schedules import live_settings
from tests.app.small_runs import Compiled

PAGES = tuple(page.title for page in pages.PAGES)
TIME, EXPORT = "Time", "Export"
SPAN = (np.datetime64("1800-01-01"), np.datetime64("1899-12-31"))
CORPORA = ("state-of-the-union", "rfc", "mine & <yours>")


def read(query):
    return read_link(query, first_spec(), engine.REGISTRY, CORPORA, PAGES)


def progress_of(spec):
    return Progress(
        corpus_name=spec.corpus_name,
        algorithm=spec.algorithm.name,
        config=spec.config,
        settings=spec.settings,
        chosen=spec.chosen,
    )


def change(config, chosen):
    """A config whose every setting is another than its default, those in `chosen` among them."""
    values = {}
    for each in fields(config):
        value = getattr(config, each.name)
        bounds = each.metadata.get("bounds")
        choices = each.metadata.get("choices")
        if isinstance(value, bool):
            values[each.name] = not value
        elif choices:
            values[each.name] = choices[-1]
        elif bounds and (each.name in chosen or each.name not in live_settings(config)):
            low, high = bounds
            is_whole = each.metadata.get("whole", isinstance(value, int))
            values[each.name] = int(low) + 1 if is_whole else min(high, low + 0.75)
    return values


@pytest.mark.parametrize("algorithm", engine.REGISTRY, ids=lambda algorithm: algorithm.name)
def test_a_link_brings_back_every_setting_of_every_algorithm(algorithm):
    chosen = frozenset({*live_settings(algorithm.config), *left_fields(algorithm.config)})
    values = change(algorithm.config(), chosen)
    config = algorithm.config()
    for name, value in values.items():
        try:
            config = replace(config, **{name: value})
        except ValueError:
            continue
    settings = engine.RunSettings(
        order="shuffled", passes=3, seed=2**32 - 1, score_next_batch=False
    )
    spec = replace(
        first_spec(),
        corpus_name=CORPORA[2],
        algorithm=algorithm,
        config=config,
        settings=settings,
        chosen=chosen,
    )
    link = read(write_link("key", progress_of(spec), Place()))
    assert link.faults == ()
    assert (link.run, link.spec) == ("key", spec)


def test_a_name_that_is_no_setting_is_named_and_ignored():
    link = read("?kappa=0.7&forgetting_rate=0.8&<b>=1&run=key&topic=3")
    assert link.spec.config.forgetting_rate == 0.8
    assert link.place.topic == 3
    assert link.faults == ("Unknown names in the link: “kappa”, “·b·”; ignored.",)


def test_settings_of_a_config_and_of_a_run_have_different_names():
    taken = {*PARTS}
    for algorithm in engine.REGISTRY:
        names = [each.name for each in (*fields(algorithm.config), *fields(engine.RunSettings))]
        assert len({*names, *taken}) == len(names) + len(taken)


@pytest.mark.parametrize(
    "place",
    [
        Place(),
        Place(TIME, 17, 3, SPAN),
        Place(span=(EARLIEST, SPAN[1])),
        Place(span=(SPAN[0], LATEST)),
    ],
)
def test_a_link_brings_back_page_topic_document_and_span(place):
    assert read(write_link("key", Progress(), place)).place == place


def test_settings_that_follow_the_corpus_size_still_follow_it():
    spec = first_spec()
    settled = replace(spec, config=engine.resolve(spec.config, 9000))
    assert (
        write_link("key", progress_of(settled), Place())
        == "?run=key&corpus=state-of-the-union&algorithm=hdp"
    )


def test_an_empty_address_gives_the_default_run():
    assert read("") == read("?theme=dark")
    assert read("").spec == first_spec()


@pytest.mark.parametrize(
    "wrong",
    [
        "corpus=../../etc/passwd",
        "algorithm=<img src=x onerror=alert(1)>",
        "page=Admin",
        "max_topics=-4",
        "max_topics=1e400",
        "max_topics=" + "9" * 5000,
        "forgetting_rate=nan",
        "forgetting_rate=inf",
        "forgetting_rate=seven",
        "order=backwards",
        "seed=1.5",
        "score_next_batch=perhaps",
        "topic=-1",
        "topic=999999999999999999999",
        "document=first",
        "from=yesterday-ish",
        "from=1999-01-01&to=1900-01-01",
        "from=NaT",
    ],
)
def test_faults_in_a_link_are_left_out_with_one_sentence_each(wrong):
    link = read(f"?{wrong}&topic=5" if "topic" not in wrong else f"?{wrong}")
    (fault,) = link.faults
    assert "in the link" in fault
    assert len(fault) < 200
    assert not set("<>&") & set(fault)
    assert link.spec == first_spec()
    assert link.place.topic == (5 if wrong.startswith(("page", "document", "from")) else None)


def test_settings_that_exclude_each_other_are_left_out_together():
    algorithm = engine.find_algorithm("hdp")
    link = read("?max_topics=2&max_slots=50&passes=2")
    pair = {"max_topics": 2, "max_slots": 50}
    try:
        expected = algorithm.config(**pair)
    except ValueError:
        expected = algorithm.config()
        assert "do not go together" in link.faults[0]
    assert link.spec.config == expected
    assert link.spec.settings.passes == 2


def short_spec():
    return replace(first_spec(), settings=engine.RunSettings(passes=1, num_test=10))


@pytest.fixture
def open_link(tiny_corpus):
    """Open an address in a separate browser, on a service without earlier runs."""
    service, opened = Service(lambda name, folder: tiny_corpus, Compiled(), 2), []

    def open_link(search):
        document = Document()
        with set_curdoc(document):
            state._locations[document] = Location(search=search)
            session = Session(service, short_spec)
            session.said = []
            session.commands.notify = session.said.append
            lay_out(session).server_doc(document)
            session.start()
            opened.append((document, session))
        return session, state._locations[document]

    yield open_link
    for document, session in opened:
        with set_curdoc(document):
            session.stop()
    service.close()


def test_a_fresh_browser_begins_a_run_with_the_settings_of_a_link_whose_run_is_gone(
    open_link, until
):
    session, location = open_link(
        "?run=gone&algorithm=lda&max_topics=7&forgetting_rate=0.9&page=Export&topic=3"
    )
    progress = session.run.runner.progress
    until(lambda: session.run.runner.progress.algorithm == "lda")
    progress = session.run.runner.progress
    assert (progress.config.max_topics, progress.config.forgetting_rate) == (7, 0.9)
    assert progress.chosen == {"forgetting_rate"}
    assert session.run.key != "gone"
    assert session.said == [RUN_GONE]
    assert (session.state.page, session.state.topic) == (EXPORT, 3)
    session.look()
    assert read(location.search).place == Place(EXPORT, 3)
    assert read(location.search).run == session.run.key


def test_the_address_follows_what_is_chosen_and_opens_the_same_run(open_link, until):
    session, location = open_link("")
    until(lambda: session.run.runner.progress.config is not None)
    session.look()
    session.state.page = TIME
    session.state.param.update(topic=2, span=SPAN)
    assert read(location.search).place == Place(TIME, 2, None, SPAN)
    session.commands.configure(LiveSettings(forgetting_rate=0.8))
    until(lambda: session.run.runner.progress.config.forgetting_rate == 0.8)
    session.look()
    assert "forgetting_rate=0.8" in location.search
    other, _ = open_link(location.search)
    assert other.run is session.run
    assert (other.state.page, other.state.topic, other.state.span) == (TIME, 2, SPAN)


def test_the_back_button_restores_what_was_selected_in_one_step(open_link, until):
    session, location = open_link("")
    until(lambda: session.run.runner.progress.config is not None)
    session.state.page = TIME
    session.state.param.update(topic=2, span=SPAN)
    session.look()
    earlier = location.search
    session.state.param.update(document=3, span=None)
    assert read(location.search).place == Place(DOCUMENTS, 2, 3)
    written = []
    location.param.watch(lambda event: written.append(event.new), "search")
    session.address.go_back(earlier)
    assert (session.state.page, session.state.document, session.state.span) == (TIME, None, SPAN)
    assert written == [earlier]
    session.address.go_back(f"?corpus=rfc&page={TIME}&topic=1&document=3&from=nonsense")
    assert read(location.search).place == Place(TIME, 2)
    session.address.go_back("?page=<b>")
    assert read(location.search).place == Place(None, 2)


def test_the_document_that_is_selected_opens_again_from_another_page(open_link):
    session, _ = open_link("")
    for row in (3, 3, 4):
        session.state.page = TIME
        session.state.open_document(row)
        assert (session.state.page, session.state.document) == (DOCUMENTS, row)


def test_an_old_address_of_a_run_that_reads_another_corpus_says_so(open_link, until):
    session, location = open_link("")
    until(lambda: session.run.runner.progress.config is not None)
    session.look()
    old = location.search
    session.commands.run_on("rfc")
    until(lambda: session.run.runner.progress.run_id == 2)
    until(lambda: session.run.runner.progress.corpus_name == "rfc")
    again, _ = open_link(old)
    assert again.run is session.run
    assert again.said == [RUN_CHANGED.format("State of the Union")]


def test_the_selection_of_one_run_is_not_that_of_the_next(open_link, until):
    session, location = open_link(f"?topic=2&document=3&from={SPAN[0]}&to={SPAN[1]}")
    until(lambda: session.run.runner.progress.documents_seen)
    session.look()
    assert read(location.search).place == Place(None, 2, 3, SPAN)
    session.state.word = 1
    session.commands.restart()
    until(lambda: session.run.runner.progress.run_id == 2)
    session.look()
    assert (session.state.topic, session.state.word) == (None, 1)
    assert read(location.search).place == Place(None, None, 3, SPAN)
    session.commands.run_on("rfc")
    until(lambda: session.run.runner.progress.run_id == 3)
    session.look()
    assert read(location.search).place == Place()
    assert session.state.word is None


@pytest.mark.parametrize(
    ("corpus", "place"), [("state-of-the-union", Place(None, 2, 3)), ("rfc", Place())]
)
def test_a_link_to_a_run_that_now_shows_another_corpus_selects_nothing_of_it(
    open_link, until, corpus, place
):
    session, _ = open_link("")
    until(lambda: session.run.runner.progress.documents_seen)
    _, location = open_link(
        f"?run={session.run.key}&corpus={corpus}&algorithm=hdp&topic=2&document=3"
    )
    assert read(location.search).place == place


def test_a_reading_of_the_previous_run_selects_no_topic_of_the_next(open_link, until):
    session, _ = open_link("?page=Topics")
    session.commands.set_pace(0.0)

    def has_read():
        session.look()
        return session.state.topic is not None

    until(has_read)
    session.commands.rename(session.state.topic, "mine")
    ended = session.run.runner.progress
    algorithm = engine.find_algorithm(ended.algorithm)
    session.run.runner.restart(
        RunSpec(ended.corpus_name, algorithm, ended.config, ended.settings), is_running=False
    )
    until(lambda: session.run.runner.progress.run_id == 2)
    session.look()
    assert session.state.topic is None
