"""What one browser knows of its run: parameters to which the views of its open page subscribe.

The thread of the run publishes immutable records; the wake-up of the browser passes them to
`RunState.publish`, which changes all parameters in one batch. A view depends on the parameters that
it shows:

    @param.depends("state.shown", "state.titles", watch=True)
    @guarded
    def _draw(self) -> None: ...
"""

import operator
from collections.abc import Callable
from functools import wraps
from typing import Any

import numpy as np
import param
from param.parameterized import Comparator, batch_call_watchers

from stickbreaker.app.model.anatomy import Dissection
from stickbreaker.app.model.checked_count import CountJob
from stickbreaker.app.model.class_tasks import ClassState
from stickbreaker.app.model.grouped_runs import GroupJob
from stickbreaker.app.model.model_job import ModelJob
from stickbreaker.app.model.progress import Moment, Progress
from stickbreaker.app.model.proposed_edits import ProposalJob
from stickbreaker.app.model.reading import Reading, ReadingJob, with_reading
from stickbreaker.app.model.replay import REPLAYED, can_replay, rewind
from stickbreaker.app.model.sweep_plan import SweepState

PRESENTER = "presenter"
WATCHER = "watcher"
# The pages that a command or a selection opens.
LIVE = "Live"
DOCUMENTS = "Documents"
CLASS = "Class"
# The ends of an open span.
EARLIEST = np.datetime64("-9999-01-01")
LATEST = np.datetime64("9999-12-31")
# The header: a page that shows the state of a run shows everything that led to it.
LAST = 9
# Records are replaced as a whole, so that another object is another value.
RECORDS = (
    Progress,
    Moment,
    Reading,
    ReadingJob,
    CountJob,
    ProposalJob,
    ModelJob,
    GroupJob,
    ClassState,
    SweepState,
    Dissection,
)
Comparator.equalities.update(dict.fromkeys(RECORDS, operator.is_))


def _record(kind: type, doc: str) -> Any:
    # Any, so that a class can say of which type the values are: a parameter is a descriptor.
    return param.ClassSelector(class_=kind, default=kind(), instantiate=False, doc=doc)


class RunState(param.Parameterized):
    """What a browser knows of its run, and what its user has selected: the same in all views.

    on_error(error): reports an error of a view; None: the error is raised.
    """

    progress: Progress = _record(
        Progress, "The run now, with the shares of its topics once all documents are read."
    )
    shown: Progress = _record(
        Progress, "The run at the selected moment: as it is now unless the user replays it."
    )
    titles = param.Dict(default={}, doc="Names and labels of the topics, by id.")
    columns = param.Parameter(
        default=(), doc="Another value for each change of the columns of the word lists."
    )
    earlier = param.Parameter(default=(), doc="The last progress of each run before this one.")
    kept_on_live = param.Parameter(default=(), doc="Kept runs to draw with the curves of this one.")
    job: ReadingJob = _record(ReadingJob, "The state of the reading of the corpus.")
    reading = param.ClassSelector(class_=Reading, default=None, allow_None=True, instantiate=False)
    check: CountJob = _record(CountJob, "The state of the check of the number of topics.")
    proposals: ProposalJob = _record(ProposalJob, "The merges and splits that are supported.")
    again: ModelJob = _record(ModelJob, "The state of the runs with other seeds.")
    keeping: ModelJob = _record(ModelJob, "The state of keeping their consensus.")
    grouped: GroupJob = _record(GroupJob, "The comparison of two kept runs by group.")
    sweep: SweepState = _record(SweepState, "The sweep of the run.")
    tasks: ClassState = _record(ClassState, "The tasks of the class.")
    kept_version = param.Integer(default=0, doc="Grows with each change of the kept runs.")
    pair = param.List(default=[], doc="Keys of the kept runs side by side: the left and the right.")
    num_presenting = param.Integer(default=0, doc="Pages that control the run.")
    num_watching = param.Integer(default=0, doc="Pages that watch the run.")
    fault = param.String(default="", doc="Why the run could not be saved; empty if it is saved.")
    role: str = param.Selector(default=PRESENTER, objects=[PRESENTER, WATCHER])  # type: ignore[assignment]
    topic = param.Integer(default=None, allow_None=True, doc="Id of a topic.")
    word = param.Integer(default=None, allow_None=True, doc="Position of a word in the vocabulary.")
    pointed_topic = param.Integer(
        default=None, allow_None=True, doc="Topic that the pointer or the focus is on."
    )
    pointed_word = param.Integer(
        default=None, allow_None=True, doc="Word that the pointer or the focus is on."
    )
    document = param.Integer(default=None, allow_None=True, doc="Row of a document in the corpus.")
    moment = param.Integer(
        default=None, allow_None=True, doc="Documents read at the moment to replay; None: now."
    )
    span = param.Tuple(
        default=None,
        length=2,
        allow_None=True,
        doc="First and last date, datetime64[D], both in it.",
    )
    by_relevance = param.Boolean(
        default=True, doc="Whether word lists have the most relevant words, else the most probable."
    )
    listed_topics = param.List(
        default=None,
        allow_None=True,
        doc="Ids of the topics that the user put in the word lists; None: two chosen by the app.",
    )
    page = param.String(default=LIVE, doc="The title of the open page.")
    shows_reading = param.Boolean(default=False, doc="Whether the open page shows a reading.")
    replayed = param.Parameter(
        default=None, doc="The topics at the moment of a replay; None without one."
    )
    link = param.String(default="", doc="The link for watchers while the page shows it.")
    num_opened = param.Integer(
        default=0, doc="Grows with each document that the user opens, also the same one again."
    )
    holds_recorded = param.Event(doc="The user looks at a recorded run.")
    num_picked = param.Integer(
        default=0, doc="Grows with each topic that the user picks, also the same one again."
    )
    brings_text = param.Event(doc="The user wants to bring a text.")

    def __init__(self, on_error: Callable[[Exception], None] | None = None, **params: Any):
        super().__init__(**params)
        self.on_error = on_error
        self._published = Progress()
        self._largest: int | None = None
        self._has_earlier_topic = False

    @property
    def may_act(self) -> bool:
        """Whether the page controls its run; a watcher's does not."""
        return bool(self.role == PRESENTER)

    def publish(self, progress: Progress | None = None, **parts: Any) -> None:
        """Take what the run has published, in one batch; parts: values of other parameters.

        Another run has other topics and moments, and a run that learns cannot be replayed.
        """
        before = self.progress
        progress = progress or self._published
        with batch_call_watchers(self):
            if before.run_id and before.run_id != progress.run_id:
                self.leave_run(
                    before.corpus_name == progress.corpus_name,
                    before.topics_key == progress.topics_key,
                )
            if progress.documents_seen and not can_replay(progress):
                self.moment = None
            has_read = "job" in parts and parts["job"].reading is not self.reading
            if "job" in parts:
                parts["reading"] = parts["job"].reading
            self.param.update(**parts)
            if has_read or progress is not self._published:
                self._published = progress
                self.progress = with_reading(progress, self.reading)
                self.titles = self.progress.titles
                self._rewind()

    @param.depends("moment", watch=True)
    def _rewind(self) -> None:
        shown = rewind(self.progress, self.moment)
        replayed = (shown.now,) if shown.status == REPLAYED else None
        self.param.update(shown=shown, columns=_list_columns(shown), replayed=replayed)

    def pick_topic(self, topic_id: int) -> None:
        """Select a topic and put it first in the word lists, also if it is selected already."""
        self.param.update(topic=topic_id, num_picked=self.num_picked + 1)

    def open_document(self, row: int) -> None:
        """Select a document; the one that is selected already opens again."""
        self.param.update(document=row, num_opened=self.num_opened + 1)

    def leave_run(self, is_same_corpus: bool, has_same_topics: bool = False) -> None:
        """Clear the moment of a run, and its topics unless the next run has them too.

        For another corpus, also clear the word, the document and the span.
        """
        if not has_same_topics:
            self.param.update(topic=None, listed_topics=None)
        self.param.update(moment=None, pointed_topic=None, pointed_word=None)
        if not is_same_corpus:
            self.param.update(word=None, document=None, span=None)

    @property
    def _has_other_topics(self) -> bool:
        """Whether the reading is of an earlier run, with other topics."""
        return (
            self.reading is not None and self.reading.model.topics_key != self.progress.topics_key
        )

    @param.depends("topic", watch=True)
    def _note_topic(self) -> None:
        self._has_earlier_topic = self.shows_reading and self._has_other_topics

    @param.depends("reading", "shows_reading", watch=True)
    def _select_topic(self) -> None:
        """Select the largest topic until the user does; deselect an earlier run's."""
        reading = self.reading
        if self._has_earlier_topic and not (self.shows_reading and self._has_other_topics):
            self.param.update(topic=None, pointed_topic=None)
        if (
            reading is None
            or not self.shows_reading
            or reading.model.run_id != self.progress.run_id
        ):
            return
        if len(reading.used) and (
            reading.position(self.topic) is None or self.topic == self._largest
        ):
            self._largest = self.topic = int(reading.summary.topic_ids[reading.used[0]])

    def freeze(self) -> "RunState":
        """A copy that does not change: the views of a closed page keep it."""
        values = self.param.values()
        return RunState(
            self.on_error, **{name: value for name, value in values.items() if name != "name"}
        )


class StateFollower(param.Parameterized):
    """A view of the state of a run; with another state it shows what differs between the two."""

    state: RunState = param.ClassSelector(  # type: ignore[assignment]  # a descriptor
        class_=RunState,
        instantiate=False,
        doc="Of the browser that shows the view; of a closed page, a copy.",
    )

    def __init__(self, state: RunState, **params: Any):
        super().__init__(state=state, **params)


def _list_columns(progress: Progress) -> tuple[object, ...]:
    """What the columns of the word lists depend on; at first, the words of now."""
    now = progress.now
    return (
        progress.run_id,
        progress.status in ("finished", "failed"),
        progress.vocabulary is None,
        now is not None and now.is_read,
        None if progress.columns else now,
        progress.planned_columns,
        *(point.documents_seen for point in progress.columns),
    )


def guarded(draw: Callable[..., None]) -> Callable[..., None]:
    """Report an error of a view, so that it does not stop other views."""

    @wraps(draw)
    def attempt(view: Any, *events: Any) -> None:
        try:
            draw(view, *events)
        except Exception as error:
            if view.state.on_error is None:
                raise
            view.state.on_error(error)

    return attempt
