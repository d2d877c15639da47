"""Slow twins of collapsed variational inference, from the equations of Teh, Kurihara & Welling
(2007).

A document is a pair (words, counts), and q a list of shares (n, K) with one array for each
document; all tokens of an entry share a row. Every count is computed from q where it is needed. An
expectation is a function (f, second derivative of f, counts (n,), shares (n,)) -> E[f(count)]:
`exactly` convolves the draws, `by_paper` is the improved second-order approximation.
"""

import numpy as np
from scipy.special import gammaln, polygamma, psi, softmax, xlogy


def distribution(c, shares):
    """p(n) for n = 0, 1, ... of a sum of independent draws, c of each share."""
    p = np.ones(1)
    for share in np.repeat(shares, np.asarray(c, int)):
        p = np.convolve(p, [1.0 - share, share])
    return p


def moments(c, shares):
    """(P₊, E₊, V₊), Eq. 13 and Eq. 14 with the square that the paper omits."""
    mean, variance, log_zero = c @ shares, c @ (shares * (1 - shares)), c @ np.log1p(-shares)
    positive = -np.expm1(log_zero)
    given = mean / positive
    return positive, given, variance / positive - np.exp(log_zero) * given**2


def exactly(f, second, c, shares):
    """E[f(n)] as a sum over all values of the count."""
    p = distribution(c, shares)
    return p @ f(np.arange(len(p), dtype=float))


def by_paper(f, second, c, shares):
    """P₊ (f(E₊) + V₊ f''(E₊) / 2), for f(0) = 0 (Eq. 11, below Eq. 18)."""
    if not np.any(c * shares):
        return 0.0
    positive, given, spread = moments(c, shares)
    return positive * (f(given) + 0.5 * spread * second(given))


def by_taylor(f, second, c, shares):
    """f(E) + V f''(E) / 2 around the plain mean."""
    mean = c @ shares
    return f(mean) + 0.5 * (c @ (shares * (1 - shares))) * second(mean)


def expected_tables(expect, a, c, shares):
    """E[a (ψ(a + n) - ψ(a))], the expected tables of a count at concentration a (Eq. 12)."""
    return expect(lambda n: a * (psi(a + n) - psi(a)), lambda n: a * polygamma(2, a + n), c, shares)


def expected_log_rising(expect, a, c, shares):
    """E[log Γ(a + n) - log Γ(a)], a term of Eq. 18."""
    return expect(lambda n: gammaln(a + n) - gammaln(a), lambda n: polygamma(1, a + n), c, shares)


def expected_log(expect, a, c, shares):
    """E[log(a + n)] of Eq. 15, for which the paper uses the plain expansion."""
    expect = by_taylor if expect is by_paper else expect
    return expect(lambda n: np.log(a + n), lambda n: -1.0 / (a + n) ** 2, c, shares)


def draws_of_doc(documents, q, j, k):
    """Counts and shares of all draws behind n_jk."""
    return documents[j][1].astype(float), q[j][:, k]


def draws_of_word(documents, q, w, k):
    """Counts and shares of all draws behind n_kw; of the topic's total where w is None."""
    chosen = [np.ones(len(words), bool) if w is None else words == w for words, _ in documents]
    counts = np.concatenate([c[own] for own, (_, c) in zip(chosen, documents, strict=True)])
    return counts.astype(float), np.concatenate(
        [rows[own, k] for own, rows in zip(chosen, q, strict=True)]
    )


def update(expect, documents, q, priors, j, i):
    """Shares (K,) of entry i of document j by Eq. 15, one of its tokens left out of every count."""
    words, c = documents[j]
    rest = [*documents[:j], (words, c - (np.arange(len(c)) == i)), *documents[j + 1 :]]
    w, logs = words[i], np.zeros(len(priors.doc))
    for k in range(len(logs)):
        logs[k] += expected_log(expect, priors.doc[k], *draws_of_doc(rest, q, j, k))
        logs[k] += expected_log(expect, priors.words[w], *draws_of_word(rest, q, w, k))
        logs[k] -= expected_log(expect, priors.word_total, *draws_of_word(rest, q, None, k))
    return softmax(logs)


def sweep(expect, documents, q, priors):
    """q after Eq. 15 for each entry in turn."""
    q = [rows.copy() for rows in q]
    for j, (words, _) in enumerate(documents):
        for i in range(len(words)):
            q[j][i] = update(expect, documents, q, priors, j, i)
    return q


def measure(expect, documents, q, priors):
    """(E[s_.k] (K,), E[t_.w] (V,), Σ_k E[log ξ_k], E[log p(z, x)] + entropy of q(z)): Eq. 11, 12
    and 18.
    """
    K, V, D = len(priors.doc), len(priors.words), len(documents)
    of_docs = [
        (priors.doc[k], *draws_of_doc(documents, q, j, k), k) for j in range(D) for k in range(K)
    ]
    of_words = [
        (priors.words[w], *draws_of_word(documents, q, w, k), w) for w in range(V) for k in range(K)
    ]
    of_totals = [(priors.word_total, *draws_of_word(documents, q, None, k)) for k in range(K)]
    doc_tables, word_tables, log_joint = np.zeros(K), np.zeros(V), 0.0
    for *draws, k in of_docs:
        doc_tables[k] += expected_tables(expect, *draws)
        log_joint += expected_log_rising(expect, *draws)
    for *draws, w in of_words:
        word_tables[w] += expected_tables(expect, *draws)
        log_joint += expected_log_rising(expect, *draws)
    log_joint -= sum(expected_log_rising(expect, *draws) for draws in of_totals)
    log_xi = -sum(expected_tables(expect, *draws) for draws in of_totals) / priors.word_total
    for (_, c), rows in zip(documents, q, strict=True):
        log_joint += (
            gammaln(priors.doc_total)
            - gammaln(priors.doc_total + c.sum())
            - c @ xlogy(rows, rows).sum(1)
        )
    return doc_tables, word_tables, log_xi, log_joint


def infer(documents, topics, prior, num_sweeps):
    """E[n_dk] (S, K) of unread documents by Eq. 15 with topics (K, V) fixed, from q ∝ a_k φ_kw."""
    tokens = []
    for words, c in documents:
        q = (prior * topics.T[words]) / (topics.T[words] @ prior)[:, None]
        for _ in range(num_sweeps):
            for i, w in enumerate(words):
                rest = c - (np.arange(len(c)) == i)
                logs = [
                    expected_log(by_paper, a, rest, shares)
                    for a, shares in zip(prior, q.T, strict=True)
                ]
                q[i] = softmax(np.array(logs) + np.log(topics[:, w]))
        tokens.append(c @ q)
    return np.array(tokens)
