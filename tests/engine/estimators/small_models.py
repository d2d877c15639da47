"""Small models of every class, for the tests of estimators."""

import pytest

from stickbreaker.engine import estimators
from stickbreaker.engine.runs import checkpoint

CLASSES = list(estimators.CLASSES.values())
ONLINE = [each for each in CLASSES if issubclass(each, estimators.OnlineTopicModel)]
of_all = pytest.mark.parametrize("kind", CLASSES, ids=lambda each: each.__name__)
of_online = pytest.mark.parametrize("kind", ONLINE, ids=lambda each: each.__name__)
# The checks of scikit-learn call partial_fit without corpus_size, and fit with one document.
unknown_length = pytest.mark.filterwarnings(
    "ignore:partial_fit does not know how many documents will arrive"
)
single_document = pytest.mark.filterwarnings("ignore:X has one document")
SMALL = {
    "max_topics": 8,
    "start_topics": 8,
    "batch_size": 4,
    "burn_in": 1,
    "passes": 3,
    "random_state": 0,
}
TEXTS = [
    "war and navy",
    "navy army war",
    "trade tariff cotton",
    "cotton trade trade",
    "war army army",
    "tariff cotton",
]


def make(kind, **parameters):
    """A small model of that class."""
    small = {name: value for name, value in SMALL.items() if name in kind().get_params()}
    return kind(**small | parameters)


def bits(model):
    """The bytes of the arrays of the state."""
    return {name: array.tobytes() for name, array in checkpoint.flatten("state", model.state_)}
