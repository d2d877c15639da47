"""The "?" of the page: a button that opens a short text.

It is plain HTML, so any text of the page can contain it.
"""

from html import escape

import panel as pn

from stickbreaker.app.model.counting import only_if
from stickbreaker.app.widgets.layouts import html_pane

HELP_STYLE = """
:host { color: var(--panel-on-surface-color, #222); }
.heading { display: flex; align-items: center; gap: 8px; }
.heading h2 { margin: 0; font-size: 18px; }
p { margin: 4px 0; font-size: 14px; line-height: 1.45; }
.aside { margin-left: 12px; font-size: 14px; }
@media (max-width: 1040px) { .aside { display: none; } }
button.help { flex: none; width: 24px; height: 24px; padding: 0; border-radius: 12px;
  font: 600 14px/1 inherit;
  color: inherit; cursor: pointer; background: none;
  border: 1px solid color-mix(in srgb, currentColor 55%, transparent); }
button.help:hover { background: color-mix(in srgb, currentColor 10%, transparent); }
button.help:focus-visible { outline: 2px solid var(--panel-primary-color, #1976d2);
  outline-offset: 1px; }
.help-text { max-width: min(34em, 88vw); padding: 12px 16px; border-radius: 8px; font-size: 14px;
  line-height: 1.45;
  color: var(--panel-on-surface-color, #222); background: var(--panel-surface-color, #fff);
  border: 1px solid color-mix(in srgb, currentColor 40%, transparent);
    box-shadow: 0 4px 16px rgb(0 0 0 / 25%); }
@supports (position-area: bottom) {
  .help-text { inset: auto; margin: 6px 0; position-area: bottom span-all;
    position-try-fallbacks: flip-block; }
}
"""


def help_button(about: str, text: str) -> str:
    """Write the button and the text that it opens; Escape or a click elsewhere closes it.

    about: what the text explains, for screen readers. text: HTML of the page itself, never of a
    corpus.

    >>> "popovertarget" in help_button("Sweep", "One run for each setting.")
    True
    """
    name = "help-" + "".join(sign if sign.isalnum() else "-" for sign in about.casefold())
    return (
        f'<button type="button" class="help" popovertarget="{name}" aria-label="Help:'
        f' {escape(about)}">?</button><div id="{name}" class="help-text" popover role="note"'
        f' aria-label="{escape(about)}">{text}</div>'
    )


def heading_html(title: str, text: str, short: str = "", aside: str = "") -> str:
    """Write a heading, and a "?" that opens a text if there is one.

    short: a line that is always shown below it;
      aside: a text next to it, which narrow windows leave out.
    """
    line = only_if(short, f"<p>{short}</p>")
    right = only_if(aside, f'<span class="aside">{aside}</span>')
    button = only_if(text, help_button(title, text))
    return f'<div class="heading"><h2>{escape(title)}</h2>{button}{right}</div>{line}'


def make_heading(title: str, text: str, short: str = "", aside: str = "") -> pn.pane.HTML:
    """Make the pane of such a heading."""
    html = heading_html(title, text, short, aside)
    return html_pane(html, stylesheets=[HELP_STYLE], margin=(6, 10, 0, 10))
