"""Where a login leads to: always a path of this server."""

import re
from urllib.parse import unquote

MAX_DECODINGS = 5
LOCAL_PATH = re.compile(r"/(?!/)[^\\\x00-\x1f\x7f]*")


def is_local_path(url: str) -> bool:
    r"""Whether an address is a path of this server, however often it is percent-encoded.

    >>> [is_local_path(url) for url in ("/app?run=x", "/", "//evil.example", "/%2fevil.example",
    ...     "/\\evil.example")]
    [True, True, False, False, False]
    """
    for _ in range(MAX_DECODINGS):
        if not LOCAL_PATH.fullmatch(url):
            return False
        decoded = unquote(url)
        if decoded == url:
            return True
        url = decoded
    return False
