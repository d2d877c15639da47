"""Every algorithm, one file each. A new one is its file and one more name in REGISTRY."""

from stickbreaker.engine.algorithm import Algorithm
from stickbreaker.engine.algorithms import (
    batch_hdp,
    batch_lda,
    cv_hdp,
    cv_lda,
    direct_hdp,
    dp_mixture,
    free_dp_mixture,
    free_hdp,
    gibbs_hdp,
    gibbs_lda,
    hdp,
    lda,
)

REGISTRY = (
    hdp.ALGORITHM,
    direct_hdp.ALGORITHM,
    lda.ALGORITHM,
    hdp.SVI,
    batch_hdp.ALGORITHM,
    batch_lda.ALGORITHM,
    gibbs_hdp.ALGORITHM,
    gibbs_lda.ALGORITHM,
    cv_hdp.ALGORITHM,
    cv_lda.ALGORITHM,
    free_hdp.ALGORITHM,
    free_dp_mixture.ALGORITHM,
    dp_mixture.ALGORITHM,
    dp_mixture.BATCH,
)


def find_algorithm(name: str) -> Algorithm:
    """Find the algorithm of that name.

    Parameters
    ----------
    name : str
        The name of an algorithm of `REGISTRY`.

    Returns
    -------
    Algorithm
        Its record.

    Raises
    ------
    ValueError
        If there is none; the message lists the known names.

    Examples
    --------
    >>> find_algorithm("hdp").title
    'Online HDP'
    """
    for algorithm in REGISTRY:
        if algorithm.name == name:
            return algorithm
    known = ", ".join(repr(algorithm.name) for algorithm in REGISTRY)
    raise ValueError(f"Unknown algorithm {name!r}: choose one of {known}.")
