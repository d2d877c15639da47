"""Topic models that learn online; see engine/README.md for the map."""

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

__all__ = [
    "REGISTRY",
    "Batch",
    "Corpus",
    "CorpusError",
    "Documents",
    "Position",
    "RunSettings",
    "Vocabulary",
    "WordChoices",
    "delete_own",
    "export_own",
    "find_algorithm",
    "list_corpora",
    "load_corpus",
    "preview",
    "run",
    "settle",
]
