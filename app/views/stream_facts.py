"""The words that a stream brings, and the documents that wait: a small part of its page."""

from html import escape

import param

from stickbreaker.app.frames.stream_texts import list_facts, name_recent
from stickbreaker.app.model.counting import only_if
from stickbreaker.app.model.progress import Progress
from stickbreaker.app.state import RunState, guarded
from stickbreaker.app.widgets.help_button import make_heading
from stickbreaker.app.widgets.layouts import StateView, html_pane, stack

TITLE = "Words of the stream"
HELP = (
    "<p>The model learns when a mini-batch is full.</p><p>A word enters the vocabulary with the"
    " first mini-batch that has it in enough documents. If the vocabulary is full, new words"
    " replace words that no longer occur. Tokens of all other words are left out.</p>"
)
STYLE = """
:host { color: var(--panel-on-surface-color, #222); font-size: 14px; }
p { margin: 2px 0; }
dl { display: grid; grid-template-columns: max-content minmax(0, 1fr); gap: 2px 16px; margin: 4px 0;
  }
dd { margin: 0; overflow-wrap: anywhere; }
dd span { font-variant-numeric: tabular-nums; }
"""


class StreamFactsView(StateView):
    """Shows the facts of a stream."""

    def __init__(self, state: RunState) -> None:
        super().__init__(state)
        self.facts = html_pane(stylesheets=[STYLE])
        self._layout = stack(make_heading(TITLE, HELP), self.facts, css_classes=["stream-facts"])
        self._draw()

    @param.depends("state.progress", watch=True)
    @guarded
    def _draw(self) -> None:
        self.facts.object = write_facts(self.state.progress)


def write_facts(progress: Progress) -> str:
    """Write the facts as HTML; the words of a stream are text only."""
    stream = progress.stream
    if stream is None:
        return ""
    facts = [
        (fact.label, fact.value, only_if(fact.words, f": {fact.words}"))
        for fact in list_facts(stream)
    ]
    rows = "".join(
        f"<dt>{label}</dt><dd><span>{escape(value)}</span>{escape(words)}</dd>"
        for label, value, words in facts
    )
    said = f"<p>New, dropped and left out: in {name_recent(stream)}.</p>"
    about = only_if(stream.num_batches, said)
    return f"<dl>{rows}</dl>{about}"
