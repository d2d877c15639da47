"""Slow twins of the engine's kernels, written from the equations of Wang, Paisley & Blei (2011).

"LDA and direct assignment" is written from those of Hoffman, Blei & Bach (2010), with their γ (K,)
and φ (n, K). Letters: c counts (n,), B topic weights (n, K) of a document's words, log_beta E[log
β] (K,), g Dirichlet parameters (K,), φ slot_topics (T, K), ζ word_slots (n, T), a and b the
document's sticks (T-1,), u and v the sticks of the corpus (K-1,), λ topic_words (K, V). A document
is a pair (words, counts). A sweep leaves out topics with too few tokens, as the kernel does.
"""

from itertools import combinations, pairwise
from typing import NamedTuple

import numpy as np
from scipy.special import betaln, gammaln, psi, softmax, xlogy

from stickbreaker.engine.kernels.counts import FactoredCounts


class Fit(NamedTuple):
    """A document's variational parameters; φ has a column for each of all K topics."""

    a: np.ndarray
    b: np.ndarray
    phi: np.ndarray
    zeta: np.ndarray


def split_rows(documents):
    """Pairs (words, counts) of an engine's Documents."""
    entries = [slice(start, end) for start, end in pairwise(documents.starts)]
    return [(documents.words[entry], documents.counts[entry].astype(float)) for entry in entries]


# Sticks


def log_sticks(on, after):
    """E[log π_t] for all T places; the last stick is 1."""
    logs = np.zeros(len(on) + 1)
    for t in range(len(logs)):
        if t < len(on):
            logs[t] += psi(on[t]) - psi(on[t] + after[t])
        for s in range(t):
            logs[t] += psi(after[s]) - psi(on[s] + after[s])
    return logs


def mean_sticks(on, after):
    """E[π_t] for all T places; the last stick is 1."""
    means = np.ones(len(on) + 1)
    for t in range(len(means)):
        if t < len(on):
            means[t] *= on[t] / (on[t] + after[t])
        for s in range(t):
            means[t] *= after[s] / (on[s] + after[s])
    return means


def sticks_of(counts, concentration):
    """Eq. 15-16, and Eq. 19-20, from the counts at each place."""
    on = [1.0 + counts[t] for t in range(len(counts) - 1)]
    after = [concentration + sum(counts[t + 1 :]) for t in range(len(counts) - 1)]
    return np.array(on), np.array(after)


def weights_of(tables, concentration, expectation):
    """`expectation` (log_sticks or mean_sticks) of the corpus weights by topic, most
    tables first.
    """
    order = sorted(range(len(tables)), key=lambda k: -tables[k])
    values = np.empty(len(tables))
    values[order] = expectation(*sticks_of(np.asarray(tables)[order], concentration))
    return values


# Dirichlet sweeps


def sweep(B, c, prior, sweeps):
    """Dirichlet parameters g (K,) and expected counts (n, K) after the kernel's
    Sweeps from e = 1.
    """
    e, g, kept = np.ones(len(prior)), prior.copy(), np.ones(len(prior), bool)
    for number in range(sweeps.most):
        before, g = g, prior.copy()
        for i in range(len(c)):
            g = g + c[i] * e * B[i] / (e @ B[i])
        change = abs(g - before).sum()
        if number > 0 and (g - prior >= sweeps.negligible).any():
            kept &= g - prior >= sweeps.negligible
            g = np.where(kept, g, prior)
        e = np.where(kept, np.exp((psi(g) - psi(g.max())) / sweeps.temperature), 0.0)
        if change < sweeps.tolerance * c.sum():
            break
    tokens = np.array([c[i] * e * B[i] / (e @ B[i]) for i in range(len(c))]).reshape(
        len(c), len(prior)
    )
    return g, tokens


def sweep_tables(g, prior):
    """Expected tables α₀E[β_k] (ψ(g_k) - ψ(α₀E[β_k]))."""
    return prior * (psi(g) - psi(prior))


# The two-level local step


def update_sticks(c, zeta, alpha):
    """Eq. 15 and 16."""
    return sticks_of(c @ zeta, alpha)


def update_slot_topics(logs, c, zeta, log_beta):
    """Eq. 17."""
    phi = np.empty((zeta.shape[1], len(log_beta)))
    for t in range(len(phi)):
        phi[t] = softmax((c * zeta[:, t]) @ logs + log_beta)
    return phi


def update_word_slots(logs, phi, log_pi):
    """Eq. 18."""
    zeta = np.empty((len(logs), len(phi)))
    for i in range(len(logs)):
        zeta[i] = softmax(np.array([phi[t] @ logs[i] for t in range(len(phi))]) + log_pi)
    return zeta


def choose_topics(tokens, prior, limits, negligible):
    """The topics with the most tokens, largest first, then those of the largest prior to fill a
    block of 16.
    """
    most = min(limits.max_active, len(prior))
    found = sorted(np.flatnonzero(tokens >= negligible), key=lambda k: -tokens[k])[:most]
    others = [k for k in sorted(range(len(prior)), key=lambda k: -prior[k]) if k not in found]
    return np.array(
        [*found, *others][: min(most, -(-max(len(found), limits.num_slots) // 16) * 16)]
    )


def fit_document(B, c, prior, log_beta, sweeps, limits):
    """The two-level local step on one document, from Wang's start or from the document's largest
    topics.
    """
    T, K = limits.num_slots, len(prior)
    if limits.is_uniform_start:
        active, zeta = np.arange(K), np.full((len(c), T), 1.0 / T)
    else:
        found = sweep(B, c, prior, sweeps)[0] - prior
        active = choose_topics(found, prior, limits, sweeps.negligible)
        a, b = sticks_of(
            np.where(found >= sweeps.negligible, found, 0.0)[active[:T]], limits.doc_concentration
        )
        phi = np.eye(T, len(active))
        zeta = update_word_slots(np.log(B[:, active]), phi, log_sticks(a, b))
    before = None
    for iteration in range(limits.num_iterations):
        # In Wang's code an iteration is Eq. 17, then 18; the first few have neither E[log β] nor
        # E[log π].
        has_log_beta, has_log_pi = (
            float(i >= limits.num_without_priors) for i in (iteration, iteration - 1)
        )
        if before is not None:
            zeta = update_word_slots(np.log(B[:, active]), phi, has_log_pi * log_sticks(a, b))
        a, b = update_sticks(c, zeta, limits.doc_concentration)
        phi = update_slot_topics(np.log(B[:, active]), c, zeta, has_log_beta * log_beta[active])
        tokens = c @ zeta
        if before is not None and abs(tokens - before).sum() < limits.tolerance * tokens.sum():
            break
        before = tokens
    every = np.zeros((T, K))
    every[:, active] = phi
    return Fit(a, b, every, zeta)


def statistics(fit, c):
    """Expected counts (n, K) of Eq. 21, expected tables (K,) of Eq. 19 and topic shares θ (K,) of a
    document.
    """
    return c[:, None] * fit.zeta @ fit.phi, fit.phi.sum(0), mean_sticks(fit.a, fit.b) @ fit.phi


def learn(documents, topics, local, num_topics):
    """Sums of `local(B, c) -> (tokens, tables, shares)` over documents: (V, K), (K,) and (S, K)."""
    word_topics, tables, shares = np.zeros_like(topics), np.zeros(num_topics), []
    for words, c in documents:
        tokens, doc_tables, doc_shares = local(topics[words], c)
        for i, word in enumerate(words):
            word_topics[word] += tokens[i]
        tables += doc_tables
        shares.append(doc_shares)
    return word_topics, tables, np.array(shares)


def topic_weights(counts, eta, is_geometric):
    """B for all words (V, K) from λ - η (V, K): E[topic], or exp E[log topic] as below Eq. 21."""
    lam = counts + eta
    return np.exp(psi(lam) - psi(lam.sum(0))) if is_geometric else lam / lam.sum(0)


def gather_counts(counts, num_words, num_topics):
    """Dense (U, K) sum of a sequence of the engine's DocumentCounts or FactoredCounts."""
    dense = np.zeros((num_words, num_topics))
    for each in counts:
        place = 0
        for j, (start, end) in enumerate(pairwise(each.starts)):
            for i, word in enumerate(each.words[start:end], start):
                if isinstance(each, FactoredCounts):
                    dense[word] += (
                        each.scales[i] * each.weights[j].astype(float) * each.topics[word]
                    )
                    continue
                topics = each.topic_ids[each.topic_starts[j] : each.topic_starts[j + 1]]
                dense[word, topics] += each.tokens[place : place + len(topics)]
                place += len(topics)
    return dense


def local_step(local_settings, phase, prior, log_beta):
    """`local` of `learn` in a phase.

    Settings: Sweeps of the warm-up, Sweeps of a document's start, Limits.
    """
    warm_up_sweeps, start_sweeps, limits = local_settings

    def two_level(B, c):
        return statistics(fit_document(B, c, prior, log_beta, start_sweeps, limits), c)

    def warm_up(B, c):
        g, tokens = sweep(B ** (1 / warm_up_sweeps.temperature), c, prior, warm_up_sweeps)
        return tokens, sweep_tables(g, prior), g / g.sum()

    return warm_up if phase == "warm-up" else two_level


def step(config, local_settings, phase, start, batch, rate):
    """One online step, Eq. 22-27, from `start`, a pair of λ - η (V, K) and tables (K,), to such a
    pair.
    """
    counts, tables = start
    prior = config.doc_concentration * weights_of(tables, config.corpus_concentration, mean_sticks)
    log_beta = weights_of(tables, config.corpus_concentration, log_sticks)
    B = topic_weights(counts, config.word_concentration, config.topic_expectation == "geometric")
    documents = split_rows(batch.documents)
    local = local_step(local_settings, phase, prior, log_beta)
    word_topics, doc_tables, _ = learn(documents, B, local, len(tables))
    scale = batch.corpus_size / len(documents)
    return (1 - rate) * counts + rate * scale * word_topics, (
        1 - rate
    ) * tables + rate * scale * doc_tables


# The bound


def document_bound(logs, c, fit, alpha, log_beta):
    """The document's part of Eq. 14; logs: E[log p(w|φ)] of its words (n, K)."""
    log_pi = log_sticks(fit.a, fit.b)
    words = sum(c[i] * fit.zeta[i] @ (fit.phi @ logs[i]) for i in range(len(c)))
    slots = sum(
        c[i] * (fit.zeta[i] @ log_pi - xlogy(fit.zeta[i], fit.zeta[i]).sum()) for i in range(len(c))
    )
    topics = (fit.phi @ log_beta).sum() - xlogy(fit.phi, fit.phi).sum()
    return words + slots + topics - beta_divergence(fit.a, fit.b, alpha)


def beta_divergence(on, after, concentration):
    """KL of sticks Beta(on, after) from their prior Beta(1, concentration)."""
    both = psi(on + after)
    terms = (on - 1) * (psi(on) - both) + (after - concentration) * (psi(after) - both)
    return (terms - betaln(on, after) + betaln(1.0, concentration)).sum()


def dirichlet_divergence(lam, eta):
    """KL of topics Dirichlet(λ_k) (K, V) from their prior Dirichlet(η)."""
    logs = psi(lam) - psi(lam.sum(1, keepdims=True))
    normal = gammaln(lam.sum(1)) - gammaln(lam).sum(1)
    prior = gammaln(eta * lam.shape[1]) - lam.shape[1] * gammaln(eta)
    return (normal - prior).sum() + ((lam - eta) * logs).sum()


def bound(documents, fits, u, v, lam, config):
    """The full bound, Eq. 14; topic k has stick k of the corpus."""
    logs = (psi(lam) - psi(lam.sum(1, keepdims=True))).T
    log_beta = log_sticks(u, v)
    total = -beta_divergence(u, v, config.corpus_concentration) - dirichlet_divergence(
        lam, config.word_concentration
    )
    for (words, c), fit in zip(documents, fits, strict=True):
        total += document_bound(logs[words], c, fit, config.doc_concentration, log_beta)
    return total


# LDA and direct assignment


class DirichletFit(NamedTuple):
    """A document's γ (K,), and φ (n, K) under it."""

    gamma: np.ndarray
    phi: np.ndarray


def fit_dirichlet_document(B, c, prior, num_sweeps, temperature=1.0):
    """The E step of Hoffman 2010 Alg. 2 from γ = 1; B: exp E[log β] or E[β] of the words (n, K)."""
    gamma = np.ones(len(prior))
    for sweep_number in range(num_sweeps + 1):
        phi = np.empty(B.shape)
        for i in range(len(B)):
            phi[i] = softmax((np.log(B[i]) + psi(gamma)) / temperature)
        if sweep_number < num_sweeps:
            gamma = prior + c @ phi
    return DirichletFit(gamma, phi)


def dirichlet_document_bound(logs, c, fit, prior):
    """The document's part of Hoffman 2010 Eq. 4; prior: (K,), one number for each topic."""
    log_theta = psi(fit.gamma) - psi(fit.gamma.sum())
    words = sum(
        c[i] * (fit.phi[i] @ (log_theta + logs[i]) - xlogy(fit.phi[i], fit.phi[i]).sum())
        for i in range(len(c))
    )
    shares = gammaln(fit.gamma).sum() - gammaln(fit.gamma.sum()) + (prior - fit.gamma) @ log_theta
    return words + shares + gammaln(prior.sum()) - gammaln(prior).sum()


def lda_bound(documents, fits, lam, alpha, eta):
    """D times Hoffman 2010 Eq. 4, from λ (K, V) and α of one topic."""
    logs = (psi(lam) - psi(lam.sum(1, keepdims=True))).T
    prior = np.full(len(lam), alpha)
    parts = [
        dirichlet_document_bound(logs[words], c, fit, prior)
        for (words, c), fit in zip(documents, fits, strict=True)
    ]
    return sum(parts) - dirichlet_divergence(lam, eta)


def step_dirichlet(config, prior, sweeps, counts, batch, rate):
    """λ - η (V, K) after the M step of Hoffman 2010 Alg. 2 with Eq. 8, and the whole corpus'
    expected tables (K,).
    """
    B = topic_weights(counts, config.word_concentration, config.topic_expectation == "geometric")
    documents = split_rows(batch.documents)
    scale = batch.corpus_size / len(documents)
    word_topics, tables = np.zeros_like(counts), np.zeros(len(prior))
    for words, c in documents:
        fit = fit_dirichlet_document(B[words], c, prior, sweeps.most, sweeps.temperature)
        for i, word in enumerate(words):
            word_topics[word] += c[i] * fit.phi[i]
        tables += prior * (psi(fit.gamma) - psi(prior))
    return (1 - rate) * counts + rate * scale * word_topics, scale * tables


# The truncated DP mixture: bags c (V,) of words, and q(z) (K,) of each


def mixture_shares(c, lam, log_weights):
    """q(z) of a document, Wang & Blei 2012 Eq. 5."""
    odds = np.zeros(len(lam))
    for k in range(len(lam)):
        odds[k] = log_weights[k]
        for w in range(len(c)):
            odds[k] += c[w] * (psi(lam[k, w]) - psi(lam[k].sum()))
    return softmax(odds)


def mixture_globals(bags, q, a, eta):
    """λ (K, V) and u, v (K-1,) after Eq. 4; component k has stick k."""
    lam = np.full((q.shape[1], bags.shape[1]), float(eta))
    for c, own in zip(bags, q, strict=True):
        for k in range(len(lam)):
            lam[k] += own[k] * c
    return lam, *sticks_of(q.sum(0), a)


def mixture_bound(bags, q, lam, sticks, a, eta):
    """Eq. 3 of Wang & Blei 2012."""
    log_weights, logs = log_sticks(*sticks), psi(lam) - psi(lam.sum(1, keepdims=True))
    documents = sum(
        own @ (log_weights + logs @ c) - xlogy(own, own).sum()
        for c, own in zip(bags, q, strict=True)
    )
    return documents - beta_divergence(*sticks, a) - dirichlet_divergence(lam, eta)


# Redundant topics


# Held-out scores


def split_parts(split):
    """Observed and held-out documents of an engine's split, as dictionaries of words and counts."""
    observed = [
        dict(zip(words.tolist(), c, strict=True)) for words, c in split_rows(split.observed)
    ]
    held_out = [{} for _ in observed]
    for row, word, count in zip(split.rows, split.words.tolist(), split.counts, strict=True):
        held_out[row][word] = count
    return observed, held_out


def score(observed, held_out, infer, topics):
    """Nats per held-out token.

    Documents as dictionaries of words and counts, infer(observed) -> θ (K,).
    """
    nats, tokens = 0.0, 0
    for seen, unseen in zip(observed, held_out, strict=True):
        theta = infer(seen)
        for word, count in unseen.items():
            nats += count * np.log(sum(theta[k] * topics[k, word] for k in range(len(theta))))
            tokens += count
    return nats / tokens


def find_path(topics):
    """The order in which topics (K, V) go: the smaller one of the pair of least distance
    (`removals.find_path`).
    """
    left, removed = {k: row.copy() for k, row in enumerate(topics)}, []
    while len(left) > 1:
        distances = {}
        for one, other in combinations(sorted(left), 2):
            a, b = left[one].sum(), left[other].sum()
            freedom = min(np.minimum(left[k], 1).sum() for k in (one, other))
            overlap = np.sqrt(left[one] / a * left[other] / b).sum()
            distances[one, other] = a * b / (a + b) * (1 - overlap) / freedom
        pair = min(distances, key=distances.get)
        large, small = sorted(pair, key=lambda k: -left[k].sum())
        left[large] += left.pop(small)
        removed.append(small)
    return removed
