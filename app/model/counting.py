"""Numbers with their nouns."""


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
