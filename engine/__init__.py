"""Topic models that learn online; see engine/README.md for the map."""

from engine.algorithms import REGISTRY, find_algorithm
from engine.checkpoint import Position
from engine.corpus import Batch, Corpus, CorpusError, Documents, Vocabulary
from engine.readers import list_corpora, load_corpus
from engine.run import run
from engine.schedules import settle
from engine.settings import RunSettings

__all__ = [
    "REGISTRY",
    "Batch",
    "Corpus",
    "CorpusError",
    "Documents",
    "Position",
    "RunSettings",
    "Vocabulary",
    "find_algorithm",
    "list_corpora",
    "load_corpus",
    "run",
    "settle",
]
