"""Collapsed Gibbs sampling of a mini-batch under the truncation-free DP mixture (Wang & Blei 2012
sec. 2.3).

Letters in the bodies: z component of a document, m documents of the mini-batch in a component.
Columns are components: first those of the state, then free columns for new ones, in use while they
hold documents.
"""

import math
from typing import NamedTuple

import numpy as np

from stickbreaker.engine.kernels.compiled import DocumentArrays, njit

# A word of a larger count is computed by log Γ, others as products of this number of factors. Each
# factor is between 1e-6 and 1e15, so a product of sixteen stays within float64.
MOST_FACTORS = 16


class Components(NamedTuple):
    """The components during this mini-batch.

    words: (U, C), λ + tokens of the mini-batch; totals: (C,), its sum over all V words; documents:
    (C,), m. is_counted: (C,), whether a kept sample used the component; its column is then never
    reused.
    """

    words: np.ndarray
    totals: np.ndarray
    documents: np.ndarray
    is_counted: np.ndarray


class MixturePrior(NamedTuple):
    """The K components, their sticks u and v, the one at each place, and a, η and V."""

    num_known: int
    on: np.ndarray
    after: np.ndarray
    order: np.ndarray
    corpus_concentration: float
    word_concentration: float
    vocab_size: int


@njit(nogil=True, cache=True, error_model="numpy")
def find_logs(
    documents: DocumentArrays,
    d: int,
    words: np.ndarray,
    totals: np.ndarray,
    out_product: np.ndarray,
    out_logs: np.ndarray,
) -> None:
    """Write log E[p(document d | θ_k)] of each component (C,), where q(θ_k) is Dirichlet with these
    parameters.

        log Γ(Σ_w λ_kw) / Γ(Σ_w λ_kw + |x|) + Σ_w log Γ(λ_kw + c_w) / Γ(λ_kw)        (sec. 2.3)

    out_product: (C,), working memory.
    """
    num_factors = 0
    length = 0
    out_logs[:] = 0.0
    out_product[:] = 1.0
    for i in range(documents.starts[d], documents.starts[d + 1]):
        row = words[documents.words[i]]
        count = documents.counts[i]
        length += count
        if count > MOST_FACTORS:
            for k in range(row.shape[0]):
                out_logs[k] += math.lgamma(row[k] + count) - math.lgamma(row[k])
            continue
        # Γ(λ + c) / Γ(λ) = λ (λ + 1) ... (λ + c - 1), and one logarithm for many factors.
        for c in range(count):
            for k in range(row.shape[0]):
                out_product[k] *= row[k] + c
            num_factors += 1
            if num_factors % MOST_FACTORS == 0:
                for k in range(row.shape[0]):
                    out_logs[k] += math.log(out_product[k])
                    out_product[k] = 1.0
    # The normaliser Γ(Σ λ) / Γ(Σ λ + |x|).
    for k in range(totals.shape[0]):
        out_logs[k] += (
            math.log(out_product[k]) + math.lgamma(totals[k]) - math.lgamma(totals[k] + length)
        )


@njit(nogil=True, cache=True, error_model="numpy")
def add_log_weights(
    components: Components, prior: MixturePrior, free: int, out_logs: np.ndarray
) -> None:
    """Add log p(z = k | z of the others), with the sticks integrated out.

    `free` is the column of a new component.

    Known components have sticks u_k + m_k, v_k + Σ_{l after k} m_l. The rest of the stick is a
    Dirichlet process, of which the components born in this mini-batch have m_k / (a + Σ m_new) and
    a new one a / (a + Σ m_new).
    """
    left = 0.0
    later = components.documents.sum()
    # E of the sticks of the known components, in their order.
    for place in range(prior.num_known):
        k = prior.order[place]
        later -= components.documents[k]
        on = prior.on[place] + components.documents[k]
        after = prior.after[place] + later
        out_logs[k] += left + math.log(on / (on + after))
        left += math.log(after / (on + after))
    # The rest of the stick: a Chinese restaurant of the components born in this mini-batch.
    left -= math.log(prior.corpus_concentration + later)
    for k in range(prior.num_known, out_logs.shape[0]):
        if k == free:
            out_logs[k] += left + math.log(prior.corpus_concentration)
        elif components.documents[k] > 0:
            out_logs[k] += left + math.log(components.documents[k])
        else:
            out_logs[k] = -np.inf


@njit(nogil=True, cache=True, error_model="numpy")
def scale_to_one(out_logs: np.ndarray) -> None:
    """Replace logs (C,) by their exponentials, scaled to sum to 1."""
    highest = out_logs.max()
    total = 0.0
    for k in range(out_logs.shape[0]):
        out_logs[k] = math.exp(out_logs[k] - highest)
        total += out_logs[k]
    for k in range(out_logs.shape[0]):
        out_logs[k] /= total


@njit(nogil=True, cache=True, error_model="numpy")
def move_document(
    documents: DocumentArrays,
    d: int,
    k: int,
    sign: int,
    out_components: Components,
    word_concentration: float,
) -> None:
    """Add document d to component k, or remove it with sign -1."""
    out_components.documents[k] += sign
    for i in range(documents.starts[d], documents.starts[d + 1]):
        row = out_components.words[documents.words[i]]
        count = sign * documents.counts[i]
        # Rounding must not make a word's parameter smaller than its prior.
        row[k] = max(row[k] + count, word_concentration)
        out_components.totals[k] += count


@njit(nogil=True, cache=True, error_model="numpy")
def find_free(components: Components, num_known: int) -> int:
    """The first column that a new component may take; the number of columns if none is free."""
    num_columns: int = components.documents.shape[0]
    for k in range(num_known, num_columns):
        if components.documents[k] == 0 and not components.is_counted[k]:
            return k
    return num_columns


@njit(nogil=True, cache=True, error_model="numpy")
def sample_components(
    documents: DocumentArrays,
    out_components: Components,
    prior: MixturePrior,
    first: int,
    rng: np.random.Generator,
    out_z: np.ndarray,
    out_shares: np.ndarray,
) -> int:
    """One Gibbs pass over the documents from `first` on.

    Z is -1 for those that have no component yet.

    p(z_d = k) ∝ the product of `add_log_weights` and `find_logs` without document d; out_shares
    (C,) keeps it for the last document. For a mini-batch of one document it is the closed form of
    sec. 2.3, and the draw is exact. Returns the document at which no free column was left, or S.
    Changes out_components.
    """
    product = np.empty(out_components.totals.shape[0])
    num_documents: int = out_z.shape[0]
    for d in range(first, num_documents):
        free = find_free(out_components, prior.num_known)
        if free == out_components.totals.shape[0]:
            return d
        if out_z[d] >= 0:
            move_document(documents, d, out_z[d], -1, out_components, prior.word_concentration)
            # A component of this document only keeps its column from sample to sample.
            if out_z[d] >= prior.num_known and out_components.documents[out_z[d]] == 0:
                free = out_z[d]
        find_logs(documents, d, out_components.words, out_components.totals, product, out_shares)
        add_log_weights(out_components, prior, free, out_shares)
        scale_to_one(out_shares)
        position = rng.random()
        k = 0
        for place in range(out_shares.shape[0]):
            if out_shares[place] > 0.0:
                k = place
                position -= out_shares[place]
                if position < 0.0:
                    break
        out_z[d] = k
        move_document(documents, d, k, 1, out_components, prior.word_concentration)
    return num_documents


@njit(nogil=True, cache=True, error_model="numpy")
def count_components(
    documents: DocumentArrays, z: np.ndarray, out_components: Components, out_counts: np.ndarray
) -> None:
    """Add the tokens of a sample to out_counts (U, C), and mark its components as counted."""
    for d in range(z.shape[0]):
        out_components.is_counted[z[d]] = True
        for i in range(documents.starts[d], documents.starts[d + 1]):
            out_counts[documents.words[i], z[d]] += documents.counts[i]


@njit(nogil=True, cache=True, error_model="numpy")
def share_documents(
    documents: DocumentArrays,
    words: np.ndarray,
    totals: np.ndarray,
    log_weights: np.ndarray,
    out_shares: np.ndarray,
) -> None:
    """Write p(z = k | document) (S, K), under fixed components and log weights (K,)."""
    product = np.empty(totals.shape[0])
    for d in range(out_shares.shape[0]):
        find_logs(documents, d, words, totals, product, out_shares[d])
        out_shares[d] += log_weights
        scale_to_one(out_shares[d])
