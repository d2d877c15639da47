"""Every algorithm as a scikit-learn estimator: fit, partial_fit, transform, score, save and load.

There is one class for each entry of REGISTRY, named after it: "cv-hdp" is `CVHDP`. Its parameters
are the settings of the algorithm, then `passes`, `random_state` and `unused_topics`. Algorithms
that learn from mini-batches are called Online ("hdp" is `OnlineHDP`) and have `partial_fit`.
`python -m stickbreaker.engine.estimators.write_classes` writes the classes.
"""

from stickbreaker.engine.estimators.classes import CLASSES as CLASSES
from stickbreaker.engine.estimators.classes import (
    CVHDP,
    CVLDA,
    BatchDPMixture,
    BatchHDP,
    BatchLDA,
    GibbsHDP,
    GibbsLDA,
    OnlineDirectHDP,
    OnlineDPMixture,
    OnlineFreeDPMixture,
    OnlineFreeHDP,
    OnlineHDP,
    OnlineLDA,
    OnlineSVIHDP,
)
from stickbreaker.engine.estimators.consensus_model import consensus
from stickbreaker.engine.estimators.editable import EditableTopicModel
from stickbreaker.engine.estimators.follower import Followed, Follower
from stickbreaker.engine.estimators.imported import (
    Recorder,
    from_gensim,
    from_sklearn,
    from_tomotopy,
    load_mallet,
)
from stickbreaker.engine.estimators.model import TopicModel
from stickbreaker.engine.estimators.online_model import OnlineTopicModel
from stickbreaker.engine.estimators.restored import from_checkpoint as from_checkpoint
from stickbreaker.engine.estimators.restored import load
from stickbreaker.engine.estimators.stable_topics import (
    Stability,
    stability,
    stability_of,
)
from stickbreaker.engine.estimators.topic_scores import score_topics
from stickbreaker.engine.estimators.vectorizer import CorpusVectorizer

__all__ = [
    "CVHDP",
    "CVLDA",
    "BatchDPMixture",
    "BatchHDP",
    "BatchLDA",
    "CorpusVectorizer",
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
    "Recorder",
    "Stability",
    "TopicModel",
    "consensus",
    "from_gensim",
    "from_sklearn",
    "from_tomotopy",
    "load",
    "load_mallet",
    "score_topics",
    "stability",
    "stability_of",
]
