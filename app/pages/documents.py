"""The page Documents: documents by word, topic, date, title or text, and one of them in full."""

from collections.abc import Sequence
from typing import Any

from stickbreaker.app.pages.page import ReadingPage
from stickbreaker.app.state import DOCUMENTS
from stickbreaker.app.views.documents import DocumentBrowser
from stickbreaker.app.views.typed_text import TypedText


class Documents(ReadingPage):
    """The list of documents, the selected document, and a text of the user."""

    title = DOCUMENTS

    def view(self) -> Sequence[Any]:
        self.browser = DocumentBrowser(self.state, self.commands.find_texts)
        self.typed = TypedText(self.state, self.commands.find_model)
        self.views = (self.typed, self.browser)
        return self.views
