"""The pages that show a reading."""

import pytest

from stickbreaker.app.model.selection import Selection
from stickbreaker.app.session.pages import Readers
from stickbreaker.app.session.tabs import DOCUMENTS, READING_PAGES
from stickbreaker.engine.corpora.texts import find_texts


@pytest.mark.parametrize("page", READING_PAGES)
def test_a_document_opened_from_any_page_is_of_the_corpus_that_the_page_shows(job, progress, page):
    selection = Selection()
    readers = Readers(selection, lambda: None, lambda topic_id, name: None, lambda: (), find_texts, lambda: ())
    for view in readers.on_page(page):
        view.read(job, progress)
    selection.document = 0
    (documents,) = readers.parts(DOCUMENTS)
    assert documents.topics.rows
    assert selection.topic is not None
