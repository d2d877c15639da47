"""Topics as pictures, for a corpus of pictures: each learned topic above the nearest true one."""

from html import escape

import param

from stickbreaker.app.frames.pictures import MOST_TOPICS, match_pictures, picture_html
from stickbreaker.app.frames.reading_frames import percent
from stickbreaker.app.model.progress import Progress
from stickbreaker.app.state import RunState, guarded
from stickbreaker.app.widgets.help_button import make_heading
from stickbreaker.app.widgets.layouts import StateView, html_pane, stack
from stickbreaker.engine.corpora.bars import find_true_topics

TITLE = "Topics as pictures"
SHORT = "Above: a learned topic and its share. Below: the nearest true topic."
HELP = (
    "<p>A word is a pixel, and a darker pixel is a more probable word. Each document was drawn"
    " from a few of ten topics: the rows and columns of the picture.</p><p>With the default"
    " settings, one pass ends with 12 to 22 topics in use, and three passes with 12 to 14: the ten"
    " true ones, and small mixtures. <code>OnlineHDP().fit</code> in Python makes more passes, and"
    " finds ten.</p>"
)
STYLE = """
.pictures { display: flex; flex-wrap: wrap; gap: 10px 8px; min-height: 134px; }
figure { margin: 0; width: 48px; text-align: center; font-size: 14px; }
.none { display: block; box-sizing: border-box; height: 48px; border: 1px dashed #808080; }
"""


class TopicPictures(StateView):
    """The topics of the moment as pictures; hidden unless the words of the corpus are pixels."""

    def __init__(self, state: RunState) -> None:
        super().__init__(state)
        self.pictures = html_pane(stylesheets=[STYLE])
        self._layout = stack(make_heading(TITLE, HELP, SHORT), self.pictures, visible=False)
        self._draw()

    @param.depends("state.shown", "state.titles", watch=True)
    @guarded
    def _draw(self) -> None:
        drawn = pictures_html(self.state.shown)
        self.pictures.object = drawn
        self._layout.visible = bool(drawn)


def pictures_html(progress: Progress) -> str:
    """Draw the learned topics above true ones, then the true ones that are nearest to none."""
    true = find_true_topics(progress.vocabulary or ())
    if not len(true):
        return ""
    learned = match_pictures(progress.now, true)
    names = [f"true topic {place + 1}" for place in range(len(true))]
    figures = [
        f"<figure title='{escape(progress.topic_title(each.topic_id))}, differs from"
        f" {names[each.nearest]} by {percent(each.difference)}'>"
        f"{picture_html(each.topic, escape(progress.topic_title(each.topic_id)))}"
        f"{picture_html(true[each.nearest], names[each.nearest])}{percent(each.share)}</figure>"
        for each in learned[:MOST_TOPICS]
    ]
    found = {each.nearest for each in learned}
    figures += [
        f"<figure><span class='none'></span>{picture_html(true[place], names[place])}none</figure>"
        for place in range(len(true))
        if place not in found
    ]
    more = len(learned) - MOST_TOPICS
    if more > 0:
        figures.append(f"<figure>{more} smaller ones</figure>")
    return f"<div class='pictures'>{''.join(figures)}</div>"
