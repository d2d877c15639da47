"""Every assignment of a corpus of five tokens, and its probability: exact values for tests of
samplers and bounds.
"""

from collections import Counter
from functools import cache
from itertools import product

import numpy as np
from scipy.special import betaln, gammaln, logsumexp

from tests import naive

DOCUMENTS = ((0, 0, 1), (1, 2))
VOCAB_SIZE = 3
CONCENTRATIONS = {"doc_concentration": 0.5, "corpus_concentration": 0.7, "word_concentration": 0.4}


def partitions(size):
    """All partitions of `size` things, as the group of each, groups numbered as they appear."""
    if size == 0:
        return [()]
    return [
        (*rest, group)
        for rest in partitions(size - 1)
        for group in range(max(rest, default=-1) + 2)
    ]


def relabel(groups):
    """The same partition with its groups numbered as they appear.

    >>> relabel([7, 2, 7])
    (0, 1, 0)
    """
    names = {}
    return tuple(names.setdefault(group, len(names)) for group in groups)


def log_restaurant(groups, concentration):
    """log p of a partition under the Chinese restaurant process."""
    sizes = np.bincount(groups)
    start = gammaln(concentration) - gammaln(concentration + len(groups))
    return start + len(sizes) * np.log(concentration) + gammaln(sizes).sum()


def log_dirichlet_multinomial(counts, concentrations):
    """log E[∏ θ_k^c_k] for θ ~ Dirichlet(concentrations), both (..., K), summed over the rows of
    counts.
    """
    counts, concentrations = np.asarray(counts), np.asarray(concentrations, float)
    total = concentrations.sum(-1)
    own = (gammaln(concentrations + counts) - gammaln(concentrations)).sum()
    return own + (gammaln(total) - gammaln(total + counts.sum(-1))).sum()


def log_assignments(topics, prior):
    """log p(topics of a document's tokens), its shares θ ~ Dirichlet(prior) integrated out."""
    return log_dirichlet_multinomial(np.bincount(topics, minlength=len(prior)), prior)


def log_sticks(counts, concentration):
    """log p of draws with these counts (T,) of the places of sticks Beta(1, c), the sticks
    integrated out.
    """
    on, after = naive.sticks_of(counts, concentration)
    return (betaln(on, after) - betaln(1.0, concentration)).sum()


def log_words(topics_of_tokens, word_concentration):
    """log p(words | topics of the tokens), the topics integrated out."""
    counts = Counter(zip(topics_of_tokens, sum(DOCUMENTS, ()), strict=True))
    rows = [[counts[topic, word] for word in range(VOCAB_SIZE)] for topic in set(topics_of_tokens)]
    return log_dirichlet_multinomial(rows, np.full(VOCAB_SIZE, float(word_concentration)))


@cache
def log_evidence_truncated(num_topics, num_slots):
    """log p(words) of the HDP truncated to K topics and T slots, at `CONCENTRATIONS`.

    The sum is over all slots of tokens, and all topics of the slots in use.
    """
    doc, corpus, word = CONCENTRATIONS.values()
    of_slots, of_topics, of_words = cache(log_places), cache(log_places), cache(log_words)
    terms = []
    for slots in product(*(product(range(num_slots), repeat=len(words)) for words in DOCUMENTS)):
        log_slots = sum(of_slots(own, num_slots, doc) for own in slots)
        used = [(j, t) for j, own in enumerate(slots) for t in sorted(set(own))]
        for topics in product(range(num_topics), repeat=len(used)):
            at = dict(zip(used, topics, strict=True))
            served = tuple(at[j, t] for j, own in enumerate(slots) for t in own)
            terms.append(log_slots + of_topics(topics, num_topics, corpus) + of_words(served, word))
    return logsumexp(terms)


def log_places(places, num_places, concentration):
    """log p of places drawn from one truncated stick-breaking prior, its sticks integrated out."""
    return log_sticks(np.bincount(places, minlength=num_places), concentration)


def franchise(doc_concentration, corpus_concentration, word_concentration):
    """All states of the Chinese restaurant franchise without truncation: (topic of each token,
    tables, log joint).

    A state is a seating of the tokens at tables, and a partition of all tables into topics; several
    states can give the tokens the same topics. The log joint is that of words, seating and topics.
    """
    states = []
    for seatings in product(*(partitions(len(words)) for words in DOCUMENTS)):
        log_tables = sum(log_restaurant(seats, doc_concentration) for seats in seatings)
        first = np.cumsum([0, *(max(seats) + 1 for seats in seatings)])
        for dishes in partitions(first[-1]):
            served = tuple(dishes[first[j] + t] for j, seats in enumerate(seatings) for t in seats)
            log_joint = log_tables + log_restaurant(dishes, corpus_concentration)
            states.append((served, len(dishes), log_joint + log_words(served, word_concentration)))
    return states


def probabilities(logs):
    """Probabilities proportional to exp(logs)."""
    return np.exp(np.asarray(logs) - logsumexp(logs))


def standard_error(draws, num_batches=50):
    """Standard error of the mean of a chain's draws (N, ...), by batch means."""
    size = len(draws) // num_batches
    means = np.reshape(draws[: size * num_batches], (num_batches, size, *np.shape(draws)[1:])).mean(
        1
    )
    return means.std(0, ddof=1) / np.sqrt(num_batches)
