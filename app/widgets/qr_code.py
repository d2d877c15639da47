"""A link as a QR code, to be scanned from a projector. It is drawn here, without a network."""

from html import escape

import segno

from stickbreaker.app.model.counting import only_if

ALT = "QR code of the link to watch this run"


def draw_qr_code(link: str) -> str:
    """Draw a link as a QR code: an SVG image as a data address.

    Empty for an empty link or one that is too long.

    >>> draw_qr_code("http://class.example/app?watch=abc")[:18], draw_qr_code("")
    ('data:image/svg+xml', '')
    """
    if not link:
        return ""
    try:
        code = segno.make(link, error="m", micro=False)
    except segno.DataOverflowError:
        return ""
    # Dark on white in a dark page too, because many cameras do not read inverted codes.
    return str(code.svg_data_uri(border=4, dark="#000", light="#fff"))


def qr_code_html(link: str) -> str:
    """Write the image of a QR code with its alternative text; empty if there is none."""
    picture = draw_qr_code(link)
    return only_if(picture, f'<img class="qr-code" src="{escape(picture)}" alt="{ALT}">')
