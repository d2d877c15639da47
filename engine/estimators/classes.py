"""The estimator of each algorithm; do not edit.

`python -m stickbreaker.engine.estimators.write_classes` writes this file.
"""

import numpy as np

from stickbreaker.engine.algorithms import find_algorithm
from stickbreaker.engine.estimators.model import OnlineTopicModel, TopicModel


class OnlineHDP(OnlineTopicModel):
    """The scikit-learn estimator of this algorithm: Online HDP.

    Parameters
    ----------
    max_topics : int or None, default=None
        K. Most topics the model may use. None follows the size of the corpus.
    max_slots : int, default=15
        T. Most places a document has to hold a topic.
    doc_concentration : float, default=1.0
        α₀. Larger: a document spreads over more topics.
    corpus_concentration : float, default=1.0
        γ. Larger: the corpus spreads over more topics.
    word_concentration : float, default=0.01
        η. Smaller: a topic keeps to fewer words.
    forgetting_rate : float, default=0.6
        κ. How fast the steps shrink.
    delay : float or None, default=None
        τ₀. How much the first steps are held back. None follows the size of the corpus.
    batch_size : int or None, default=None
        S. Documents in a mini-batch. None follows the size of the corpus.
    start : {"warm", "wang", "svi"}, default="warm"
        warm: soft warm-up; wang: as in the paper; svi: as in Fig. 9 of Hoffman 2013.
    topic_expectation : {"mean", "geometric"}, default="mean"
        mean: E[topic]; geometric: exp E[log topic], as printed.
    max_active_topics : int, default=32
        M. Topics that a document considers after its start.
    duplicates : {"merge", "keep"}, default="merge"
        merge: topics more alike than two samples of one topic become one; keep.
    concentrations : {"fixed", "learned"}, default="fixed"
        fixed: α₀, γ and η as set; learned: begun there, and learned.
    precision : {"float32", "float64"}, default="float32"
        of topics and local steps.
    passes : int or None, default=None
        Times that `fit` reads the corpus; None means 1.
    random_state : int or np.random.RandomState or None, default=None
        Seed of the start and of all draws; None draws another seed at each fit.
    """

    algorithm = find_algorithm("hdp")

    def __init__(  # noqa: PLR0913
        self,
        *,
        max_topics: int | None = None,
        max_slots: int = 15,
        doc_concentration: float = 1.0,
        corpus_concentration: float = 1.0,
        word_concentration: float = 0.01,
        forgetting_rate: float = 0.6,
        delay: float | None = None,
        batch_size: int | None = None,
        start: str = "warm",
        topic_expectation: str = "mean",
        max_active_topics: int = 32,
        duplicates: str = "merge",
        concentrations: str = "fixed",
        precision: str = "float32",
        passes: int | None = None,
        random_state: int | np.random.RandomState | None = None,
    ) -> None:
        self.max_topics = max_topics
        self.max_slots = max_slots
        self.doc_concentration = doc_concentration
        self.corpus_concentration = corpus_concentration
        self.word_concentration = word_concentration
        self.forgetting_rate = forgetting_rate
        self.delay = delay
        self.batch_size = batch_size
        self.start = start
        self.topic_expectation = topic_expectation
        self.max_active_topics = max_active_topics
        self.duplicates = duplicates
        self.concentrations = concentrations
        self.precision = precision
        self.passes = passes
        self.random_state = random_state


class OnlineDirectHDP(OnlineTopicModel):
    """The scikit-learn estimator of this algorithm: Online HDP, direct assignment.

    Parameters
    ----------
    max_topics : int or None, default=None
        K. Most topics the model may use. None follows the size of the corpus.
    doc_concentration : float, default=1.0
        α₀. Larger: a document spreads over more topics.
    corpus_concentration : float, default=1.0
        γ. Larger: the corpus spreads over more topics.
    word_concentration : float, default=0.01
        η. Smaller: a topic keeps to fewer words.
    forgetting_rate : float, default=0.6
        κ. How fast the steps shrink.
    delay : float or None, default=None
        τ₀. How much the first steps are held back. None follows the size of the corpus.
    batch_size : int or None, default=None
        S. Documents in a mini-batch. None follows the size of the corpus.
    start : {"warm", "hoffman"}, default="warm"
        warm: soft warm-up; hoffman: as online LDA starts.
    topic_expectation : {"mean", "geometric"}, default="mean"
        mean: E[topic]; geometric: exp E[log topic], as printed.
    duplicates : {"merge", "keep"}, default="merge"
        merge: topics more alike than two samples of one topic become one; keep.
    concentrations : {"fixed", "learned"}, default="fixed"
        fixed: α₀, γ and η as set; learned: begun there, and learned.
    precision : {"float32", "float64"}, default="float32"
        of topics and local steps.
    passes : int or None, default=None
        Times that `fit` reads the corpus; None means 1.
    random_state : int or np.random.RandomState or None, default=None
        Seed of the start and of all draws; None draws another seed at each fit.
    """

    algorithm = find_algorithm("direct-hdp")

    def __init__(  # noqa: PLR0913
        self,
        *,
        max_topics: int | None = None,
        doc_concentration: float = 1.0,
        corpus_concentration: float = 1.0,
        word_concentration: float = 0.01,
        forgetting_rate: float = 0.6,
        delay: float | None = None,
        batch_size: int | None = None,
        start: str = "warm",
        topic_expectation: str = "mean",
        duplicates: str = "merge",
        concentrations: str = "fixed",
        precision: str = "float32",
        passes: int | None = None,
        random_state: int | np.random.RandomState | None = None,
    ) -> None:
        self.max_topics = max_topics
        self.doc_concentration = doc_concentration
        self.corpus_concentration = corpus_concentration
        self.word_concentration = word_concentration
        self.forgetting_rate = forgetting_rate
        self.delay = delay
        self.batch_size = batch_size
        self.start = start
        self.topic_expectation = topic_expectation
        self.duplicates = duplicates
        self.concentrations = concentrations
        self.precision = precision
        self.passes = passes
        self.random_state = random_state


class OnlineLDA(OnlineTopicModel):
    """The scikit-learn estimator of this algorithm: Online LDA.

    Parameters
    ----------
    max_topics : int, default=100
        K. Topics, all of which the model uses.
    doc_concentration : float, default=1.0
        Kα. Larger: a document spreads over more topics.
    word_concentration : float, default=0.01
        η. Smaller: a topic keeps to fewer words.
    forgetting_rate : float, default=0.6
        κ. How fast the steps shrink.
    delay : float or None, default=None
        τ₀. How much the first steps are held back. None follows the size of the corpus.
    batch_size : int or None, default=None
        S. Documents in a mini-batch. None follows the size of the corpus.
    start : {"hoffman", "warm"}, default="hoffman"
        hoffman: as in the paper; warm: soft warm-up.
    topic_expectation : {"geometric", "mean"}, default="geometric"
        geometric: exp E[log topic], as printed; mean: E[topic].
    concentrations : {"fixed", "learned", "asymmetric"}, default="fixed"
        learned: α, the same for every topic, and η; asymmetric: an α for each topic, and η.
    precision : {"float32", "float64"}, default="float32"
        of topics and local steps.
    passes : int or None, default=None
        Times that `fit` reads the corpus; None means 1.
    random_state : int or np.random.RandomState or None, default=None
        Seed of the start and of all draws; None draws another seed at each fit.
    """

    algorithm = find_algorithm("lda")

    def __init__(  # noqa: PLR0913
        self,
        *,
        max_topics: int = 100,
        doc_concentration: float = 1.0,
        word_concentration: float = 0.01,
        forgetting_rate: float = 0.6,
        delay: float | None = None,
        batch_size: int | None = None,
        start: str = "hoffman",
        topic_expectation: str = "geometric",
        concentrations: str = "fixed",
        precision: str = "float32",
        passes: int | None = None,
        random_state: int | np.random.RandomState | None = None,
    ) -> None:
        self.max_topics = max_topics
        self.doc_concentration = doc_concentration
        self.word_concentration = word_concentration
        self.forgetting_rate = forgetting_rate
        self.delay = delay
        self.batch_size = batch_size
        self.start = start
        self.topic_expectation = topic_expectation
        self.concentrations = concentrations
        self.precision = precision
        self.passes = passes
        self.random_state = random_state


class OnlineSVIHDP(OnlineTopicModel):
    """The scikit-learn estimator of this algorithm: Online HDP, as in SVI 2013.

    Parameters
    ----------
    max_topics : int, default=300
        K. Most topics the model may use.
    max_slots : int, default=20
        T. Most places a document has to hold a topic.
    doc_concentration : float, default=1.0
        α₀. Larger: a document spreads over more topics.
    corpus_concentration : float, default=1.0
        γ. Larger: the corpus spreads over more topics.
    word_concentration : float, default=0.01
        η. Smaller: a topic keeps to fewer words.
    forgetting_rate : float, default=0.9
        κ. How fast the steps shrink.
    delay : float or None, default=1.0
        τ₀. How much the first steps are held back.
    batch_size : int or None, default=500
        S. Documents in a mini-batch.
    start : {"warm", "wang", "svi"}, default="svi"
        warm: soft warm-up; wang: as in the paper; svi: as in Fig. 9 of Hoffman 2013.
    topic_expectation : {"mean", "geometric"}, default="geometric"
        mean: E[topic]; geometric: exp E[log topic], as printed.
    max_active_topics : int, default=32
        M. Topics that a document considers after its start.
    duplicates : {"merge", "keep"}, default="keep"
        merge: topics more alike than two samples of one topic become one; keep.
    concentrations : {"fixed", "learned"}, default="fixed"
        fixed: α₀, γ and η as set; learned: begun there, and learned.
    precision : {"float32", "float64"}, default="float32"
        of topics and local steps.
    passes : int or None, default=None
        Times that `fit` reads the corpus; None means 1.
    random_state : int or np.random.RandomState or None, default=None
        Seed of the start and of all draws; None draws another seed at each fit.
    """

    algorithm = find_algorithm("svi-hdp")

    def __init__(  # noqa: PLR0913
        self,
        *,
        max_topics: int = 300,
        max_slots: int = 20,
        doc_concentration: float = 1.0,
        corpus_concentration: float = 1.0,
        word_concentration: float = 0.01,
        forgetting_rate: float = 0.9,
        delay: float | None = 1.0,
        batch_size: int | None = 500,
        start: str = "svi",
        topic_expectation: str = "geometric",
        max_active_topics: int = 32,
        duplicates: str = "keep",
        concentrations: str = "fixed",
        precision: str = "float32",
        passes: int | None = None,
        random_state: int | np.random.RandomState | None = None,
    ) -> None:
        self.max_topics = max_topics
        self.max_slots = max_slots
        self.doc_concentration = doc_concentration
        self.corpus_concentration = corpus_concentration
        self.word_concentration = word_concentration
        self.forgetting_rate = forgetting_rate
        self.delay = delay
        self.batch_size = batch_size
        self.start = start
        self.topic_expectation = topic_expectation
        self.max_active_topics = max_active_topics
        self.duplicates = duplicates
        self.concentrations = concentrations
        self.precision = precision
        self.passes = passes
        self.random_state = random_state


class BatchHDP(TopicModel):
    """The scikit-learn estimator of this algorithm: Batch HDP.

    Parameters
    ----------
    max_topics : int, default=150
        K. Most topics the model may use.
    max_slots : int, default=15
        T. Most places a document has to hold a topic.
    doc_concentration : float, default=1.0
        α₀. Larger: a document spreads over more topics.
    corpus_concentration : float, default=1.0
        γ. Larger: the corpus spreads over more topics.
    word_concentration : float, default=0.01
        η. Smaller: a topic keeps to fewer words.
    tolerance : float, default=1e-05
        The run ends when a pass gains less than this share of the bound.
    start : {"warm", "wang"}, default="warm"
        warm: soft warm-up; wang: as in the paper.
    topic_expectation : {"mean", "geometric"}, default="mean"
        mean: E[topic]; geometric: exp E[log topic], as printed.
    max_active_topics : int, default=32
        M. Topics that a document considers after its start.
    duplicates : {"keep", "merge"}, default="keep"
        keep: as in the paper; merge: topics become one where that raises the bound.
    precision : {"float32", "float64"}, default="float32"
        of topics and local steps.
    passes : int or None, default=None
        Times that `fit` reads the corpus; None means 100.
    random_state : int or np.random.RandomState or None, default=None
        Seed of the start and of all draws; None draws another seed at each fit.
    """

    algorithm = find_algorithm("batch-hdp")

    def __init__(  # noqa: PLR0913
        self,
        *,
        max_topics: int = 150,
        max_slots: int = 15,
        doc_concentration: float = 1.0,
        corpus_concentration: float = 1.0,
        word_concentration: float = 0.01,
        tolerance: float = 1e-05,
        start: str = "warm",
        topic_expectation: str = "mean",
        max_active_topics: int = 32,
        duplicates: str = "keep",
        precision: str = "float32",
        passes: int | None = None,
        random_state: int | np.random.RandomState | None = None,
    ) -> None:
        self.max_topics = max_topics
        self.max_slots = max_slots
        self.doc_concentration = doc_concentration
        self.corpus_concentration = corpus_concentration
        self.word_concentration = word_concentration
        self.tolerance = tolerance
        self.start = start
        self.topic_expectation = topic_expectation
        self.max_active_topics = max_active_topics
        self.duplicates = duplicates
        self.precision = precision
        self.passes = passes
        self.random_state = random_state


class BatchLDA(TopicModel):
    """The scikit-learn estimator of this algorithm: Batch LDA.

    Parameters
    ----------
    max_topics : int, default=100
        K. Topics, all of which the model uses.
    doc_concentration : float, default=1.0
        Kα. Larger: a document spreads over more topics.
    word_concentration : float, default=0.01
        η. Smaller: a topic keeps to fewer words.
    tolerance : float, default=1e-05
        The run ends when a pass gains less than this share of the bound.
    start : {"hoffman", "warm"}, default="hoffman"
        hoffman: as in the paper; warm: soft warm-up.
    topic_expectation : {"mean", "geometric"}, default="geometric"
        mean: E[topic]; geometric: exp E[log topic], as printed.
    precision : {"float32", "float64"}, default="float32"
        of topics and local steps.
    passes : int or None, default=None
        Times that `fit` reads the corpus; None means 100.
    random_state : int or np.random.RandomState or None, default=None
        Seed of the start and of all draws; None draws another seed at each fit.
    """

    algorithm = find_algorithm("batch-lda")

    def __init__(  # noqa: PLR0913
        self,
        *,
        max_topics: int = 100,
        doc_concentration: float = 1.0,
        word_concentration: float = 0.01,
        tolerance: float = 1e-05,
        start: str = "hoffman",
        topic_expectation: str = "geometric",
        precision: str = "float32",
        passes: int | None = None,
        random_state: int | np.random.RandomState | None = None,
    ) -> None:
        self.max_topics = max_topics
        self.doc_concentration = doc_concentration
        self.word_concentration = word_concentration
        self.tolerance = tolerance
        self.start = start
        self.topic_expectation = topic_expectation
        self.precision = precision
        self.passes = passes
        self.random_state = random_state


class GibbsHDP(TopicModel):
    """The scikit-learn estimator of this algorithm: Gibbs sampler of the HDP.

    Parameters
    ----------
    initial_topics : int, default=100
        K₀. Topics that tokens are spread over at the start.
    start : {"random", "soft"}, default="random"
        random: as in the paper; soft: the first 60 sweeps with α and η raised, which keeps topics apart from copies.
    concentrations : {"resampled", "fixed"}, default="resampled"
        α and γ: drawn anew at each sweep, or fixed.
    doc_concentration : float, default=1.0
        α₀. Larger: a document spreads over more topics.
    corpus_concentration : float, default=1.0
        γ. Larger: the corpus spreads over more topics.
    word_concentration : float, default=0.01
        η. Smaller: a topic keeps to fewer words.
    doc_shape : float, default=4.0
        a_α. Shape of α's Gamma prior.
    doc_rate : float, default=4.0
        b_α. Rate of α's Gamma prior.
    corpus_shape : float, default=7.5
        a_γ. Shape of γ's Gamma prior.
    corpus_rate : float, default=7.5
        b_γ. Rate of γ's Gamma prior.
    burn_in : int, default=100
        Sweeps before the first sample.
    sample_every : int, default=5
        Sweeps from sample to sample.
    passes : int or None, default=None
        Times that `fit` reads the corpus; None means 200.
    random_state : int or np.random.RandomState or None, default=None
        Seed of the start and of all draws; None draws another seed at each fit.
    """

    algorithm = find_algorithm("gibbs-hdp")

    def __init__(  # noqa: PLR0913
        self,
        *,
        initial_topics: int = 100,
        start: str = "random",
        concentrations: str = "resampled",
        doc_concentration: float = 1.0,
        corpus_concentration: float = 1.0,
        word_concentration: float = 0.01,
        doc_shape: float = 4.0,
        doc_rate: float = 4.0,
        corpus_shape: float = 7.5,
        corpus_rate: float = 7.5,
        burn_in: int = 100,
        sample_every: int = 5,
        passes: int | None = None,
        random_state: int | np.random.RandomState | None = None,
    ) -> None:
        self.initial_topics = initial_topics
        self.start = start
        self.concentrations = concentrations
        self.doc_concentration = doc_concentration
        self.corpus_concentration = corpus_concentration
        self.word_concentration = word_concentration
        self.doc_shape = doc_shape
        self.doc_rate = doc_rate
        self.corpus_shape = corpus_shape
        self.corpus_rate = corpus_rate
        self.burn_in = burn_in
        self.sample_every = sample_every
        self.passes = passes
        self.random_state = random_state


class GibbsLDA(TopicModel):
    """The scikit-learn estimator of this algorithm: Gibbs sampler of LDA.

    Parameters
    ----------
    max_topics : int, default=100
        K. Topics of the model.
    concentrations : {"fixed", "resampled"}, default="fixed"
        α: fixed, or drawn anew at each sweep.
    doc_concentration : float, default=0.1
        Kα. Larger: a document spreads over more topics.
    word_concentration : float, default=0.01
        η. Smaller: a topic keeps to fewer words.
    doc_shape : float, default=4.0
        a_α. Shape of the Gamma prior of Kα.
    doc_rate : float, default=4.0
        b_α. Rate of the Gamma prior of Kα.
    burn_in : int, default=100
        Sweeps before the first sample.
    sample_every : int, default=5
        Sweeps from sample to sample.
    passes : int or None, default=None
        Times that `fit` reads the corpus; None means 200.
    random_state : int or np.random.RandomState or None, default=None
        Seed of the start and of all draws; None draws another seed at each fit.
    """

    algorithm = find_algorithm("gibbs-lda")

    def __init__(  # noqa: PLR0913
        self,
        *,
        max_topics: int = 100,
        concentrations: str = "fixed",
        doc_concentration: float = 0.1,
        word_concentration: float = 0.01,
        doc_shape: float = 4.0,
        doc_rate: float = 4.0,
        burn_in: int = 100,
        sample_every: int = 5,
        passes: int | None = None,
        random_state: int | np.random.RandomState | None = None,
    ) -> None:
        self.max_topics = max_topics
        self.concentrations = concentrations
        self.doc_concentration = doc_concentration
        self.word_concentration = word_concentration
        self.doc_shape = doc_shape
        self.doc_rate = doc_rate
        self.burn_in = burn_in
        self.sample_every = sample_every
        self.passes = passes
        self.random_state = random_state


class CVHDP(TopicModel):
    """The scikit-learn estimator of this algorithm: CV-HDP.

    Parameters
    ----------
    max_topics : int, default=150
        K. Most topics the model may use.
    doc_shape : float, default=4.0
        a_α. Shape of the prior of α: how much a document spreads over topics.
    doc_rate : float, default=4.0
        b_α. Rate of the prior of α.
    corpus_shape : float, default=7.5
        a_γ. Shape of the prior of γ: how many topics the corpus has.
    corpus_rate : float, default=7.5
        b_γ. Rate of the prior of γ.
    word_total : float, default=100.0
        β. Β at the start, and for good where it is fixed.
    word_prior : {"fixed", "learned"}, default="fixed"
        β and τ: fixed, or learned.
    word_shape : float, default=4.0
        a_β. Shape of the prior of β, where it is learned.
    word_rate : float, default=4.0
        b_β. Rate of the prior of β, where it is learned.
    base_total : float, default=40.0
        V a_τ. Of the Dirichlet prior of τ, all words together.
    first_sweeps : {"printed", "soft"}, default="printed"
        printed: as all others; soft: under a large β.
    tolerance : float, default=1e-05
        Ends the run once a sweep changes the bound by less of it.
    precision : {"float32", "float64"}, default="float32"
        of topics and local steps.
    passes : int or None, default=None
        Times that `fit` reads the corpus; None means 100.
    random_state : int or np.random.RandomState or None, default=None
        Seed of the start and of all draws; None draws another seed at each fit.
    """

    algorithm = find_algorithm("cv-hdp")

    def __init__(  # noqa: PLR0913
        self,
        *,
        max_topics: int = 150,
        doc_shape: float = 4.0,
        doc_rate: float = 4.0,
        corpus_shape: float = 7.5,
        corpus_rate: float = 7.5,
        word_total: float = 100.0,
        word_prior: str = "fixed",
        word_shape: float = 4.0,
        word_rate: float = 4.0,
        base_total: float = 40.0,
        first_sweeps: str = "printed",
        tolerance: float = 1e-05,
        precision: str = "float32",
        passes: int | None = None,
        random_state: int | np.random.RandomState | None = None,
    ) -> None:
        self.max_topics = max_topics
        self.doc_shape = doc_shape
        self.doc_rate = doc_rate
        self.corpus_shape = corpus_shape
        self.corpus_rate = corpus_rate
        self.word_total = word_total
        self.word_prior = word_prior
        self.word_shape = word_shape
        self.word_rate = word_rate
        self.base_total = base_total
        self.first_sweeps = first_sweeps
        self.tolerance = tolerance
        self.precision = precision
        self.passes = passes
        self.random_state = random_state


class CVLDA(TopicModel):
    """The scikit-learn estimator of this algorithm: CV-LDA.

    Parameters
    ----------
    max_topics : int, default=80
        K. Topics, all of which the model uses.
    doc_concentration : float, default=0.1
        Kα. Larger: a document spreads over more topics.
    word_total : float, default=100.0
        β. Smaller: a topic keeps to fewer words; 100 is 100/V a word.
    tolerance : float, default=1e-05
        Ends the run once a sweep changes the bound by less of it.
    precision : {"float32", "float64"}, default="float32"
        of topics and local steps.
    passes : int or None, default=None
        Times that `fit` reads the corpus; None means 100.
    random_state : int or np.random.RandomState or None, default=None
        Seed of the start and of all draws; None draws another seed at each fit.
    """

    algorithm = find_algorithm("cv-lda")

    def __init__(  # noqa: PLR0913
        self,
        *,
        max_topics: int = 80,
        doc_concentration: float = 0.1,
        word_total: float = 100.0,
        tolerance: float = 1e-05,
        precision: str = "float32",
        passes: int | None = None,
        random_state: int | np.random.RandomState | None = None,
    ) -> None:
        self.max_topics = max_topics
        self.doc_concentration = doc_concentration
        self.word_total = word_total
        self.tolerance = tolerance
        self.precision = precision
        self.passes = passes
        self.random_state = random_state


class OnlineFreeHDP(OnlineTopicModel):
    """The scikit-learn estimator of this algorithm: Truncation-free online HDP.

    Parameters
    ----------
    doc_concentration : float, default=1.0
        α₀. Larger: a document spreads over more topics.
    corpus_concentration : float, default=1.0
        γ. Larger: the corpus spreads over more topics.
    word_concentration : float, default=0.01
        η. Smaller: a topic keeps to fewer words.
    batch_size : int or None, default=None
        S. Documents in a mini-batch. None follows the size of the corpus.
    burn_in : int, default=5
        Gibbs sweeps over a mini-batch before a sample is taken.
    num_samples : int, default=5
        Gibbs sweeps over a mini-batch whose samples are averaged.
    precision : {"float32", "float64"}, default="float32"
        of topics and local steps.
    passes : int or None, default=None
        Times that `fit` reads the corpus; None means 1.
    random_state : int or np.random.RandomState or None, default=None
        Seed of the start and of all draws; None draws another seed at each fit.
    """

    algorithm = find_algorithm("free-hdp")

    def __init__(  # noqa: PLR0913
        self,
        *,
        doc_concentration: float = 1.0,
        corpus_concentration: float = 1.0,
        word_concentration: float = 0.01,
        batch_size: int | None = None,
        burn_in: int = 5,
        num_samples: int = 5,
        precision: str = "float32",
        passes: int | None = None,
        random_state: int | np.random.RandomState | None = None,
    ) -> None:
        self.doc_concentration = doc_concentration
        self.corpus_concentration = corpus_concentration
        self.word_concentration = word_concentration
        self.batch_size = batch_size
        self.burn_in = burn_in
        self.num_samples = num_samples
        self.precision = precision
        self.passes = passes
        self.random_state = random_state


class OnlineFreeDPMixture(OnlineTopicModel):
    """The scikit-learn estimator of this algorithm: Truncation-free DP mixture.

    Parameters
    ----------
    corpus_concentration : float, default=1.0
        γ. Larger: the corpus spreads over more topics.
    word_concentration : float, default=0.5
        η. Smaller: a topic keeps to fewer words.
    batch_size : int or None, default=None
        S. Documents in a mini-batch. None follows the size of the corpus.
    burn_in : int, default=5
        Gibbs sweeps over a mini-batch before a sample is taken.
    num_samples : int, default=5
        Gibbs sweeps over a mini-batch whose samples are averaged.
    precision : {"float32", "float64"}, default="float32"
        of topics and local steps.
    passes : int or None, default=None
        Times that `fit` reads the corpus; None means 1.
    random_state : int or np.random.RandomState or None, default=None
        Seed of the start and of all draws; None draws another seed at each fit.
    """

    algorithm = find_algorithm("free-dp-mixture")

    def __init__(  # noqa: PLR0913
        self,
        *,
        corpus_concentration: float = 1.0,
        word_concentration: float = 0.5,
        batch_size: int | None = None,
        burn_in: int = 5,
        num_samples: int = 5,
        precision: str = "float32",
        passes: int | None = None,
        random_state: int | np.random.RandomState | None = None,
    ) -> None:
        self.corpus_concentration = corpus_concentration
        self.word_concentration = word_concentration
        self.batch_size = batch_size
        self.burn_in = burn_in
        self.num_samples = num_samples
        self.precision = precision
        self.passes = passes
        self.random_state = random_state


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
}
