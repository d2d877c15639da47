"""The page Documents: documents by word, topic, date, title or text, and one of them in full."""

from collections.abc import Sequence
from typing import Any

from stickbreaker.app.pages.page import ReadingPage
from stickbreaker.app.state import DOCUMENTS
from stickbreaker.app.views.documents import DocumentBrowser


class Documents(ReadingPage):
    """The list of documents, and the selected document."""

    title = DOCUMENTS

    def view(self) -> Sequence[Any]:
        self.browser = DocumentBrowser(self.state, self.commands.find_texts)
        self.views = (self.browser,)
        return self.views
