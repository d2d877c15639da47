"""The presets of the papers: learning settings of a paper, and complete systems."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Preset:
    """Learning settings from a paper; it leaves every other setting as it is."""

    source: str
    forgetting_rate: float
    delay: float
    batch_size: int

    @property
    def label(self) -> str:
        """Whose values these are, and what the preset sets."""
        return f"{self.source}: {describe_rates(self)}"


@dataclass(frozen=True)
class CompletePreset:
    """An algorithm with all its settings; those that are not named have their defaults."""

    label: str
    algorithm: str
    settings: Mapping[str, Any]


def describe_rates(config: Any) -> str:
    """Name the values of κ, τ₀ and S.

    >>> describe_rates(PRESETS[0])
    'κ 0.6, τ₀ 64, S 256'
    """
    return f"κ {config.forgetting_rate:g}, τ₀ {config.delay:g}, S {config.batch_size}"


PRESETS = (
    Preset(source="Wang 2011", forgetting_rate=0.6, delay=64.0, batch_size=256),
    Preset(source="Wang 2011, Table 1", forgetting_rate=0.6, delay=64.0, batch_size=1024),
    Preset(source="Hoffman 2013", forgetting_rate=0.9, delay=1.0, batch_size=500),
    Preset(source="Hoffman 2010", forgetting_rate=0.5, delay=64.0, batch_size=4096),
)
# The paper gives no η; its authors' code has .01.
WANG_2011 = {
    "max_topics": 150,
    "max_slots": 15,
    "doc_concentration": 1.0,
    "corpus_concentration": 1.0,
    "word_concentration": 0.01,
    "forgetting_rate": 0.6,
    "delay": 64.0,
    "batch_size": 256,
    "topic_expectation": "geometric",
    "duplicates": "keep",
    "concentrations": "fixed",
}
COMPLETE_PRESETS = (
    CompletePreset(label="Stickbreaker defaults", algorithm="hdp", settings={}),
    CompletePreset(
        label="Wang 2011, as printed", algorithm="hdp", settings=WANG_2011 | {"start": "wang"}
    ),
    CompletePreset(
        label="Wang 2011, authors' code",
        algorithm="hdp",
        settings=WANG_2011 | {"start": "wang-code"},
    ),
)


def find_preset(algorithm: str, config: Any) -> CompletePreset | None:
    """Find the complete preset whose settings a config has, apart from those of the sliders."""
    sliders = Preset.__annotations__
    for preset in COMPLETE_PRESETS:
        named = preset.settings.keys() - sliders
        if (
            named
            and preset.algorithm == algorithm
            and all(getattr(config, name) == preset.settings[name] for name in named)
        ):
            return preset
    return None
