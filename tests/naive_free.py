"""Slow twins of the truncation-free kernels, and the exact posterior of a mini-batch by
enumeration.

The state of a chain is a dict of lists. Random numbers are drawn in the order of the kernels, so a
kernel and its twin make the same draws from equal generators.
"""

from functools import cache
from itertools import permutations, product

import numpy as np
from scipy.special import betaln, gammaln, logsumexp

from tests.enumeration import log_dirichlet_multinomial, probabilities, relabel


@cache
def stirling(n, m):
    """Permutations of n things with m cycles, counted one by one."""
    return sum(count_cycles(each) == m for each in permutations(range(n)))


def count_cycles(permutation):
    left, cycles = set(range(len(permutation))), 0
    while left:
        cycles, place = cycles + 1, min(left)
        while place in left:
            left.remove(place)
            place = permutation[place]
    return cycles


def table_odds(n, concentration):
    """p(s) for s = 1..n of the tables of n customers, seating them one by one."""
    odds = np.array([1.0])
    for i in range(1, n):
        opens = concentration / (concentration + i)
        odds = np.append(odds, 0.0) * (1 - opens) + np.append(0.0, odds) * opens
    return odds


def draw_tables(n, concentration, rng):
    """Draw from `table_odds`, by one uniform number."""
    if n == 0:
        return 0
    return (
        int(np.searchsorted(table_odds(n, concentration).cumsum(), rng.random(), side="right")) + 1
    )


def sample_documents(documents, z, lam, model, rng):
    """One sweep of S.2.2 over documents of words; z and model are written.

    documents, z: lists of lists; lam: (C, V), λ of every column, η where the column has no topic;
    model: shares (C,), rest, b, a, num_known. Returns tables (C,).
    """
    num_columns, vocab_size = lam.shape
    tables = np.zeros(num_columns, int)
    for words, own in zip(documents, z, strict=True):
        for i, w in enumerate(words):
            old, own[i] = own[i], -1
            held = [
                (k, v)
                for ks, ws in zip(z, documents, strict=True)
                for k, v in zip(ks, ws, strict=True)
                if k >= 0
            ]
            tokens = np.bincount([k for k, _ in held], minlength=num_columns)
            if old >= model["num_known"] and tokens[old] == 0:
                model["rest"] += model["shares"][old]
                model["shares"][old] = 0.0
            n = np.bincount([k for k in own if k >= 0], minlength=num_columns)
            n_w = np.bincount([k for k, v in held if v == w], minlength=num_columns)
            odds = (n + model["b"] * model["shares"]) * (lam[:, w] + n_w) / (lam.sum(1) + tokens)
            odds = np.append(odds, model["b"] * model["rest"] / vocab_size)
            k = int(np.searchsorted(odds.cumsum(), rng.random() * odds.sum(), side="right"))
            if k == num_columns:
                free = next(c for c in range(model["num_known"], num_columns) if tokens[c] == 0)
                k = old if old >= model["num_known"] and tokens[old] == 0 else free
                left = model["rest"] * rng.random() ** (1.0 / model["a"])
                model["shares"][k], model["rest"] = model["rest"] - left, left
            own[i] = k
        for k, n_k in enumerate(np.bincount(own, minlength=num_columns)):
            tables[k] += draw_tables(n_k, model["b"] * model["shares"][k], rng)
    return tables


def log_topics(labels, bags, lam, eta):
    """log p(words | topics), bags (N, V) of words with these labels.

    Λ of the known topics (K, V), others have η.
    """
    total = 0.0
    for label in set(labels):
        prior = lam[label] if label < len(lam) else np.full(np.shape(bags)[1], float(eta))
        total += log_dirichlet_multinomial(
            sum(b for b, k in zip(bags, labels, strict=True) if k == label), prior
        )
    return total


def log_franchise(tables, on, after, a):
    """log E[∏ π_k^s_k] of the tables of the K known topics, in the order of their sticks, and then
    of new topics.

    A new topic can be any of the infinitely many others, and the sum is over all of these: the
    expected rest of the sticks to the power of the number of new tables, times the Chinese
    restaurant probability of their partition.
    """
    known, born = np.array(tables[: len(on)], float), np.array(tables[len(on) :], float)
    later = np.append(known, born.sum())[::-1].cumsum()[::-1][1:]
    total = (betaln(on + known, after + later) - betaln(on, after)).sum()
    return (
        total + len(born) * np.log(a) + gammaln(born).sum() + gammaln(a) - gammaln(a + born.sum())
    )


def labellings(size, num_known):
    """Every way to give `size` things a known label each, or a new one.

    New labels are numbered as they appear.
    """
    all_labels = product(range(num_known + size), repeat=size)
    newborn = (([k - num_known for k in labels if k >= num_known], labels) for labels in all_labels)
    return [labels for born, labels in newborn if relabel(born) == tuple(born)]


def name_new(z, num_known):
    """Labels of all things with the new ones, `num_known` and above, numbered as they appear."""
    new = iter(relabel([k for k in z if k >= num_known]))
    return tuple(num_known + next(new) if k >= num_known else int(k) for k in z)


def local_posterior(documents, lam, sticks, b, a, eta):
    """All (z, log p) of a mini-batch under the HDP's q(θ, π̄), and E[tables] and E[π] (known, then
    rest) of it.

    lam: (K, V); sticks: u, v (K,) of the topics in their order. z is the topics of all tokens, new
    ones from K on.
    """
    sizes, words = [len(each) for each in documents], sum(documents, ())
    states, moments = [], []
    bags = np.eye(lam.shape[1])[list(words)]
    for z in labellings(len(words), len(lam)):
        num_labels = max([len(lam) - 1, *z]) + 1
        counts = [
            np.bincount(part, minlength=num_labels)
            for part in np.split(np.array(z), np.cumsum(sizes)[:-1])
        ]
        n = np.concatenate(counts)
        log_p, means = [], []
        for s in product(*(range(min(m, 1), m + 1) for m in n)):
            tables = np.reshape(s, (len(documents), num_labels)).sum(0)
            log_tables = sum(
                np.log(stirling(m, each)) + each * np.log(b) for m, each in zip(n, s, strict=True)
            )
            log_p.append(log_tables + log_franchise(tables, *sticks, a))
            later = tables[::-1].cumsum()[::-1]
            on = sticks[0] + tables[: len(lam)]
            off = sticks[1] + later[: len(lam)] - tables[: len(lam)]
            left = np.append(1.0, np.cumprod(off / (on + off)))
            born = later[len(lam)] if num_labels > len(lam) else 0
            means.append([tables.sum(), *(left[:-1] * on / (on + off)), left[-1] * a / (a + born)])
        log_z = sum(gammaln(b) - gammaln(b + size) for size in sizes) + log_topics(
            z, bags, lam, eta
        )
        states.append((z, log_z + logsumexp(log_p)))
        moments.append(np.average(means, axis=0, weights=probabilities(log_p)))
    return states, probabilities([log_p for _, log_p in states]) @ np.array(moments)


def mixture_posterior(bags, lam, sticks, a, eta):
    """All (z, log p) of a mini-batch of documents, bags (S, V), under the DP mixture's q(θ, π̄)."""
    states = []
    for z in labellings(len(bags), len(lam)):
        tables = np.bincount(z, minlength=len(lam))
        states.append((z, log_franchise(tables, *sticks, a) + log_topics(z, list(bags), lam, eta)))
    return states
