"""A worksheet about the topics of a run, as one HTML file to print, with the answers on a separate
sheet.
"""

from collections.abc import Callable, Iterable, Sequence
from html import escape
from pathlib import Path
from typing import NamedTuple

import numpy as np

from stickbreaker.app.export.single_page import read_texts, write_page
from stickbreaker.app.frames.class_questions import (
    ask_first,
    ask_intruder,
    ask_period,
    suggest_words,
)
from stickbreaker.app.model.class_tasks import ClassTaskError, Task
from stickbreaker.app.model.progress import Progress
from stickbreaker.app.model.reading import Reading
from stickbreaker.app.model.run_spec import title_corpus
from stickbreaker.app.model.word_lists import NUM_TOP_WORDS
from stickbreaker.engine.evaluation.topic_space import find_top_words

NUM_TOPICS = 6
NUM_BLANKS = 2
NUM_INTRUDERS = 6
NUM_PASSAGES = 3
NUM_FIRST = 3
BLANK = '<span class="blank"></span>'
STYLE = read_texts("export/worksheet.css")
BODY = """<p class="who"><span>Name</span><span>Date</span></p>
<p>A computer program has read these documents and sorted their words into topics. A topic is a list
of words that often
occur together.</p>
{parts}
<section class="answers">
<h2>Answers</h2>
{answers}
</section>"""


class WorksheetPart(NamedTuple):
    """One kind of question: heading, what to do, questions as HTML, answers as text."""

    heading: str
    asked: str
    questions: tuple[str, ...]
    answers: tuple[str, ...]


def write_worksheet(reading: Reading, progress: Progress, path: Path) -> None:
    """Write the worksheet of a run. Raises ValueError if no topic is in use."""
    parts = [part for part in make_parts(reading, progress) if part.questions]
    if not parts:
        raise ValueError("No topic is in use yet: let the run continue.")
    body = BODY.format(
        parts="\n".join(map(_write_part, parts)), answers="\n".join(map(_write_answers, parts))
    )
    write_page(path, f"Topics of {title_corpus(progress.corpus_name)}", body, STYLE)


def make_parts(reading: Reading, progress: Progress) -> tuple[WorksheetPart, ...]:
    """Make all questions; kinds that this corpus or run cannot ask are empty."""
    model = reading.model
    seed = progress.seed
    words = suggest_words(model)[:NUM_FIRST] if progress.status == "finished" else []
    intruders = _collect(lambda number: ask_intruder(model, progress, number), range(NUM_INTRUDERS))
    passages = _collect(lambda number: ask_period(model.corpus, number, seed), range(NUM_PASSAGES))
    first = _collect(lambda number: ask_first(words[number], model, progress), range(len(words)))
    return (
        ask_names(reading, seed),
        _make_choices(
            "Find the intruder", "One word in each line does not belong. Tick it.", intruders
        ),
        _make_choices(
            "Guess the period", "From which period is the passage with these words?", passages
        ),
        _make_choices(
            "When does it appear?",
            "When does this word first appear among the ten words of a topic?",
            first,
            words,
        ),
    )


def ask_names(reading: Reading, seed: int = 0) -> WorksheetPart:
    """Ask for missing words and a name of the largest topics."""
    rng = np.random.default_rng([seed, 3])
    vocabulary = reading.corpus.vocabulary
    questions = []
    answers = []
    missing = []
    for place in reading.used[:NUM_TOPICS]:
        (row,) = find_top_words(reading.summary.topics[[place]], NUM_TOP_WORDS)
        words = [vocabulary[int(word)] for word in row]
        number = min(NUM_BLANKS, max(0, len(words) - 1))
        blanks = {int(each) for each in rng.choice(len(words), number, replace=False)}
        shown = [BLANK if rank in blanks else escape(word) for rank, word in enumerate(words)]
        questions.append(f'{", ".join(shown)}<br>A name for this topic: <span class="line"></span>')
        missing += [words[rank] for rank in sorted(blanks)]
        answers.append(", ".join(words[rank] for rank in sorted(blanks)))
    box = f'<p class="bank">{escape(", ".join(sorted(missing)))}</p>'
    asked = f"Fill in the missing words from the box, and give each topic a name.</p>{box}<p>"
    return WorksheetPart(
        heading="Complete the topics",
        asked=asked,
        questions=tuple(questions),
        answers=tuple(answers),
    )


def _collect(make: Callable[[int], Task], numbers: Iterable[int]) -> list[Task]:
    """The tasks that can be asked; a topic is asked about once."""
    tasks: list[Task] = []
    for number in numbers:
        try:
            task = make(number)
        except ClassTaskError:
            break
        is_new = task.topic_id is None or task.topic_id not in {each.topic_id for each in tasks}
        if task.correct is not None and is_new:
            tasks.append(task)
    return tasks


def _make_choices(
    heading: str, asked: str, tasks: Sequence[Task], words: Sequence[str] = ()
) -> WorksheetPart:
    """Make a part from tasks; words: what each asks about, where the task does not show it."""
    questions = []
    answers = []
    for number, task in enumerate(tasks):
        about = words[number] if words else task.shown
        options = "".join(f"<li>{escape(option)}</li>" for option in task.options)
        questions.append(f'{escape(about)}<ul class="options">{options}</ul>')
        answers.append(task.options[task.correct] if task.correct is not None else "")
    return WorksheetPart(
        heading=heading, asked=escape(asked), questions=tuple(questions), answers=tuple(answers)
    )


def _write_part(part: WorksheetPart) -> str:
    questions = "\n".join(f"<li>{question}</li>" for question in part.questions)
    heading = f"<h2>{escape(part.heading)}</h2>\n<p>{part.asked}</p>"
    return f"<section>\n{heading}\n<ol>\n{questions}\n</ol>\n</section>"


def _write_answers(part: WorksheetPart) -> str:
    answers = "\n".join(f"<li>{escape(answer)}</li>" for answer in part.answers)
    return f"<h3>{escape(part.heading)}</h3>\n<ol>\n{answers}\n</ol>"
