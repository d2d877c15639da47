"""One run being written down: updates in, `Progress` out. Only the runner's thread touches it."""

import secrets
from collections.abc import Callable, Mapping
from dataclasses import replace
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from stickbreaker import engine
from stickbreaker.app.model import page_notes
from stickbreaker.app.model.counting import count_all, only_if
from stickbreaker.app.model.default_topics import DefaultTopics
from stickbreaker.app.model.history import RunHistory, Speed
from stickbreaker.app.model.progress import Mark, Moment, Progress
from stickbreaker.app.model.reading import Model, list_read
from stickbreaker.app.model.run_edits import RunEdits, score_test
from stickbreaker.app.model.run_names import RunNames
from stickbreaker.app.model.run_spec import RunSpec, describe_change
from stickbreaker.app.model.word_lists import NUM_LISTED, make_moment, take_lists
from stickbreaker.engine.algorithm import TopicEdit
from stickbreaker.engine.evaluation.labels import Labeller, label_topics
from stickbreaker.engine.parallel.clusters import ClusterError, TaskLostError
from stickbreaker.engine.runs import events
from stickbreaker.engine.runs.before_edit import take_before, with_before, without_before
from stickbreaker.engine.runs.checkpoint import Checkpoint
from stickbreaker.engine.runs.events import Stepped, Update
from stickbreaker.engine.runs.run import Updates

if TYPE_CHECKING:
    from distributed import Client

MAX_MARKS = 100
SPEED_SECONDS = 5.0
SLOW_SECONDS = 1.0
RESTORED = "Restored where it stopped, after {:,} documents. Press Run to continue."
RESTORED_AT_START = "Restored before its first document. Press Run to begin."
FALLEN = (
    "Stopped before convergence: another pass would lower the bound, because each pass infers all"
    " documents from scratch."
)
SETTLED = (
    "Documents set aside are predicted no better after this pass: another pass would change little."
)
NOT_SETTLED = "The topics still change: another pass probably predicts new documents better."
ENDS = {None: "", True: NOT_SETTLED, False: SETTLED}

# What a person has called topics, by id, for each run: its corpus and sizes, algorithm, config and
# settings.
Names: TypeAlias = dict[tuple[Any, ...], dict[int, str]]


class Record:
    """The state of one run, from its spec to its last mini-batch.

    corpus, prepared: what the engine runs; None until the corpus is open. corpus_size: documents to
    learn from; 0 until then. columns: of the word lists. kept_key: of the kept run, once there is
    one. is_slow: whether the last step was so slow that a page is told of the next. known: names of
    topics in runs before, from which this one takes those of a run with the same settings.
    label_with: as for `label_topics`. find_client: the Dask client on whose workers an algorithm
    learns whose steps can be divided; None: in this process.
    """

    def __init__(
        self,
        spec: RunSpec,
        run_id: int,
        clock: Callable[[], float],
        known: Names | None = None,
        find_client: Callable[[], "Client | None"] = lambda: None,
        label_with: Labeller | None = None,
    ) -> None:
        self._find_client = find_client
        self.spec = spec
        self.run_id = run_id
        self._clock = clock
        self.topics_key = secrets.token_hex(8)
        self.status = "ready"
        self.message = self.kept_key = self._cluster_fault = self._phase = ""
        self.compile_share = self._seconds = self._begun_at = 0.0
        self.is_over = self.is_kept = self.is_slow = False
        self.documents_seen = self.batch_size = self.corpus_size = 0
        self.prepared: engine.Prepared | None = None
        self.corpus: engine.Corpus | None = None
        self._updates: Updates | None = None
        self._client: Client | None = None
        self._resumed: Checkpoint | None = None
        self._date: np.datetime64 | None = None
        self._date_span: tuple[np.datetime64, np.datetime64] | None = None
        self._startup_share = self._temperature = 1.0
        self._state: Any = None
        self._summarized: Any = None
        self._now: Moment | None = None
        self._history = RunHistory()
        self._marks: list[Mark] = []
        self.edits = RunEdits()
        self.columns: list[Moment] = []
        self._default_topics = DefaultTopics()
        self._learned_config = spec.config
        self._speed = Speed(SPEED_SECONDS)
        self._known: Names = {} if known is None else known
        self._label_with = label_with
        self.topic_names = RunNames()
        self._labels: dict[int, str] = {}

    @property
    def is_as_restored(self) -> bool:
        """Whether the run was restored and has not learned since."""
        return self._resumed is not None

    def open(self, corpus: engine.Corpus, prepared: engine.Prepared) -> None:
        """Note the corpus and the prepared run, with its sizes and planned columns."""
        self.corpus = corpus
        self.prepared = prepared
        self.corpus_size = prepared.corpus_size
        self._history.first.wanted = list_read(corpus)
        self.spec = replace(self.spec, config=prepared.config)
        self._learned_config = prepared.config
        dates = prepared.train.dates
        self._date_span = (dates.min(), dates.max()) if prepared.train.has_dates else None
        self.batch_size = prepared.algorithm.step_size(prepared.config, self.corpus_size)

    def change(self, spec: RunSpec) -> None:
        """Change learning settings, with a mark once it learns; a run that is over stays."""
        if self.is_over:
            return
        self.spec = spec
        if not self.documents_seen:
            self._learned_config = spec.config
            return
        marks = [mark for mark in self._marks if mark.documents_seen != self.documents_seen]
        if text := describe_change(self._learned_config, spec.config):
            # From here on the run learns other topics than one that begins with its settings.
            self.topic_names.part()
            marks.append(Mark(self.documents_seen, self._seconds, self._date, text))
        self._marks = marks[-MAX_MARKS:]

    def model(self) -> Model | None:
        """Return the current model; None before the first mini-batch."""
        if self._state is None or self.corpus is None or self.prepared is None:
            return None
        return Model(
            run_id=self.run_id,
            topics_key=self.topics_key,
            algorithm=self.spec.algorithm,
            config=self.spec.config,
            state=self._state,
            corpus=self.corpus,
            train=self.prepared.train,
            test=self.prepared.test,
            settings=self.spec.settings,
            documents_seen=self.documents_seen,
            first_readings=self._history.first,
            columns=tuple(self.columns),
            labels=dict(self._labels),
            label_with=self._label_with,
            num_edits=len(self.edits.done),
        )

    def find_edited(self, edit: TopicEdit) -> Any:
        """The state after an edit; None if it is not possible, which the progress explains."""
        return self.edits.find_edited(self._prepare_now(), self._state, edit, self.documents_seen)

    def take_edit(self, edit: TopicEdit, state: Any) -> None:
        """Go on from the state after an edit, with a mark and a held-out score."""
        before = self.save() or self.save_start()
        mark = Mark(self.documents_seen, self._seconds, self._date, "")
        edit = self.edits.note(edit, state, before, mark, self._title)
        # From here on the run learns other topics than one that begins with its settings.
        self.topic_names.part()
        if edit.name:
            self.topic_names.rename(edit.topic_ids[-1], edit.name)
        prepared = self._prepare_now()
        if not self.documents_seen or prepared is None or self._date is None:
            return
        self.close()
        self._updates = None
        self._resumed = None
        self._state = state
        if self.is_over:
            # The run as it was stays kept, so that the two can be compared.
            self.is_kept = False
            self.kept_key = ""
        self.score()
        summary = self.spec.algorithm.summarize(self.spec.config, state)
        if self.columns and self.columns[-1].documents_seen == self.documents_seen:
            self.columns.pop()
        self._take_moment(events.Moment(self.documents_seen, self._date, summary))

    def score(self) -> None:
        """Add the held-out score of the current model."""
        prepared = self._prepare_now()
        if prepared is None or self._date is None:
            return
        if (nats := score_test(prepared, self._state)) is not None:
            self._history.heldout.append(self.documents_seen, self._date, self._seconds, nats)

    def _prepare_now(self) -> engine.Prepared | None:
        """The prepared run with the present settings; None until the corpus is open."""
        return self.prepared and replace(self.prepared, config=self.spec.config)

    def _title(self, topic_id: int) -> str:
        names = self.topic_names.copy()
        return names.get(topic_id) or self._labels.get(topic_id) or f"topic {topic_id}"

    def start_step(self) -> None:
        """Note that a step begins, before `advance` takes it."""
        self._begun_at = self._clock()

    def advance(self) -> None:
        """Learn from one mini-batch and note what happened."""
        self.take(self._next_update())

    def take(self, update: Update) -> None:
        """Note what happened in one mini-batch."""
        self._history.take(update, self._seconds, self.corpus_size)
        self._take_step(update.stepped)
        if update.moment is not None:
            self._take_moment(update.moment)
        if update.is_last:
            info = update.stepped.info
            self.is_over = True
            self.status = "finished"
            self.message = FALLEN if info.has_fallen else ENDS[info.is_pass_needed]
            self._speed.clear()
        self.is_slow = self._clock() - self._begun_at >= SLOW_SECONDS
        self._begun_at = 0.0

    def _next_update(self) -> Update:
        """Start the engine, or let it continue with the current settings."""
        config = self.spec.config
        is_changed = config is not self._learned_config
        self._learned_config = config
        assert self.prepared is not None
        client = None
        if self.prepared.algorithm.step is None:
            client = self._find_client()
        if self._updates is None and self.edits.done:
            self._resumed = self._resumed_edited()
        elif self._updates is None:
            # Runs of the same settings learn the same topics, so they share the names of topics.
            key = (*self._name_corpus(), self.spec.algorithm.name, config, self.spec.settings)
            self.topic_names.share(self._known.setdefault(key, {}))
        elif client is self._client:
            return self._updates.send(config if is_changed else None)
        else:
            # The scheduler was away: the run continues from here with the new client.
            self._resumed = self.save()
        resumed = self._resumed and replace(self._resumed, config=config)
        self._resumed = None
        self._client = client
        prepared = replace(self.prepared, config=config)
        self._updates = engine.run(prepared, resume=resumed, client=client)
        return next(self._updates)

    def _resumed_edited(self) -> Checkpoint:
        """The edited run as it is, from which the engine goes on."""
        saved = self._resumed or self.save() or self.save_start()
        if saved.state is None and (prepared := self._prepare_now()) is not None:
            saved = replace(saved, state=self.edits.start(prepared))
        return saved

    def _name_corpus(self) -> list[Any]:
        """The name and the sizes by which the corpus is recognised, once it is open."""
        name = self.spec.corpus_name
        if (corpus := self.corpus) is None:
            return [name]
        return [name, corpus.num_documents, corpus.vocab_size, corpus.num_tokens]

    def save_start(self) -> Checkpoint:
        """What the run begins with; `restore` makes a record that has not learned."""
        return self._write({"status": "ready"}, {})

    def save(self) -> Checkpoint | None:
        """All from which `restore` makes this record; None before the first mini-batch."""
        if self._state is None:
            return None
        numbers, arrays = page_notes.write_columns(self.columns)
        arrays |= self._history.to_arrays()
        about = {
            "batch_size": self.batch_size,
            "date": page_notes.write_date(self._date),
            "phase": self._phase,
            "startup_share": self._startup_share,
            "temperature": self._temperature,
            "is_over": self.is_over,
            "is_kept": self.is_kept,
            "kept_key": self.kept_key,
            "status": self.status,
            "message": self.message,
            "marks": page_notes.write_marks(self._marks),
            **self.topic_names.to_json(),
            "labels": list(self._labels.items()),
            "columns": numbers,
        }
        return self._write(about, arrays)

    def _write(self, about: Mapping[str, Any], arrays: Mapping[str, np.ndarray]) -> Checkpoint:
        spec = self.spec
        page = {
            "corpus": self._name_corpus(),
            "chosen": sorted(spec.chosen),
            "topics_key": self.topics_key,
            "edits": self.edits.to_json(),
            **about,
        }
        checkpoint = Checkpoint(
            algorithm=spec.algorithm.name,
            # A change that acts from the next mini-batch must not get lost.
            config=spec.config,
            settings=spec.settings,
            state=self._state,
            documents_seen=self.documents_seen,
            seconds=self._seconds,
            has_ended=self.is_over,
            notes={**arrays, **page_notes.write_page(page)},
        )
        before = self.edits.before
        return with_before(checkpoint, before[-1]) if before else checkpoint

    def extend(self) -> Checkpoint | None:
        """A finished run as one that reads the corpus once more; None if not finished."""
        if self.status != "finished" or (checkpoint := self.save()) is None:
            return None
        passes = self.documents_seen // self.corpus_size + 1
        settings = replace(checkpoint.settings, passes=passes)
        fresh = page_notes.with_page(
            checkpoint, is_over=False, is_kept=False, kept_key="", status="paused", message=""
        )
        return replace(without_before(fresh), settings=settings, has_ended=False)

    def restore(self, checkpoint: Checkpoint) -> None:
        """Continue a saved record, after `open`; CorpusError if the corpus is another one."""
        about = page_notes.read_page(checkpoint)
        self.edits.restore(about)
        if not self.edits.before and (before := take_before(checkpoint)) is not None:
            self.edits.before = (before,)
        checkpoint = without_before(checkpoint)
        if checkpoint.documents_seen:
            self._restore(checkpoint, about)
        self._resumed = checkpoint
        self.wait()

    def _restore(self, checkpoint: Checkpoint, about: Mapping[str, Any]) -> None:
        corpus = self.corpus
        assert corpus is not None
        if about["corpus"][1:] != self._name_corpus()[1:]:
            raise engine.CorpusError(
                f"The corpus {corpus.name!r} has changed since this run was saved: restart the run."
            )
        self._history.restore(checkpoint.notes)
        self._state = checkpoint.state
        self.documents_seen = checkpoint.documents_seen
        self._seconds = checkpoint.seconds
        self.batch_size = about["batch_size"]
        self._date = page_notes.read_date(about["date"])
        self._phase = about["phase"]
        self._startup_share = about["startup_share"]
        self._temperature = about["temperature"]
        self._marks = page_notes.read_marks(about["marks"])
        self.columns = page_notes.read_columns(about["columns"], checkpoint.notes)
        for end in range(1, len(self.columns) + 1):
            self._default_topics.follow(self.columns[:end], corpus)
        self.topic_names.restore(about)
        self._labels = dict(about["labels"])
        self._check_seeds()
        self.kept_key = about["kept_key"]
        self.is_over = about["is_over"]
        if self.is_over:
            self.is_kept = about["is_kept"]
            self.status = about["status"]
            self.message = about["message"]

    def close(self) -> None:
        """Stop the engine; nothing more is learned."""
        if self._updates is not None:
            self._updates.close()

    def wait(self) -> None:
        """Note that nothing is being learned: the run is ready, paused or over."""
        self._speed.clear()
        if not self.is_over:
            seen = self.documents_seen
            self.status = "paused" if seen else "ready"
            restored = RESTORED.format(seen) if seen else RESTORED_AT_START
            self.message = only_if(self.is_as_restored, restored)

    def fail(self, error: BaseException) -> None:
        """End the run; a state that cannot be summarized is replaced by the one before."""
        self.is_over = True
        try:
            self._summarize_now()
        except Exception:
            self._state = self._summarized
        self._speed.clear()
        self.status = "failed"
        self.message = f"{type(error).__name__}: {error}".rstrip(": ")
        if isinstance(error, ClusterError) and not isinstance(error, TaskLostError):
            self._cluster_fault = str(error)

    def progress(self, version: int) -> Progress:
        """Put everything that is shown into one immutable record."""
        spec = self.spec
        corpus = self.corpus
        prepared = self.prepared
        now = self._summarize_now()
        marks = [*self._marks, *(each.mark for each in self.edits.done)]
        planned: tuple[int, ...] = ()
        total = self.documents_seen
        if prepared is not None and self.status != "finished":
            total = prepared.documents_total
            if not self.is_over:
                planned = prepared.plan_moments(spec.config, self.documents_seen)
        if now is not None and not self.columns and not self._default_topics.topics:
            self._default_topics.follow([now])
        return Progress(
            version=version,
            run_id=self.run_id,
            topics_key=self.topics_key,
            status=self.status,
            message=self.message,
            cluster_fault=self._cluster_fault,
            compile_share=self.compile_share,
            corpus_name=spec.corpus_name,
            algorithm=spec.algorithm.name,
            config=spec.config,
            settings=spec.settings,
            chosen=spec.chosen,
            held_out_by=corpus.split_by if corpus is not None else "document",
            corpus_size=self.corpus_size,
            num_held_out=prepared.num_held_out if prepared is not None else None,
            date_span=self._date_span,
            documents_seen=self.documents_seen,
            documents_total=total,
            date=self._date,
            documents_per_second=self._speed.measure(),
            phase=self._phase,
            temperature=self._temperature,
            startup_share=self._startup_share,
            steps=self._history.steps.curve(),
            heldout=self._history.heldout.curve(),
            next_batch=self._history.next_batch.curve(),
            bounds=self._history.bounds.curve(),
            marks=tuple(sorted(marks, key=lambda mark: mark.documents_seen)),
            columns=tuple(self.columns),
            now=now,
            vocabulary=corpus.vocabulary if corpus is not None else None,
            planned_columns=planned,
            default_topics=self._default_topics.topics,
            label=spec.label(),
            names=self.topic_names.copy(),
            labels=MappingProxyType(dict(self._labels)),
            returned=self.topic_names.returned,
            edits=self.edits.log(),
            work=self._describe_step() if self.status == "running" and self._begun_at else "",
            begun_at=self._begun_at,
        )

    def _describe_step(self) -> str:
        """Describe the documents of the present step."""
        size = self.spec.algorithm.step_size(self.spec.config, self.corpus_size)
        num_passes = self.documents_seen // self.corpus_size
        if size >= self.corpus_size:
            return f"Pass {num_passes + 1} over {count_all(self.corpus_size, 'document')}"
        last = min(self.documents_seen + size, (num_passes + 1) * self.corpus_size)
        first = self.documents_seen + 1
        if first == last:
            return f"Learning from document {last:,}"
        return f"Learning from documents {first:,} to {last:,}"

    def _take_step(self, event: Stepped) -> None:
        self.documents_seen = event.documents_seen
        self._date = event.date
        self._seconds = event.seconds
        self.batch_size = event.batch_size
        self._state = event.state
        info = event.info
        self._phase = info.phase
        self._startup_share = info.startup_share
        self._temperature = info.temperature
        self._speed.note(self._clock(), event.documents_seen)

    def _take_moment(self, event: events.Moment) -> None:
        lists = take_lists(event.summary, self.spec.settings.num_moments)
        self.columns.append(make_moment(event.documents_seen, event.date, event.summary, lists))
        self._default_topics.follow(self.columns, self.corpus)
        if self.corpus is not None:
            # A topic that is gone keeps its last label, for its history. At the end of a pass all
            # labels are chosen again, so that they are those of the model in files and in Python.
            words = self.corpus.vocabulary.words
            kept = self._labels if event.documents_seen % self.corpus_size else {}
            self._labels |= label_topics(event.summary, words, kept, self._label_with)
        self._check_seeds()

    def _check_seeds(self) -> None:
        if self.edits.done:
            self.edits.check_seeds(self._state, self.documents_seen, self.corpus_size)

    def _summarize_now(self) -> Moment | None:
        state = self._state
        if state is not self._summarized:
            summary = self.spec.algorithm.summarize(self.spec.config, state)
            is_small = summary.topics.shape[1] <= NUM_LISTED
            lists = take_lists(summary, 1) if is_small else None
            self._now = make_moment(self.documents_seen, self._date, summary, lists)
            self._summarized = state
        return self._now
