"""Topic models that learn online; see engine/README.md for the map."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from stickbreaker.engine.algorithm import TopicEdit
from stickbreaker.engine.algorithms import REGISTRY, find_algorithm
from stickbreaker.engine.corpora.build_stored import build
from stickbreaker.engine.corpora.corpus import Corpus, Vocabulary
from stickbreaker.engine.corpora.documents import Batch, Documents
from stickbreaker.engine.corpora.export import export_own
from stickbreaker.engine.corpora.library import delete_own
from stickbreaker.engine.corpora.load import corpus_from, list_corpora, load_corpus
from stickbreaker.engine.corpora.preview import preview
from stickbreaker.engine.corpora.rows import CorpusError
from stickbreaker.engine.corpora.stored import StoredCorpus, store_corpus
from stickbreaker.engine.corpora.word_choices import WordChoices
from stickbreaker.engine.runs.checkpoint import Checkpoint
from stickbreaker.engine.runs.events import Update
from stickbreaker.engine.runs.prepared import Prepared, prepare
from stickbreaker.engine.runs.run import run
from stickbreaker.engine.runs.settings import RunSettings
from stickbreaker.engine.schedules import apply_live, resolve

if TYPE_CHECKING:
    from stickbreaker.engine.estimators import (
        CVHDP,
        CVLDA,
        BatchDPMixture,
        BatchHDP,
        BatchLDA,
        CorpusVectorizer,
        EditableTopicModel,
        Followed,
        Follower,
        GibbsHDP,
        GibbsLDA,
        OnlineDirectHDP,
        OnlineDPMixture,
        OnlineFreeDPMixture,
        OnlineFreeHDP,
        OnlineHDP,
        OnlineLDA,
        OnlineSVIHDP,
        OnlineTopicModel,
        Recorder,
        Stability,
        TopicModel,
        consensus,
        from_gensim,
        from_sklearn,
        from_tomotopy,
        load,
        load_mallet,
        score_topics,
        stability,
        stability_of,
    )

__all__ = [
    "CVHDP",
    "CVLDA",
    "REGISTRY",
    "Batch",
    "BatchDPMixture",
    "BatchHDP",
    "BatchLDA",
    "Checkpoint",
    "Corpus",
    "CorpusError",
    "CorpusVectorizer",
    "Documents",
    "EditableTopicModel",
    "Followed",
    "Follower",
    "GibbsHDP",
    "GibbsLDA",
    "OnlineDPMixture",
    "OnlineDirectHDP",
    "OnlineFreeDPMixture",
    "OnlineFreeHDP",
    "OnlineHDP",
    "OnlineLDA",
    "OnlineSVIHDP",
    "OnlineTopicModel",
    "Prepared",
    "Recorder",
    "RunSettings",
    "Stability",
    "StoredCorpus",
    "TopicEdit",
    "TopicModel",
    "Update",
    "Vocabulary",
    "WordChoices",
    "apply_live",
    "build",
    "consensus",
    "corpus_from",
    "delete_own",
    "export_own",
    "find_algorithm",
    "from_gensim",
    "from_sklearn",
    "from_tomotopy",
    "list_corpora",
    "load",
    "load_corpus",
    "load_mallet",
    "prepare",
    "preview",
    "resolve",
    "run",
    "score_topics",
    "stability",
    "stability_of",
    "store_corpus",
]


if not TYPE_CHECKING:
    # A type checker takes the result of this function for any name, also a misspelt one.
    def __getattr__(name: str) -> Any:
        """Import estimators, and `load`, at their first use: scikit-learn and pandas take a second
        to import.
        """
        if name in __all__:
            return getattr(import_module("stickbreaker.engine.estimators"), name)
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    """The names that completion of `engine.` shows to beginners; `__all__` has the rest."""
    return [
        "CorpusVectorizer",
        "OnlineHDP",
        "OnlineLDA",
        "REGISTRY",
        "RunSettings",
        "build",
        "list_corpora",
        "load",
        "load_corpus",
        "prepare",
        "preview",
        "run",
    ]
