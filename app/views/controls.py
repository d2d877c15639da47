"""The settings: corpus, algorithm, presets, the three that act at once, and the rest, which act on restart."""

from collections.abc import Callable
from functools import partial
from html import escape
from typing import Any

import panel as pn
import panel_material_ui as pmui

from stickbreaker.app.model.counting import count
from stickbreaker.app.model.progress import Progress
from stickbreaker.app.model.run_spec import RunSpec, describe_algorithm, fill_in, has_numbers, left_fields, title_corpus
from stickbreaker.app.widgets.config_form import ConfigForm
from stickbreaker.app.widgets.sliders import PRESETS, SENTENCES, Preset, asked_of, make_sliders, show_value
from stickbreaker.engine.algorithm import Algorithm
from stickbreaker.engine.schedules import FEWEST_BATCHES, forecast

NOTE_STYLE = """
p { margin: 0 0 4px; font-size: 13px; line-height: 1.4; color: var(--panel-on-surface-color, inherit); }
p.warning { padding: 8px 12px; border-left: 4px solid #ef6c00; border-radius: 4px;
  background: color-mix(in srgb, #ef6c00 15%, transparent); font-size: 14px; }
h2 { font-size: 16px; margin: 8px 0 0; color: var(--panel-on-surface-color, inherit); }
"""


class Controls(pn.viewable.Viewer):
    """The side of the page. `act` holds what happens: "configure", "restart", "clear", "bring"; and "weigh"."""

    def __init__(
        self,
        spec: RunSpec,
        corpora: tuple[str, ...],
        algorithms: tuple[Algorithm, ...],
        sketch: Any,
        act: dict[str, Callable[..., Any]],
        **params: Any,
    ):
        super().__init__(**params)
        self._act, self._sketch = act, sketch
        self._corpus_size, self._shown, self._is_filling = 0, Progress(), False
        self.chosen: frozenset[str] = frozenset()
        self.corpus = pmui.Select(
            label="Corpus",
            options={title_corpus(name): name for name in corpora},
            value=corpora[0],
            size="small",
            sizing_mode="stretch_width",
            helper_text="Acts on restart. S and τ₀ then follow its size, unless you have set them.",
        )
        self.bring = pmui.Button(
            label="Bring your own text",
            icon="upload_file",
            variant="outlined",
            sizing_mode="stretch_width",
            on_click=lambda event: act["bring"](),
        )
        self._algorithms = {algorithm.name: algorithm for algorithm in algorithms}
        self.algorithm = pmui.Select(
            label="Algorithm",
            options={algorithm.title: algorithm.name for algorithm in algorithms},
            value=spec.algorithm.name,
            size="small",
            sizing_mode="stretch_width",
            helper_text=f"Acts on restart. {describe_algorithm(spec.algorithm)}",
        )
        self.sliders = make_sliders(spec.config)
        self.forms = (ConfigForm(type(spec.config)), ConfigForm(type(spec.settings)))
        self.forecast = pn.pane.HTML("", stylesheets=[NOTE_STYLE], sizing_mode="stretch_width")
        self.defaults = _make_link("Defaults", lambda event: self._go_back())
        self.clear = pmui.Button(
            label="Clear earlier runs",
            icon="layers_clear",
            variant="outlined",
            disabled=True,
            sizing_mode="stretch_width",
            on_click=lambda event: act["clear"](),
        )
        self._fill_forms(spec.config, spec.settings)
        self._watch()
        self.algorithm.param.watch(self._swap_form, "value")
        self._layout = self._lay_out()
        self.preview()

    def let_act(self, may_act: bool) -> None:
        """Take settings, or for who looks on only show those that act at once."""
        for widget in (self.corpus, self.algorithm, *self.sliders.values()):
            widget.disabled = not may_act
        for part in (self.bring, self._choices, self.advanced, self.clear):
            part.visible = may_act

    def offer(self, corpora: tuple[str, ...], chosen: str | None = None) -> None:
        """Put these corpora into the menu and choose one; the run's own stays in it even where it has been deleted."""
        chosen = chosen or (
            self.corpus.value if self.corpus.value in corpora else self._shown.corpus_name or corpora[0]
        )
        names = dict.fromkeys((*corpora, chosen))
        self.corpus.param.update(options={title_corpus(name): name for name in names}, value=chosen)

    def live_values(self) -> dict[str, Any]:
        """Read the sliders that the chosen algorithm has a setting for."""
        return {name: self.sliders[name].value for name in self._asked()}

    def _asked(self) -> tuple[str, ...]:
        return asked_of(self.forms[0].config_class)

    def read(self) -> tuple[dict[str, Any], dict[str, Any]] | None:
        """Read everything a restart needs: the config's and the run's settings; None where a form shows a fault.

        On another corpus the learning settings that nobody has chosen are left to its size.
        """
        config, settings = (form.read() for form in self.forms)
        if config is None or settings is None:
            self.advanced.active = [0]
            return None
        answers = {**config, **self.live_values()}
        left = set(left_fields(self.forms[0].config_class))
        self.chosen |= {name for name in left & config.keys() if config[name] not in (None, self._shown_value(name))}
        if self.corpus.value != self._shown.corpus_name:
            answers |= dict.fromkeys(left - self.chosen)
        return answers, settings

    def _shown_value(self, name: str) -> Any:
        return getattr(self._shown.config, name, None)

    def _defaults(self) -> dict[str, Any]:
        """The learning settings as the config has them by itself, None for what is left to a corpus' size."""
        config = self.forms[0].config_class()
        return {name: getattr(config, name) for name in self._asked()}

    def preview(self) -> None:
        """Say, before anything starts, where the settings as they stand would lead."""
        config_answers, settings_answers = (form.answers() for form in self.forms)
        try:
            config = self.forms[0].config_class(**config_answers, **self.live_values())
            passes = int(settings_answers["passes"] or self._algorithms[self.algorithm.value].passes)
            expected = forecast(config, self._corpus_size, passes) if self._corpus_size else None
        except (ValueError, TypeError):
            return
        if expected is None:
            return
        self._sketch.show(config, expected.num_steps)
        if has_presets(config):
            self.defaults.label = describe_defaults(self.forms[0].config_class(), self._corpus_size)
        text = describe_forecast(expected, self._corpus_size)
        warning = f'<p class="warning" role="status">⚠ {escape(text)}</p>' if text else ""
        self.forecast.object = warning + self._describe_memory(config)

    def _describe_memory(self, config: Any) -> str:
        """Say, for an algorithm that remembers documents, how much that takes of the corpus at hand."""
        size = self._act["weigh"](self._algorithms[self.algorithm.value], config)
        if not size or self.corpus.value != self._shown.corpus_name:
            return ""
        return f"<p>Remembers something of every document: about {max(1, round(size / 1e6)):,} MB of memory here.</p>"

    def update(self, progress: Progress, earlier: tuple[Progress, ...] = ()) -> None:
        """Follow the run: another page, a preset or a reload may have changed it."""
        self.clear.disabled = not earlier
        if progress.config is None or not has_numbers(progress.config):
            return
        before, self._shown = self._shown, progress
        self._corpus_size = progress.corpus_size
        if progress.run_id != before.run_id:
            self.offer(tuple(self.corpus.options.values()), progress.corpus_name)
            self.algorithm.value = progress.algorithm
            self._fill_forms(progress.config, progress.settings)
        if progress.config != before.config or progress.chosen != before.chosen:
            self.chosen = progress.chosen
            self.set_live({name: getattr(progress.config, name) for name in asked_of(progress.config)})
        elif progress.corpus_size != before.corpus_size:
            self.preview()

    def set_live(self, values: dict[str, Any]) -> None:
        """Move the sliders without telling the run."""
        self._is_filling = True
        try:
            for name, value in values.items():
                show_value(self.sliders[name], value)
        finally:
            self._is_filling = False
        self.preview()

    def _fill_forms(self, config: Any, settings: Any) -> None:
        for form, values in zip(self.forms, (config, settings), strict=True):
            form.fill(values)

    def _watch(self) -> None:
        for name, slider in self.sliders.items():
            slider.param.watch(lambda event: self._is_filling or self.preview(), "value")
            slider.param.watch(partial(self._move, name), "value_throttled")
        for form in self.forms:
            form.watch(self.preview)

    def _swap_form(self, event: Any) -> None:
        """Ask for what the chosen algorithm wants to know; sliders that it has no setting for are put away."""
        algorithm = self._algorithms[event.new]
        form = ConfigForm(algorithm.config)
        form.watch(self.preview)
        self.forms = (form, self.forms[1])
        self._show_forms()
        self._show_asked()
        self.algorithm.helper_text = f"Acts on restart. {describe_algorithm(algorithm)}"
        self.preview()

    def _move(self, name: str, event: Any) -> None:
        if not self._is_filling:
            self.chosen |= {name}
            self._act["configure"]({name: event.new})

    def _choose(self, preset: Preset) -> None:
        values = {name: getattr(preset, name) for name in self._asked()}
        self.chosen = frozenset(values)
        self.set_live(values)
        self._act["configure"](values)

    def _go_back(self) -> None:
        """Leave the learning settings to the corpus' size again."""
        self.chosen = frozenset()
        if self._corpus_size:
            config = fill_in(self.forms[0].config_class(), self._corpus_size)
            self.set_live({name: getattr(config, name) for name in self._asked()})
        self._act["configure"](self._defaults())

    def _lay_out(self) -> pn.viewable.Viewable:
        self._restart = pmui.Button(
            label="Restart with these",
            icon="replay",
            sizing_mode="stretch_width",
            on_click=lambda event: self._act["restart"](),
        )
        self._advanced = pn.Column(
            _note("These act on restart, not on the run you see."), self._restart, sizing_mode="stretch_width"
        )
        self.advanced = pmui.Accordion(
            ("Advanced settings", self._advanced), title_variant="subtitle1", sizing_mode="stretch_width"
        )
        self.advanced.param.watch(lambda event: self._show_forms(), "active")
        presets = [_make_link(each.label, lambda event, each=each: self._choose(each)) for each in PRESETS]
        self._parts = {name: (slider, _note(SENTENCES[name])) for name, slider in self.sliders.items()}
        self._learning = _heading("Learning, from the next mini-batch on")
        self._presets = (_heading("Settings to start from"), self.defaults, *presets)
        self._choices = pn.Column(*self._presets, sizing_mode="stretch_width", margin=0)
        self._show_asked()
        return pn.Column(
            self.corpus,
            self.bring,
            self.algorithm,
            self._learning,
            *(part for parts in self._parts.values() for part in parts),
            self.forecast,
            self._sketch,
            self._choices,
            self.advanced,
            self.clear,
            sizing_mode="stretch_width",
            margin=(0, 8),
        )

    def _show_forms(self) -> None:
        """Send the forms once they are open: they are a third of all there is to draw, and few look at them."""
        if self.advanced.active:
            self._advanced[1:] = [*self.forms, self._restart]

    def _show_asked(self) -> None:
        asked, has_all = self._asked(), has_presets(self.forms[0].config_class)
        for name, parts in self._parts.items():
            for part in parts:
                part.visible = name in asked
        self._learning.visible = bool(asked)
        for part in self._presets:
            part.visible = has_all

    def __panel__(self) -> pn.viewable.Viewable:
        return self._layout


def has_presets(config: Any) -> bool:
    """Whether a config, or its class, has all that a preset of the papers sets."""
    return asked_of(config) == tuple(SENTENCES)


def _make_link(label: str, on_click: Callable[[Any], None]) -> pmui.Button:
    return pmui.Button(label=label, variant="text", size="small", sizing_mode="stretch_width", on_click=on_click)


def describe_defaults(config: Any, corpus_size: int) -> str:
    """Name the defaults with what they are on a corpus of this size."""
    config = fill_in(config, corpus_size)
    return Preset("Defaults for this corpus", config.forgetting_rate, config.delay, config.batch_size).label


def describe_forecast(expected: Any, corpus_size: int) -> str:
    """Say what is wrong with the settings, or nothing."""
    if not expected.is_too_little:
        return ""
    if corpus_size < FEWEST_BATCHES:
        return f"Few to learn from: {count(corpus_size, 'document')}. Take more passes, or bring more documents."
    if not expected.leaves_warm_up:
        return (
            f"Steps under these settings: {expected.num_steps}, and the run never leaves its warm-up. "
            "Lower S or τ₀, or take more passes."
        )
    return (
        f"Too few or too small steps to learn well: {expected.num_steps} in all, after which "
        f"{100 * expected.startup_share:.0f} % of the random start is still in the topics. "
        "Lower κ, S or τ₀, or take more passes."
    )


def _note(text: str) -> pn.pane.HTML:
    return pn.pane.HTML(f"<p>{escape(text)}</p>", stylesheets=[NOTE_STYLE], sizing_mode="stretch_width", margin=(0, 10))


def _heading(text: str) -> pn.pane.HTML:
    return pn.pane.HTML(f"<h2>{escape(text)}</h2>", stylesheets=[NOTE_STYLE], sizing_mode="stretch_width")
