"""The page Topics: a table and a map of topics, and one topic in full."""

from collections.abc import Sequence
from typing import Any

from stickbreaker.app.pages.page import ReadingPage
from stickbreaker.app.views.check_note import AGAIN, KEEP, CheckNote
from stickbreaker.app.views.topic_edits import TopicEdits
from stickbreaker.app.views.topic_explorer import TopicExplorer
from stickbreaker.app.views.topic_map import TopicMap
from stickbreaker.app.views.topic_quality import TopicQualityView
from stickbreaker.app.views.word_life import WordLife
from stickbreaker.app.widgets.layouts import stack

STYLE = """
:host { display: grid; grid-template-columns: minmax(0, 1fr); gap: 8px 24px; align-items: start; }
@media (min-width: 1200px) { :host { grid-template-columns: minmax(0, 3fr) minmax(0, 2fr); } }
@media (min-width: 1350px) { :host { grid-template-columns: minmax(0, 7fr) minmax(0, 3fr); } }
@media (min-width: 1200px) { :host { grid-template-rows: auto auto auto 1fr; }
  .aside { grid-column: 2; grid-row: 1 / span 4; } }
"""


class Topics(ReadingPage):
    """All topics as a table and by similarity; the selected one with words and documents."""

    title = "Topics"
    needs_player = True

    def view(self) -> Sequence[Any]:
        state = self.state
        topic_map = TopicMap(state)
        again, keep = (CheckNote(state, self.commands, each) for each in (AGAIN, KEEP))
        quality = TopicQualityView(state, [again.button, again, keep.button, keep])
        word = WordLife(state)
        self.explorer = TopicExplorer(state, self.commands, word)
        self.edits = TopicEdits(state, self.commands)
        self.views = (self.explorer, word, topic_map, again, keep, quality, self.edits)
        # The selected topic is next to the table and the map, so that they are seen together, or
        # below the table in a narrow window.
        aside = stack(self.explorer.chosen, css_classes=["aside"])
        parts = (quality, aside, self.edits, topic_map, self.explorer.others)
        top = stack(*parts, stylesheets=[STYLE])
        return [top, self.explorer.documents]
