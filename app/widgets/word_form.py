"""The choices of words as a form."""

from collections.abc import Callable
from typing import Any

import panel as pn
import panel_material_ui as pmui

from stickbreaker.app.widgets.config_form import ask, make_widget
from stickbreaker.app.widgets.layouts import LaidOut, stack
from stickbreaker.engine.corpora.languages import LEMMAS
from stickbreaker.engine.corpora.word_choices import LANGUAGES, WordChoices

# A menu shows no option whose value is None.
LANGUAGES_OF_LEMMAS = {"No lemmas": None} | {name: code for code, name in LEMMAS.items()}


class WordForm(LaidOut):
    """The choices of words as inputs; `read` raises ValueError if one is out of bounds."""

    def __init__(self, on_change: Callable[[Any], Any], **params: Any):
        super().__init__(**params)
        self.widgets = {question.name: make_widget(question) for question in ask(WordChoices)}
        self.languages = pmui.MultiChoice(
            label="Stop-word languages",
            options={language.capitalize(): language for language in LANGUAGES},
            value=["english"],
            sizing_mode="stretch_width",
        )
        self.lemmas = pmui.Select(
            label="Language of lemmas",
            options=list(LANGUAGES_OF_LEMMAS),
            value=next(iter(LANGUAGES_OF_LEMMAS)),
            helper_text="Forms of a word, such as “nation” and “nations”, are counted as one.",
            size="small",
            sizing_mode="stretch_width",
        )
        self.own = pmui.TextInput(
            label="Your stop words",
            placeholder="words, separated by spaces or commas",
            size="small",
            sizing_mode="stretch_width",
        )
        for widget in (*self.widgets.values(), self.languages, self.lemmas):
            widget.param.watch(on_change, "value")
        self.own.param.watch(on_change, "value_input")
        cells = [
            pn.Column(widget, styles={"flex": "1 1 220px", "min-width": "0"})
            for widget in self.widgets.values()
        ]
        self._layout = stack(
            self.languages,
            self.own,
            self.lemmas,
            pn.FlexBox(*cells, gap="0 12px", sizing_mode="stretch_width"),
        )

    def read(self) -> WordChoices:
        """Return the present choices."""
        answers = {name: widget.value for name, widget in self.widgets.items()}
        own = self.own.value_input or self.own.value or ""
        return WordChoices(
            **answers,
            languages=tuple(self.languages.value or ()),
            own_stop_words=own,
            lemmas=LANGUAGES_OF_LEMMAS[self.lemmas.value],
        )
