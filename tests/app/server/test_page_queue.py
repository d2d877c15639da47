"""Which pages count against the limits."""

from bokeh.document import Document
from bokeh.server.session import ServerSession

from stickbreaker.app.server.page_queue import PageQueue


def test_a_page_counts_while_it_loads_and_while_it_is_connected():
    queue, session, connection = PageQueue(), ServerSession("one", Document()), object()
    assert queue.list_open([session]) == []
    queue.expect(session)
    assert queue.list_open([session]) == [session]
    session.subscribe(connection)
    queue.stop_expecting(session)
    assert queue.list_open([session]) == [session]
    session.unsubscribe(connection)
    assert queue.list_open([session]) == []
    session.subscribe(connection)
    assert queue.list_open([session]) == [session]


def test_a_page_whose_client_left_before_it_was_sent_does_not_count():
    queue, session = PageQueue(), ServerSession("one", Document())
    queue.expect(session)
    queue.stop_expecting(session)
    assert queue.list_open([session]) == []
