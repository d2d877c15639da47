"""The questions that a class can be asked about a run: the intruder, a word's first column, a
passage's period, κ.
"""

import re
from collections.abc import Callable, Sequence

import numpy as np
import pandas as pd

from stickbreaker.app.frames.progress_frames import date_text
from stickbreaker.app.frames.reading_frames import fitting_unit
from stickbreaker.app.model.class_tasks import (
    FIRST,
    INTRUDER,
    PERIOD,
    RATE,
    ClassState,
    ClassTaskError,
    Result,
    Task,
)
from stickbreaker.app.model.counting import count, span
from stickbreaker.app.model.progress import Progress
from stickbreaker.app.model.reading import Model
from stickbreaker.app.model.word_lists import NUM_TOP_WORDS
from stickbreaker.app.theme import topic_color
from stickbreaker.engine.corpora.corpus import Corpus
from stickbreaker.engine.evaluation.doc_shares import divide
from stickbreaker.engine.evaluation.held_out import rank_topics
from stickbreaker.engine.evaluation.intrusion import ask_words
from stickbreaker.engine.schedules import live_settings

NUM_PERIODS = 6
RATES = (0.5, 0.6, 0.7, 0.8, 0.9, 1.0)
NUM_SHOWN = 20
LEAST_SHOWN = 10
# A phone shows about so much of a passage with its options.
MOST_LETTERS = 900
YEAR = re.compile(r"(?<!\d)[12]\d{3}(?!\d)")
HIDDEN_YEAR = "[year]"
NUM_FREQUENT = 400
NUM_SUGGESTED = 12
ABSENT = "Not in this run"
NO_TOPICS = "There is no topic for a task yet: let the run continue."
NO_RATE = "This algorithm has no forgetting rate κ: choose another algorithm or another task."
NO_SCORES = (
    "This run has no held-out scores: set “Held-out scores per pass” under Advanced settings and"
    " restart, or choose another task."
)
RATE_HINT = (
    "With a low κ each mini-batch changes the model a lot, even late in the run. "
    "With a high κ the changes soon become small."
)
NO_PERIODS = "The documents have no dates, or all have the same date: choose another task."


def ask_intruder(model: Model, progress: Progress, number: int) -> Task:
    """Ask for the word that does not belong to a topic, another topic for each number.

    Raises ClassTaskError if there are no topics to ask about.
    """
    summary = model.algorithm.summarize(model.config, model.state)
    sheet = ask_words(summary, model.corpus.vocabulary.words, progress.titles, progress.seed)
    if not len(sheet.key):
        raise ClassTaskError(NO_TOPICS)
    row = number % len(sheet.key)
    words = sheet.questions.drop(columns=["question", "answer"]).iloc[row]
    key = sheet.key.iloc[row]
    return Task(
        kind=INTRUDER,
        question="Which word does not belong with the others?",
        options=tuple(map(str, words)),
        correct=int(key["place"]) - 1,
        run_id=progress.run_id,
        topic_id=int(key["topic_id"]),
        label=progress.topic_title(int(key["topic_id"])),
    )


def ask_first(word: str, model: Model, progress: Progress) -> Task:
    """Ask in which column of the word lists a word first is among the ten most probable words of a
    topic.

    Raises ClassTaskError if the corpus does not have the word, or the run has fewer than two
    columns.
    """
    try:
        place = model.corpus.vocabulary.index(word.strip().casefold())
    except KeyError as error:
        raise ClassTaskError(str(error.args[0])) from error
    columns = [point.documents_seen for point in progress.columns] + list(progress.planned_columns)
    if len(columns) < 2:
        raise ClassTaskError(
            "This run has fewer than two columns of word lists: set more under Advanced settings."
        )
    task = Task(
        kind=FIRST,
        question=(
            f"When does “{model.corpus.vocabulary[place]}” first appear among the top ten words of"
            " a topic?"
        ),
        options=(*name_columns(columns, model.train, progress), ABSENT),
        run_id=progress.run_id,
        word=place,
        columns=tuple(columns),
    )
    found = find_first(task, progress)
    return Task(**{**vars(task), "correct": found, "is_prediction": found is None})


def name_columns(columns: Sequence[int], train: Corpus, progress: Progress) -> list[str]:
    """Name columns by the date read up to, or by the number of documents without one."""
    is_in_order = progress.settings is not None and progress.settings.order == "chronological"
    is_dated = train.has_dates and is_in_order
    if not is_dated:
        return [f"after {count(seen, 'document')}" for seen in columns]
    dates = [train.dates[(seen - 1) % train.num_documents] for seen in columns]
    texts = [date_text(date.astype("datetime64[Y]")) for date in dates]
    if len(set(texts)) < len(texts):
        texts = [date_text(date) for date in dates]
    return [f"up to {text}" for text in texts]


def find_first(task: Task, progress: Progress) -> int | None:
    """The first column whose list has the word of a `FIRST` task; None while not known."""
    if progress.run_id != task.run_id:
        return None
    for point in progress.columns:
        used = rank_topics(point.expected_tokens)
        if (
            point.find_words(by_relevance=True)[used, :NUM_TOP_WORDS] == task.word
        ).any() and point.documents_seen in task.columns:
            return task.columns.index(point.documents_seen)
    return len(task.columns) if progress.status == "finished" else None


def suggest_words(model: Model) -> list[str]:
    """Frequent words that are used late in the reading order: of the most frequent ones, those with
    the latest mean.

    The mean place of a word is that of its documents, weighted by counts.
    """
    counts = model.train.counts
    total = np.asarray(counts.sum(0), float).ravel()
    places = np.arange(counts.shape[0], dtype=float) @ counts
    frequent = np.argsort(-total, kind="stable")[:NUM_FREQUENT]
    frequent = frequent[total[frequent] > 0]
    latest = frequent[np.argsort(-places[frequent] / total[frequent], kind="stable")][
        :NUM_SUGGESTED
    ]
    return [model.corpus.vocabulary[int(word)] for word in latest]


def ask_period(
    corpus: Corpus, number: int, seed: int = 0, read_text: Callable[[int], str] = lambda row: ""
) -> Task:
    """Ask from which of six periods a passage is; another one for each number.

    read_text(row): the text of a document. The passage is shown as text without its years, or by
    its most frequent words if the text is empty. The periods hold about equally many documents.
    Raises ClassTaskError without dates that differ.
    """
    if not corpus.has_dates:
        raise ClassTaskError(NO_PERIODS)
    periods = divide(corpus.dates, fitting_unit(corpus.dates))
    taken = np.unique(periods.of_document)
    if len(taken) < 2:
        raise ClassTaskError(NO_PERIODS)
    groups = _group(periods.of_document, taken)
    long_enough = np.flatnonzero(np.diff(corpus.counts.indptr) >= LEAST_SHOWN)
    if not len(long_enough):
        raise ClassTaskError(
            "The documents of this corpus are too short for this task: choose another task."
        )
    rng = np.random.default_rng([seed, 2, number])
    row = int(rng.choice(long_enough))
    start, end = corpus.counts.indptr[row : row + 2]
    order = np.argsort(-corpus.counts.data[start:end], kind="stable")[:NUM_SHOWN]
    words = corpus.counts.indices[start:end][order]
    names = [span(periods.names[group[0]], periods.names[group[-1]]) for group in groups]
    correct = next(place for place, group in enumerate(groups) if periods.of_document[row] in group)
    passage = hide_years(read_text(row))
    return Task(
        kind=PERIOD,
        question=(
            f"From which period is {'this passage' if passage else 'the passage with these words'}?"
        ),
        options=tuple(names),
        shown=passage or ", ".join(corpus.vocabulary[int(word)] for word in words),
        correct=correct,
    )


def ask_rate(progress: Progress, config: object) -> Task:
    """Ask which forgetting rate κ predicts held-out words best at the end of a run.

    Runs give the answer.

    Raises ClassTaskError if the algorithm has no κ or the run no held-out scores.
    """
    if "forgetting_rate" not in live_settings(config):
        raise ClassTaskError(NO_RATE)
    if progress.settings is None or not (
        progress.settings.num_evaluations and progress.settings.num_test
    ):
        raise ClassTaskError(NO_SCORES)
    return Task(
        kind=RATE,
        question="Which forgetting rate κ predicts held-out words best at the end of the run?",
        options=tuple(f"κ = {rate:.1f}" for rate in RATES),
        shown=RATE_HINT,
        run_id=progress.run_id,
        rates=RATES,
        is_prediction=True,
    )


def rate_frame(state: ClassState, chosen: int = -1) -> pd.DataFrame:
    """Held-out curves of the runs for a question about κ: columns x, y (arrays), label, color,
    is_chosen.

    chosen: the option of this page, whose curve is drawn thick.
    """
    options = state.task.options if state.task is not None else ()
    rows = [
        (
            np.array(point.documents_seen),
            np.array(point.nats_per_word),
            option,
            topic_color(place),
            place == chosen,
        )
        for place, (point, option) in enumerate(zip(state.points, options, strict=False))
        if point.heldout is not None
    ]
    return pd.DataFrame(rows, columns=["x", "y", "label", "color", "is_chosen"])


def hide_years(text: str) -> str:
    """The beginning of a text in one line, at most 900 characters, with its years hidden: they
    would give the answer.

    >>> hide_years("The treaty\\nof 1846 and 12,000 men")
    'The treaty of [year] and 12,000 men'
    """
    line = YEAR.sub(HIDDEN_YEAR, " ".join(text.split()))
    if len(line) <= MOST_LETTERS:
        return line
    return f"{line[:MOST_LETTERS].rpartition(' ')[0] or line[:MOST_LETTERS]} …"


def _group(rows: np.ndarray, taken: np.ndarray) -> list[np.ndarray]:
    """Divide periods into at most six groups of neighbours with about equally many documents."""
    before = np.searchsorted(np.sort(rows), taken, side="left") / len(rows)
    group = np.minimum((before * NUM_PERIODS).astype(int), NUM_PERIODS - 1)
    return [taken[group == each] for each in np.unique(group)]


def answer_frame(results: Sequence[Result]) -> pd.DataFrame:
    """The answers of a class, one row per option: the question, its topic if it has one, and the
    key.

    Columns task, kind, question, shown, run_id, topic_id, label, place (from 1), option,
    is_correct, answers.
    """
    rows = [
        {
            "task": result.number,
            "kind": result.task.kind,
            "question": result.task.question,
            "shown": result.task.shown,
            "run_id": str(result.task.run_id),
            "topic_id": "" if result.task.topic_id is None else str(result.task.topic_id),
            "label": result.task.label,
            "place": place + 1,
            "option": option,
            "is_correct": place == result.task.correct,
            "answers": result.counts[place],
        }
        for result in results
        for place, option in enumerate(result.task.options)
    ]
    columns = [
        "task",
        "kind",
        "question",
        "shown",
        "run_id",
        "topic_id",
        "label",
        "place",
        "option",
        "is_correct",
    ]
    return pd.DataFrame(rows, columns=[*columns, "answers"])
