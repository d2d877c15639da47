"""Settings that several algorithms have, each declared once: its symbol, its bounds and what it does.

A config gives the default: `max_topics: int = setting(150, **declared.MAX_TOPICS)`.
"""

import math
from dataclasses import field, fields
from typing import Any

import numpy as np

# What decides a setting whose default is None.
LEFT_TO = "the corpus' size"


def setting(default: Any, symbol: str, bounds: tuple[float, float] | None = None, help: str = "", **more: Any) -> Any:
    """Declare a config field: its symbol in the papers, its bounds, what it does, and `choices` or `live` where so.

    A default of None leaves the setting to the corpus' size (`engine.schedules.resolve`), or to what `left_to` says.
    """
    return field(default=default, metadata={"symbol": symbol, "bounds": bounds, "help": help, **more})


def check_settings(config: Any) -> None:
    """Check every field against its declared bounds or choices; 5.0 and NumPy's 5 become 5.

    Raises ValueError that names the setting, its value, what is allowed and the default.
    """
    for each in fields(config):
        value, choices, bounds = getattr(config, each.name), each.metadata.get("choices"), each.metadata.get("bounds")
        if choices and value not in choices:
            raise ValueError(f"{each.name} is {value!r}: choose one of {', '.join(map(repr, choices))}.")
        if isinstance(each.default, bool) and not isinstance(value, (bool, np.bool_)):
            raise ValueError(f"{each.name} is {value!r}: give True or False; the default is {each.default}.")
        if not bounds or (value is None and each.default is None):
            continue
        is_number = isinstance(value, (int, float, np.integer, np.floating)) and not isinstance(value, bool)
        must_be_whole = each.metadata.get("whole", isinstance(each.default, int))
        is_fit = is_number and math.isfinite(value) and (not must_be_whole or float(value).is_integer())
        if is_fit and must_be_whole:
            object.__setattr__(config, each.name, int(value))
        elif is_fit and isinstance(value, np.generic):
            object.__setattr__(config, each.name, value.item())
        if not is_fit or not bounds[0] <= value <= bounds[1]:
            kind = "whole number" if must_be_whole else "number"
            low, high = bounds
            allowed = f"of at least {low:.10g}" if high == float("inf") else f"from {low:.10g} to {high:.10g}"
            left_to = each.metadata.get("left_to", LEFT_TO)
            default = f"None, which leaves it to {left_to}" if each.default is None else repr(each.default)
            raise ValueError(f"{each.name} is {value!r}: give a {kind} {allowed}; the default is {default}.")


INFINITY = float("inf")


def _declare(symbol, bounds, explanation, **more):
    return {"symbol": symbol, "bounds": bounds, "help": explanation, **more}


MAX_TOPICS = _declare("K", (1, 2000), "most topics the model may use", whole=True)
MAX_SLOTS = _declare("T", (1, 200), "most places a document has to hold a topic")
MAX_ACTIVE_TOPICS = _declare("M", (1, 2000), "topics that a document considers after its start")
DOC_CONCENTRATION = _declare("α₀", (1e-6, 1e6), "larger: a document spreads over more topics")
CORPUS_CONCENTRATION = _declare("γ", (1e-6, 1e6), "larger: the corpus spreads over more topics")
WORD_CONCENTRATION = _declare("η", (1e-6, 1e3), "smaller: a topic keeps to fewer words")
FORGETTING_RATE = _declare("κ", (0.5, 1.0), "how fast the steps shrink", live=True)
DELAY = _declare("τ₀", (0.0, INFINITY), "how much the first steps are held back", live=True)
BATCH_SIZE = _declare("S", (1, INFINITY), "documents in a mini-batch", live=True, whole=True)
TOPIC_EXPECTATION = _declare(
    "", None, "mean: E[topic]; geometric: exp E[log topic], as printed", choices=("mean", "geometric")
)
CONCENTRATIONS = _declare(
    "", None, "fixed: α₀, γ and η as set; learned: begun there, and learned", choices=("fixed", "learned")
)
DUPLICATES = _declare(
    "",
    None,
    "merge: topics more alike than two samples of one topic become one; keep",
    choices=("merge", "keep"),
)
PRECISION = _declare("", None, "of topics and local steps", choices=("float32", "float64"))
TOLERANCE = _declare("", (0.0, 1.0), "the run ends when a pass gains less than this share of the bound")
