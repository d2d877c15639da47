"""What a person has done with the topics of one run, and what follows from it."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from stickbreaker.app.model.page_notes import read_marks, write_marks
from stickbreaker.app.model.progress import EditLog, Mark
from stickbreaker.engine.algorithm import Edit, EditKind, TopicEdit
from stickbreaker.engine.evaluation.held_out import score_own
from stickbreaker.engine.inference.edits import (
    MOST_UNDONE,
    PIN_WEIGHT,
    SUPPORTED_SHARE,
    EditError,
    draw_learned,
    find_support,
    list_changed,
)
from stickbreaker.engine.inference.held_words import split_words
from stickbreaker.engine.runs.checkpoint import Checkpoint
from stickbreaker.engine.runs.prepared import Prepared

MOST_NAMED = 3
SAYINGS = {
    EditKind.MERGE: "merged {}",
    EditKind.REMOVE: "removed {}",
    EditKind.SPLIT: "split {}",
    EditKind.PIN: "kept the words of {}",
    EditKind.SEED: "seeded {}",
}
NOT_OPEN = "The corpus is not open yet: try again in a moment."


class EditMark(NamedTuple):
    """An edit, and its mark on the curves."""

    edit: TopicEdit
    mark: Mark


class RunEdits:
    """The edits of one run, in order; only the runner's thread changes them.

    fault: why the last request was not possible. before: the run before each of its last edits.
    """

    def __init__(self) -> None:
        self.done: tuple[EditMark, ...] = ()
        self.fault = ""
        self.before: tuple[Checkpoint, ...] = ()
        self._unsupported: tuple[int, ...] = ()

    def log(self) -> EditLog:
        """What the pages show of the edits."""
        return EditLog(
            done=tuple(each.edit for each in self.done),
            fault=self.fault,
            can_undo=bool(self.before),
            unsupported=self._unsupported,
        )

    def start(self, prepared: Prepared) -> Any:
        """The state before the first mini-batch, with the topics that were seeded."""
        rng = np.random.default_rng([prepared.settings.seed, 0])
        state = prepared.algorithm.init(prepared.config, prepared.train.vocab_size, rng)
        for each in self.done:
            state = self._apply(prepared, state, each.edit, 0)
        return state

    def find_edited(
        self, prepared: Prepared | None, state: Any, edit: TopicEdit, documents_seen: int
    ) -> Any:
        """The state after an edit; None, with a `fault`, if it is not possible.

        state: None before the first mini-batch.
        """
        self.fault = ""
        try:
            if prepared is None:
                raise EditError(NOT_OPEN)
            state = self.start(prepared) if state is None else state
            return self._apply(prepared, state, edit, documents_seen)
        except EditError as error:
            self.fault = str(error)
            return None

    def _apply(self, prepared: Prepared, state: Any, edit: TopicEdit, documents_seen: int) -> Any:
        algorithm = prepared.algorithm
        if algorithm.edit is None:
            raise EditError(f"{algorithm.title} has topics that cannot be edited.")
        try:
            words = tuple(map(prepared.train.vocabulary.index, edit.words))
        except KeyError as error:
            raise EditError(f"No topic was added: {error.args[0]}.") from error
        # The run does not learn from documents that it has not read.
        sample = draw_learned(prepared.train, documents_seen)
        kind = EditKind(edit.kind)
        weight = PIN_WEIGHT if kind is EditKind.PIN else 1.0
        # The state before the first step has no new topics of merges and splits.
        topic_ids = () if kind is EditKind.SEED else edit.topic_ids
        asked = Edit(kind, topic_ids, words, weight)
        return algorithm.edit(prepared.config, state, asked, sample)

    def note(
        self,
        edit: TopicEdit,
        state: Any,
        before: Checkpoint,
        mark: Mark,
        title: Callable[[int], str],
    ) -> TopicEdit:
        """Note an edit with its place and the run before it; state: after the edit. Return it."""
        self.before = (*self.before, before)[-MOST_UNDONE:]
        edit = edit._replace(
            topic_ids=list_changed(Edit(EditKind(edit.kind), edit.topic_ids), state),
            step=state.step,
            documents_seen=mark.documents_seen,
        )
        mark = replace(mark, text=describe_edit(edit, title))
        self.done = (*self.done, EditMark(edit, mark))
        return edit

    def check_seeds(self, state: Any, documents_seen: int, corpus_size: int) -> None:
        """Find the seeded topics that a pass over the documents does not support."""
        seeds = [
            each.edit.topic_ids[0]
            for each in self.done
            if each.edit.kind == EditKind.SEED
            and documents_seen - each.edit.documents_seen >= corpus_size
        ]
        self._unsupported = tuple(
            topic_id
            for topic_id in seeds
            if topic_id in state.decided.kept and find_support(state, topic_id) < SUPPORTED_SHARE
        )

    def to_json(self) -> list[Any]:
        """Everything that `restore` reads; the checkpoint has the run before the last edit."""
        return [[each.edit._asdict(), *write_marks([each.mark])] for each in self.done]

    def restore(self, saved: Mapping[str, Any]) -> None:
        """Read what `to_json` gave; files of earlier versions have no edits."""
        self.done = tuple(
            EditMark(
                TopicEdit(**edit | {name: tuple(edit[name]) for name in ("topic_ids", "words")}),
                read_marks([mark])[0],
            )
            for edit, mark in saved.get("edits", ())
        )


def describe_edit(edit: TopicEdit, title: Callable[[int], str]) -> str:
    """Say what was done; title: names a topic."""
    kind = EditKind(edit.kind)
    if kind is EditKind.SEED:
        return SAYINGS[kind].format(f"“{edit.name or ', '.join(edit.words)}”")
    ids = edit.topic_ids[:1] if kind is EditKind.SPLIT else edit.topic_ids
    named = ", ".join(f"“{title(topic_id)}”" for topic_id in ids[:MOST_NAMED])
    if len(ids) > MOST_NAMED:
        named += f" and {len(ids) - MOST_NAMED} more"
    return SAYINGS[kind].format(named)


def score_test(prepared: Prepared, state: Any) -> float | None:
    """The held-out score of a state, as a run scores it; None without held-out words."""
    if (test := prepared.test) is None:
        return None
    split = split_words(test.documents(), test.doc_ids, prepared.settings.seed)
    if not split.num_tokens:
        return None
    return score_own(prepared.algorithm, prepared.config, state, split)
