"""The headers of every response: who may frame it, what it may load and tells other sites."""

import secrets

from tornado.httputil import HTTPHeaders, HTTPServerRequest
from tornado.web import OutputTransform

from stickbreaker.app.server.origins import LOCAL_HOSTS

OPENER_POLICY = "Cross-Origin-Opener-Policy"
HEADERS = {
    "X-Frame-Options": "DENY",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    OPENER_POLICY: "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
}
# - Inline scripts need the nonce of their response, so that markup of a corpus never runs.
# - 'unsafe-eval': BokehJS compiles the code of CustomJS with `new Function`, and so does Panel.
# - blob: Panel makes the module of each of the page's own components a blob.
# - Inline styles: BokehJS and Material UI write style elements and attributes.
# - data: and blob: images and data: fonts: icons of toolbars, and figures that are saved.
POLICY = (
    "default-src 'none'",
    "script-src 'self' 'nonce-{nonce}' 'unsafe-eval' blob:",
    "style-src 'self' 'unsafe-inline'",
    "img-src 'self' data: blob:",
    "font-src 'self' data:",
    "connect-src 'self'",
    "manifest-src 'self'",
    "base-uri 'none'",
    "form-action 'self'",
    "frame-ancestors 'none'",
    "object-src 'none'",
)
# What `session/page.html` writes around all that comes from a run.
OPENING_START = b'<div id="opening">'
OPENING_END = b"<!-- end of the opening -->"


class ProtectedResponse(OutputTransform):
    """Adds the headers to one response, and the nonce to the scripts of a complete page."""

    def __init__(self, request: HTTPServerRequest):
        super().__init__(request)
        self._nonce = secrets.token_urlsafe(16)
        self._is_trusted = request.host_name in LOCAL_HOSTS or request.protocol == "https"

    def transform_first_chunk(
        self, status_code: int, headers: HTTPHeaders, chunk: bytes, finishing: bool
    ) -> tuple[int, HTTPHeaders, bytes]:
        """Add what is missing before the headers are sent."""
        headers.update(HEADERS)
        if not self._is_trusted:
            # Browsers ignore it there, and write an error into their console.
            del headers[OPENER_POLICY]
        headers["Content-Security-Policy"] = "; ".join(POLICY).format(nonce=self._nonce)
        is_html = headers.get("Content-Type", "").startswith("text/html")
        if finishing and is_html and b"<script" in chunk:
            chunk = add_nonce(chunk, self._nonce)
            headers["Content-Length"] = str(len(chunk))
        return status_code, headers, chunk


def add_nonce(page: bytes, nonce: str) -> bytes:
    """Add the nonce to the scripts of a page, except for what its opening contains.

    The opening has words, titles and names, which its template writes as text. Should that fail, a
    script in them still does not run. Such a text may contain the signs of the start or the end
    too: the first and last are real.
    """
    before, start, rest = page.partition(OPENING_START)
    opening, end, after = rest.rpartition(OPENING_END)
    if start and not end:
        opening = rest
        after = b""
    before, after = (
        part.replace(b"<script", f'<script nonce="{nonce}"'.encode()) for part in (before, after)
    )
    return before + start + opening + end + after
