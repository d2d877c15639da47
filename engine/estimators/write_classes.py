"""Writes classes.py, the estimator of each algorithm, from REGISTRY and the declared settings.

    python -m stickbreaker.engine.estimators.write_classes

Run it after a change of an algorithm's settings. The classes are plain source, so that editors,
type checkers and the documentation see their parameters, types, defaults and help.
"""

from collections.abc import Iterator
from dataclasses import Field, fields
from pathlib import Path
from textwrap import wrap
from typing import Any, NamedTuple

from stickbreaker.engine.algorithm import Algorithm, Reads
from stickbreaker.engine.algorithms import REGISTRY
from stickbreaker.engine.estimators.fitted import UNUSED_TOPICS
from stickbreaker.engine.estimators.model import MOST_PASSES, MOST_REREAD

TARGET = Path(__file__).with_name("classes.py")
LINE_LENGTH = 100
LONGEST_INITIALS = 3
HEADER = '''"""The estimator of each algorithm; do not edit.

`python -m stickbreaker.engine.estimators.write_classes` writes this file.
"""

from dataclasses import dataclass

import numpy as np

from stickbreaker.engine.algorithms import find_algorithm
from stickbreaker.engine.estimators.editable import EditableTopicModel
from stickbreaker.engine.estimators.model import TopicModel
from stickbreaker.engine.estimators.online_model import OnlineTopicModel
'''


class Parameter(NamedTuple):
    """A parameter of an estimator; `type` and `default` are source code."""

    name: str
    type: str
    default: str
    help: str
    choices: tuple[str, ...] = ()


def write_source() -> str:
    """The source of classes.py."""
    classes = "\n\n".join("\n".join(_write_class(algorithm)) + "\n" for algorithm in REGISTRY)
    table = "\n".join(f'    "{algorithm.name}": {name_class(algorithm)},' for algorithm in REGISTRY)
    return f"{HEADER}\n\n{classes}\n\nCLASSES: dict[str, type[TopicModel]] = {{\n{table}\n}}\n"


def name_class(algorithm: Algorithm) -> str:
    """The name of an algorithm's estimator.

    >>> from stickbreaker.engine import find_algorithm
    >>> name_class(find_algorithm("free-dp-mixture")), name_class(find_algorithm("cv-lda"))
    ('OnlineFreeDPMixture', 'CVLDA')
    """
    words = [
        word.upper() if len(word) <= LONGEST_INITIALS else word.capitalize()
        for word in algorithm.name.split("-")
    ]
    return "".join(["Online" if algorithm.reads is Reads.BATCHES else "", *words])


def list_parameters(algorithm: Algorithm) -> list[Parameter]:
    """The parameters of an algorithm's estimator: its settings, then those that all estimators
    have.

    Only algorithms whose steps can be divided have `num_shards`.
    """
    default = f" means {algorithm.passes}."
    if algorithm.set_aside is not None:
        default = (
            f": until documents set aside are predicted no better, at most {MOST_PASSES} times;"
            f" once if all topics are kept or there are over {MOST_REREAD:,} documents."
        )
    passes = f"Number of times that `fit` reads the corpus; None{default}"
    seed = "Seed of the start and of all draws; None draws a new seed for each fit."
    unused = "drop: `transform` leaves out the topics that are not in use."
    shards = Parameter(
        name="num_shards",
        type="int | None",
        default="None",
        help=(
            "Parts of a mini-batch, each a task for a thread or a worker; None: depends on its"
            " size, at most 8."
        ),
    )
    return [
        *(_parameter(each) for each in fields(algorithm.config)),
        Parameter(name="passes", type="int | None", default="None", help=passes),
        *[shards] * (algorithm.step is None),
        Parameter(
            name="random_state",
            type="int | np.random.RandomState | None",
            default="None",
            help=seed,
        ),
        Parameter(
            name="unused_topics", type="str", default='"keep"', help=unused, choices=UNUSED_TOPICS
        ),
    ]


def _parameter(setting: Field[Any]) -> Parameter:
    type_name = setting.type.__name__ if isinstance(setting.type, type) else str(setting.type)
    text = setting.metadata["help"]
    choices = tuple(setting.metadata.get("choices") or ())
    if not choices:
        text = f"{text[:1].upper()}{text[1:]}"
    text = f"{setting.metadata['symbol']}. {text}.".removeprefix(". ")
    if setting.default is None:
        text += " None: depends on the size of the corpus."
    default = repr(setting.default).replace("'", '"')
    return Parameter(name=setting.name, type=type_name, default=default, help=text, choices=choices)


def _write_class(algorithm: Algorithm) -> Iterator[str]:
    base = "OnlineTopicModel" if algorithm.reads is Reads.BATCHES else "TopicModel"
    if algorithm.edit is not None:
        base = "EditableTopicModel"
    parameters = list_parameters(algorithm)
    yield "@dataclass(kw_only=True, repr=False, eq=False)"
    yield f"class {name_class(algorithm)}({base}):"
    yield f'    """The scikit-learn estimator of this algorithm: {algorithm.title}.'
    yield ""
    yield "    Parameters"
    yield "    ----------"
    for each in parameters:
        yield from _describe(each)
    yield '    """'
    yield ""
    yield f'    algorithm = find_algorithm("{algorithm.name}")'
    for each in parameters:
        yield f"    {each.name}: {each.type} = {each.default}"


def _describe(parameter: Parameter) -> Iterator[str]:
    """A parameter in numpydoc's form."""
    choices = ", ".join(f'"{choice}"' for choice in parameter.choices)
    kind = f"{{{choices}}}" if choices else parameter.type.replace(" | ", " or ")
    yield f"    {parameter.name} : {kind}, default={parameter.default}"
    indent = " " * 8
    yield from wrap(parameter.help, LINE_LENGTH, initial_indent=indent, subsequent_indent=indent)


if __name__ == "__main__":
    TARGET.write_text(write_source(), encoding="utf-8")
    print(f"{TARGET}: {', '.join(map(name_class, REGISTRY))}")
