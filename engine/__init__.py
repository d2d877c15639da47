"""Topic models that learn online; see engine/README.md for the map."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from engine.algorithms import REGISTRY, find_algorithm
from engine.checkpoint import Position
from engine.corpus import Batch, Corpus, CorpusError, Documents, Vocabulary
from engine.library import delete_own, export_own
from engine.previews import preview
from engine.readers import list_corpora, load_corpus
from engine.run import run
from engine.schedules import settle
from engine.settings import RunSettings
from engine.words import WordChoices

if TYPE_CHECKING:
    from engine.estimators import OnlineTopicModel, load

    OnlineHDP: type[OnlineTopicModel]
    OnlineLDA: type[OnlineTopicModel]

__all__ = [
    "REGISTRY",
    "Batch",
    "Corpus",
    "CorpusError",
    "Documents",
    "OnlineHDP",
    "OnlineLDA",
    "Position",
    "RunSettings",
    "Vocabulary",
    "WordChoices",
    "delete_own",
    "export_own",
    "find_algorithm",
    "list_corpora",
    "load",
    "load_corpus",
    "preview",
    "run",
    "settle",
]


def __getattr__(name: str) -> Any:
    """Estimators, and `load`, when they are first asked for: scikit-learn and pandas take a second to import."""
    if name == "load" or name[:1].isupper():
        estimators = import_module("engine.estimators")
        if name in estimators.__all__:
            return getattr(estimators, name)
    raise AttributeError(f"module 'engine' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
