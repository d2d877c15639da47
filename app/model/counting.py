"""Numbers with their nouns, and parts of sentences that depend on numbers and facts."""


def count(number: int, noun: str) -> str:
    """Write a number with its noun, in the plural unless the number is one.

    >>> count(1, "document"), count(2_000, "word"), count(0, "row")
    ('1 document', '2,000 words', '0 rows')
    """
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"


def count_all(number: int, noun: str) -> str:
    """Write a number as all of them.

    >>> count_all(1, "document"), count_all(9_384, "document")
    ('the only document', 'all 9,384 documents')
    """
    return f"the only {noun}" if number == 1 else f"all {number:,} {noun}s"


def agree(number: int, one: str, several: str) -> str:
    """Choose the words that go with a number.

    >>> agree(1, "is", "are"), agree(2, "is", "are")
    ('is', 'are')
    """
    return one if number == 1 else several


def only_if(condition: object, text: str) -> str:
    """A part of a sentence that is left out unless something holds.

    >>> f"Reading{only_if(2 > 1, ' twice')}{only_if(0, ' slowly')}."
    'Reading twice.'
    """
    return text if condition else ""


def span(first: str, last: str) -> str:
    """Write the first and the last of several, or the only one.

    >>> span("1790", "1799"), span("1790", "1790")
    ('1790 to 1799', '1790')
    """
    return first if first == last else f"{first} to {last}"
