"""The learning settings as sliders."""

from dataclasses import fields
from typing import Any

import panel_material_ui as pmui

from stickbreaker.app.model.presets import PRESETS
from stickbreaker.app.model.run_spec import live_fields
from stickbreaker.app.panel_fixes import PlacesSlider

DELAYS = (0.0, 1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0, 128.0, 256.0, 512.0, 768.0, 1024.0)
BATCH_SIZES = (16, 32, 64, 128, 256, 512, 1024, 2048, 4096)
SENTENCES = {
    "forgetting_rate": "How fast the learning rate falls: with a low κ the model keeps changing; with a high κ it is "
    "stable early.",
    "delay": "Makes the first steps smaller: with a high τ₀, early documents count for less.",
    "batch_size": "Documents in a mini-batch: a large S gives fewer steps with less noise.",
}


def make_sliders(config: Any) -> dict[str, Any]:
    """Make the three sliders; delay and mini-batch size take doubling values.

    A setting without a value, because it follows the corpus size or the config lacks it, is shown as in Wang 2011.
    """
    given = {field.name: getattr(config, field.name) for field in fields(config)}
    shown = {name: given.get(name) for name in SENTENCES}
    shown = {name: getattr(PRESETS[0], name) if value is None else value for name, value in shown.items()}
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
            label="Delay τ₀", options=_options(DELAYS, shown["delay"]), value=shown["delay"], formatter="%d", **shared
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
    live = live_fields(config)
    return tuple(name for name in SENTENCES if name in live)
