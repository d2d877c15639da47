"""The files that Export offers, apart from figures."""

from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

from stickbreaker.app.export.explorable import write_explorable
from stickbreaker.app.export.film import write_film
from stickbreaker.app.export.offline import write_offline
from stickbreaker.app.export.tables import (
    NUM_WORDS,
    curves_table,
    group_shares_table,
    group_words_table,
    history_table,
    shares_table,
    topics_table,
    write_array_files,
    write_model,
    write_pyldavis,
    write_sheet_files,
    write_table,
)
from stickbreaker.app.export.word_table import write_word_table
from stickbreaker.app.export.worksheet import write_worksheet
from stickbreaker.app.frames.class_questions import answer_frame
from stickbreaker.app.frames.group_frames import NUM_GROUP_WORDS
from stickbreaker.app.model.class_tasks import Result
from stickbreaker.app.model.grouped_runs import MOST_GROUPS
from stickbreaker.app.model.progress import Progress
from stickbreaker.app.model.reading import Reading

MODEL_CODE = """from stickbreaker import engine
model = engine.load("{name}")
model.topics_frame()   # words of the topics; their names are in model.topic_names_
model.transform(corpus)   # topic shares of the documents of a Corpus, or of word counts
"""
PYLDAVIS_CODE = """import json, pyLDAvis
prepared = pyLDAvis.prepare(**json.load(open("{name}", encoding="utf-8")))
pyLDAvis.save_html(prepared, "topics.html")
"""


class Taken(NamedTuple):
    """The state of the page when an export was started."""

    progress: Progress
    earlier: tuple[Progress, ...]
    reading: Reading | None
    listed_topics: list[int] | None = None
    by_relevance: bool = True
    results: tuple[Result, ...] = ()
    read_sweep: Callable[[], tuple[list[Progress], int]] = lambda: ([], 0)

    def read(self) -> Reading:
        """The reading. Raises ValueError if there is none."""
        if self.reading is None:
            raise ValueError(
                "The topics of the documents have not been inferred with the model of this run yet."
            )
        return self.reading


class Export(NamedTuple):
    """One file to export. needs: a part that the page Export has; ending: "" for a table."""

    label: str
    sentence: str
    needs: str
    ending: str
    write: Callable[[Taken, Path], None]


def _table(make: Callable[[Taken], Any]) -> Callable[[Taken, Path], None]:
    return lambda taken, path: write_table(make(taken), path)


def _word_table(form: str, ending: str, use: str) -> Export:
    return Export(
        label=f"Word table ({form})",
        sentence=f"The word lists as on Live, with the same topics, {use}.",
        needs="columns",
        ending=ending,
        write=lambda taken, path: write_word_table(
            path, taken.progress, taken.listed_topics, taken.by_relevance
        ),
    )


EXPORTS = {
    "topics": Export(
        label="Table of topics",
        sentence=(
            f"The topics in use with their labels, shares, coherence and {NUM_WORDS} most probable"
            " words."
        ),
        needs="documents",
        ending="",
        write=_table(lambda taken: topics_table(taken.read(), taken.progress)),
    ),
    "document-shares": Export(
        label="Document shares",
        sentence=(
            "For each document: title, date, and topics with a share of at least 0.5 %, rescaled to"
            " sum to 1."
        ),
        needs="documents",
        ending="",
        write=_table(lambda taken: shares_table(taken.read(), taken.progress)),
    ),
    "topics-by-group": Export(
        label="Topics by group",
        sentence=(
            "If the documents have groups, such as parties: the share of each topic in use in the"
            " tokens of each group, with its 95 % interval."
        ),
        needs="groups",
        ending="",
        write=_table(lambda taken: group_shares_table(taken.read(), taken.progress)),
    ),
    "words-by-group": Export(
        label="Words by group",
        sentence=(
            f"For each topic and group, the {NUM_GROUP_WORDS} words that the group uses more than"
            f" all others, with z. At most {MOST_GROUPS} groups, those with the most tokens."
        ),
        needs="groups",
        ending="",
        write=_table(lambda taken: group_words_table(taken.read(), taken.progress)),
    ),
    "word-lists": Export(
        label="Word lists",
        sentence="The ten most probable words of each topic in each column of the word lists.",
        needs="steps",
        ending="",
        write=_table(lambda taken: history_table(taken.progress)),
    ),
    "curves": Export(
        label="Curves",
        sentence="Likelihoods, number of topics and learning rate of this run and earlier ones.",
        needs="steps",
        ending="",
        write=_table(lambda taken: curves_table(taken.progress, taken.earlier)),
    ),
    "class-answers": Export(
        label="Answers of the class",
        sentence=(
            "How often each option of the revealed tasks was chosen, with the right answer and the"
            " topic."
        ),
        needs="answers",
        ending="",
        write=_table(lambda taken: answer_frame(taken.results)),
    ),
    "word-table.svg": _word_table(
        "SVG", ".svg", "as a figure (for a PDF, open the file in a browser and print it)"
    ),
    "word-table.html": _word_table("HTML", ".html", "to copy into a word processor"),
    "word-table.tex": _word_table("LaTeX", ".tex", "for the package booktabs"),
    "sheets": Export(
        label="Sheets for human evaluation",
        sentence=(
            "A zip file of CSV sheets, with keys, on which people mark the word or topic that does"
            " not belong."
        ),
        needs="documents",
        ending=".zip",
        write=lambda taken, path: write_sheet_files(taken.read(), taken.progress, path),
    ),
    "worksheet": Export(
        label="Worksheet to print",
        sentence=(
            "Questions for a class about the topics of this run, with the answers on a separate"
            " sheet."
        ),
        needs="topics",
        ending=".html",
        write=lambda taken, path: write_worksheet(taken.read(), taken.progress, path),
    ),
    "arrays": Export(
        label="Arrays",
        sentence=(
            "A zip file with document shares and topics as .npy, and words, labels and titles as"
            " JSON."
        ),
        needs="documents",
        ending=".zip",
        write=lambda taken, path: write_array_files(taken.read(), taken.progress, path),
    ),
    "page": Export(
        label="Run as web page",
        sentence="One HTML file that works offline, with the replay of the run.",
        needs="steps",
        ending=".html",
        write=lambda taken, path: write_offline(path, taken.progress, taken.earlier, taken.reading),
    ),
    "sweep": Export(
        label="Sweep as web page",
        sentence=(
            "One HTML file that works offline, with the replay of each run of the sweep on Compare"
            " and a slider for each setting."
        ),
        needs="sweep",
        ending=".html",
        write=lambda taken, path: write_explorable(path, *taken.read_sweep()),
    ),
    "replay": Export(
        label="Replay",
        sentence=(
            "An animated GIF of 30 seconds: the word lists, the largest topics and the held-out"
            " curve."
        ),
        needs="replay",
        ending=".gif",
        write=lambda taken, path: write_film(path, taken.progress),
    ),
    "model": Export(
        label="Model",
        sentence="A file to load in Python, with the words and the names of the topics:",
        needs="topics",
        ending=".npz",
        write=lambda taken, path: write_model(taken.read(), taken.progress, path),
    ),
    "pyldavis": Export(
        label="Input for pyLDAvis",
        sentence="A JSON file with the topics in use:",
        needs="documents",
        ending=".json",
        write=lambda taken, path: write_pyldavis(taken.read(), taken.progress.titles, path),
    ),
}
CODES = {"model": MODEL_CODE, "pyldavis": PYLDAVIS_CODE}
