"""The page of a stream: everybody watches, and it shows what the thread of the stream publishes."""

import gc
import re
import weakref
from dataclasses import replace

import numpy as np
import panel_material_ui as pmui
import pytest
from bokeh.document import Document
from panel.io.state import set_curdoc

from stickbreaker.app.model.stream_record import StreamRecord
from stickbreaker.app.server.event_log import EventLog
from stickbreaker.app.server.stream import Stream
from stickbreaker.app.session.page import lay_out
from stickbreaker.app.session.stream_session import StreamSession
from tests.app.conftest import HOSTILE
from tests.app.session.test_opening import render
from tests.app.small_streams import BATCH_SIZE, make_follower, write_texts

pytestmark = pytest.mark.filterwarnings("ignore:partial_fit does not know how many documents")


def follow(num_batches, name="news.jsonl", num_waiting=0):
    """What a stream has published after some mini-batches."""
    follower, record = make_follower(), StreamRecord(name, BATCH_SIZE)
    record.begin()
    for event in follower.follow(write_texts(BATCH_SIZE * num_batches)):
        record.take(event, follower.model)
        record.progress(event.step)
    record.wait(num_waiting)
    return record.progress(num_batches)


class Shown(Stream):
    """A stream of which only the pages and what they show count."""

    def __init__(self, progress):
        self.progress, self.events, self.num_pages = progress, EventLog(), 0


@pytest.fixture
def open_page():
    """Open a page that shows this progress; returns its session and what it follows."""
    opened = []

    def open_page(progress):
        stream, document = Shown(progress), Document()
        with set_curdoc(document):
            session = StreamSession(stream)
            lay_out(session).server_doc(document)
            session.start()
            session.unfold()
        opened.append(session)
        return session, stream

    yield open_page
    for session in opened:
        session.stop()


def test_a_page_shows_the_stream_and_each_change(open_page):
    session, stream = open_page(follow(0, num_waiting=3))
    assert session.bar.state == "Waiting"
    assert (
        "Waiting for documents: 3 of 4 documents have arrived."
        in session.pages["Stream"].summary.__panel__().object
    )
    assert session.bar.share == 0.75
    assert session.bar.share_label == "Documents of the next mini-batch"
    assert (
        session.pages["Stream"].table.cells.empty
        == "The first column appears with the first mini-batch."
    )
    stream.progress = follow(6, num_waiting=1)
    session.look()
    assert session.bar.state == "Following"
    assert session.bar.documents == "24 documents"
    assert session.bar.share == 0.25
    assert session.bar.share_text == "1 of 4 documents"
    summary = re.sub("<.*?>", "", session.pages["Stream"].summary.__panel__().object)
    assert "Following news.jsonl: 24 documents read, the last of 2026-11-26 08:23." in summary
    assert [column["date"] for column in session.pages["Stream"].table.cells.columns][
        -1
    ] == "2026-11-26 08:23"
    assert len(session.pages["Stream"].table.cells.columns) == 6
    assert (
        "% of the tokens in the last 24 documents"
        in session.pages["Stream"].table.cells.blocks[0]["note"]
    )
    assert (
        "Share of the tokens in the last 24 documents." in session.pages["Stream"].now.whole.object
    )
    assert session.pages["Stream"].now.rows.rows
    assert "fashionb" in session.pages["Stream"].facts.facts.object


def test_no_page_controls_a_stream(open_page):
    session, _ = open_page(follow(2))
    page = lay_out(session)
    assert page.sidebar == []
    session.unfold()
    assert session.bar.buttons is None
    assert not session.layout().select(pmui.Button)


def test_curves_of_a_stream_have_its_last_hours(open_page):
    session, _ = open_page(follow(8))
    assert list(session.pages["Stream"].curves.param.axis.objects) == ["documents", "dates"]
    curves = session.pages["Stream"].curves
    assert (curves.x_range.start, curves.x_range.end) == (4, 32 + 0.02 * 28)
    session.pages["Stream"].curves.axis = "dates"
    assert session.pages["Stream"].curves.x_range.start == 1_795_680_180_000


def test_the_newest_column_changes_while_the_topics_stay(open_page):
    progress = replace(follow(4), default_topics=(1,))
    *before, newest = progress.columns
    session, stream = open_page(progress)
    assert session.pages["Stream"].table.topics == [1]
    newest = replace(newest, documents_seen=20, date=np.datetime64("2026-11-26T08:30:00"))
    stream.progress = replace(progress, columns=(*before, newest), documents_seen=20)
    session.look()
    assert session.pages["Stream"].table.cells.columns[-1]["date"] == "2026-11-26 08:30"
    assert session.pages["Stream"].table.topics == [1]
    stream.progress = replace(follow(5), default_topics=(2,))
    session.look()
    assert session.pages["Stream"].table.topics == [2]


def test_the_name_of_a_file_is_shown_as_text(open_page):
    progress = follow(1, name=HOSTILE)
    session, _ = open_page(progress)
    assert HOSTILE not in session.pages["Stream"].summary.__panel__().object
    assert HOSTILE not in render(progress)


def test_the_stream_is_there_as_text_before_the_page_is_drawn(open_page):
    session, _ = open_page(follow(6))
    opening = session.describe_opening()
    assert opening["is_stream"]
    assert opening["curve"]["title"].startswith("Next-batch log likelihood")
    shown = render(follow(6))
    assert "This is the stream as it was a moment ago." in shown
    assert "Following news.jsonl: 24 documents read" in shown


def test_an_error_of_a_view_does_not_stop_the_others(open_page, monkeypatch, caplog):
    session, stream = open_page(follow(1))

    def fail(progress):
        raise ZeroDivisionError("no table")

    monkeypatch.setattr("stickbreaker.app.views.word_table.table_columns", fail)
    stream.progress = follow(2)
    session.look()
    assert session.bar.documents == "8 documents"
    assert "An error on the page" in caplog.text
    assert stream.events.counts()["page_error"] == 1


def test_open_pages_are_counted_and_logged(open_page):
    session, stream = open_page(follow(1))
    other = StreamSession(stream)
    assert stream.num_pages == 1
    other.stop()
    session.stop()
    session.stop()
    assert stream.num_pages == 0
    counts = stream.events.counts()
    assert (counts["page_opened"], counts["page_closed"]) == (1, 1)


def test_a_failed_stream_says_why_and_keeps_its_results(open_page):
    record = StreamRecord("news.jsonl", BATCH_SIZE)
    record.fail(FloatingPointError("a topic has become infinite"))
    session, _ = open_page(record.progress(1))
    assert session.bar.state == "Failed"
    assert (
        "The engine has stopped: FloatingPointError: a topic has become infinite."
        in session.bar.note
    )


def test_the_server_does_not_keep_a_page_that_is_closed():
    stream = Shown(follow(2))
    with set_curdoc(Document()):
        page = lay_out(StreamSession(stream))
    kept = weakref.ref(page)
    del page
    gc.collect()
    assert kept() is None
