"""The learning settings as sliders, with the presets of the papers."""

from dataclasses import dataclass
from typing import Any

import panel as pn
import panel_material_ui as pmui

from stickbreaker.app.model.run_spec import live_fields

DELAYS = (0.0, 1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0, 128.0, 256.0, 512.0, 768.0, 1024.0)
BATCH_SIZES = (16, 32, 64, 128, 256, 512, 1024, 2048, 4096)


@dataclass(frozen=True)
class Preset:
    """Learning settings that a paper used."""

    name: str
    forgetting_rate: float
    delay: float
    batch_size: int

    @property
    def label(self) -> str:
        return f"{self.name}: κ {self.forgetting_rate:g}, τ₀ {self.delay:g}, S {self.batch_size}"


PRESETS = (
    Preset("Wang 2011", 0.6, 64.0, 256),
    Preset("Wang 2011, Table 1", 0.6, 64.0, 1024),
    Preset("SVI 2013", 0.9, 1.0, 500),
    Preset("Hoffman 2010", 0.5, 64.0, 4096),
)

SENTENCES = {
    "forgetting_rate": "How fast steps shrink: a low κ keeps learning from what is new, a high κ settles early.",
    "delay": "Holds the first steps back: a high τ₀ makes them small, so early documents count for less.",
    "batch_size": "Documents read before each step: a large S makes surer steps, but fewer of them in a pass.",
}


class PlacesSlider(pmui.DiscreteSlider):
    """A slider over fixed places that heeds `throttled=True`.

    panel-material-ui 0.16 translates a place's index to its label in `value`, but not in `value_throttled`, from which
    Panel then takes the value.
    """

    def _process_property_change(self, msg: dict[str, Any]) -> dict[str, Any]:
        place = msg.pop("value_throttled", None)
        if place is None:
            return {} if pn.config.throttled else super()._process_property_change(msg)
        value = self.values[place]
        return {"value": value, "value_throttled": value}


def make_sliders(config: Any) -> dict[str, Any]:
    """Make the three sliders, by setting; delay and mini-batch size run over doubling values.

    What is left to a corpus' size stands as in Wang 2011 until the corpus is open, and so does what a config lacks.
    """
    stand = {name: getattr(config, name, None) for name in SENTENCES}
    stand = {name: getattr(PRESETS[0], name) if value is None else value for name, value in stand.items()}
    shared = {"sizing_mode": "stretch_width", "size": "small"}
    return {
        "forgetting_rate": pmui.FloatSlider(
            label="Forgetting rate κ",
            start=0.5,
            end=1.0,
            step=0.01,
            value=stand["forgetting_rate"],
            format="0.00",
            **shared,
        ),
        "delay": PlacesSlider(
            label="Delay τ₀", options=_options(DELAYS, stand["delay"]), value=stand["delay"], formatter="%d", **shared
        ),
        "batch_size": PlacesSlider(
            label="Mini-batch size S",
            options=_options(BATCH_SIZES, stand["batch_size"]),
            value=stand["batch_size"],
            formatter="%d",
            **shared,
        ),
    }


def show_value(slider: Any, value: Any) -> None:
    """Move a slider; one of fixed places gets the place it lacks."""
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
    """List the sliders that a config, or its class, has a setting for."""
    live = live_fields(config)
    return tuple(name for name in SENTENCES if name in live)
