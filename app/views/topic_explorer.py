"""One topic in full: its name, its words by relevance, its nearest topics and its typical
documents.
"""

from html import escape
from typing import Any

import panel as pn
import panel_material_ui as pmui
import param

from stickbreaker.app.commands.run_commands import RunCommands
from stickbreaker.app.frames.reading_frames import (
    TYPICAL_RULE,
    holder_rows,
    name_whole,
    nearest_rows,
    percent,
    topic_options,
    topic_share,
    typical_rows,
    word_rows,
)
from stickbreaker.app.frames.word_table import NO_TOPIC
from stickbreaker.app.model.counting import only_if
from stickbreaker.app.model.reading import Reading
from stickbreaker.app.state import RunState, guarded
from stickbreaker.app.widgets.layouts import StateView, html_pane, stack
from stickbreaker.app.widgets.menus import offer
from stickbreaker.app.widgets.pick_list import PickList
from stickbreaker.engine.evaluation.topic_space import RELEVANCE

WORDS = "Words"
EMPTY = "Available once the corpus has been read."
ONLY_TOPIC = "This is the only topic in use."


class TopicExplorer(StateView):
    """One topic. It follows and sets the selected topic and word, and its name.

    of_word: a view of the selected word, shown below the topics that contain it.
    chosen: the topic's name and words; related: everything else, below each other in a narrow
    window.
    """

    def __init__(self, state: RunState, commands: RunCommands, of_word: Any = None) -> None:
        super().__init__(state)
        self._commands = commands
        self._of_word = of_word
        self._is_writing = False
        self.topic = pmui.Select(
            label="Topic", options={}, size="small", sizing_mode="stretch_width"
        )
        self.search_field = pmui.TextInput(
            label="Find topics by word",
            placeholder="a word of the corpus, then Enter",
            size="small",
            sizing_mode="stretch_width",
        )
        self.name_field = pmui.TextInput(
            label="Topic name",
            placeholder="a new name, then Enter",
            helper_text="Saved for this corpus. To remove the name, clear the field.",
            size="small",
            sizing_mode="stretch_width",
            max_length=60,
        )
        self._weight = pmui.FloatSlider(
            label="Relevance λ",
            start=0.0,
            end=1.0,
            step=0.05,
            value=RELEVANCE,
            size="small",
            margin=(5, 20),
            sizing_mode="stretch_width",
        )
        self.words = PickList(self._pick_word, self._point_at_word)
        self._holders = PickList(self.pick_topic, self._point_at_topic)
        self.near = PickList(self.pick_topic, self._point_at_topic)
        self.typical = PickList(self._pick_document)
        self._facts = _text()
        self._words_heading = _heading(WORDS)
        self._holders_heading = _heading("")
        self._watch()
        self.chosen = self._lay_out_topic()
        self.others = self._lay_out_others()
        self.documents = self._lay_out_documents()
        self._layout = stack(self.chosen, self.others, self.documents)
        self._let_act()
        self._draw()

    @param.depends("state.role", watch=True)
    def _let_act(self) -> None:
        """A watcher does not rename the topic."""
        self.name_field.disabled = not self.state.may_act

    def _watch(self) -> None:
        self.topic.param.watch(self._choose, "value")
        self.name_field.param.watch(self._take_name, "value")
        self.search_field.param.watch(self._take_word, "value")
        self._weight.param.watch(lambda event: self._draw_words(), "value_throttled")

    def _lay_out_topic(self) -> pn.viewable.Viewable:
        return stack(
            self.topic,
            self.name_field,
            self._facts,
            self._words_heading,
            self._weight,
            _text(
                "1 ranks words by probability, 0 by how much more frequent they are in the topic"
                " than in the corpus."
            ),
            self.words,
        )

    def _lay_out_others(self) -> pn.viewable.Viewable:
        """The nearest topics, and the topics of a word."""
        of_word = filter(None, [self._of_word])
        search = (self.search_field, self._holders_heading, self._holders, *of_word)
        parts = (_heading("Nearest topics"), self.near, *search)
        return stack(*parts)

    def _lay_out_documents(self) -> pn.viewable.Viewable:
        parts = (_heading("Typical documents"), _text(TYPICAL_RULE), self.typical)
        return stack(*parts)

    def _position(self, topic_id: int | None) -> int | None:
        """The place of a topic in use; None without it."""
        if self.state.reading is None:
            return None
        position = self.state.reading.position(topic_id)
        return position if position is not None and position in self.state.reading.used else None

    @param.depends("state.reading", "state.titles", "state.topic", "state.span", watch=True)
    @guarded
    def _draw(self) -> None:
        reading = self.state.reading
        topic_id = self.state.topic
        position = self._position(topic_id)
        self._is_writing = True
        try:
            options = (
                {}
                if reading is None
                else topic_options(reading, self.state.progress.topic_title, topic_id)
            )
            offer(self.topic, options, topic_id if options else None)
            self.name_field.value = (
                "" if topic_id is None else self.state.progress.names.get(topic_id, "")
            )
        finally:
            self._is_writing = False
        with pn.io.hold():
            self._draw_words()
            self._draw_holders()
            self._draw_neighbours(reading, position)

    def _explain(self) -> str:
        """Say why the lists are empty if there is no topic to select."""
        return EMPTY if self.state.reading is None or len(self.state.reading.used) else NO_TOPIC

    @param.depends("state.pointed_topic", watch=True)
    @guarded
    def _draw_words(self) -> None:
        """List the words of the topic that is pointed at, or else of the selected one."""
        reading = self.state.reading
        pointed = self.state.pointed_topic
        position = self._position(self.state.topic)
        heading = WORDS
        shown = position if (at := self._position(pointed)) is None else at
        rows = []
        text = ""
        if reading is not None and position is not None:
            tokens = reading.summary.expected_tokens[position]
            about = only_if(reading.is_read, f", about {tokens:,.0f}")
            text = f"{percent(topic_share(reading, position))} {name_whole(reading)}{about}."
        if reading is not None and shown is not None:
            rows = word_rows(reading, shown, self._weight.value)
        if pointed is not None and shown != position:
            heading = f"{WORDS} of “{self.state.progress.topic_title(pointed)}”"
        self.words.show(rows, self._explain())
        self._facts.object = _paragraph(text)
        self._words_heading.object = _heading_html(heading)

    def _draw_neighbours(self, reading: Reading | None, position: int | None) -> None:
        if reading is None or position is None:
            self.near.show([], self._explain())
            self.typical.show([], self._explain())
            return
        self.near.show(nearest_rows(reading, position, self.state.progress.topic_title), ONLY_TOPIC)
        if reading.doc_shares is None:
            self.typical.show([], "Available once all documents have been read.")
            return
        self.typical.show(typical_rows(reading, position, self.state.span), "No typical documents.")

    @param.depends("state.word", watch=True)
    @guarded
    def _draw_holders(self) -> None:
        word = self.state.word
        reading = self.state.reading
        if reading is None or word is None or word >= len(reading.corpus.vocabulary):
            self._holders_heading.object = ""
            rows = []
        else:
            self._holders_heading.object = _heading_html(
                f"Topics with “{reading.corpus.vocabulary[word]}”"
            )
            rows = holder_rows(reading, word, self.state.progress.topic_title)
        self._holders.show(rows)

    def _choose(self, event: Any) -> None:
        if not self._is_writing and event.new is not None:
            self.state.topic = int(event.new)

    def _take_name(self, event: Any) -> None:
        if not self._is_writing and self.state.topic is not None:
            self._commands.rename(self.state.topic, event.new)

    def _take_word(self, event: Any) -> None:
        if self.state.reading is None or not event.new.strip():
            return
        try:
            self.state.word = self.state.reading.corpus.vocabulary.index(
                event.new.strip().casefold()
            )
            self.search_field.param.update(error_state=False, helper_text="")
        except KeyError as error:
            self.state.word = None
            self.search_field.param.update(error_state=True, helper_text=str(error.args[0]))

    def pick_topic(self, topic_id: int) -> None:
        self.state.topic = topic_id

    def _point_at_topic(self, topic_id: int | None) -> None:
        self.state.pointed_topic = topic_id

    def _point_at_word(self, word: int | None) -> None:
        self.state.pointed_word = word

    def _pick_word(self, word: int) -> None:
        self.state.word = word

    def _pick_document(self, row: int) -> None:
        self.state.open_document(row)


def _heading(text: str) -> pn.pane.HTML:
    return html_pane(_heading_html(text), margin=(8, 10, 0, 10))


def _heading_html(text: str) -> str:
    return only_if(text, f"<h2 style='margin:4px 0;font-size:16px'>{escape(text)}</h2>")


def _text(text: str = "") -> pn.pane.HTML:
    return html_pane(_paragraph(text))


def _paragraph(text: str) -> str:
    return only_if(text, f"<p style='margin:0;font-size:14px'>{text}</p>")
