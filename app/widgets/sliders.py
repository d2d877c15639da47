"""The learning settings as sliders."""

from dataclasses import fields
from typing import Any

import panel as pn
import panel_material_ui as pmui

from stickbreaker.app.model.presets import PRESETS
from stickbreaker.app.model.run_spec import SENTENCES
from stickbreaker.engine.schedules import live_settings

DELAYS = (0.0, 1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0, 128.0, 256.0, 512.0, 768.0, 1024.0)
BATCH_SIZES = (16, 32, 64, 128, 256, 512, 1024, 2048, 4096)


class PlacesSlider(pmui.DiscreteSlider):
    """A slider over a list of values that works with `throttled=True`.

    panel-material-ui sends the index of a value. It looks up the value for `value`, but not for
    `value_throttled`, from which Panel then sets `value`. Panel's own slider had a similar fault:
    https://github.com/holoviz/panel/issues/1253.
    """

    def _process_property_change(self, msg: dict[str, Any]) -> dict[str, Any]:
        place = msg.pop("value_throttled", None)
        if place is None:
            return {} if pn.config.throttled else dict(super()._process_property_change(msg))
        value = self.values[place]
        return {"value": value, "value_throttled": value}


def make_sliders(config: Any) -> dict[str, Any]:
    """Make the three sliders; delay and mini-batch size take doubling values.

    A setting without a value, because it follows the corpus size or the config lacks it, is shown
    as in Wang 2011.
    """
    given = {field.name: getattr(config, field.name) for field in fields(config)}
    shown = {name: getattr(PRESETS[0], name) for name in SENTENCES}
    shown |= {name: value for name, value in given.items() if value is not None}
    shared = {"sizing_mode": "stretch_width", "size": "small"}
    return {
        "forgetting_rate": pmui.FloatSlider(
            label="Forgetting rate κ",
            start=0.5,
            end=1.0,
            step=0.01,
            value=shown["forgetting_rate"],
            format="0.00",
            **shared,
        ),
        "delay": PlacesSlider(
            label="Delay τ₀",
            options=_options(DELAYS, shown["delay"]),
            value=shown["delay"],
            formatter="%d",
            **shared,
        ),
        "batch_size": PlacesSlider(
            label="Mini-batch size S",
            options=_options(BATCH_SIZES, shown["batch_size"]),
            value=shown["batch_size"],
            formatter="%d",
            **shared,
        ),
    }


def show_value(slider: Any, value: Any) -> None:
    """Move a slider; a value that a list of values lacks is added to it."""
    if slider.value == value:
        return
    if isinstance(slider, PlacesSlider):
        places = DELAYS if isinstance(value, float) else BATCH_SIZES
        slider.param.update(options=_options(places, value), value=value)
    else:
        slider.value = value


def _options(places: tuple[Any, ...], value: Any) -> list[Any]:
    return sorted({*places, value})


def asked_of(config: Any) -> tuple[str, ...]:
    """Return the names of the sliders that a config, or its class, has a setting for."""
    live = live_settings(config)
    return tuple(name for name in SENTENCES if name in live)
