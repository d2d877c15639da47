"""Which topics of a model come back in other fits."""

from collections.abc import Sequence

import pandas as pd

from stickbreaker.engine.estimators.model import TopicModel


def stability(models: Sequence[TopicModel]) -> pd.DataFrame:
    """Which topics of the first model come back in the others.

    Topics of two models are matched one to one so that matched topics share as many of their ten
    most probable words as possible. A topic comes back if its partner has at least five of its
    words.

    Parameters
    ----------
    models : sequence of TopicModel
        At least two fitted models of the same words, such as fits with another `random_state` or
        order of documents.

    Returns
    -------
    pandas.DataFrame
        A row for each topic in use of the first model, the largest first: topic_id, label, weight
        (of the expected tokens), stability (the share of the other models in which it comes back),
        words (ten, as text). The sum of weight times stability is the part of the tokens whose
        topics come back.

    Raises
    ------
    ValueError
        If there are fewer than two models, or they have different words.
    NotFittedError
        If a model is not fitted.
    """
    if len(models) < 2:
        raise ValueError(
            f"stability compares models, but there are {len(models)}: give at least two."
        )
    return models[0].topics_frame(others=models[1:], wide=True)
