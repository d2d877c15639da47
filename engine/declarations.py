"""The settings that several algorithms share.

Each is declared once: its symbol, its bounds and its help.

A config gives the default: `max_topics: int = setting(150, **declared.MAX_TOPICS)`.
"""

import math
from dataclasses import Field, dataclass, field, fields
from typing import Any, TypedDict, TypeVar, cast

import numpy as np

INFINITY = float("inf")
# Products of larger numbers do not fit in single precision.
LARGEST_WHOLE = 10**18
# In messages: what gives a value to a setting whose default is None.
LEFT_TO = "the size of the corpus"
Value = TypeVar("Value")


def setting(
    default: Any,
    symbol: str,
    bounds: tuple[float, float] | None = None,
    help: str = "",
    **more: Any,
) -> Any:
    """Declare a setting, a field of a config, with what `check_settings`, the app and the
    estimators read of it.

    Parameters
    ----------
    default : object
        The default. None leaves the setting to the size of the corpus (`engine.schedules.resolve`),
        or to `left_to`.
    symbol : str
        The symbol in the papers; "" if it has none.
    bounds : tuple of two float, optional
        The smallest and the largest value of a number.
    help : str
        One sentence.
    **more : object
        `choices`: the allowed texts. `whole`: whether the number must be whole; by default, whether
        `default` is. `live`: whether a new value acts from the next mini-batch. `left_to`: in
        messages, what gives the value of None.

    Returns
    -------
    object
        The field.
    """
    return field(
        default=default, metadata={"symbol": symbol, "bounds": bounds, "help": help, **more}
    )


def choice(help: str, *choices: str) -> Any:
    """Declare a setting whose value is one of some texts; the first is the default."""
    return setting(choices[0], "", None, help, choices=choices)


def resolved(value: Value | None) -> Value:
    """The value of a setting that may depend on the corpus; ValueError if not resolved."""
    if value is None:
        raise ValueError(
            "Some settings depend on the size of the corpus: call engine.schedules.resolve(config,"
            " corpus_size) first."
        )
    return value


def check_whole(name: str, value: object, least: int, end: str = "") -> int:
    """Return an argument as int: 5.0 and NumPy's 5 become 5.

    Raises ValueError that names the argument if it is not a whole number of at least `least`.
    """
    is_number = isinstance(value, int | float | np.integer | np.floating) and not isinstance(
        value, bool
    )
    number = cast(float, value) if is_number else math.nan
    if not (number % 1 == 0 and number >= least):
        raise ValueError(f"{name} is {value!r}: give a whole number of at least {least}{end}.")
    if number > LARGEST_WHOLE:
        raise ValueError(f"{name} is larger than {LARGEST_WHOLE:,}: give a smaller number.")
    return int(number)


def check_whole_or_none(name: str, value: object, least: int) -> int | None:
    """Return an argument as int, or None. Raises ValueError as `check_whole` does."""
    return None if value is None else check_whole(name, value, least, ", or None")


@dataclass(frozen=True)
class Checked:
    """A config, whose values are checked when it is made, as in `check_settings`."""

    def __post_init__(self) -> None:
        check_settings(self)


def check_settings(config: Any) -> None:
    """Check every field against its declared bounds or choices; 5.0 and NumPy's 5 become 5.

    Raises ValueError that names the setting, its value, the allowed values and the default.
    """
    for each in fields(config):
        value = getattr(config, each.name)
        choices = each.metadata.get("choices")
        bounds = each.metadata.get("bounds")
        if choices and value not in choices:
            raise ValueError(
                f"{each.name} is {value!r}: choose one of {', '.join(map(repr, choices))}."
            )
        if isinstance(each.default, bool) and not isinstance(value, (bool, np.bool_)):
            raise ValueError(
                f"{each.name} is {value!r}: give True or False; the default is {each.default}."
            )
        if bounds and not (value is None and each.default is None):
            _check_number(config, each, value)


def _check_number(config: Any, each: Field[Any], value: Any) -> None:
    """Check one setting that has bounds, and store it as a plain Python number."""
    low, high = each.metadata["bounds"]
    is_number = isinstance(value, (int, float, np.integer, np.floating)) and not isinstance(
        value, bool
    )
    must_be_whole = each.metadata.get("whole", isinstance(each.default, int))
    is_fit = is_number and math.isfinite(value) and (not must_be_whole or float(value).is_integer())
    if is_fit and must_be_whole:
        object.__setattr__(config, each.name, int(value))
    elif is_fit and isinstance(value, np.generic):
        object.__setattr__(config, each.name, value.item())
    if not is_fit or not low <= value <= high:
        kind = "whole number" if must_be_whole else "number"
        allowed = (
            f"of at least {low:.10g}" if high == INFINITY else f"from {low:.10g} to {high:.10g}"
        )
        left_to = each.metadata.get("left_to", LEFT_TO)
        default = (
            f"None (it then depends on {left_to})" if each.default is None else repr(each.default)
        )
        raise ValueError(
            f"{each.name} is {value!r}: give a {kind} {allowed}; the default is {default}."
        )


class _Declared(TypedDict, total=False):
    """The arguments of `setting` that several configs share."""

    symbol: str
    bounds: tuple[float, float] | None
    help: str
    choices: tuple[str, ...]
    live: bool
    whole: bool


def _number(symbol: str, bounds: tuple[float, float], help: str, live: bool = False) -> _Declared:
    return {"symbol": symbol, "bounds": bounds, "help": help, "live": live}


def _whole(symbol: str, bounds: tuple[float, float], help: str, live: bool = False) -> _Declared:
    return {"symbol": symbol, "bounds": bounds, "help": help, "live": live, "whole": True}


def _choice(help: str, *choices: str) -> _Declared:
    return {"symbol": "", "bounds": None, "help": help, "choices": choices}


MAX_TOPICS = _whole("K", (1, 2000), "Maximum number of topics in the model")
NUM_TOPICS = _whole("K", (1, 2000), "Number of topics; the model uses all of them")
MAX_SLOTS = _whole("T", (1, 200), "Maximum number of topic slots in a document")
MAX_ACTIVE_TOPICS = _whole(
    "M", (1, 2000), "Number of topics that a document considers after its first iterations"
)
DOC_CONCENTRATION = _number("α₀", (1e-6, 1e6), "Higher values spread a document over more topics")
LDA_CONCENTRATION = _number("Kα", (1e-6, 1e6), "Higher values spread a document over more topics")
REMOVAL_CONCENTRATION = _number("γ", (1e-6, 1e6), "Higher values keep more topics")
WEIGHT_CONCENTRATION = _number(
    "γ", (1e-6, 1e6), "Prior of the topic weights; it hardly changes the number of topics"
)
CORPUS_CONCENTRATION = _number(
    "γ", (1e-6, 1e6), "Higher values give more topics, unless γ is resampled"
)
WORD_CONCENTRATION = _number("η", (1e-6, 1e3), "Lower values give each topic fewer words")
FORGETTING_RATE = _number("κ", (0.5, 1.0), "How fast the learning rate falls", live=True)
DELAY = _number("τ₀", (0.0, INFINITY), "Higher values make the first steps smaller", live=True)
BATCH_SIZE = _whole("S", (1, INFINITY), "Documents per mini-batch", live=True)
TOPIC_EXPECTATION = _choice(
    "Word weights in the local step; mean: E[topic], geometric: exp E[log topic], as in the papers",
    "mean",
    "geometric",
)
HOFFMAN_START = _choice("hoffman: as in the paper; warm: warm-up by annealing", "hoffman", "warm")
CONCENTRATIONS = _choice(
    "learned: documents set aside decide on α₀ and η (needs duplicates = merge); fixed: they keep"
    " their values",
    "learned",
    "fixed",
)
DUPLICATES = _choice(
    "merge: merge topics down to the fewest that predict documents set aside as well; keep: keep"
    " all K",
    "merge",
    "keep",
)
LATER_PASSES = _choice(
    "average: all documents of a later pass count equally (needs start = warm); forget: ρ keeps"
    " falling in all passes",
    "average",
    "forget",
)
START_FROM = _choice(
    "own: the algorithm's usual start; gibbs: 200 passes of the HDP's sampler first (Teh 2007"
    " Fig. 3)",
    "own",
    "gibbs",
)
PRECISION = _choice("Floating-point precision of topics and local steps", "float32", "float64")
TOLERANCE = _number(
    "", (0.0, 1.0), "Stop when a pass raises the bound by less than this fraction of its value"
)
PASS_TOLERANCE = _number(
    "", (0.0, 1.0), "Stop when the relative change of the bound falls below this"
)
WORD_TOTAL = _number(
    "β",
    (1e-6, 1e9),
    "Total word concentration of a topic; lower values give each topic fewer words",
)
BURN_IN = _whole("", (0, INFINITY), "Passes before the first sample")
SAMPLE_EVERY = _whole("", (1, INFINITY), "Passes from one sample to the next")
BATCH_BURN_IN = _whole("", (0, 1000), "Gibbs passes over a mini-batch before the first sample")
BATCH_SAMPLES = _whole(
    "", (1, 1000), "Number of samples, one per Gibbs pass, that are averaged for a mini-batch"
)
