"""Everything that decides a run, and its description on screen."""

import sys
from collections.abc import Container
from dataclasses import dataclass, fields, replace
from enum import Enum
from typing import Any

from stickbreaker import engine
from stickbreaker.app.model.presets import find_preset
from stickbreaker.engine.algorithm import Algorithm
from stickbreaker.engine.runs.settings import RunSettings
from stickbreaker.engine.schedules import live_settings

CORPUS_TITLES = {
    "state-of-the-union": "State of the Union",
    "rfc": "Internet standards (RFCs)",
    "rfc-documents": "Internet standards (whole RFCs)",
    "bars": "Bars: topics as pictures (simulated)",
}
LABELS = {
    "max_topics": "Maximum topics",
    "max_slots": "Maximum slots per document",
    "max_active_topics": "Active topics per document",
    "doc_concentration": "Document concentration",
    "num_test": "Held-out documents",
    "num_evaluations": "Held-out scores per pass",
    "num_moments": "Columns of word lists",
    "score_next_batch": "Next-batch scores",
    "seed": "Random seed",
    "num_shards": "Shards per mini-batch",
    "precision": "Floating-point precision",
    "batch_size": "Mini-batch size",
    "min_letters": "Minimum letters per word",
    "keeps_digits": "Words with digits",
    "max_ngram": "Maximum words per phrase",
    "min_documents": "Minimum documents per word",
    "max_share": "Maximum document frequency",
    "max_words": "Maximum vocabulary size",
}
SENTENCES = {
    "forgetting_rate": (
        "How fast the learning rate falls: with a low κ the model keeps changing; with a high κ it"
        " is stable early."
    ),
    "delay": "Makes the first steps smaller: with a high τ₀, early documents count for less.",
    "batch_size": "Documents in a mini-batch: a large S gives fewer steps with less noise.",
}
GROUP_NAMES = {"state-of-the-union": "addresses", "rfc": "RFCs"}


class Unchanged(Enum):
    """What a learning setting has that is to stay as it is."""

    UNCHANGED = "unchanged"


@dataclass(frozen=True)
class LiveSettings:
    """Learning settings that change from the next mini-batch on; None follows the corpus' size.

    >>> LiveSettings(delay=None).given()
    {'delay': None}
    """

    forgetting_rate: float | Unchanged | None = Unchanged.UNCHANGED
    delay: float | Unchanged | None = Unchanged.UNCHANGED
    batch_size: int | Unchanged | None = Unchanged.UNCHANGED

    def given(self) -> dict[str, float | int | None]:
        """The settings that change, by name."""
        return {key: each for key, each in vars(self).items() if not isinstance(each, Unchanged)}


@dataclass(frozen=True)
class RunSpec:
    """Everything that decides a run.

    chosen: names of the learning settings that a person has set; the others follow the corpus'
    size.
    """

    corpus_name: str
    algorithm: Algorithm
    config: Any
    settings: RunSettings
    chosen: frozenset[str] = frozenset()

    def label(self) -> str:
        """Name the spec by its complete preset or its algorithm, and by what differs.

        An example is "Online HDP, κ 0.6, τ₀ 18, S 256, K 150".
        """
        preset = find_preset(self.algorithm.name, self.config)
        title = self.algorithm.title if preset is None else preset.label
        known = () if preset is None else preset.settings
        return f"{title}, {describe_config(self.config, known)}"

    def with_live(self, settings: LiveSettings, corpus_size: int = 0) -> "RunSpec":
        """Change those of the learning settings that the algorithm has.

        corpus_size: documents to learn from; 0 if the corpus is not open yet, and settings may stay
        without a value. Raises ValueError for a value outside its bounds.
        """
        live = live_settings(self.config)
        values = {name: value for name, value in settings.given().items() if name in live}
        chosen = self.chosen | values.keys()
        chosen -= {name for name, value in values.items() if value is None}
        if corpus_size:
            config = engine.apply_live(self.config, values, corpus_size)
        else:
            config = replace(self.config, **values)
        return replace(self, config=config, chosen=frozenset(chosen))


def left_fields(config: Any) -> tuple[str, ...]:
    """List the settings that a config, or its class, leaves to a corpus' size by default."""
    return tuple(field.name for field in fields(config) if field.default is None)


def describe_algorithm(algorithm: Algorithm) -> str:
    """Describe an algorithm in a sentence: the first paragraph of its file.

    >>> describe_algorithm(engine.find_algorithm("lda"))
    'Online variational Bayes for latent Dirichlet allocation (Hoffman, Blei & Bach 2010, Alg. 2).'
    """
    first = (sys.modules[algorithm.config.__module__].__doc__ or "").partition("\n\n")[0]
    return " ".join(first.split())


def live_values(config: Any) -> dict[str, Any]:
    """Read the settings that act from the next mini-batch."""
    return {name: getattr(config, name) for name in live_settings(config)}


def describe_config(config: Any, known: Container[str] = ()) -> str:
    """Name the settings that tell runs apart: live ones, topics, and unusual choices."""
    live, sizes, choices = [], [], []
    for field in fields(config):
        value = getattr(config, field.name)
        name = field.metadata.get("symbol") or field.name.replace("_", " ")
        if value is None:
            continue
        if field.metadata.get("live"):
            live.append(f"{name} {format_value(value)}")
        elif field.name == "max_topics":
            sizes.append(f"{name} {format_value(value)}")
        elif field.metadata.get("choices") and value != field.default and field.name not in known:
            choices.append(f"{name} {value}")
    return ", ".join((*live, *sizes, *choices))


def describe_change(before: Any, after: Any) -> str:
    """Name the differences between configs: "κ 0.6 → 0.8, S 256 → 512"."""
    changes = []
    for field in fields(before):
        old = getattr(before, field.name)
        new = getattr(after, field.name)
        if old != new:
            symbol = field.metadata.get("symbol") or field.name
            changes.append(f"{symbol} {format_value(old)} → {format_value(new)}")
    return ", ".join(changes)


def title_corpus(name: str) -> str:
    """The title of a corpus on screen."""
    return CORPUS_TITLES.get(name, name)


def name_setting(name: str, symbol: str) -> str:
    """Return the label of a setting.

    >>> name_setting("max_topics", "K"), name_setting("num_test", "")
    ('Maximum topics K', 'Held-out documents')
    """
    words = LABELS.get(name) or name.replace("_", " ").capitalize()
    return f"{words} {symbol}".rstrip()


def name_groups(corpus_name: str) -> str:
    """Name the longer texts that the passages of a corpus are parts of."""
    return GROUP_NAMES.get(corpus_name, "texts")


def format_value(value: Any) -> str:
    """Write a number without trailing digits, and a truth value as "on" or "off".

    >>> format_value(0.60), format_value(True), format_value("warm")
    ('0.6', 'on', 'warm')
    """
    if isinstance(value, float):
        return f"{value:g}"
    return {True: "on", False: "off"}[value] if isinstance(value, bool) else str(value)
