"""Every algorithm as a scikit-learn estimator: fit, partial_fit, transform, score, save and load.

There is one class for each entry of REGISTRY, called as that is: "cv-hdp" is `CVHDP`. It is a dataclass whose fields
are those of the algorithm's config, then `passes` and `random_state`; so scikit-learn finds an `__init__` with a
parameter for each of them, which stores it and does nothing else. Values are checked by `fit`. Algorithms that learn
from mini-batches are called Online ("hdp": `OnlineHDP`) and have `partial_fit`.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, field, fields, make_dataclass
from os import PathLike
from typing import TYPE_CHECKING, Any, Self, TypeAlias

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike
from scipy.sparse import csr_array, issparse, sparray, spmatrix
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils import check_random_state, estimator_html_repr
from sklearn.utils.validation import check_is_fitted, validate_data

from stickbreaker.engine.algorithm import Algorithm, TopicSummary
from stickbreaker.engine.algorithms import REGISTRY
from stickbreaker.engine.corpora.corpus import LARGEST_COUNT, Corpus, Vocabulary
from stickbreaker.engine.evaluation.held_out import count_topics, score_own, split_words
from stickbreaker.engine.evaluation.topic_frames import NUM_WORDS, checkpoint_frame, topics_frame, topics_html
from stickbreaker.engine.executors import map_shards
from stickbreaker.engine.executors import step as take_step
from stickbreaker.engine.runs import checkpoint
from stickbreaker.engine.runs.checkpoint import CheckpointError, Position
from stickbreaker.engine.runs.prepared import prepare_training
from stickbreaker.engine.runs.run import run
from stickbreaker.engine.runs.settings import RunSettings
from stickbreaker.engine.schedules import resolve, resolve_max_topics, resolve_stream

Counts: TypeAlias = Corpus | ArrayLike | sparray | spmatrix

SPLIT_SEED = 0
LONGEST_INITIALS = 3


class TopicModel(TransformerMixin, BaseEstimator):  # type: ignore[misc] # scikit-learn has no type hints
    """What the estimators have in common. X is a `Corpus`, or counts (D, V), sparse or dense, of whole numbers.

    After `fit`, beside what is listed as properties: `state_`, that of the algorithm, and `config_`, its settings;
    `seed_`, drawn from `random_state`; `documents_seen_`, those learned from; `corpus_size_`, D; `n_features_in_`;
    `words_`, where X names them (a Corpus, a data frame), or None; and after a Corpus `history_`, the ten most probable
    words of each topic at nine checkpoints, with columns topic_id, checkpoint, documents_seen, date, share, rank, word,
    probability. A model taken from the page may have `topic_names_`, what people have called topics, by id.
    """

    algorithm: Algorithm
    passes: int | None
    random_state: int | np.random.RandomState | None
    words_: tuple[str, ...] | None
    history_: pd.DataFrame

    def fit(self, X: Counts, y: object = None) -> Self:
        """Learn from these documents alone, in the order they stand in; what was learned before is forgotten.

        Raises ValueError where X is no table of counts, or a parameter is outside its bounds.
        """
        corpus = self._start(X)
        num_snapshots = RunSettings.num_snapshots if isinstance(X, Corpus) else 0
        settings = RunSettings(passes=self.passes, seed=self.seed_, num_snapshots=num_snapshots, score_next_batch=False)
        for update in run(prepare_training(self.algorithm, self.config_, corpus, settings)):
            self.state_ = update.state
            if update.snapshot is not None:
                self._remember(update.snapshot.documents_seen, update.snapshot.date, update.snapshot.summary)
        self.documents_seen_ = self.corpus_size_ = corpus.num_documents
        return self

    def _start(self, X: Counts, corpus_size: int | None = None) -> Corpus:
        """Become a model that knows the words of X and no document; returns X as a Corpus.

        What is left to the number of tokens follows those of X, or of so many documents like it.
        """
        self.config_ = self.algorithm.config(**self._parameters())
        self.seed_ = _draw_seed(self.random_state)
        self.documents_seen_ = 0
        for name in ("state_", "history_", TOPIC_NAMES, "feature_names_in_"):
            if hasattr(self, name):
                delattr(self, name)
        corpus = self._read(X, is_new=True)
        names = getattr(self, "feature_names_in_", None)
        size = max(1, corpus.num_documents)
        self.config_ = resolve_max_topics(self.config_, corpus.num_tokens * max(corpus_size or 0, size) // size)
        self.words_ = corpus.vocabulary.words if isinstance(X, Corpus) else names if names is None else tuple(names)
        return corpus

    def _parameters(self) -> dict[str, Any]:
        """The algorithm's, as they were given; of a grid's numpy scalars, Python's own, which a checkpoint can hold."""
        given = {each.name: getattr(self, each.name) for each in fields(self.algorithm.config)}
        return {name: value.item() if isinstance(value, np.generic) else value for name, value in given.items()}

    def _read(self, X: Counts, is_new: bool = False) -> Corpus:
        """X as a Corpus; of a new model its words become those of the model, else they are compared with these."""
        if isinstance(X, Corpus):
            return self._read_corpus(X, is_new)
        _refuse_texts(X)
        columns = tuple(each for each in getattr(X, "columns", ()) if isinstance(each, str))
        # scikit-learn compares the names of columns with those of a frame alone; this model may know its words.
        if columns and not is_new and not hasattr(self, "feature_names_in_"):
            self._check_words(columns, "X")
        X = validate_data(self, X, reset=is_new, accept_sparse="csr", ensure_non_negative=True)
        _check_counts(X.data if issparse(X) else X)
        num_documents, vocab_size = X.shape
        dates = np.full(num_documents, "NaT", "datetime64[D]")
        # Of whole numbers: SciPy has no sparse array of float16.
        counts, words = csr_array(X, dtype=np.int64), Vocabulary(tuple(map(str, range(vocab_size))))
        return Corpus("X", counts, words, dates, ("",) * num_documents)

    def _read_corpus(self, corpus: Corpus, is_new: bool) -> Corpus:
        if not corpus.num_documents:
            raise ValueError(f"The corpus {corpus.name!r} has no document: give at least one.")
        words = corpus.vocabulary.words
        if is_new:
            self.n_features_in_ = len(words)
        else:
            self._check_words(words, repr(corpus.name))
        return corpus

    def _check_words(self, words: tuple[str, ...], name: str) -> None:
        if len(words) != self.n_features_in_ or self.words_ not in (None, words):
            raise ValueError(
                f"The {len(words)} words of {name} are not the {self.n_features_in_} that the model was fitted with, or"
                " stand in another order: count them with the same vocabulary."
            )

    def _remember(self, documents_seen: int, date: Any, summary: TopicSummary) -> None:
        """Add a checkpoint to the history."""
        before = [self.history_] if hasattr(self, "history_") else []
        number = before[0]["checkpoint"].max() + 1 if before else 0
        frame = checkpoint_frame(number, documents_seen, date, summary, self.words_)
        self.history_ = pd.concat([*before, frame], ignore_index=True)

    def transform(self, X: Counts) -> np.ndarray:
        """Shares (D, K) of topics in each document; rows sum to 1. The model stays as it is."""
        check_is_fitted(self, "state_")
        documents = self._read(X).documents()
        infer = self.algorithm.infer
        parts = map_shards(lambda part: infer(self.config_, self.state_, part), documents)
        return np.concatenate(parts).astype(float)

    def score(self, X: Counts, y: object = None) -> float:
        """Mean log likelihood of a held-out token by `disjoint_words`, in nats; higher is better.

        A tenth of each document's distinct words is predicted from its others; the same row of X is always split alike,
        so models can be compared, and documents with fewer than two distinct words are left out. The documents should
        be others than those learned from. The model stays as it is. Raises ValueError where no document has two words.
        """
        check_is_fitted(self, "state_")
        corpus = self._read(X)
        split = split_words(corpus.documents(), corpus.doc_ids, SPLIT_SEED)
        if not split.num_tokens:
            raise ValueError(
                "No document of X has two distinct words, one to predict from the other: give longer ones."
            )
        return score_own(self.algorithm, self.config_, self.state_, split)

    def _summary(self) -> TopicSummary:
        check_is_fitted(self, "state_")
        return self.algorithm.summarize(self.config_, self.state_)

    @property
    def components_(self) -> np.ndarray:
        """E[topics] (K, V); rows sum to 1."""
        return self._summary().topics

    @property
    def topic_weights_(self) -> np.ndarray:
        """E[corpus weights] (K,); they sum to 1."""
        return self._summary().weights

    @property
    def topic_ids_(self) -> np.ndarray:
        """Names (K,) of the rows of `components_`, which a topic keeps for good."""
        return self._summary().topic_ids

    @property
    def n_topics_(self) -> int:
        """The fewest topics whose expected tokens cover 99 % of their sum."""
        return count_topics(self._summary().expected_tokens)

    def get_feature_names_out(self, input_features: object = None) -> np.ndarray:
        """Names (K,) of the columns of `transform`: "topic" and the topic's id."""
        return np.array([f"topic{topic_id}" for topic_id in self.topic_ids_], object)

    def topics_frame(self, num_words: int = NUM_WORDS, words: Sequence[str] | None = None) -> pd.DataFrame:
        """The topics in use, largest first, as a table: columns topic_id, share, rank, word, probability.

        words: the V words where the model does not know them, as in a pipeline:
            `vectorizer.get_feature_names_out()`. share: of all tokens.
        """
        return topics_frame(self._summary(), words if self.words_ is None else self.words_, num_words)

    def _repr_html_(self) -> str:
        """scikit-learn's diagram of the parameters and, once fitted, the ten largest topics."""
        diagram = str(estimator_html_repr(self))
        if not hasattr(self, "state_"):
            return diagram
        caption = f"{type(self).__name__}: {self.n_topics_} topics from {self.corpus_size_:,} documents; the largest"
        return diagram + topics_html(self.topics_frame(), caption)

    def _repr_mimebundle_(self, **kwargs: object) -> dict[str, str]:
        return {"text/plain": repr(self), "text/html": self._repr_html_()}

    def save(self, path: str | PathLike[str]) -> None:
        """Write the fitted model to one file of plain arrays (.npz, no pickle), whole or not at all; see `load`."""
        check_is_fitted(self, "state_")
        save_model(path, self, self._parameters())

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = tags.input_tags.positive_only = True
        # There is no tag for counts. Of all tags this one alone says that X is of whole numbers.
        tags.input_tags.categorical = True
        tags.transformer_tags.preserves_dtype = []
        return tags


class OnlineTopicModel(TopicModel):
    """What the estimators have in common whose algorithm learns from mini-batches."""

    def partial_fit(self, X: Counts, y: object = None, corpus_size: int | None = None) -> Self:
        """Learn from further documents, in mini-batches and once; a new model starts with them.

        corpus_size: documents D that there will be in all, where that is known; mini-batches are then those that `fit`
            would take. Otherwise D is what has been seen so far, these documents included, but at least 4,096, and S
            and τ₀, unless set, follow it (`engine.schedules.resolve_stream`).
        A Corpus adds a checkpoint to `history_`.

        The same documents again count as others. Raises ValueError as `fit` does.
        """
        is_whole = isinstance(corpus_size, int | np.integer) and not isinstance(corpus_size, bool)
        if corpus_size is not None and not (is_whole and corpus_size >= 1):
            raise ValueError(f"corpus_size is {corpus_size!r}: give a whole number of at least 1, or None.")
        is_new = not hasattr(self, "state_")
        corpus = self._start(X, corpus_size) if is_new else self._read(X)
        if is_new:
            rng = np.random.default_rng([self.seed_, 0])
            self.state_ = self.algorithm.init(self.config_, self.n_features_in_, rng)
        self.documents_seen_ += corpus.num_documents
        self._take_steps(corpus, corpus_size)
        if isinstance(X, Corpus):
            self._remember(self.documents_seen_, corpus.dates.max(), self._summary())
        return self

    def _take_steps(self, corpus: Corpus, corpus_size: int | None) -> None:
        """Learn from some documents of a larger corpus, as `engine.run` would from all."""
        if corpus_size is None or corpus_size < self.documents_seen_:
            config, self.corpus_size_ = resolve_stream(self.config_, self.documents_seen_, corpus.num_documents)
        else:
            config, self.corpus_size_ = resolve(self.config_, corpus_size), corpus_size
        for batch in corpus.batches(config.batch_size):
            batch = batch._replace(corpus_size=self.corpus_size_)
            rng = np.random.default_rng([self.seed_, self.state_.step + 1])
            self.state_, _ = take_step(self.algorithm, config, self.state_, batch, rng)


def _draw_seed(random_state: Any) -> int:
    """An int is the seed itself, so that `engine.run` with it does the same; else one is drawn."""
    if isinstance(random_state, int | np.integer):
        return int(random_state)
    return int(check_random_state(random_state).randint(np.iinfo(np.int32).max))


def _refuse_texts(X: Any) -> None:
    """scikit-learn would advise to reshape them."""
    is_row = isinstance(X, list | tuple | pd.Series) or (isinstance(X, np.ndarray) and X.ndim == 1)
    first = next(iter(X), None) if is_row else X
    if isinstance(first, str):
        raise ValueError("X holds texts: count their words first, with CountVectorizer, or read them by load_corpus.")


def _check_counts(entries: np.ndarray) -> None:
    # A float64, since a float16 would have to hold what it is compared with.
    is_odd = (entries != np.rint(entries)) | (entries > np.float64(LARGEST_COUNT))
    if is_odd.any():
        raise ValueError(
            f"X holds {entries[is_odd][0]}: counts are whole numbers up to {LARGEST_COUNT}; count words with"
            " CountVectorizer, and do not weigh them (TfidfTransformer)."
        )


def load(path: str | PathLike[str]) -> TopicModel:
    """The model that `save` wrote, of the class that wrote it; its `random_state` is the seed that it drew.

    Raises CheckpointError where the file is missing or damaged, or holds a run and no model.
    """
    position, words, corpus_size = load_model(path)
    model = from_position(position, words, corpus_size)
    restore(model, position.notes)
    return model


def from_position(position: Position, words: tuple[str, ...] | None, corpus_size: int) -> TopicModel:
    """The model of a run that stands at `position`. words: the V words; corpus_size: D, the documents of the run."""
    settings = position.settings
    model = CLASSES[position.algorithm](**asdict(position.config), passes=settings.passes, random_state=settings.seed)
    model.config_, model.state_, model.seed_ = position.config, position.state, settings.seed
    model.documents_seen_, model.corpus_size_ = position.documents_seen, corpus_size
    model.words_ = words
    if words is not None:
        model.n_features_in_ = len(words)
    return model


def _make_class(algorithm: Algorithm) -> type[TopicModel]:
    """The estimator of an algorithm: a dataclass of its settings, whose generated `__init__` stores them."""
    settings = [(each.name, each.type, field(default=each.default)) for each in fields(algorithm.config)]
    settings += [("passes", int | None, field(default=None))]
    settings += [("random_state", int | np.random.RandomState | None, field(default=None))]
    namespace = {"__module__": __name__, "__doc__": _describe(algorithm), "algorithm": algorithm}
    learns_online = any(each.name == "batch_size" for each in fields(algorithm.config))
    words = [word.upper() if len(word) <= LONGEST_INITIALS else word.capitalize() for word in algorithm.name.split("-")]
    return make_dataclass(
        "".join(["Online" if learns_online else "", *words]),
        settings,
        bases=(OnlineTopicModel if learns_online else TopicModel,),
        namespace=namespace,
        kw_only=True,
        eq=False,
        repr=False,
    )


def _describe(algorithm: Algorithm) -> str:
    """The docstring of an estimator: each parameter with its symbol, what it does and its default."""
    lines = [f"{algorithm.title} as a scikit-learn estimator.", "", "Parameters, all by keyword:", ""]
    for each in fields(algorithm.config):
        symbol = f" ({each.metadata['symbol']})" if each.metadata["symbol"] else ""
        lines.append(f"{each.name}{symbol}, {each.default!r} by default: {each.metadata['help']}.")
    lines.append(f"passes: times that `fit` reads the corpus, {algorithm.passes} unless given.")
    lines.append("random_state: seed of the start and of what is drawn; None: another at each fit.")
    return "\n".join([*lines, "", f"What a fitted model has: see {TopicModel.__name__}."])


CLASSES = {algorithm.name: _make_class(algorithm) for algorithm in REGISTRY}
globals().update({each.__name__: each for each in CLASSES.values()})
__all__ = ["OnlineTopicModel", "TopicModel", "load"]
__all__ += [each.__name__ for each in CLASSES.values()]

if TYPE_CHECKING:

    def __getattr__(name: str) -> type[OnlineTopicModel]: ...


NUMBERS, NAMES, HISTORY = ("n_features_in_", "corpus_size_"), ("words_", "feature_names_in_"), "history_."
TOPIC_NAMES = "topic_names_"
# As they were given: what was left to the corpus stays so at the next fit.
PARAMETERS = "parameters"


def save_model(path: str | PathLike[str], model: Any, parameters: Mapping[str, Any]) -> None:
    """Write a fitted estimator, with the parameters that it was given, to one file, whole or not at all."""
    notes = {name: np.array(getattr(model, name)) for name in NUMBERS}
    for name in NAMES:
        if getattr(model, name, None) is not None:
            notes[name] = np.array(getattr(model, name), str)
    for name, column in getattr(model, "history_", {}).items():
        notes[HISTORY + name] = column.to_numpy(str if name == "word" else None)
    notes[PARAMETERS] = np.array(json.dumps(parameters))
    if getattr(model, TOPIC_NAMES, None):
        notes[TOPIC_NAMES] = np.array(json.dumps(list(getattr(model, TOPIC_NAMES).items())))
    settings = RunSettings(passes=model.passes, seed=model.seed_)
    position = Position(model.algorithm.name, model.config_, settings, model.state_, model.documents_seen_, 0.0, notes)
    checkpoint.save(path, position)


def load_model(path: str | PathLike[str]) -> tuple[Position, tuple[str, ...] | None, int]:
    """The position in a model's file, its V words if it knows them, and D, the documents of its corpus.

    Raises CheckpointError where the file is missing or damaged, or holds a run and no model.
    """
    position = checkpoint.load(path)
    if not set(NUMBERS) <= position.notes.keys():
        raise CheckpointError(f"{path} holds a run of the page, not a model: read it with engine.runs.checkpoint.load.")
    words, corpus_size = position.notes.get("words_"), position.notes["corpus_size_"].item()
    return position, None if words is None else tuple(words.tolist()), corpus_size


def restore(model: Any, notes: Mapping[str, np.ndarray]) -> None:
    """Give an estimator made from the position in a file what else the file holds."""
    if PARAMETERS in notes:
        model.set_params(**json.loads(str(notes[PARAMETERS])))
    model.n_features_in_ = notes["n_features_in_"].item()
    if "feature_names_in_" in notes:
        model.feature_names_in_ = notes["feature_names_in_"].astype(object)
    history = {name.removeprefix(HISTORY): column for name, column in notes.items() if HISTORY in name}
    if history:
        model.history_ = pd.DataFrame(history)
    if TOPIC_NAMES in notes:
        model.topic_names_ = dict(json.loads(str(notes[TOPIC_NAMES])))
