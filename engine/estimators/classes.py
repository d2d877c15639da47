"""The estimator of each algorithm; do not edit.

`python -m stickbreaker.engine.estimators.write_classes` writes this file.
"""

from dataclasses import dataclass

import numpy as np

from stickbreaker.engine.algorithms import find_algorithm
from stickbreaker.engine.estimators.editable import EditableTopicModel
from stickbreaker.engine.estimators.model import TopicModel
from stickbreaker.engine.estimators.online_model import OnlineTopicModel


@dataclass(kw_only=True, repr=False, eq=False)
class OnlineHDP(EditableTopicModel):
    """The scikit-learn estimator of this algorithm: Online HDP.

    Parameters
    ----------
    max_topics : int or None, default=None
        K. Maximum number of topics in the model. None: depends on the size of the corpus.
    max_slots : int, default=15
        T. Maximum number of topic slots in a document.
    doc_concentration : float, default=1.0
        α₀. Higher values spread a document over more topics.
    corpus_concentration : float, default=1.0
        γ. Higher values keep more topics.
    word_concentration : float, default=0.01
        η. Lower values give each topic fewer words.
    forgetting_rate : float, default=0.6
        κ. How fast the learning rate falls.
    delay : float or None, default=None
        τ₀. Higher values make the first steps smaller. None: depends on the size of the corpus.
    batch_size : int or None, default=None
        S. Documents per mini-batch. None: depends on the size of the corpus.
    start : {"warm", "wang", "wang-code", "svi"}, default="warm"
        warm: warm-up by annealing; wang: as printed; wang-code: as its authors ran it; svi: Fig. 9
        of Hoffman 2013.
    topic_expectation : {"mean", "geometric"}, default="mean"
        Word weights in the local step; mean: E[topic], geometric: exp E[log topic], as in the
        papers.
    max_active_topics : int, default=32
        M. Number of topics that a document considers after its first iterations.
    duplicates : {"merge", "keep"}, default="merge"
        merge: merge topics down to the fewest that predict documents set aside as well; keep: keep
        all K.
    later_passes : {"average", "forget"}, default="average"
        average: all documents of a later pass count equally (needs start = warm); forget: ρ keeps
        falling in all passes.
    concentrations : {"learned", "fixed"}, default="learned"
        learned: documents set aside decide on α₀ and η (needs duplicates = merge); fixed: they keep
        their values.
    precision : {"float32", "float64"}, default="float32"
        Floating-point precision of topics and local steps.
    passes : int or None, default=None
        Number of times that `fit` reads the corpus; None: until documents set aside are predicted
        no better, at most 10 times; once if all topics are kept or there are over 200,000
        documents.
    num_shards : int or None, default=None
        Parts of a mini-batch, each a task for a thread or a worker; None: depends on its size, at
        most 8.
    random_state : int or np.random.RandomState or None, default=None
        Seed of the start and of all draws; None draws a new seed for each fit.
    unused_topics : {"keep", "drop"}, default="keep"
        drop: `transform` leaves out the topics that are not in use.
    """

    algorithm = find_algorithm("hdp")
    max_topics: int | None = None
    max_slots: int = 15
    doc_concentration: float = 1.0
    corpus_concentration: float = 1.0
    word_concentration: float = 0.01
    forgetting_rate: float = 0.6
    delay: float | None = None
    batch_size: int | None = None
    start: str = "warm"
    topic_expectation: str = "mean"
    max_active_topics: int = 32
    duplicates: str = "merge"
    later_passes: str = "average"
    concentrations: str = "learned"
    precision: str = "float32"
    passes: int | None = None
    num_shards: int | None = None
    random_state: int | np.random.RandomState | None = None
    unused_topics: str = "keep"


@dataclass(kw_only=True, repr=False, eq=False)
class OnlineDirectHDP(EditableTopicModel):
    """The scikit-learn estimator of this algorithm: Online HDP, direct assignment.

    Parameters
    ----------
    max_topics : int or None, default=None
        K. Maximum number of topics in the model. None: depends on the size of the corpus.
    doc_concentration : float, default=1.0
        α₀. Higher values spread a document over more topics.
    corpus_concentration : float, default=1.0
        γ. Higher values keep more topics.
    word_concentration : float, default=0.01
        η. Lower values give each topic fewer words.
    forgetting_rate : float, default=0.6
        κ. How fast the learning rate falls.
    delay : float or None, default=None
        τ₀. Higher values make the first steps smaller. None: depends on the size of the corpus.
    batch_size : int or None, default=None
        S. Documents per mini-batch. None: depends on the size of the corpus.
    start : {"warm", "hoffman"}, default="warm"
        warm: warm-up by annealing; hoffman: the start of online LDA.
    topic_expectation : {"mean", "geometric"}, default="mean"
        Word weights in the local step; mean: E[topic], geometric: exp E[log topic], as in the
        papers.
    duplicates : {"merge", "keep"}, default="merge"
        merge: merge topics down to the fewest that predict documents set aside as well; keep: keep
        all K.
    later_passes : {"average", "forget"}, default="average"
        average: all documents of a later pass count equally (needs start = warm); forget: ρ keeps
        falling in all passes.
    concentrations : {"learned", "fixed"}, default="learned"
        learned: documents set aside decide on α₀ and η (needs duplicates = merge); fixed: they keep
        their values.
    precision : {"float32", "float64"}, default="float32"
        Floating-point precision of topics and local steps.
    passes : int or None, default=None
        Number of times that `fit` reads the corpus; None: until documents set aside are predicted
        no better, at most 10 times; once if all topics are kept or there are over 200,000
        documents.
    num_shards : int or None, default=None
        Parts of a mini-batch, each a task for a thread or a worker; None: depends on its size, at
        most 8.
    random_state : int or np.random.RandomState or None, default=None
        Seed of the start and of all draws; None draws a new seed for each fit.
    unused_topics : {"keep", "drop"}, default="keep"
        drop: `transform` leaves out the topics that are not in use.
    """

    algorithm = find_algorithm("direct-hdp")
    max_topics: int | None = None
    doc_concentration: float = 1.0
    corpus_concentration: float = 1.0
    word_concentration: float = 0.01
    forgetting_rate: float = 0.6
    delay: float | None = None
    batch_size: int | None = None
    start: str = "warm"
    topic_expectation: str = "mean"
    duplicates: str = "merge"
    later_passes: str = "average"
    concentrations: str = "learned"
    precision: str = "float32"
    passes: int | None = None
    num_shards: int | None = None
    random_state: int | np.random.RandomState | None = None
    unused_topics: str = "keep"


@dataclass(kw_only=True, repr=False, eq=False)
class OnlineLDA(OnlineTopicModel):
    """The scikit-learn estimator of this algorithm: Online LDA.

    Parameters
    ----------
    max_topics : int, default=100
        K. Number of topics; the model uses all of them.
    doc_concentration : float, default=1.0
        Kα. Higher values spread a document over more topics.
    word_concentration : float, default=0.01
        η. Lower values give each topic fewer words.
    forgetting_rate : float, default=0.6
        κ. How fast the learning rate falls.
    delay : float or None, default=None
        τ₀. Higher values make the first steps smaller. None: depends on the size of the corpus.
    batch_size : int or None, default=None
        S. Documents per mini-batch. None: depends on the size of the corpus.
    start : {"hoffman", "warm"}, default="hoffman"
        hoffman: as in the paper; warm: warm-up by annealing.
    topic_expectation : {"geometric", "mean"}, default="geometric"
        geometric: exp E[log topic], as in the paper; mean: E[topic].
    concentrations : {"fixed", "learned", "asymmetric"}, default="fixed"
        learned: learn η and one α for all topics; asymmetric: learn η and an α for each topic.
    precision : {"float32", "float64"}, default="float32"
        Floating-point precision of topics and local steps.
    passes : int or None, default=None
        Number of times that `fit` reads the corpus; None means 1.
    num_shards : int or None, default=None
        Parts of a mini-batch, each a task for a thread or a worker; None: depends on its size, at
        most 8.
    random_state : int or np.random.RandomState or None, default=None
        Seed of the start and of all draws; None draws a new seed for each fit.
    unused_topics : {"keep", "drop"}, default="keep"
        drop: `transform` leaves out the topics that are not in use.
    """

    algorithm = find_algorithm("lda")
    max_topics: int = 100
    doc_concentration: float = 1.0
    word_concentration: float = 0.01
    forgetting_rate: float = 0.6
    delay: float | None = None
    batch_size: int | None = None
    start: str = "hoffman"
    topic_expectation: str = "geometric"
    concentrations: str = "fixed"
    precision: str = "float32"
    passes: int | None = None
    num_shards: int | None = None
    random_state: int | np.random.RandomState | None = None
    unused_topics: str = "keep"


@dataclass(kw_only=True, repr=False, eq=False)
class OnlineSVIHDP(EditableTopicModel):
    """The scikit-learn estimator of this algorithm: Online HDP, as in Hoffman 2013.

    Parameters
    ----------
    max_topics : int, default=300
        K. Maximum number of topics in the model.
    max_slots : int, default=20
        T. Maximum number of topic slots in a document.
    doc_concentration : float, default=1.0
        α₀. Higher values spread a document over more topics.
    corpus_concentration : float, default=1.0
        γ. Higher values keep more topics.
    word_concentration : float, default=0.01
        η. Lower values give each topic fewer words.
    forgetting_rate : float, default=0.9
        κ. How fast the learning rate falls.
    delay : float or None, default=1.0
        τ₀. Higher values make the first steps smaller.
    batch_size : int or None, default=500
        S. Documents per mini-batch.
    start : {"warm", "wang", "wang-code", "svi"}, default="svi"
        warm: warm-up by annealing; wang: as printed; wang-code: as its authors ran it; svi: Fig. 9
        of Hoffman 2013.
    topic_expectation : {"mean", "geometric"}, default="geometric"
        Word weights in the local step; mean: E[topic], geometric: exp E[log topic], as in the
        papers.
    max_active_topics : int, default=32
        M. Number of topics that a document considers after its first iterations.
    duplicates : {"merge", "keep"}, default="keep"
        merge: merge topics down to the fewest that predict documents set aside as well; keep: keep
        all K.
    later_passes : {"average", "forget"}, default="forget"
        average: all documents of a later pass count equally (needs start = warm); forget: ρ keeps
        falling in all passes.
    concentrations : {"learned", "fixed"}, default="fixed"
        learned: documents set aside decide on α₀ and η (needs duplicates = merge); fixed: they keep
        their values.
    precision : {"float32", "float64"}, default="float32"
        Floating-point precision of topics and local steps.
    passes : int or None, default=None
        Number of times that `fit` reads the corpus; None: until documents set aside are predicted
        no better, at most 10 times; once if all topics are kept or there are over 200,000
        documents.
    num_shards : int or None, default=None
        Parts of a mini-batch, each a task for a thread or a worker; None: depends on its size, at
        most 8.
    random_state : int or np.random.RandomState or None, default=None
        Seed of the start and of all draws; None draws a new seed for each fit.
    unused_topics : {"keep", "drop"}, default="keep"
        drop: `transform` leaves out the topics that are not in use.
    """

    algorithm = find_algorithm("svi-hdp")
    max_topics: int = 300
    max_slots: int = 20
    doc_concentration: float = 1.0
    corpus_concentration: float = 1.0
    word_concentration: float = 0.01
    forgetting_rate: float = 0.9
    delay: float | None = 1.0
    batch_size: int | None = 500
    start: str = "svi"
    topic_expectation: str = "geometric"
    max_active_topics: int = 32
    duplicates: str = "keep"
    later_passes: str = "forget"
    concentrations: str = "fixed"
    precision: str = "float32"
    passes: int | None = None
    num_shards: int | None = None
    random_state: int | np.random.RandomState | None = None
    unused_topics: str = "keep"


@dataclass(kw_only=True, repr=False, eq=False)
class BatchHDP(TopicModel):
    """The scikit-learn estimator of this algorithm: Batch HDP.

    Parameters
    ----------
    max_topics : int, default=150
        K. Maximum number of topics in the model.
    max_slots : int, default=15
        T. Maximum number of topic slots in a document.
    doc_concentration : float, default=1.0
        α₀. Higher values spread a document over more topics.
    corpus_concentration : float, default=1.0
        γ. Prior of the topic weights; it hardly changes the number of topics.
    word_concentration : float, default=0.01
        η. Lower values give each topic fewer words.
    tolerance : float, default=1e-05
        Stop when a pass raises the bound by less than this fraction of its value.
    start : {"warm", "wang"}, default="warm"
        warm: warm-up by annealing; wang: as the paper prints it.
    topic_expectation : {"mean", "geometric"}, default="mean"
        Word weights in the local step; mean: E[topic], geometric: exp E[log topic], as in the
        papers.
    max_active_topics : int, default=32
        M. Number of topics that a document considers after its first iterations.
    duplicates : {"keep", "merge"}, default="keep"
        keep: as in the paper; merge: merge topics if that raises the bound.
    precision : {"float32", "float64"}, default="float32"
        Floating-point precision of topics and local steps.
    passes : int or None, default=None
        Number of times that `fit` reads the corpus; None means 100.
    num_shards : int or None, default=None
        Parts of a mini-batch, each a task for a thread or a worker; None: depends on its size, at
        most 8.
    random_state : int or np.random.RandomState or None, default=None
        Seed of the start and of all draws; None draws a new seed for each fit.
    unused_topics : {"keep", "drop"}, default="keep"
        drop: `transform` leaves out the topics that are not in use.
    """

    algorithm = find_algorithm("batch-hdp")
    max_topics: int = 150
    max_slots: int = 15
    doc_concentration: float = 1.0
    corpus_concentration: float = 1.0
    word_concentration: float = 0.01
    tolerance: float = 1e-05
    start: str = "warm"
    topic_expectation: str = "mean"
    max_active_topics: int = 32
    duplicates: str = "keep"
    precision: str = "float32"
    passes: int | None = None
    num_shards: int | None = None
    random_state: int | np.random.RandomState | None = None
    unused_topics: str = "keep"


@dataclass(kw_only=True, repr=False, eq=False)
class BatchLDA(TopicModel):
    """The scikit-learn estimator of this algorithm: Batch LDA.

    Parameters
    ----------
    max_topics : int, default=100
        K. Number of topics; the model uses all of them.
    doc_concentration : float, default=1.0
        Kα. Higher values spread a document over more topics.
    word_concentration : float, default=0.01
        η. Lower values give each topic fewer words.
    tolerance : float, default=1e-05
        Stop when a pass raises the bound by less than this fraction of its value.
    start : {"hoffman", "warm"}, default="hoffman"
        hoffman: as in the paper; warm: warm-up by annealing.
    topic_expectation : {"mean", "geometric"}, default="geometric"
        Word weights in the local step; mean: E[topic], geometric: exp E[log topic], as in the
        papers.
    precision : {"float32", "float64"}, default="float32"
        Floating-point precision of topics and local steps.
    passes : int or None, default=None
        Number of times that `fit` reads the corpus; None means 100.
    num_shards : int or None, default=None
        Parts of a mini-batch, each a task for a thread or a worker; None: depends on its size, at
        most 8.
    random_state : int or np.random.RandomState or None, default=None
        Seed of the start and of all draws; None draws a new seed for each fit.
    unused_topics : {"keep", "drop"}, default="keep"
        drop: `transform` leaves out the topics that are not in use.
    """

    algorithm = find_algorithm("batch-lda")
    max_topics: int = 100
    doc_concentration: float = 1.0
    word_concentration: float = 0.01
    tolerance: float = 1e-05
    start: str = "hoffman"
    topic_expectation: str = "geometric"
    precision: str = "float32"
    passes: int | None = None
    num_shards: int | None = None
    random_state: int | np.random.RandomState | None = None
    unused_topics: str = "keep"


@dataclass(kw_only=True, repr=False, eq=False)
class GibbsHDP(TopicModel):
    """The scikit-learn estimator of this algorithm: Gibbs sampler of the HDP.

    Parameters
    ----------
    initial_topics : int, default=100
        K₀. Number of topics over which tokens are spread at the start.
    start : {"random", "soft"}, default="random"
        random: as in the paper; soft: raise α and η in the first 60 passes, which avoids duplicate
        topics.
    concentrations : {"resampled", "fixed"}, default="resampled"
        Whether α and γ are resampled in each pass or stay fixed.
    doc_concentration : float, default=1.0
        α₀. Higher values spread a document over more topics.
    corpus_concentration : float, default=1.0
        γ. Higher values give more topics, unless γ is resampled.
    word_concentration : float, default=0.01
        η. Lower values give each topic fewer words.
    doc_shape : float, default=4.0
        a_α. Shape of the gamma prior of α.
    doc_rate : float, default=4.0
        b_α. Rate of the gamma prior of α.
    corpus_shape : float, default=7.5
        a_γ. Shape of the gamma prior of γ.
    corpus_rate : float, default=7.5
        b_γ. Rate of the gamma prior of γ.
    burn_in : int, default=100
        Passes before the first sample.
    sample_every : int, default=5
        Passes from one sample to the next.
    passes : int or None, default=None
        Number of times that `fit` reads the corpus; None means 200.
    random_state : int or np.random.RandomState or None, default=None
        Seed of the start and of all draws; None draws a new seed for each fit.
    unused_topics : {"keep", "drop"}, default="keep"
        drop: `transform` leaves out the topics that are not in use.
    """

    algorithm = find_algorithm("gibbs-hdp")
    initial_topics: int = 100
    start: str = "random"
    concentrations: str = "resampled"
    doc_concentration: float = 1.0
    corpus_concentration: float = 1.0
    word_concentration: float = 0.01
    doc_shape: float = 4.0
    doc_rate: float = 4.0
    corpus_shape: float = 7.5
    corpus_rate: float = 7.5
    burn_in: int = 100
    sample_every: int = 5
    passes: int | None = None
    random_state: int | np.random.RandomState | None = None
    unused_topics: str = "keep"


@dataclass(kw_only=True, repr=False, eq=False)
class GibbsLDA(TopicModel):
    """The scikit-learn estimator of this algorithm: Gibbs sampler of LDA.

    Parameters
    ----------
    max_topics : int, default=100
        K. Number of topics; the model uses all of them.
    concentrations : {"fixed", "resampled"}, default="fixed"
        Whether α stays fixed or is resampled in each pass.
    doc_concentration : float, default=0.1
        Kα. Higher values spread a document over more topics.
    word_concentration : float, default=0.01
        η. Lower values give each topic fewer words.
    doc_shape : float, default=4.0
        a_α. Shape of the gamma prior of Kα.
    doc_rate : float, default=4.0
        b_α. Rate of the gamma prior of Kα.
    burn_in : int, default=100
        Passes before the first sample.
    sample_every : int, default=5
        Passes from one sample to the next.
    passes : int or None, default=None
        Number of times that `fit` reads the corpus; None means 200.
    random_state : int or np.random.RandomState or None, default=None
        Seed of the start and of all draws; None draws a new seed for each fit.
    unused_topics : {"keep", "drop"}, default="keep"
        drop: `transform` leaves out the topics that are not in use.
    """

    algorithm = find_algorithm("gibbs-lda")
    max_topics: int = 100
    concentrations: str = "fixed"
    doc_concentration: float = 0.1
    word_concentration: float = 0.01
    doc_shape: float = 4.0
    doc_rate: float = 4.0
    burn_in: int = 100
    sample_every: int = 5
    passes: int | None = None
    random_state: int | np.random.RandomState | None = None
    unused_topics: str = "keep"


@dataclass(kw_only=True, repr=False, eq=False)
class CVHDP(TopicModel):
    """The scikit-learn estimator of this algorithm: CV-HDP.

    Parameters
    ----------
    max_topics : int, default=150
        K. Maximum number of topics in the model.
    doc_shape : float, default=4.0
        a_α. Shape of the gamma prior of α, which spreads a document over topics.
    doc_rate : float, default=4.0
        b_α. Rate of the gamma prior of α.
    corpus_shape : float, default=7.5
        a_γ. Shape of the gamma prior of γ, which sets how many topics the corpus has.
    corpus_rate : float, default=7.5
        b_γ. Rate of the gamma prior of γ.
    word_total : float, default=100.0
        β. Total word concentration of a topic; the starting value if learned.
    word_prior : {"fixed", "learned"}, default="fixed"
        Whether β and τ stay fixed or are learned.
    word_shape : float, default=4.0
        a_β. Shape of the gamma prior of β, if it is learned.
    word_rate : float, default=4.0
        b_β. Rate of the gamma prior of β, if it is learned.
    base_total : float, default=40.0
        V a_τ. Total of the Dirichlet prior of τ over all words.
    first_passes : {"printed", "soft"}, default="printed"
        printed: as in the paper; soft: the first 20 passes with a large β.
    start_from : {"own", "gibbs"}, default="own"
        own: the algorithm's usual start; gibbs: 200 passes of the HDP's sampler first (Teh 2007
        Fig. 3).
    tolerance : float, default=1e-05
        Stop when the relative change of the bound falls below this.
    precision : {"float32", "float64"}, default="float32"
        Floating-point precision of topics and local steps.
    passes : int or None, default=None
        Number of times that `fit` reads the corpus; None means 100.
    random_state : int or np.random.RandomState or None, default=None
        Seed of the start and of all draws; None draws a new seed for each fit.
    unused_topics : {"keep", "drop"}, default="keep"
        drop: `transform` leaves out the topics that are not in use.
    """

    algorithm = find_algorithm("cv-hdp")
    max_topics: int = 150
    doc_shape: float = 4.0
    doc_rate: float = 4.0
    corpus_shape: float = 7.5
    corpus_rate: float = 7.5
    word_total: float = 100.0
    word_prior: str = "fixed"
    word_shape: float = 4.0
    word_rate: float = 4.0
    base_total: float = 40.0
    first_passes: str = "printed"
    start_from: str = "own"
    tolerance: float = 1e-05
    precision: str = "float32"
    passes: int | None = None
    random_state: int | np.random.RandomState | None = None
    unused_topics: str = "keep"


@dataclass(kw_only=True, repr=False, eq=False)
class CVLDA(TopicModel):
    """The scikit-learn estimator of this algorithm: CV-LDA.

    Parameters
    ----------
    max_topics : int, default=80
        K. Number of topics; the model uses all of them.
    doc_concentration : float, default=0.1
        Kα. Higher values spread a document over more topics.
    word_total : float, default=100.0
        β. Total word concentration of a topic; lower values give each topic fewer words.
    start_from : {"own", "gibbs"}, default="own"
        own: the algorithm's usual start; gibbs: 200 passes of the HDP's sampler first (Teh 2007
        Fig. 3).
    tolerance : float, default=1e-05
        Stop when the relative change of the bound falls below this.
    precision : {"float32", "float64"}, default="float32"
        Floating-point precision of topics and local steps.
    passes : int or None, default=None
        Number of times that `fit` reads the corpus; None means 100.
    random_state : int or np.random.RandomState or None, default=None
        Seed of the start and of all draws; None draws a new seed for each fit.
    unused_topics : {"keep", "drop"}, default="keep"
        drop: `transform` leaves out the topics that are not in use.
    """

    algorithm = find_algorithm("cv-lda")
    max_topics: int = 80
    doc_concentration: float = 0.1
    word_total: float = 100.0
    start_from: str = "own"
    tolerance: float = 1e-05
    precision: str = "float32"
    passes: int | None = None
    random_state: int | np.random.RandomState | None = None
    unused_topics: str = "keep"


@dataclass(kw_only=True, repr=False, eq=False)
class OnlineFreeHDP(OnlineTopicModel):
    """The scikit-learn estimator of this algorithm: Truncation-free online HDP.

    Parameters
    ----------
    doc_concentration : float, default=1.0
        α₀. Higher values spread a document over more topics.
    corpus_concentration : float, default=1.0
        γ. Higher values give more topics, unless γ is resampled.
    word_concentration : float, default=0.01
        η. Lower values give each topic fewer words.
    batch_size : int or None, default=None
        S. Documents per mini-batch. None: depends on the size of the corpus.
    burn_in : int, default=5
        Gibbs passes over a mini-batch before the first sample.
    num_samples : int, default=5
        Number of samples, one per Gibbs pass, that are averaged for a mini-batch.
    precision : {"float32", "float64"}, default="float32"
        Floating-point precision of topics and local steps.
    passes : int or None, default=None
        Number of times that `fit` reads the corpus; None means 1.
    random_state : int or np.random.RandomState or None, default=None
        Seed of the start and of all draws; None draws a new seed for each fit.
    unused_topics : {"keep", "drop"}, default="keep"
        drop: `transform` leaves out the topics that are not in use.
    """

    algorithm = find_algorithm("free-hdp")
    doc_concentration: float = 1.0
    corpus_concentration: float = 1.0
    word_concentration: float = 0.01
    batch_size: int | None = None
    burn_in: int = 5
    num_samples: int = 5
    precision: str = "float32"
    passes: int | None = None
    random_state: int | np.random.RandomState | None = None
    unused_topics: str = "keep"


@dataclass(kw_only=True, repr=False, eq=False)
class OnlineFreeDPMixture(OnlineTopicModel):
    """The scikit-learn estimator of this algorithm: Truncation-free DP mixture.

    Parameters
    ----------
    corpus_concentration : float, default=1.0
        γ. Prior of the topic weights; it hardly changes the number of topics.
    word_concentration : float, default=0.5
        η. Lower values give each topic fewer words.
    batch_size : int or None, default=None
        S. Documents per mini-batch. None: depends on the size of the corpus.
    burn_in : int, default=5
        Gibbs passes over a mini-batch before the first sample.
    num_samples : int, default=5
        Number of samples, one per Gibbs pass, that are averaged for a mini-batch.
    precision : {"float32", "float64"}, default="float32"
        Floating-point precision of topics and local steps.
    passes : int or None, default=None
        Number of times that `fit` reads the corpus; None means 1.
    random_state : int or np.random.RandomState or None, default=None
        Seed of the start and of all draws; None draws a new seed for each fit.
    unused_topics : {"keep", "drop"}, default="keep"
        drop: `transform` leaves out the topics that are not in use.
    """

    algorithm = find_algorithm("free-dp-mixture")
    corpus_concentration: float = 1.0
    word_concentration: float = 0.5
    batch_size: int | None = None
    burn_in: int = 5
    num_samples: int = 5
    precision: str = "float32"
    passes: int | None = None
    random_state: int | np.random.RandomState | None = None
    unused_topics: str = "keep"


@dataclass(kw_only=True, repr=False, eq=False)
class OnlineDPMixture(OnlineTopicModel):
    """The scikit-learn estimator of this algorithm: Online DP mixture.

    Parameters
    ----------
    max_topics : int, default=300
        K. Maximum number of topics in the model.
    corpus_concentration : float, default=1.0
        γ. Prior of the topic weights; it hardly changes the number of topics.
    word_concentration : float, default=0.5
        η. Lower values give each topic fewer words.
    forgetting_rate : float, default=0.6
        κ. How fast the learning rate falls.
    delay : float, default=1.0
        τ₀. Higher values make the first steps smaller.
    batch_size : int or None, default=None
        S. Documents per mini-batch. None: depends on the size of the corpus.
    start : {"hoffman", "wang"}, default="hoffman"
        hoffman: noise near 1 for each word and component; wang: exponential noise of 100 words per
        document.
    precision : {"float32", "float64"}, default="float32"
        Floating-point precision of topics and local steps.
    passes : int or None, default=None
        Number of times that `fit` reads the corpus; None means 1.
    num_shards : int or None, default=None
        Parts of a mini-batch, each a task for a thread or a worker; None: depends on its size, at
        most 8.
    random_state : int or np.random.RandomState or None, default=None
        Seed of the start and of all draws; None draws a new seed for each fit.
    unused_topics : {"keep", "drop"}, default="keep"
        drop: `transform` leaves out the topics that are not in use.
    """

    algorithm = find_algorithm("dp-mixture")
    max_topics: int = 300
    corpus_concentration: float = 1.0
    word_concentration: float = 0.5
    forgetting_rate: float = 0.6
    delay: float = 1.0
    batch_size: int | None = None
    start: str = "hoffman"
    precision: str = "float32"
    passes: int | None = None
    num_shards: int | None = None
    random_state: int | np.random.RandomState | None = None
    unused_topics: str = "keep"


@dataclass(kw_only=True, repr=False, eq=False)
class BatchDPMixture(TopicModel):
    """The scikit-learn estimator of this algorithm: Batch DP mixture.

    Parameters
    ----------
    max_topics : int, default=300
        K. Maximum number of topics in the model.
    corpus_concentration : float, default=1.0
        γ. Prior of the topic weights; it hardly changes the number of topics.
    word_concentration : float, default=0.5
        η. Lower values give each topic fewer words.
    tolerance : float, default=1e-05
        Stop when a pass raises the bound by less than this fraction of its value.
    start : {"hoffman", "wang"}, default="hoffman"
        hoffman: noise near 1 for each word and component; wang: exponential noise of 100 words per
        document.
    precision : {"float32", "float64"}, default="float32"
        Floating-point precision of topics and local steps.
    passes : int or None, default=None
        Number of times that `fit` reads the corpus; None means 100.
    num_shards : int or None, default=None
        Parts of a mini-batch, each a task for a thread or a worker; None: depends on its size, at
        most 8.
    random_state : int or np.random.RandomState or None, default=None
        Seed of the start and of all draws; None draws a new seed for each fit.
    unused_topics : {"keep", "drop"}, default="keep"
        drop: `transform` leaves out the topics that are not in use.
    """

    algorithm = find_algorithm("batch-dp-mixture")
    max_topics: int = 300
    corpus_concentration: float = 1.0
    word_concentration: float = 0.5
    tolerance: float = 1e-05
    start: str = "hoffman"
    precision: str = "float32"
    passes: int | None = None
    num_shards: int | None = None
    random_state: int | np.random.RandomState | None = None
    unused_topics: str = "keep"


CLASSES: dict[str, type[TopicModel]] = {
    "hdp": OnlineHDP,
    "direct-hdp": OnlineDirectHDP,
    "lda": OnlineLDA,
    "svi-hdp": OnlineSVIHDP,
    "batch-hdp": BatchHDP,
    "batch-lda": BatchLDA,
    "gibbs-hdp": GibbsHDP,
    "gibbs-lda": GibbsLDA,
    "cv-hdp": CVHDP,
    "cv-lda": CVLDA,
    "free-hdp": OnlineFreeHDP,
    "free-dp-mixture": OnlineFreeDPMixture,
    "dp-mixture": OnlineDPMixture,
    "batch-dp-mixture": BatchDPMixture,
}
