"""What a person does with the topics of a run: merge, remove, split, keep words, seed, undo."""

from collections.abc import Callable
from html import escape
from typing import Any

import panel as pn
import panel_material_ui as pmui
import param

from stickbreaker.app.commands.run_commands import RunCommands
from stickbreaker.app.frames import edit_texts
from stickbreaker.app.model.counting import only_if
from stickbreaker.app.model.progress import Progress
from stickbreaker.app.state import RunState, guarded
from stickbreaker.app.widgets import layouts
from stickbreaker.app.widgets.help_button import make_heading
from stickbreaker.app.widgets.menus import offer
from stickbreaker.app.widgets.pick_list import PickList
from stickbreaker.engine.algorithm import EditKind, TopicEdit

TITLE = "Edit topics"
HELP = (
    "<p><b>Merge</b>: the largest of the topics gets the words of the others.</p><p><b>Remove</b>:"
    " the other topics take the words of the topic as the run reads on.</p><p><b>Split</b>: the"
    " documents of the topic decide which words each half gets.</p><p><b>Keep words</b>: the"
    " topic's words count ten times, so that documents change them little.</p><p><b>Add topic</b>:"
    " a further topic starts with your words and those of documents that it explains best.</p>"
    "<p><b>Undo edit</b>: the run goes back to where it was before the last edit.</p><p>The run"
    " learns on from each edit, also while it is running; the dashed line is the run without it."
    " Documents set aside remove no topic that you split, kept or added.</p><p><b>Suggestions</b>:"
    " the closest topics are merged and the largest ones split for a trial; an edit is supported if"
    " documents set aside are predicted better by more than the error, or by a merge not worse by"
    " more than that.</p>"
)
BUTTONS = {
    EditKind.MERGE: "Merge",
    EditKind.REMOVE: "Remove",
    EditKind.SPLIT: "Split",
    EditKind.PIN: "Keep words",
}
STYLE = "p { margin: 2px 0; font-size: 14px; line-height: 1.4; }"


class TopicEdits(layouts.StateView):
    """The controls that edit topics; hidden if the topics of the run cannot be edited."""

    def __init__(self, state: RunState, commands: RunCommands):
        super().__init__(state)
        self._commands = commands
        self._choices: dict[str, int] = {}
        self._listed: tuple[object, ...] = ()
        self._num_done = 0
        self.topics = pmui.MultiChoice(
            label="Topics to edit",
            options={},
            placeholder="Select topics",
            sizing_mode="stretch_width",
        )
        self.topics.param.watch(lambda event: self._let_act(), "value")
        self.buttons = {kind: _button(label, self._asker(kind)) for kind, label in BUTTONS.items()}
        self.words = pmui.TextInput(
            label="Words of a new topic",
            placeholder="such as canal, panama",
            max_length=200,
            size="small",
            width=260,
        )
        self.name_field = pmui.TextInput(
            label="Name of the new topic",
            placeholder="optional",
            size="small",
            width=210,
            max_length=60,
        )
        self.add = _button("Add topic", self._seed)
        self.suggest = _button("Suggest merges and splits", lambda event: commands.propose_edits())
        self.bar = layouts.ProgressBar("Progress of the search", sizing_mode="fixed", width=160)
        self.proposals = PickList(self.apply)
        self.undo = _button("Undo edit", lambda event: commands.undo_edit())
        self.text = pn.pane.HTML("", stylesheets=[STYLE], sizing_mode="stretch_width")
        self._parts = (
            make_heading(TITLE, HELP),
            self.topics,
            layouts.lay_in_lines(*self.buttons.values(), self.undo, gap="4px 0"),
            layouts.lay_in_lines(self.words, self.name_field, self.add),
            self.text,
            layouts.lay_in_lines(self.suggest, self.bar),
            self.proposals,
        )
        self._layout = layouts.stack(css_classes=["topic-edits"], visible=False)
        self._draw()

    @property
    def _chosen(self) -> list[int]:
        return list(self.topics.value or ())

    @param.depends("state.shown", "state.titles", "state.role", watch=True)
    @guarded
    def _draw(self) -> None:
        progress = self.state.shown
        layouts.fill_if_shown(self._layout, self._parts, edit_texts.offers_edits(progress))
        if not self._layout.visible:
            return
        self._offer_topics(progress)
        done = progress.edits.done
        if len(done) > self._num_done and done[-1].words == edit_texts.split_words(
            self.words.value
        ):
            self.words.value = self.name_field.value = ""
        self._num_done = len(done)
        texts = edit_texts.describe_edits(progress.edits, progress.topic_title)
        shown = "".join(f"<p>{escape(text)}</p>" for text in texts)
        self.text.object = only_if(shown, f'<div role="status">{shown}</div>')
        self._let_act()
        self._propose()

    def _offer_topics(self, progress: Progress) -> None:
        """Offer the topics in use: while the run learns, those of its last moment or edit.

        A new list drops what the user selects meanwhile.
        """
        at = None if progress.status == "running" else progress.documents_seen
        listed = (self.state.titles, progress.edits.done, at)
        choices = edit_texts.edit_choices(progress)
        if choices != self._choices and (listed != self._listed or not self._choices):
            self._choices = choices
            left = [each for each in self._chosen if each in choices.values()]
            offer(self.topics, choices, left)
        self._listed = listed

    @param.depends("state.proposals", watch=True)
    @guarded
    def _propose(self) -> None:
        """Show the merges and splits that are supported, or how far the search is."""
        job = self.state.proposals
        progress = self.state.shown
        self.bar.show(job.share, job.is_active)
        self.suggest.disabled = job.is_active or not (
            self.state.may_act and progress.documents_seen and progress.removes_topics
        )
        text = edit_texts.describe_search(job, progress)
        self.proposals.show(edit_texts.proposal_rows(job, progress), text, text)

    def apply(self, place: int) -> None:
        """Apply a suggestion, by its place in the list."""
        edit = self.state.proposals.supported[place].edit
        self._commands.edit_topics(TopicEdit(str(edit.kind), edit.topic_ids))

    @param.depends("state.topic", watch=True)
    def _select(self) -> None:
        """Select the topic that is selected on the page."""
        if self.state.topic in self._choices.values():
            self.topics.value = [self.state.topic]

    def _let_act(self) -> None:
        progress = self.state.shown
        may_act = self.state.may_act
        number = len(self._chosen)
        for kind, button in self.buttons.items():
            is_enough = number >= 2 if kind is EditKind.MERGE else number == 1
            button.disabled = not (may_act and is_enough and progress.documents_seen)
        self.undo.disabled = not (may_act and progress.edits.can_undo)
        for part in (self.words, self.name_field, self.add):
            part.disabled = not may_act

    def _asker(self, kind: EditKind) -> Callable[[Any], None]:
        def ask(event: Any) -> None:
            edit = TopicEdit(str(kind), tuple(self._chosen))
            self.topics.value = []
            self._commands.edit_topics(edit)

        return ask

    def _seed(self, event: Any) -> None:
        words = edit_texts.split_words(self.words.value)
        if not words:
            return
        name = self.name_field.value.strip()
        self._commands.edit_topics(TopicEdit(str(EditKind.SEED), (), words, name))


def _button(label: str, act: Callable[[Any], None]) -> pmui.Button:
    button = pmui.Button(label=label, variant="outlined", size="small", margin=(4, 4, 4, 10))
    button.on_click(act)
    return button
