"""Parts of messages: why a file cannot be read or written, and texts cut to a length."""


def explain_error(error: BaseException) -> str:
    """Say why something failed: what the system says, or the first line of the message.

    >>> explain_error(FileNotFoundError(2, "No such file", "a.csv")), explain_error(KeyError())
    ('No such file', 'KeyError')
    """
    said = str(getattr(error, "strerror", None) or error).strip()
    return cut(said.partition("\n")[0].rstrip(".") or type(error).__name__, 100)


def cut(text: str, length: int) -> str:
    """Leave out the end of a text that is longer than a number of characters.

    >>> cut("treaties", 8), cut("treaties", 6)
    ('treaties', 'treat…')
    """
    return text if len(text) <= length else f"{text[: length - 1]}…"
