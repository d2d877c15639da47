"""A stream without an end as pages show it: events in, `Progress` out, in bounded memory."""

import time
from collections import deque
from collections.abc import Callable
from dataclasses import replace
from datetime import datetime
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np

from stickbreaker.app.model.default_topics import DefaultTopics
from stickbreaker.app.model.history import RecentItems
from stickbreaker.app.model.progress import (
    NEXT_BATCH_COLUMNS,
    STEP_COLUMNS,
    Curve,
    Moment,
    Progress,
    StreamFacts,
    freeze,
)
from stickbreaker.app.model.word_lists import make_moment
from stickbreaker.engine import Followed, OnlineTopicModel
from stickbreaker.engine.algorithm import Phase
from stickbreaker.engine.estimators.follower import FREE
from stickbreaker.engine.evaluation.held_out import count_topics
from stickbreaker.engine.evaluation.labels import label_topics

SHOWN_SECONDS = 12 * 3600.0
# Nine to eighteen columns, and a point for each minute.
MOST_COLUMNS = 18
MOST_POINTS = 720
# Mini-batches whose topic shares and words are shown, and the words of each kind.
NUM_BATCHES = 10
MOST_WORDS = 20
NUM_SKIPPED = "{:,} lines or files have been skipped so far."


class WordColumn(NamedTuple):
    """The topics at a moment, and their most probable and most relevant words (2, K, N) as texts.

    New words take places of old ones.
    """

    moment: Moment
    words: np.ndarray


class CurveRow(NamedTuple):
    """A row of the curves, and the next-batch score of the same mini-batch."""

    step: tuple[object, ...]
    score: tuple[object, ...]
    has_score: bool


class StreamRecord:
    """What has been learned from a stream. Only the thread of the stream uses it.

    name: of the file or folder. status: one of `STATUSES`. message: what is compiled, or how the
    stream failed. clock: seconds that never go back; now: the time of day for documents without
    dates.
    """

    def __init__(
        self,
        name: str,
        batch_size: int,
        clock: Callable[[], float] = time.monotonic,
        now: Callable[[], datetime] = datetime.now,
    ) -> None:
        self._name = name
        self._clock = clock
        self._now = now
        self._began = clock()
        self.status = "compiling"
        self.message = ""
        self.compile_share = 0.0
        self._faults: dict[str, str] = {}
        self._skipped = ""
        self._num_skipped = 0
        self._facts = StreamFacts(batch_size=batch_size)
        self._model: OnlineTopicModel | None = None
        self._documents_seen = 0
        self._date: np.datetime64 | None = None
        self._recent: deque[tuple[Followed, dict[int, float]]] = deque(maxlen=NUM_BATCHES)
        self._points = RecentItems[CurveRow](MOST_POINTS, SHOWN_SECONDS)
        self._columns = RecentItems[WordColumn](MOST_COLUMNS, SHOWN_SECONDS)
        self._default_topics = DefaultTopics()
        self._labels: dict[int, str] = {}
        self._is_summarized = True

    @property
    def changes(self) -> tuple[object, ...]:
        """What differs if there is something new to show."""
        faults = (tuple(self._faults.values()), self._num_skipped)
        return (self.status, self.message, self._documents_seen, self._facts.num_waiting, faults)

    def set_fault(self, kind: str, text: str) -> None:
        """Note that the source cannot be read or the model not saved; "": it can again."""
        self._faults[kind] = text

    def skip(self, text: str) -> None:
        """Note that a line or file was skipped; the text names it."""
        self._skipped = text
        self._num_skipped += 1

    def wait(self, num_waiting: int) -> None:
        """Note how many documents wait for a full mini-batch."""
        self._facts = replace(self._facts, num_waiting=num_waiting)

    def begin(self) -> None:
        """Note that the kernels are compiled, so that documents can be read."""
        self.status = "running" if self._documents_seen else "waiting"
        self.message = ""

    def fail(self, error: BaseException) -> None:
        """End the stream; everything learned stays."""
        self.status = "failed"
        self.message = f"{type(error).__name__}: {error}".rstrip(": ")

    def resume(self, model: OnlineTopicModel, date: str, is_dated: bool) -> None:
        """Show the topics of a model that was saved; date, is_dated: as from `tell`."""
        self._model = model
        self._documents_seen = model.documents_seen_
        self._date = np.datetime64(date)
        self._facts = replace(self._facts, is_dated=is_dated)
        self._add_point(model, (np.nan, 0))

    def tell(self) -> dict[str, Any]:
        """The date of the last documents and whether it is theirs, as JSON can hold it."""
        return {"date": str(self._date), "is_dated": self._facts.is_dated}

    def take(self, event: Followed, model: OnlineTopicModel) -> None:
        """Note a mini-batch that the model has learned from."""
        self.status = "running"
        self._model = model
        self._documents_seen = event.documents_seen
        is_dated = not np.isnat(event.last_date)
        self._date = event.last_date if is_dated else np.datetime64(self._now(), "s")
        self._facts = replace(
            self._facts, num_waiting=0, is_dated=is_dated, num_words=event.num_words
        )
        shares = dict(zip(model.topic_ids_.tolist(), event.topic_shares.tolist(), strict=True))
        self._recent.append((event, shares))
        self._add_point(model, (event.nats_per_word, event.num_tokens))

    def progress(self, version: int) -> Progress:
        """Put everything that is shown into one record, which never changes."""
        self._summarize()
        columns = self._columns.find()
        points = self._points.find()
        moments, words = index_words(columns)
        progress = Progress(
            version=version,
            run_id=1,
            status=self.status,
            message=self._describe_faults(),
            compile_share=self.compile_share,
            corpus_name=self._name,
            documents_seen=self._documents_seen,
            date=self._date,
            steps=Curve.build(STEP_COLUMNS, [point.step for point in points]),
            next_batch=Curve.build(
                NEXT_BATCH_COLUMNS, [point.score for point in points if point.has_score]
            ),
            columns=moments,
            now=self._measure_now(moments),
            vocabulary=words or None,
            default_topics=self._default_topics.topics,
            labels=MappingProxyType(dict(self._labels)),
            stream=self._describe_batches(),
        )
        if (model := self._model) is None:
            return progress
        return replace(
            progress,
            algorithm=model.algorithm.name,
            config=model.config_,
            phase=Phase.WARM_UP if model.state_.phase == Phase.WARM_UP else "",
            temperature=model.state_.temperature,
        )

    def _add_point(self, model: OnlineTopicModel, score: tuple[float, int]) -> None:
        """Add a point to the curves; there is a new model to summarize."""
        at = self._clock()
        head = (self._documents_seen, self._date, at - self._began)
        is_warm = model.state_.phase == Phase.WARM_UP
        num_topics = count_topics(model.state_.expected_tokens)
        point = CurveRow(
            step=(*head, np.nan, num_topics, np.nan, int(not is_warm), self._facts.batch_size),
            score=(*head, *score),
            has_score=not np.isnan(score[0]),
        )
        self._points.add(at, point)
        self._is_summarized = False

    def _summarize(self) -> None:
        """Add the present topics as a column."""
        model = self._model
        if self._is_summarized or model is None or model.words_ is None:
            return
        self._is_summarized = True
        used = [place for place, word in enumerate(model.words_) if word != FREE.format(place)]
        if not used:
            return
        words = [model.words_[place] for place in used]
        summary = model.algorithm.summarize(model.config_, model.state_)
        summary = summary._replace(topics=summary.topics[:, used])
        moment = make_moment(self._documents_seen, self._date, summary)
        found = np.array([moment.find_words(by_relevance) for by_relevance in (False, True)])
        column = WordColumn(moment=moment, words=np.array(words, object)[found])
        self._columns.add(self._clock(), column)
        self._default_topics.follow(index_words(self._columns.find())[0])
        shown = {
            topic_id
            for column in self._columns.find()
            for topic_id in column.moment.topic_ids.tolist()
        }
        labels = self._labels | label_topics(summary, words, self._labels)
        self._labels = {topic_id: label for topic_id, label in labels.items() if topic_id in shown}

    def _measure_now(self, moments: tuple[Moment, ...]) -> Moment | None:
        """The newest column, with the tokens of its topics in the last mini-batches."""
        now = moments[-1] if moments else None
        if now is None or not self._recent:
            return now
        ids = now.topic_ids.tolist()
        shares = [[each.get(topic_id, 0.0) for topic_id in ids] for _, each in self._recent]
        num_tokens = sum(event.num_tokens - event.tokens_left_out for event, _ in self._recent)
        tokens = num_tokens * np.mean(shares, axis=0)
        freeze((tokens,))
        return replace(now, read_tokens=tokens)

    def _describe_batches(self) -> StreamFacts:
        """The facts, with the words and tokens of the last mini-batches."""
        events = [event for event, _ in reversed(self._recent)]
        new = [word for event in events for word in event.new_words]
        dropped = [word for event in events for word in event.dropped_words]
        return replace(
            self._facts,
            num_batches=len(events),
            num_documents=self._facts.batch_size * len(events),
            new_words=tuple(new[:MOST_WORDS]),
            num_new=len(new),
            dropped_words=tuple(dropped[:MOST_WORDS]),
            num_dropped=len(dropped),
            num_tokens=sum(event.num_tokens for event in events),
            num_left_out=sum(event.tokens_left_out for event in events),
        )

    def _describe_faults(self) -> str:
        if self.message:
            return self.message
        said = [*self._faults.values(), self._skipped]
        if self._num_skipped > 1:
            said.append(NUM_SKIPPED.format(self._num_skipped))
        return " ".join(filter(None, said))


def index_words(columns: list[WordColumn]) -> tuple[tuple[Moment, ...], tuple[str, ...]]:
    """The moments of these columns, and the words to which they refer."""
    places: dict[str, int] = {}
    moments = []
    for column in columns:
        flat = [places.setdefault(word, len(places)) for word in column.words.ravel().tolist()]
        found = np.array(flat, np.int32).reshape(column.words.shape)
        freeze((found,))
        top, relevant = found
        moments.append(replace(column.moment, top_words=top, relevant_words=relevant))
    return tuple(moments), tuple(places)
