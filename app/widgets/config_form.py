"""Forms for config dataclasses: one input for each field, checked by the config itself."""

from collections.abc import Callable
from dataclasses import dataclass, fields
from functools import cached_property
from html import escape
from types import NoneType
from typing import Any, get_args, get_type_hints

import panel as pn
import panel_material_ui as pmui
from bokeh.models import CustomJSTickFormatter

from stickbreaker.app.model.counting import only_if
from stickbreaker.app.model.run_spec import name_setting
from stickbreaker.app.widgets.edits import Edits
from stickbreaker.app.widgets.layouts import stack
from stickbreaker.engine.declarations import INFINITY, LEFT_TO

FAULT_STYLE = "div[role=alert] { color: var(--mui-palette-error-main, #c62828); font-size: 14px; }"
# The buttons next to a number have no name for a screen reader; the arrow keys do the same.
NO_SPINNERS = {"& .MuiIconButton-root": {"display": "none"}}


def empty_if_zero() -> CustomJSTickFormatter:
    """The format of a number that is never 0, which panel-material-ui sends for none."""
    return CustomJSTickFormatter(code="return tick ? String(tick) : ''")


def read_fields(config: Any) -> dict[str, Any]:
    """Return the fields of a config by name; empty if the run has no config yet."""
    if config is None:
        return {}
    return {field.name: getattr(config, field.name) for field in fields(config)}


@dataclass(frozen=True)
class ConfigQuestion:
    """One setting of a form; `kind` is "choice", "switch", "whole" or "number".

    low, high: the bounds of a number.
    """

    name: str
    label: str
    kind: str
    default: Any
    low: float
    high: float
    choices: tuple[Any, ...]
    explanation: str
    left_to: str = LEFT_TO


def ask(config_class: type, only_on_restart: bool = True) -> tuple[ConfigQuestion, ...]:
    """Return the settings of a config as questions; by default without those that act at once.

    Fields carry metadata: "symbol", "bounds" (low, high), "help", "choices", "live".
    """
    hints = get_type_hints(config_class)
    questions = []
    for field in fields(config_class):
        if "symbol" not in field.metadata or (only_on_restart and field.metadata.get("live")):
            continue
        low, high = field.metadata["bounds"] or (-INFINITY, INFINITY)
        questions.append(
            ConfigQuestion(
                name=field.name,
                label=name_setting(field.name, field.metadata["symbol"]),
                kind=_kind(hints[field.name], field.metadata),
                default=field.default,
                low=low,
                high=high,
                choices=tuple(field.metadata.get("choices") or ()),
                explanation=field.metadata["help"],
                left_to=field.metadata.get("left_to", LEFT_TO),
            )
        )
    return tuple(questions)


def find_faults(config_class: type, answers: dict[str, Any]) -> dict[str, str]:
    """Return the error of each field; an error of several fields together has the key ""."""
    faults = {}
    optional = {field.name for field in fields(config_class) if field.default is None}
    for name, value in answers.items():
        if value == "" or (value is None and name not in optional):
            faults[name] = "enter a value"
            continue
        try:
            config_class(**{name: value})
        except (ValueError, TypeError) as error:
            faults[name] = str(error)
    if not faults:
        try:
            config_class(**answers)
        except (ValueError, TypeError) as error:
            faults[""] = str(error)
    return faults


class ConfigForm(pn.viewable.Viewer):
    """A form for one config class: `read` returns the answers, or shows the errors at the fields.

    Its inputs are made when they are first needed; a form that stays closed only keeps its values.
    """

    def __init__(self, config_class: type, **params: Any):
        super().__init__(**params)
        self.config_class = config_class
        self.questions = ask(config_class)
        self.edits = Edits()
        self._values = {question.name: question.default for question in self.questions}
        self._acts: list[Callable[[], None]] = []

    @cached_property
    def widgets(self) -> dict[str, pn.widgets.WidgetBase]:
        """The input of each question."""
        widgets = {question.name: make_widget(question) for question in self.questions}
        for name, widget in widgets.items():
            widget.value = self._values[name]
            self.edits.watch(name, widget)
            for act in self._acts:
                _call_on_change(widget, act)
        return widgets

    @cached_property
    def _help(self) -> dict[str, str]:
        return {
            name: widget.helper_text  # type: ignore[attr-defined]  # only some have it
            for name, widget in self.widgets.items()
            if "helper_text" in widget.param
        }

    @cached_property
    def _fault(self) -> pn.pane.HTML:
        return pn.pane.HTML("", visible=False, stylesheets=[FAULT_STYLE])

    @cached_property
    def _layout(self) -> pn.Column:
        return stack(*self.widgets.values(), self._fault)

    @property
    def _made(self) -> dict[str, pn.widgets.WidgetBase]:
        """The inputs, if they have been made."""
        made: dict[str, pn.widgets.WidgetBase] = vars(self).get("widgets", {})
        return made

    def answers(self) -> dict[str, Any]:
        """Return the current values, valid or not."""
        return self._values | {name: widget.value for name, widget in self._made.items()}

    def read(self) -> dict[str, Any] | None:
        """The answers if the config accepts them; else show the errors."""
        faults = find_faults(self.config_class, self.answers())
        if faults or self._made:
            self._show(faults)
        return None if faults else self.answers()

    def fill(self, config: Any) -> None:
        """Show a config's values, except in place of what the user has changed and not applied."""
        if not self._made:
            self._values = {name: getattr(config, name) for name in self._values}
            return
        with self.edits.writing():
            for name, widget in self.widgets.items():
                value = getattr(config, name)
                if widget.value != value and not self.edits.is_pending(name):
                    widget.value = value
        if not self.edits.names:
            self._show({})

    def watch(self, act: Callable[[], None]) -> None:
        """Call `act` when an answer changes."""
        self._acts.append(act)
        for widget in self._made.values():
            _call_on_change(widget, act)

    def _show(self, faults: dict[str, str]) -> None:
        for name, helper in self._help.items():
            widget = self.widgets[name]
            widget.param.update(error_state=name in faults, helper_text=faults.get(name, helper))
        rest = [
            only_if(name, f"{name}: ") + text
            for name, text in faults.items()
            if name not in self._help
        ]
        alert = f'<div role="alert">{escape("; ".join(rest), quote=False)}</div>'
        self._fault.param.update(object=only_if(rest, alert), visible=bool(rest))

    def __panel__(self) -> pn.viewable.Viewable:
        return self._layout


def _call_on_change(widget: pn.widgets.WidgetBase, act: Callable[[], None]) -> None:
    widget.param.watch(lambda event: act(), "value")


def make_widget(question: ConfigQuestion) -> pn.widgets.WidgetBase:
    """Make the input for a question."""
    shared: dict[str, Any] = {
        "label": question.label,
        "sizing_mode": "stretch_width",
        "size": "small",
    }
    if question.kind == "choice":
        helper = f"{_begin(question.explanation.rstrip('.'))}."
        return pmui.Select(
            options=list(question.choices), value=question.default, helper_text=helper, **shared
        )
    if question.kind == "switch":
        return pmui.Switch(
            value=question.default, description=_begin(question.explanation), **shared
        )
    widget: type[pn.widgets.WidgetBase] = pmui.FloatInput
    step = _choose_step(question.default)
    if question.kind == "whole":
        widget = pmui.IntInput
        step = 1
    if question.default is None and question.low > 0:
        shared["format"] = empty_if_zero()
    return widget(
        value=question.default,
        step=step,
        placeholder=only_if(question.default is None, f"set by {question.left_to}"),
        helper_text=_explain(question),
        width=None,
        sx=NO_SPINNERS,
        **shared,
    )


def _explain(question: ConfigQuestion) -> str:
    if question.kind == "number" and 0 < question.low < 1e-3:
        bounds = "above 0"
    elif question.high == INFINITY:
        bounds = f"at least {question.low:,.10g}"
    else:
        bounds = f"{question.low:,.10g} to {question.high:,.10g}"
    return f"{_begin(question.explanation.rstrip('.'))} ({bounds})."


def _begin(text: str) -> str:
    """Begin a sentence with a capital letter."""
    return text[:1].upper() + text[1:]


def _choose_step(value: float) -> float:
    return 10.0 ** int(f"{value:e}".split("e")[1]) if value else 0.1


def _kind(hint: Any, metadata: Any) -> str:
    if metadata.get("choices"):
        return "choice"
    (plain,) = set(get_args(hint) or (hint,)) - {NoneType}
    return {bool: "switch", int: "whole"}.get(plain, "number")
