"""What the page says of a file or a corpus of one's own. Whatever comes from it is escaped where the result is HTML."""

from collections.abc import Callable
from html import escape

from stickbreaker.app.model.counting import count, count_all
from stickbreaker.engine.corpora.library import OwnCorpus
from stickbreaker.engine.corpora.preview import Preview
from stickbreaker.engine.corpora.words import MAX_VOCABULARY, WordChoices, WordEffect

NUM_LISTED = 100
# Documents of a sample; what fewer lack the whole may have.
ENOUGH_TO_TELL = 100
FILE_IS_DOCUMENT = (
    "Each text file is one document, however many paragraphs it has: for more documents bring a file for each, or a "
    "CSV or JSON lines with a row for each."
)


def describe_preview(seen: Preview, shorten: Callable[[str], str] = str) -> str:
    """What a file holds as HTML."""
    has_files = seen.kind.endswith("of text files")
    unit = "document" if has_files or not seen.columns else "row"
    left_out = "file" if has_files else "row" if seen.columns else "line"
    kind = "text file" if has_files and seen.num_rows + seen.num_bad == 1 else seen.kind
    parts = [
        f"{kind[0].upper()}{kind[1:]}: {count(seen.num_rows, unit)} with text.",
        FILE_IS_DOCUMENT if has_files else "",
    ]
    if seen.date_span:
        parts.append(f"Dates from {seen.date_span[0]} to {seen.date_span[1]}.")
    elif seen.columns:
        parts.append("No dates: the order of the file is the chronology.")
    if seen.num_undated:
        parts.append(f"Without a date: {count(seen.num_undated, unit)}, left out unless you choose no date.")
    parts.append(describe_language(seen))
    facts = f"<h2>What is in it</h2><p>{escape(' '.join(filter(None, parts)))}</p>"
    facts += "".join(f"<p>{escape(shorten(note))}</p>" for note in seen.notes)
    if seen.num_bad:
        items = "".join(f"<li>{escape(shorten(str(row)))}</li>" for row in seen.bad[:NUM_LISTED])
        more = f" (the first {NUM_LISTED} are listed)" if seen.num_bad > NUM_LISTED else ""
        summary = f"Left out: {count(seen.num_bad, left_out)}{more}"
        facts += f"<details><summary>{summary}</summary><ul>{items}</ul></details>"
    return facts


def describe_language(seen: Preview) -> str:
    """The guess of the language, with what it rests on."""
    if seen.language == "unspaced":
        return (
            "The text looks like Chinese, Japanese or Thai, which part no words by spaces: part them with spaces first,"
            " or whole clauses are counted as words."
        )
    if not seen.language:
        return "Its language is none whose stop words are known here."
    return f"It looks like {seen.language.capitalize()}: {seen.language_share:.0%} of its words are stop words of it."


def describe_first(seen: Preview) -> str:
    """The first documents as HTML."""
    articles = [
        f"<article><strong>{escape(shown.title)}</strong> {escape(shown.date)}<p>{escape(shown.text)}</p></article>"
        for shown in seen.first
    ]
    return f"<h2>First documents</h2>{''.join(articles)}"


def describe_effect(effect: WordEffect, words: WordChoices) -> str:
    """What choices of words leave, as HTML."""
    where = f"In {count_all(effect.num_documents, 'document')}"
    if effect.num_documents < effect.of_documents:
        where = f"In a sample of {effect.num_documents:,} of {count(effect.of_documents, 'document')}"
    least, most = words.limits(effect.of_documents)
    kept = f"{effect.num_tokens / max(1, effect.raw_tokens):.0%}"
    parts = [
        f"{where}: a vocabulary of {count(effect.num_terms, 'word')}; counted: {effect.num_tokens:,} of"
        f" {count(effect.raw_tokens, 'token')} ({kept}).",
        f"A word must stand in {count(least, 'document')} or more and in at most {most:.0%} of them.",
    ]
    if effect.num_empty:
        parts.append(f"Left out since no word is left: {count(effect.num_empty, 'document')}.")
    if effect.num_terms >= words.max_words:
        parts.append(f"The vocabulary is cut at {words.max_words:,} words; at most {MAX_VOCABULARY:,} can be kept.")
    listed = escape(" ".join(effect.words))
    frequent = f'<p class="words"><strong>Most frequent:</strong> {listed}</p>' if listed else ""
    return f'<p role="status">{escape(" ".join(parts))}</p>{frequent}'


def explain_no_word(effect: WordEffect) -> str:
    """Say why nothing can be built of these words and what mends it; nothing where something can."""
    if effect.num_tokens or effect.num_documents < min(effect.of_documents, ENOUGH_TO_TELL):
        return ""
    if not effect.raw_tokens:
        return "There is no word in this text: choose another column for the text, or another file."
    return (
        "These choices leave no word to count: ask for fewer letters or documents, allow a larger share of them, or "
        "take stop words away."
    )


def describe_built(about: OwnCorpus) -> str:
    """What has been built, in a sentence."""
    left_out = f"; {count(about.num_bad, 'row')} left out" if about.num_bad else ""
    return f"{about.name} is built: {_describe_size(about)}{left_out}. It is chosen for the next run."


def describe_taken(about: OwnCorpus) -> str:
    """Say that a file's name is that of a corpus already."""
    return (
        f"There is a corpus called “{about.name}” already, built {about.built_at[:10]}: give this one "
        "a name of your own, or delete that one below."
    )


def describe_own(about: OwnCorpus) -> str:
    """A corpus of the shelf, in a sentence."""
    kept = "with its text" if about.has_text else "counts only"
    return f"{_describe_size(about)}, {kept}, from {about.source}, built {about.built_at[:10]}."


def _describe_size(about: OwnCorpus) -> str:
    span = f", {about.date_span[0]} to {about.date_span[1]}" if about.date_span else ""
    size = f"{count(about.vocab_size, 'word')}, {count(about.num_tokens, 'token')}"
    return f"{count(about.num_documents, 'document')}, {size}{span}"
