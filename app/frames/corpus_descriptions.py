"""Descriptions of an uploaded file or corpus.

Text from the file is escaped if the result is HTML.
"""

import re
from collections.abc import Callable
from html import escape

from stickbreaker.app.model.counting import count, count_all, only_if, span
from stickbreaker.engine.corpora.library import OwnCorpus
from stickbreaker.engine.corpora.preview import Preview
from stickbreaker.engine.corpora.word_choices import LANGUAGES, MAX_VOCABULARY, WordChoices
from stickbreaker.engine.corpora.words import WordEffect

NUM_LISTED = 100
# The labels of menus, by the arguments of `load_corpus`.
MENUS = {"day_first": "Day and month", "encoding": "Encoding", "sheet": "Sheet"}
# With fewer documents in a sample, words may be missing from it by chance.
ENOUGH_TO_TELL = 100
FILE_IS_DOCUMENT = (
    "Each text file is one document. For more documents, use one file for each, or CSV or JSON"
    " lines with one row for each."
)


def describe_preview(seen: Preview, shorten: Callable[[str], str] = str) -> str:
    """Describe the content of a file as HTML."""
    has_files = seen.kind.endswith("of text files")
    unit = "document"
    left_out = "line"
    if has_files:
        left_out = "file"
    elif seen.columns:
        unit = left_out = "row"
    kind = seen.kind
    if has_files and seen.num_rows + seen.num_bad == 1:
        kind = "text file"
    parts = [
        f"{kind[0].upper()}{kind[1:]}: {count(seen.num_rows, unit)} with text.",
        only_if(has_files, FILE_IS_DOCUMENT),
    ]
    if seen.date_span:
        dates = span(*seen.date_span)
        parts.append(f"Dates from {dates}." if " to " in dates else f"All dates: {dates}.")
    elif seen.columns:
        parts.append(
            f"No dates: the documents keep the order of the file{only_if(has_files, 's')}."
        )
    if seen.num_undated:
        parts.append(
            f"Without a date: {count(seen.num_undated, unit)}, skipped unless you choose no date"
            " column."
        )
    parts.append(describe_language(seen))
    facts = f"<h2>Content</h2><p>{escape(' '.join(filter(None, parts)))}</p>"
    facts += "".join(f"<p>{escape(shorten(name_menus(note)))}</p>" for note in seen.notes)
    if seen.num_bad:
        items = "".join(f"<li>{escape(shorten(str(row)))}</li>" for row in seen.bad[:NUM_LISTED])
        more = only_if(seen.num_bad > NUM_LISTED, f" (the first {NUM_LISTED} are listed)")
        summary = f"Skipped: {count(seen.num_bad, left_out)}{more}"
        facts += f"<details><summary>{summary}</summary><ul>{items}</ul></details>"
    return facts


def name_menus(note: str) -> str:
    """Name the menus of the page instead of the arguments in Python.

    >>> name_menus("'3/4/1863' is read as 1863-03-04: set day_first if the day comes first.")
    "'3/4/1863' is read as 1863-03-04: set “Day and month” if the day comes first."
    """
    return re.sub(
        r"(?<=\b[Ss]et )(day_first|encoding|sheet)\b", lambda name: f"“{MENUS[name[0]]}”", note
    )


def describe_language(seen: Preview) -> str:
    """Name the detected language and the evidence for it; "" if a note names it."""
    if seen.language not in ("", *LANGUAGES):
        return ""
    if not seen.language:
        return "No stop-word list matches the language of the text."
    share = f"{100 * seen.language_share:.0f} % of the tokens are stop words of this language"
    return f"Detected language: {seen.language.capitalize()} ({share})."


def describe_first(seen: Preview) -> str:
    """Show the first documents as HTML."""
    articles = [
        f"<article><strong>{escape(shown.title)}</strong>"
        f" {escape(shown.date)}<p>{escape(shown.text)}</p></article>"
        for shown in seen.first
    ]
    return f"<h2>First documents</h2>{''.join(articles)}"


def describe_effect(effect: WordEffect, words: WordChoices | None) -> str:
    """Describe as HTML the vocabulary that a choice of words produces; None: known words."""
    where = f"In {count_all(effect.num_documents, 'document')}"
    if effect.num_documents < effect.of_documents:
        where = (
            f"In a sample of {effect.num_documents:,} of {count(effect.of_documents, 'document')}"
        )
    kept = f"{100 * effect.num_tokens / max(1, effect.raw_tokens):.0f} %"
    parts = [
        (
            f"{where}: a vocabulary of {count(effect.num_terms, 'word')}, and {effect.num_tokens:,}"
            f" of {count(effect.raw_tokens, 'token')} counted ({kept})."
        ),
        effect.unknown,
    ]
    if words is not None:
        least, most = words.limits(effect.of_documents)
        parts.append(
            f"A word must be in at least {count(least, 'document')} and in at most {100 * most:.0f}"
            " % of them."
        )
    if effect.num_empty:
        parts.append(f"Skipped because no word is counted: {count(effect.num_empty, 'document')}.")
    if words is not None and effect.num_terms >= words.max_words:
        parts.append(
            f"The vocabulary is limited to {words.max_words:,} words; the maximum is"
            f" {MAX_VOCABULARY:,}."
        )
    listed = escape(" ".join(effect.words))
    frequent = f'<p class="words"><strong>Most frequent:</strong> {listed}</p>'
    return (
        f'<p role="status">{escape(" ".join(filter(None, parts)))}</p>{only_if(listed, frequent)}'
    )


def explain_no_word(effect: WordEffect) -> str:
    """Say why these choices leave no words and what to change; empty if they leave some."""
    if effect.num_tokens or effect.num_documents < min(effect.of_documents, ENOUGH_TO_TELL):
        return ""
    if not effect.raw_tokens:
        return "This text has no words: choose another text column or another file."
    if effect.unknown:
        return "This corpus has no word of the file: choose other words above."
    return (
        "These choices leave no words: lower “Minimum letters per word” or “Minimum documents per"
        " word”, raise “Maximum document frequency”, or remove stop words."
    )


def describe_built(about: OwnCorpus) -> str:
    """Describe a corpus that has just been built."""
    left_out = only_if(about.num_bad, f"; {count(about.num_bad, 'row')} skipped")
    return (
        f"{about.name} is built: {_describe_size(about)}{left_out}. It is selected for the next"
        " run."
    )


def describe_taken(about: OwnCorpus) -> str:
    """Say that a corpus with this file's name already exists."""
    return (
        f"A corpus named “{about.name}” already exists, built on {about.built_at[:10]}: choose"
        " another name, or delete that corpus below."
    )


def describe_own(about: OwnCorpus) -> str:
    """Describe one of the user's corpora in one sentence."""
    kept = "with its text" if about.has_text else "counts only"
    source = only_if(about.source, f", from {about.source}")
    return f"{_describe_size(about)}, {kept}{source}, built on {about.built_at[:10]}."


def _describe_size(about: OwnCorpus) -> str:
    parts = [
        count(about.num_documents, "document"),
        count(about.vocab_size, "word"),
        count(about.num_tokens, "token"),
    ]
    if about.date_span:
        parts.append(span(*about.date_span))
    return ", ".join(parts)
