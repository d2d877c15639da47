"""Who looks at a page, as far as its request tells."""

import panel as pn

LOOPBACK = ("127.0.0.1", "::1")
FORWARDED = ("Forwarded", "X-Forwarded-For", "X-Real-Ip", "X-Forwarded-Host")


def may_name_paths() -> bool:
    """Whether the page is looked at from the very machine that serves it, so that it may read files there by name.

    True where there is no server, as in a notebook. A proxy that does not say that it is one cannot be told apart.
    """
    document = pn.state.curdoc
    request = getattr(document.session_context if document is not None else None, "request", None)
    if request is None:
        return True
    return request.remote_ip in LOOPBACK and not any(request.headers.get(name) for name in FORWARDED)
