"""Every assignment of a corpus of five tokens, and its probability: what samplers and bounds are held against."""

from collections import Counter
from itertools import product

import numpy as np
from scipy.special import gammaln

DOCUMENTS = ((0, 0, 1), (1, 2))
VOCAB_SIZE = 3


def partitions(size):
    """All partitions of `size` things, as the group of each, groups numbered as they appear."""
    if size == 0:
        return [()]
    return [(*rest, group) for rest in partitions(size - 1) for group in range(max(rest, default=-1) + 2)]


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


def log_words(topics_of_tokens, word_concentration, documents=DOCUMENTS, prior_counts=()):
    """log p(words | topics of the tokens), the topics' words integrated out.

    prior_counts: rows (V,) of λ - η that the first topics hold already; the others hold none.
    """
    words, total = sum(documents, ()), 0.0
    counts = Counter(zip(topics_of_tokens, words, strict=True))
    for topic in set(topics_of_tokens):
        prior = np.full(VOCAB_SIZE, float(word_concentration))
        if topic < len(prior_counts):
            prior += prior_counts[topic]
        own = np.array([counts[topic, word] for word in range(VOCAB_SIZE)])
        total += gammaln(prior.sum()) - gammaln(prior.sum() + own.sum())
        total += (gammaln(prior + own) - gammaln(prior)).sum()
    return total


def franchise(doc_concentration, corpus_concentration, word_concentration, documents=DOCUMENTS):
    """All states of the Chinese restaurant franchise, nothing cut, as (topic of each token, tables, log joint).

    Seatings at tables and partitions of all tables into topics; the topics of tokens come once for each seating that
    gives them. The log joint is that of words, seating and topics.
    """
    states = []
    for seatings in product(*(partitions(len(words)) for words in documents)):
        log_tables = sum(log_restaurant(seats, doc_concentration) for seats in seatings)
        first = np.cumsum([0, *(max(seats) + 1 for seats in seatings)])
        for dishes in partitions(first[-1]):
            served = tuple(dishes[first[j] + t] for j, seats in enumerate(seatings) for t in seats)
            log_joint = log_tables + log_restaurant(dishes, corpus_concentration)
            states.append((served, len(dishes), log_joint + log_words(served, word_concentration, documents)))
    return states


def standard_error(draws, num_batches=50):
    """Standard error of the mean of a chain's draws (N, ...), by batch means."""
    size = len(draws) // num_batches
    means = np.reshape(draws[: size * num_batches], (num_batches, size, *np.shape(draws)[1:])).mean(1)
    return means.std(0, ddof=1) / np.sqrt(num_batches)
