"""A text or the words of a document, in the colours and lines of their topics, as HTML."""

from html import escape

from stickbreaker.app.frames.prose import ProsePiece, order_topics
from stickbreaker.app.frames.reading_frames import Title, word_topics
from stickbreaker.app.model.counting import only_if
from stickbreaker.app.model.reading import Reading
from stickbreaker.app.theme import topic_color

LINES = ("solid", "double", "dotted", "dashed", "wavy")
WORD_STYLE = """
.words { line-height: 1.9; font-size: 15px; margin: 6px 0; overflow-wrap: anywhere; }
.words span { text-decoration-thickness: 2px; text-underline-offset: 4px; margin-right: .5em; }
.words sub { font-size: 11px; opacity: .8; }
.prose { line-height: 1.7; font-size: 15px; margin: 8px 0; max-width: 72ch; }
.prose { white-space: pre-wrap; overflow-wrap: anywhere; }
.prose span, .legend span { text-decoration-thickness: 2px; text-underline-offset: 3px;
  border-radius: 3px; }
.legend span { margin-right: 1em; white-space: nowrap; }
h3 { margin: 4px 0; } p { margin: 4px 0; font-size: 14px; }
"""
NUM_IN_LEGEND = 6


def prose_html(pieces: list[ProsePiece], title: Title) -> str:
    """Write a text with its words coloured and underlined by topic, and a legend."""
    order = order_topics(pieces)
    styles = {topic_id: _style(topic_id, place) for place, topic_id in enumerate(order)}
    shown = [_mark(piece.text, piece.topic_id, styles, title) for piece in pieces]
    legend = "".join(
        f'<span style="{styles[k]}">{escape(title(k))}</span>' for k in order[:NUM_IN_LEGEND]
    )
    return (
        f"<p class='legend'>Topics of the words: {legend}</p><div"
        f" class='prose'>{''.join(shown)}</div>"
    )


def counts_html(reading: Reading, row: int, title: Title, note: str) -> str:
    """Write a document's words, coloured and underlined by topic. Note: HTML."""
    words = word_topics(reading, row)
    order = list(dict.fromkeys(topic_id for *_, topic_id in words))
    styles = {topic_id: _style(topic_id, place) for place, topic_id in enumerate(order)}
    spans = [
        _mark(word, topic_id, styles, title, only_if(number > 1, f"<sub>×{number}</sub>"))
        for word, number, topic_id in words
    ]
    grouped = (
        "<p>Words are grouped by topic, starting with the main topic, not in the order of the"
        " text.</p>"
    )
    return f"{grouped}<div class='words'>{' '.join(spans)}</div><p>{note}</p>"


def _mark(
    text: str, topic_id: int | None, styles: dict[int, str], title: Title, after: str = ""
) -> str:
    """Write a word in its topic's style, with the title, or plain without a topic."""
    if topic_id is None:
        return escape(text)
    return (
        f'<span style="{styles[topic_id]}"'
        f' title="{escape(title(topic_id))}">{escape(text)}{after}</span>'
    )


def _style(topic_id: int, place: int) -> str:
    color = topic_color(topic_id)
    line = LINES[place % len(LINES)]
    return (
        f"text-decoration: underline {line} {color}; background: color-mix(in srgb, {color} 16%,"
        " transparent)"
    )
