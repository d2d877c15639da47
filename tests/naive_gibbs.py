"""Slow twin of the Gibbs kernels, written from the conditionals of Teh et al. (2006, sec. 5.3) with
dense counts.

Letters: n_jk tokens of document j in topic k, n_wk of word w, n_k of all; π weights, π_u of topics
without tokens. Tokens are visited word by word, and those of a word document by document, as in the
kernel. Both add up the probabilities of the topics in the same order, so they draw the same topics
from equal generators.
"""

import numpy as np


class Sampler:
    """Tokens as (document, word, topic). A topic is a place.

    The place freed last is used first. ids: (K,) by place.
    """

    def __init__(self, tokens, vocab_size, weights, unused, is_growing):
        self.tokens, self.vocab_size, self.is_growing = (
            [list(token) for token in tokens],
            vocab_size,
            is_growing,
        )
        self.weights, self.unused = list(weights), unused
        self.ids, self.next_id, self.free, self.lists = (
            list(range(len(weights))),
            len(weights),
            [],
            {},
        )
        for j, _, k in self.tokens:
            self.lists.setdefault(j, [])
            if k not in self.lists[j]:
                self.lists[j].append(k)

    def count(self, without, **match):
        """Tokens other than that one with this document, word or topic."""
        at = {"j": 0, "w": 1, "k": 2}
        return sum(
            all(token[at[name]] == value for name, value in match.items())
            for i, token in enumerate(self.tokens)
            if i != without
        )

    def sweep(self, rng, alpha, gamma, eta):
        """Draw every token's topic again."""
        order = sorted(
            range(len(self.tokens)), key=lambda i: (self.tokens[i][1], self.tokens[i][0], i)
        )
        for w in range(self.vocab_size):
            of_word = [i for i in order if self.tokens[i][1] == w]
            listed = list(dict.fromkeys(self.tokens[i][2] for i in of_word))
            for i in of_word:
                self.draw(i, listed, rng, alpha, gamma, eta)

    def draw(self, i, listed, rng, alpha, gamma, eta):
        """Draw token i's topic given all others, as a place on a line of document, word, smoothing
        and new.
        """
        j, w, old = self.tokens[i]
        has_died = self.is_growing and self.count(i, k=old) == 0
        if has_died:
            self.unused += self.weights[old]
            self.weights[old] = 0.0
            self.free.append(old)
        below = [self.count(i, k=k) + self.vocab_size * eta for k in range(len(self.weights))]
        line = [
            (k, self.count(i, j=j, k=k) * (self.count(i, w=w, k=k) + eta) / below[k])
            for k in self.lists[j]
        ]
        line += [(k, alpha * self.weights[k] * self.count(i, w=w, k=k) / below[k]) for k in listed]
        line += [(k, alpha * self.weights[k] * eta / below[k]) for k in range(len(below))]
        line += [(None, alpha * self.unused / self.vocab_size)]
        ends = np.cumsum([length for _, length in line])
        new = line[int(np.searchsorted(ends, rng.random() * ends[-1], side="right"))][0]
        if new is None:
            new = self.give_birth(has_died, rng, gamma)
        if new not in listed:
            listed.append(new)
        self.move(i, j, old, new)

    def give_birth(self, has_died, rng, gamma):
        """The place of a new topic, with a part b ~ Beta(1, γ) of the unused weight.

        A topic that loses its last token to a new topic keeps its id.
        """
        left = (1.0 - rng.random()) ** (1.0 / gamma)
        if not self.free:
            self.free.append(len(self.weights))
            self.weights.append(0.0)
            self.ids.append(None)
        new = self.free.pop()
        if not has_died:
            self.ids[new], self.next_id = self.next_id, self.next_id + 1
        self.weights[new], self.unused = self.unused * (1.0 - left), self.unused * left
        return new

    def move(self, i, j, old, new):
        """Change the token's topic, and the document's list as the kernel keeps it."""
        if new == old:
            return
        own, is_last = self.lists[j], self.count(i, j=j, k=old) == 0
        if new not in own and is_last:
            own[own.index(old)] = new
        elif new not in own:
            own.append(new)
        elif is_last:
            own[own.index(old)] = own[-1]
            own.pop()
        self.tokens[i][2] = new
