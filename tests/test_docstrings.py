"""The docstrings of the public names follow numpydoc."""

import inspect
from types import FunctionType

import pytest
from numpydoc.validate import validate

from stickbreaker import engine
from stickbreaker.engine import estimators

# Sections that a docstring may have: an extended summary, See Also, Examples.
OPTIONAL = {"ES01", "SA01", "EX01"}
# Symbols such as "η" begin in lower case; "Names" and "Documents" are nouns, and not verbs in the
# third person.
MISTAKEN = {"PR08", "SS05"}
INHERITED = {"stickbreaker.engine.estimators.vectorizer.CorpusVectorizer": {"PR01"}}


def list_public() -> list[str]:
    """Paths of public classes, functions, methods and properties."""
    items = [getattr(engine, name) for name in sorted({*engine.__all__, *estimators.__all__})]
    paths = {}
    for item in filter(callable, items):
        paths[f"{item.__module__}.{item.__qualname__}"] = None
        kinds = inspect.getmro(item) if inspect.isclass(item) else ()
        # TopicModel inherits methods from classes that are not public themselves.
        for kind in (kind for kind in kinds if kind.__module__.startswith("stickbreaker.")):
            methods = [name for name, member in vars(kind).items() if is_public(name, member)]
            paths |= {f"{kind.__module__}.{kind.__qualname__}.{name}": None for name in methods}
    return list(paths)


def is_public(name: str, member: object) -> bool:
    """Whether a member of a class is a public method or property."""
    return not name.startswith("_") and isinstance(member, property | classmethod | FunctionType)


@pytest.mark.parametrize("path", list_public())
def test_a_public_docstring_follows_numpydoc(path):
    found = validate(path)
    ignored = OPTIONAL | MISTAKEN | INHERITED.get(path, set())
    # The fields of a named tuple are its attributes.
    ignored |= (
        {"PR01"} if "\nAttributes\n" in found["docstring"] and found["type"] == "type" else set()
    )
    assert [f"{code}: {text}" for code, text in found["errors"] if code not in ignored] == []
