"""The settings: corpus, algorithm, presets, the three sliders that act at once, and the rest,
applied on restart.
"""

from collections.abc import Callable, Mapping
from functools import partial
from html import escape
from typing import Any, Protocol

import panel as pn
import panel_material_ui as pmui
import param

from stickbreaker.app.commands.run_commands import RunCommands
from stickbreaker.app.model.presets import (
    COMPLETE_PRESETS,
    PRESETS,
    CompletePreset,
    Preset,
    describe_rates,
)
from stickbreaker.app.model.progress import Progress
from stickbreaker.app.model.run_spec import (
    SENTENCES,
    LiveSettings,
    RunSpec,
    describe_algorithm,
    left_fields,
    title_corpus,
)
from stickbreaker.app.state import RunState, guarded
from stickbreaker.app.widgets.config_form import ConfigForm, read_fields
from stickbreaker.app.widgets.edits import Edits
from stickbreaker.app.widgets.help_button import HELP_STYLE, help_button
from stickbreaker.app.widgets.layouts import StateView, html_pane, stack
from stickbreaker.app.widgets.sliders import asked_of, make_sliders, show_value
from stickbreaker.engine.algorithm import Algorithm
from stickbreaker.engine.schedules import (
    Forecast,
    averages_passes,
    forecast,
    open_settings,
    resolve,
)

# For screen readers only.
UNSEEN = (
    "position: absolute; width: 1px; height: 1px; margin: 0; overflow: hidden; clip-path:"
    " inset(50%)"
)
NOTE_STYLE = """
p { margin: 0 0 4px; font-size: 14px; line-height: 1.4;
  color: var(--panel-on-surface-color, inherit); }
h2 { font-size: 16px; margin: 8px 0 0; color: var(--panel-on-surface-color, inherit); }
"""


class RatePreview(Protocol):
    """A view that shows the learning rates of a config before it is used."""

    def show(self, algorithm: Algorithm, config: Any, corpus_size: int, expected: Forecast) -> None:
        """Show the rates of this many mini-batches; None: the algorithm has no learning rate."""

    def follow(self) -> None:
        """Show the rates of the run."""


class Controls(StateView):
    """The settings at the side of the page.

    What the user types or selects stays until it is applied: only a preset, the defaults or the
    user replaces it.
    """

    def __init__(
        self,
        state: RunState,
        commands: RunCommands,
        spec: RunSpec,
        corpora: tuple[str, ...],
        algorithms: tuple[Algorithm, ...],
        make_sketch: Callable[[], RatePreview],
    ):
        super().__init__(state)
        self._commands = commands
        self.sketch = make_sketch()
        self._corpus_size = 0
        self._shown = Progress()
        self._edits = Edits()
        self.chosen: frozenset[str] = frozenset()
        self.corpus = _make_corpus_menu(corpora)
        self.bring = pmui.Button(
            label="Bring your own text",
            icon="upload_file",
            variant="outlined",
            sizing_mode="stretch_width",
            on_click=lambda event: commands.open_bring(),
        )
        self._algorithms = {algorithm.name: algorithm for algorithm in algorithms}
        self.algorithm = _make_algorithm_menu(algorithms, spec.algorithm)
        self.sliders = make_sliders(spec.config)
        self.forms = (ConfigForm(type(spec.config)), ConfigForm(type(spec.settings)))
        self.memory = pn.pane.HTML("", stylesheets=[NOTE_STYLE], sizing_mode="stretch_width")
        self.defaults = _make_link("Defaults", lambda event: self.choose_defaults())
        self.clear = pmui.Button(
            label="Hide earlier runs",
            icon="layers_clear",
            variant="outlined",
            disabled=True,
            sizing_mode="stretch_width",
            on_click=lambda event: commands.clear(),
        )
        self.forms[0].fill(spec.config)
        self.forms[1].fill(spec.settings)
        self._watch()
        self.algorithm.param.watch(self._swap_form, "value")
        self._layout = self._lay_out()
        self.preview()
        self._follow()
        self.sketch.follow()

    def offer(self, corpora: tuple[str, ...], chosen: str | None = None) -> None:
        """List these corpora in the menu and select one for the user."""
        if chosen is not None:
            self._edits.add("corpus", chosen)
        else:
            is_listed = self.corpus.value in corpora
            chosen = self.corpus.value if is_listed else self._shown.corpus_name or corpora[0]
        self._list_corpora(corpora, chosen)

    def _list_corpora(self, corpora: tuple[str, ...], chosen: str) -> None:
        """List corpora with one selected; the run's own stays, even if deleted."""
        names = dict.fromkeys(filter(None, (*corpora, self._shown.corpus_name, chosen)))
        with self._edits.writing():
            self.corpus.param.update(
                options={title_corpus(name): name for name in names}, value=chosen
            )

    def live_values(self) -> dict[str, Any]:
        """Read the sliders that the chosen algorithm has a setting for."""
        return {name: self.sliders[name].value for name in self._asked()}

    def _asked(self) -> tuple[str, ...]:
        return asked_of(self.forms[0].config_class)

    def read(self) -> tuple[dict[str, Any], dict[str, Any]] | None:
        """Read everything that a restart needs: the config and the run's settings.

        None if a form shows an error.

        On another corpus, the learning settings that the user has not chosen follow its size.
        """
        config, settings = (form.read() for form in self.forms)
        if config is None or settings is None:
            self.advanced.active = [0]
            return None
        answers = {**config, **self.live_values()}
        left = set(left_fields(self.forms[0].config_class))
        shown = read_fields(self._shown.config)
        self.chosen |= {
            name for name in left & config.keys() if config[name] not in (None, shown.get(name))
        }
        if self.corpus.value != self._shown.corpus_name:
            answers |= dict.fromkeys(left - self.chosen)
        return answers, settings

    def read_spec(self) -> RunSpec | None:
        """Return the settings of the next run; None if a form shows an error."""
        answers = self.read()
        if answers is None:
            return None
        config, changed = answers
        algorithm = self._algorithms[self.algorithm.value]
        return RunSpec(
            corpus_name=self.corpus.value,
            algorithm=algorithm,
            config=algorithm.config(**config),
            settings=self.forms[1].config_class(**changed),
            chosen=self.chosen,
        )

    def apply(self) -> None:
        """Take all values for applied: a run starts with them now."""
        for edits in (self._edits, *(form.edits for form in self.forms)):
            edits.forget()

    def preview(self) -> None:
        """Show what a run with the current settings would do."""
        if not self._corpus_size:
            return
        config_answers, settings_answers = (form.answers() for form in self.forms)
        try:
            config = self.forms[0].config_class(**config_answers, **self.live_values())
            algorithm = self._algorithms[self.algorithm.value]
            passes = int(settings_answers["passes"] or algorithm.passes)
            expected = forecast(algorithm, config, self._corpus_size, passes)
        except (ValueError, TypeError):
            return
        self.sketch.show(algorithm, config, self._corpus_size, expected)
        if has_presets(config):
            # Also there while the panel is closed.
            self._rates.object = f"<p>Learning with {escape(describe_rates(config))}.</p>"
            self.defaults.label = describe_defaults(self.forms[0].config_class(), self._corpus_size)
        self.memory.object = self._describe_memory(config)

    def _describe_memory(self, config: Any) -> str:
        """Say how much memory an algorithm that stores documents needs for this corpus."""
        size = self._commands.estimate_memory(self._algorithms[self.algorithm.value], config)
        if not size or self.corpus.value != self._shown.corpus_name:
            return ""
        return (
            "<p>This algorithm stores data about every document: about"
            f" {max(1, round(size / 1e6)):,} MB here.</p>"
        )

    @param.depends("state.progress", "state.earlier", watch=True)
    @guarded
    def _follow(self) -> None:
        """Follow the run, which another page, a preset or a reload may have changed."""
        progress = self.state.progress
        self.clear.disabled = not self.state.earlier
        if progress.config is None or open_settings(progress.config):
            return
        before = self._shown
        self._shown = progress
        self._corpus_size = progress.corpus_size
        self.learning_note.object = f"<p>{describe_effect(progress, self._algorithms)}</p>"
        if progress.run_id != before.run_id:
            self._follow_new_run(progress)
        if progress.config != before.config or progress.chosen != before.chosen:
            self._follow_sliders(progress, read_fields(before.config))
        elif progress.corpus_size != before.corpus_size:
            self.preview()

    def _follow_new_run(self, progress: Progress) -> None:
        """Show the settings of a new run, except where the user has chosen others."""
        corpus_name = (
            self.corpus.value if self._edits.is_pending("corpus") else progress.corpus_name
        )
        self._list_corpora(tuple(self.corpus.options.values()), corpus_name)
        is_typed_in = bool(self.forms[0].edits.names)
        if not self._edits.is_pending("algorithm") and not is_typed_in:
            with self._edits.writing():
                self.algorithm.value = progress.algorithm
        if self.algorithm.value == progress.algorithm:
            self.forms[0].fill(progress.config)
        self.forms[1].fill(progress.settings)

    def _follow_sliders(self, progress: Progress, before: dict[str, Any]) -> None:
        """Show the learning settings of the run, except where the user has moved a slider since."""
        values = read_fields(progress.config)
        shown = {
            name: values[name]
            for name in asked_of(progress.config)
            if self._edits.may_write(name, values[name], before.get(name))
        }
        self.chosen = progress.chosen | (self._edits.names & self.sliders.keys())
        self.set_live(shown)

    def set_live(self, values: dict[str, Any]) -> None:
        """Move the sliders without changing the run."""
        with self._edits.writing():
            for name, value in values.items():
                show_value(self.sliders[name], value)
        self.preview()

    def _watch(self) -> None:
        self._edits.watch("corpus", self.corpus)
        self._edits.watch("algorithm", self.algorithm)
        for name, slider in self.sliders.items():
            self._edits.watch(name, slider)
            slider.param.watch(self._preview_slider, "value")
            slider.param.watch(partial(self.move, name), "value_throttled")
        for form in self.forms:
            form.watch(self.preview)

    def _preview_slider(self, event: Any) -> None:
        if not self._edits.is_writing:
            self.preview()

    def _swap_form(self, event: Any) -> None:
        """Show the form of the chosen algorithm, without sliders that it has no setting for."""
        algorithm = self._algorithms[event.new]
        form = ConfigForm(algorithm.config)
        form.watch(self.preview)
        self.forms = (form, self.forms[1])
        self._show_forms()
        self._show_asked()
        self.algorithm.helper_text = f"Applies after a restart. {describe_algorithm(algorithm)}"
        self.preview()

    def move(self, name: str, event: Any) -> None:
        if not self._edits.is_writing:
            self.chosen |= {name}
            self._commands.configure(LiveSettings(**{name: event.new}))

    def choose(self, preset: Preset, event: Any = None) -> None:
        """Apply a preset to the run."""
        values = {name: read_fields(preset)[name] for name in self._asked()}
        self.chosen = frozenset(values)
        self._choose_live(values)
        self._commands.configure(LiveSettings(**values))

    def run_complete(self, preset: CompletePreset, event: Any = None) -> None:
        """Choose a complete system and start a new run with it."""
        self.algorithm.value = preset.algorithm
        config = self.forms[0].config_class(**preset.settings)
        self.forms[0].edits.forget()
        self.forms[0].fill(config)
        values = read_fields(resolve(config, self._corpus_size) if self._corpus_size else config)
        asked = {name: values[name] for name in self._asked()}
        self._choose_live({name: value for name, value in asked.items() if value is not None})
        self.chosen = frozenset({*left_fields(config), *asked} & preset.settings.keys())
        self._commands.restart()

    def choose_defaults(self) -> None:
        """Let the learning settings follow the corpus size again."""
        self.chosen = frozenset()
        self._edits.forget(*self.sliders)
        if self._corpus_size:
            config = read_fields(resolve(self.forms[0].config_class(), self._corpus_size))
            self._choose_live({name: config[name] for name in self._asked()})
        # None for those that follow the corpus size.
        defaults = read_fields(self.forms[0].config_class())
        self._commands.configure(LiveSettings(**{name: defaults[name] for name in self._asked()}))

    def _choose_live(self, values: dict[str, Any]) -> None:
        """Move the sliders for the user."""
        for name, value in values.items():
            self._edits.add(name, value)
        self.set_live(values)

    def _lay_out(self) -> pn.viewable.Viewable:
        self._advanced = stack(
            _note(
                "Changes apply when you press Restart: the topics start again; the curves of the"
                " current run stay, dashed."
            )
        )
        self.advanced = pmui.Accordion(
            ("Advanced settings", self._advanced),
            title_variant="body1",
            sizing_mode="stretch_width",
        )
        self.advanced.param.watch(lambda event: self._show_forms(), "active")
        presets = [_make_link(each.label, partial(self.choose, each)) for each in PRESETS]
        self._parts = {
            name: (slider, _help(slider.label, SENTENCES[name]))
            for name, slider in self.sliders.items()
        }
        self._rates = _note("")
        self._presets = (_heading("Presets"), self.defaults, *presets)
        self._choices = stack(*self._presets)
        self.learning = self._lay_out_learning()
        self._complete = stack(*self._list_complete())
        self._show_asked()
        # Below it, the titles of the folded parts are headings of the third level.
        heading = pn.pane.HTML(f"<h2 style='{UNSEEN}'>Settings</h2>", height=0, margin=0)
        top = (heading, self.corpus, self.bring, self.algorithm, self._rates, self.memory)
        below = (self.learning, self._complete, self.advanced, self.clear)
        return stack(*top, *below, margin=(0, 8))

    def _lay_out_learning(self) -> pmui.Accordion:
        """Lay out what acts from the next mini-batch on, with the sketch of its rates."""
        sliders = (pn.Row(*parts, sizing_mode="stretch_width") for parts in self._parts.values())
        self.learning_note = _note(describe_effect(Progress(), {}))
        parts = (self.learning_note, *sliders, self.sketch, self._choices)
        panel = stack(*parts)
        # It starts open: these are the settings that people try first.
        return pmui.Accordion(
            ("Learning settings", panel),
            active=[0],
            title_variant="body1",
            sizing_mode="stretch_width",
        )

    def _list_complete(self) -> list[pn.viewable.Viewable]:
        """The complete presets of the algorithms on offer, under a heading."""
        offered = [each for each in COMPLETE_PRESETS if each.algorithm in self._algorithms]
        if not offered:
            return []
        links = [_make_link(each.label, partial(self.run_complete, each)) for each in offered]
        return [
            _heading("Complete presets"),
            _note("Each sets the algorithm and every setting, and restarts."),
            *links,
        ]

    def _show_forms(self) -> None:
        """Send the forms when first opened: they are a third of the page."""
        if self.advanced.active:
            self._advanced[1:] = self.forms

    def _show_asked(self) -> None:
        asked = self._asked()
        for name, parts in self._parts.items():
            for part in parts:
                part.visible = name in asked
        self.learning.visible = self._rates.visible = bool(asked)
        for part in self._presets:
            part.visible = has_presets(self.forms[0].config_class)


def has_presets(config: Any) -> bool:
    """Return whether a config, or its class, has every setting of a preset."""
    return asked_of(config) == tuple(SENTENCES)


def _make_link(label: str, on_click: Callable[[Any], None]) -> pmui.Button:
    return pmui.Button(
        label=label, variant="text", size="small", sizing_mode="stretch_width", on_click=on_click
    )


def describe_defaults(config: Any, corpus_size: int) -> str:
    """Name the defaults with their values for a corpus of this size."""
    return f"Defaults for this corpus: {describe_rates(resolve(config, corpus_size))}"


def describe_effect(progress: Progress, algorithms: Mapping[str, Algorithm]) -> str:
    """Say what the settings change now: later passes that average have no κ and τ₀."""
    algorithm = algorithms.get(progress.algorithm)
    size = progress.corpus_size
    if algorithm is None or not size or not averages_passes(algorithm, progress.config):
        return "Changes apply from the next mini-batch."
    if progress.documents_seen >= size and not progress.recorded_on:
        return (
            "The first pass is over: κ and τ₀ have no effect until a restart. S applies from the"
            " next mini-batch."
        )
    if progress.documents_total > size:
        return "Changes apply from the next mini-batch. κ and τ₀ act in the first pass only."
    return "Changes apply from the next mini-batch."


def _make_corpus_menu(corpora: tuple[str, ...]) -> pmui.Select:
    return pmui.Select(
        label="Corpus",
        options={title_corpus(name): name for name in corpora},
        value=corpora[0],
        size="small",
        sizing_mode="stretch_width",
        helper_text=(
            "Applies after a restart. Settings that you have not set then follow the size of the"
            " corpus."
        ),
    )


def _make_algorithm_menu(algorithms: tuple[Algorithm, ...], chosen: Algorithm) -> pmui.Select:
    return pmui.Select(
        label="Algorithm",
        options={algorithm.title: algorithm.name for algorithm in algorithms},
        value=chosen.name,
        size="small",
        sizing_mode="stretch_width",
        helper_text=f"Applies after a restart. {describe_algorithm(chosen)}",
    )


def _note(text: str) -> pn.pane.HTML:
    return html_pane(f"<p>{escape(text)}</p>", stylesheets=[NOTE_STYLE])


def _help(about: str, text: str) -> pn.pane.HTML:
    return pn.pane.HTML(
        help_button(about, escape(text)), stylesheets=[HELP_STYLE], width=24, margin=(14, 8, 0, 0)
    )


def _heading(text: str) -> pn.pane.HTML:
    return pn.pane.HTML(
        f"<h2>{escape(text)}</h2>", stylesheets=[NOTE_STYLE], sizing_mode="stretch_width"
    )
