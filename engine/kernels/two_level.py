"""The two-level local step: coordinate ascent over a document's slots (Wang 2011 Eq. 15-18).

Letters in the bodies: c counts of a document's N words, B topic weight of a word, φ slot_topics (T,
A) over the document's A topics, ζ word_slots, of which only the tokens c_i ζ_it (T, N) are kept, a
and b the document's sticks. N and A are padded to multiples of BLOCK, T to a multiple of four. A
padded word has count 0, a padded topic has E[log β] = LOWEST.
"""

from typing import NamedTuple

import numpy as np

from stickbreaker.engine.kernels.bounds import bound_slots
from stickbreaker.engine.kernels.compiled import DocumentArrays, njit
from stickbreaker.engine.kernels.counts import DocumentCounts, next_block
from stickbreaker.engine.kernels.dirichlet import (
    Iterations,
    WorkArrays,
    iterate_topics,
    load_document,
    longest_document,
    make_lines,
    make_work_arrays,
    round_up,
)
from stickbreaker.engine.kernels.slots import (
    LOWEST,
    assign_words,
    expected_log_sticks,
    multiply,
    update_slot_topics,
    update_sticks,
    write_tokens,
)
from stickbreaker.engine.kernels.special import FAST, fast_log


class Limits(NamedTuple):
    """Sizes and options of the two-level kernel.

    num_without_priors: how many iterations (Eq. 17, then 18) leave out E[log β] and E[log π].
    """

    num_slots: int
    max_active: int
    num_iterations: int
    tolerance: float
    doc_concentration: float
    is_uniform_start: bool
    num_without_priors: int = 0


class Prior(NamedTuple):
    """What a document's slots know of the corpus' weights β before its words are read.

        p(c_jt = k) = β_k,  E[log β_k] = E[log β'_k] + Σ_{l<k} E[log (1 - β'_l)]    (Wang 2011 Eq.
        7, below Eq. 21)

    concentrations: (K,) α₀E[β], the prior of the iterations that start a document;
    expected_log_weights: (K,) E[log β]; order: (K,) topics by descending E[β].
    """

    concentrations: np.ndarray
    expected_log_weights: np.ndarray
    order: np.ndarray


class Chosen(NamedTuple):
    """A document's own A topics: ids, log B by word (N, A) and topic (A, N), E[log β] (A,)."""

    topic_ids: np.ndarray
    log_weights: np.ndarray
    by_topic: np.ndarray
    expected_log_weights: np.ndarray


class Slots(NamedTuple):
    """q of a document's slots: the topic c_t of each slot, the slot z_i of each word, and the
    sticks π'.

        q(c_t = k) = φ_tk ∝ exp(Σ_i c_i ζ_it log B_ik + E[log β_k])        (Wang 2011 Eq. 17)
        q(z_i = t) = ζ_it ∝ exp(Σ_k φ_tk log B_ik + E[log π_t])            (Eq. 18)
        q(π'_t) = Beta(a_t, b_t),  a_t = 1 + Σ_i c_i ζ_it,  b_t = α₀ + Σ_{s>t} Σ_i c_i ζ_is
        (Eq. 13, 15, 16)

    phi: (T, A); tokens: (T, N) c_i ζ_it; totals: (2, T), the present sums of the tokens and those
    before; sticks: (2, T), a and b. The last stick is 1.
    """

    phi: np.ndarray
    tokens: np.ndarray
    totals: np.ndarray
    sticks: np.ndarray


class Scratch(NamedTuple):
    """Working memory for the largest document of a shard.

    Arrays whose shape differs by document are flat.

    per_word: (2, N); sums: (3, A). Kernels read and change it, as out_scratch.
    """

    log_weights: np.ndarray
    by_topic: np.ndarray
    expected_log_weights: np.ndarray
    phi: np.ndarray
    tokens: np.ndarray
    totals: np.ndarray
    sticks: np.ndarray
    log_pi: np.ndarray
    digammas: np.ndarray
    per_word: np.ndarray
    sums: np.ndarray


@njit(nogil=True, cache=True, error_model="numpy")
def make_scratch(limits: Limits, longest: int, topics: np.ndarray) -> Scratch:
    """Working memory for up to `longest` words (padded), in the precision of the topics."""
    width = round_up(limits.max_active)
    num_slots = padded_slots(limits)
    return Scratch(
        make_lines(width * longest, topics),
        make_lines(width * longest, topics),
        make_lines(width, topics),
        make_lines(num_slots * width, topics),
        make_lines(num_slots * longest, topics),
        np.empty((2, limits.num_slots), topics.dtype),
        np.empty((2, limits.num_slots), topics.dtype),
        np.empty(limits.num_slots, topics.dtype),
        np.empty(round_up(3 * limits.num_slots), topics.dtype),
        np.empty((2, longest), topics.dtype),
        np.empty((3, width), topics.dtype),
    )


@njit(nogil=True, cache=True, error_model="numpy")
def padded_slots(limits: Limits) -> int:
    """The number of slots, rounded up to a multiple of four, since four are written at a time."""
    return (limits.num_slots + 3) // 4 * 4


@njit(nogil=True, cache=True, error_model="numpy")
def choose_topics(
    topic_ids: np.ndarray,
    out_h: np.ndarray,
    limits: Limits,
    negligible: float,
    prior_order: np.ndarray,
    out_is_taken: np.ndarray,
    out_active: np.ndarray,
) -> int:
    """Choose the document's topics: those with the most tokens h, at least `negligible`, at most
    max_active of them.

    Topics with the largest corpus weights are appended up to a multiple of BLOCK and at least the
    number of slots. Returns the number chosen. out_h (A,), the tokens h, is overwritten;
    out_is_taken (K,) is working memory.
    """
    most = min(limits.max_active, prior_order.shape[0])
    out_is_taken[:] = False
    num_chosen = 0
    for m in range(topic_ids.shape[0]):
        tokens = out_h[m]
        k = topic_ids[m]
        if tokens < negligible or (num_chosen == most and tokens <= out_h[most - 1]):
            continue
        # h[:num_chosen] holds the tokens of the topics chosen so far, largest first; num_chosen
        # never exceeds m.
        place = min(num_chosen, most - 1)
        while place > 0 and out_h[place - 1] < tokens:
            out_h[place] = out_h[place - 1]
            out_active[place] = out_active[place - 1]
            place -= 1
        out_h[place] = tokens
        out_active[place] = k
        num_chosen = min(num_chosen + 1, most)
    # The topics with the largest corpus weights fill up the slots and the last vector.
    for m in range(num_chosen):
        out_is_taken[out_active[m]] = True
    enough = min(most, round_up(max(num_chosen, limits.num_slots)))
    for k in prior_order:
        if num_chosen == enough:
            break
        if not out_is_taken[k]:
            out_active[num_chosen] = k
            out_h[num_chosen] = 0.0
            num_chosen += 1
    return num_chosen


@njit(nogil=True, cache=True, fastmath=FAST, error_model="numpy")
def load_chosen(
    documents: DocumentArrays,
    j: int,
    topics: np.ndarray,
    prior: Prior,
    topic_ids: np.ndarray,
    out_scratch: Scratch,
) -> Chosen:
    """Write log B and E[log β] of document j's topics to the working memory."""
    first = documents.starts[j]
    last = documents.starts[j + 1]
    num_topics = topic_ids.shape[0]
    num_words = round_up(last - first)
    width = round_up(num_topics)
    by_topic = out_scratch.by_topic[: width * num_words].reshape(width, num_words)
    log_weights = out_scratch.log_weights[: width * num_words].reshape(num_words, width)
    log_weights[:] = 1.0
    # log B_im of the document's own topics; padding has B = 1.
    for i in range(last - first):
        row = topics[documents.words[first + i]]
        out = log_weights[i]
        for m in range(num_topics):
            out[m] = row[topic_ids[m]]
    flat = out_scratch.log_weights
    for place in range(width * num_words):
        flat[place] = fast_log(flat[place])
    # The same by topic, for Eq. 18, and E[log β_m].
    transpose(log_weights, by_topic)
    expected_log_weights = out_scratch.expected_log_weights[:width]
    expected_log_weights[:] = LOWEST
    for m in range(num_topics):
        expected_log_weights[m] = prior.expected_log_weights[topic_ids[m]]
    return Chosen(topic_ids, log_weights, by_topic, expected_log_weights)


@njit(nogil=True, cache=True, error_model="numpy")
def transpose(array: np.ndarray, out_transposed: np.ndarray) -> None:
    """Write the transpose of an array (R, W) to (W, R)."""
    for column in range(array.shape[1]):
        row = out_transposed[column]
        for i in range(array.shape[0]):
            row[i] = array[i, column]


@njit(nogil=True, cache=True, fastmath=FAST, error_model="numpy")
def sum_tokens(
    tokens: np.ndarray, out_now: np.ndarray, out_before: np.ndarray
) -> tuple[float, float]:
    """Write slot tokens (T,) to out_now and out_before; return total change and sum."""
    change = size = zero = tokens.dtype.type(0)
    for t in range(out_now.shape[0]):
        row = tokens[t]
        total = zero
        for i in range(row.shape[0]):
            total += row[i]
        change += abs(total - out_before[t])
        size += total
        out_now[t] = out_before[t] = total
    return change, size


@njit(nogil=True, cache=True, error_model="numpy")
def equalise(expected_log_weights: np.ndarray) -> np.ndarray:
    """E[log β] (A,) with equal weights for all topics; padding stays padding."""
    flat = expected_log_weights.copy()
    for m in range(flat.shape[0]):
        if flat[m] > LOWEST / 2:
            flat[m] = 0.0
    return flat


@njit(nogil=True, cache=True, error_model="numpy")
def iterate_slots(
    c: np.ndarray, chosen: Chosen, limits: Limits, out_slots: Slots, out_scratch: Scratch
) -> None:
    """Repeat Eq. 18, 15-16 and 17 on one document until the tokens of its slots converge."""
    num_slots = limits.num_slots
    num_without = limits.num_without_priors
    phi = out_slots.phi
    tokens = out_slots.tokens
    now = out_slots.totals[0]
    before = out_slots.totals[1]
    log_beta = (
        equalise(chosen.expected_log_weights) if num_without > 0 else chosen.expected_log_weights
    )
    for iteration in range(limits.num_iterations):
        if iteration > 0 or not limits.is_uniform_start:
            expected_log_sticks(out_slots.sticks, out_scratch.digammas, out_scratch.log_pi)
            # This Eq. 18 belongs to the Eq. 17 of the iteration before.
            if 0 < iteration <= num_without:
                out_scratch.log_pi[:] = 0.0
            if iteration > 0:
                multiply(phi, chosen.by_topic, tokens)
            else:
                # At the start, slot t holds only the document's topic t.
                for t in range(num_slots):
                    for i in range(c.shape[0]):
                        tokens[t, i] = chosen.by_topic[t, i]
            # Eq. 18: tokens hold Σ_m φ_tm log B_im, which become c_i ζ_it.
            assign_words(c, out_scratch.log_pi, out_scratch.per_word, tokens)
        # Eq. 15 and 16: the sticks from the tokens Σ_i c_i ζ_it of each slot.
        change, size = sum_tokens(tokens, now, before)
        update_sticks(now, limits.doc_concentration, out_slots.sticks)
        if iteration == num_without:
            log_beta = chosen.expected_log_weights
        # Eq. 17.
        update_slot_topics(chosen.log_weights, tokens, log_beta, phi)
        if iteration > 0 and change < limits.tolerance * size:
            break


@njit(nogil=True, cache=True, fastmath=FAST, error_model="numpy")
def sum_slots(slots: Slots, num_slots: int, out_sums: np.ndarray) -> None:
    """Write Σ_t φ_tk, Σ_t φ_tk Σ_i c_i ζ_it and Σ_t E[π_t] φ_tk of a document to (3, A)."""
    out_sums[:] = 0.0
    tables = out_sums[0]
    tokens = out_sums[1]
    shares = out_sums[2]
    left = tables.dtype.type(1)
    for t in range(num_slots):
        # E[π_t] = E[π'_t] ∏_{l<t} (1 - E[π'_l]), where E[π'_t] = a_t / (a_t + b_t).
        on = slots.sticks[0, t] / (slots.sticks[0, t] + slots.sticks[1, t])
        total = slots.totals[0, t]
        share = left * on
        phi = slots.phi[t]
        for m in range(tables.shape[0]):
            tables[m] += phi[m]
            tokens[m] += total * phi[m]
            shares[m] += share * phi[m]
        left *= tables.dtype.type(1) - on


@njit(nogil=True, cache=True, error_model="numpy")
def add_sums(
    sums: np.ndarray,
    topic_ids: np.ndarray,
    is_learning: bool,
    out_tables: np.ndarray,
    out_tokens: np.ndarray,
    out_shares: np.ndarray,
) -> None:
    """Add a document's tables (Eq. 19), shares θ and, if is_learning, tokens to totals (K,)."""
    for m in range(topic_ids.shape[0]):
        k = topic_ids[m]
        out_tables[k] += sums[0, m]
        out_shares[k] += sums[2, m]
        if is_learning:
            out_tokens[k] += sums[1, m]


@njit(nogil=True, cache=True, error_model="numpy")
def start_slots(
    chosen: Chosen, c: np.ndarray, h: np.ndarray, limits: Limits, out_scratch: Scratch
) -> Slots:
    """Slots before the first iteration: words spread evenly, or sticks from the document's tokens h
    of its topics.
    """
    width, num_words = chosen.by_topic.shape
    num_slots = limits.num_slots
    most = padded_slots(limits)
    phi = out_scratch.phi[: most * width].reshape(most, width)
    tokens = out_scratch.tokens[: most * num_words].reshape(most, num_words)
    tokens[num_slots:] = 0.0
    # Uniform: ζ_it = 1/T. Otherwise the sticks of Eq. 15-16, from the tokens of the chosen topics.
    if limits.is_uniform_start:
        for t in range(num_slots):
            for i in range(num_words):
                tokens[t, i] = c[i] / num_slots
    slots = Slots(phi, tokens, out_scratch.totals, out_scratch.sticks)
    slots.totals[:] = 0.0
    if not limits.is_uniform_start:
        update_sticks(h[:num_slots], limits.doc_concentration, slots.sticks)
    return slots


@njit(nogil=True, cache=True, error_model="numpy")
def fit_document(
    documents: DocumentArrays,
    j: int,
    topics: np.ndarray,
    prior: Prior,
    iterations: Iterations,
    limits: Limits,
    out_work: WorkArrays,
    out_scratch: Scratch,
    out_active: np.ndarray,
    out_is_taken: np.ndarray,
) -> tuple[np.ndarray, np.ndarray, Slots]:
    """Run the two-level local step on document j.

    Return its counts (N,), topic ids (A,) and slots, all in out_scratch.

    out_active: (K,), the ids of all topics, of which the document's own overwrite the first.
    out_work, out_is_taken (K,): working memory.
    """
    num_words = load_document(documents, j, topics, out_work)
    c = out_work.counts[:num_words]
    num_active = topics.shape[1]
    if not limits.is_uniform_start:
        num_left, _ = iterate_topics(num_words, prior.concentrations, iterations, out_work)
        num_active = choose_topics(
            out_work.topic_ids[:num_left],
            out_work.h,
            limits,
            iterations.negligible,
            prior.order,
            out_is_taken,
            out_active,
        )
    own = out_active[:num_active]
    chosen = load_chosen(documents, j, topics, prior, own, out_scratch)
    slots = start_slots(chosen, c, out_work.h, limits, out_scratch)
    iterate_slots(c, chosen, limits, slots, out_scratch)
    return c, own, slots


@njit(nogil=True, cache=True, error_model="numpy")
def fit_one(
    documents: DocumentArrays,
    topics: np.ndarray,
    prior: Prior,
    iterations: Iterations,
    limits: Limits,
) -> tuple[np.ndarray, Slots, float]:
    """Run the local step on one document; return topic ids (A,), slots and `bound_slots`."""
    longest = longest_document(documents)
    num_topics = topics.shape[1]
    work = make_work_arrays(longest, topics)
    scratch = make_scratch(limits, longest, topics)
    active = np.arange(num_topics)
    is_taken = np.empty(num_topics, np.bool_)
    c, own, slots = fit_document(
        documents, 0, topics, prior, iterations, limits, work, scratch, active, is_taken
    )
    return (
        own,
        slots,
        bound_slots(c, slots.phi, slots.tokens, slots.sticks, limits.doc_concentration),
    )


@njit(nogil=True, cache=True, error_model="numpy")
def fit_two_level(
    documents: DocumentArrays,
    topics: np.ndarray,
    prior: Prior,
    iterations: Iterations,
    limits: Limits,
    out_counts: DocumentCounts,
    out_tables: np.ndarray,
    out_tokens: np.ndarray,
    out_shares: np.ndarray,
    out_bounds: np.ndarray,
) -> None:
    """Run the two-level local step on each document.

    documents: their words index `topics` (U, K), the topic weights B of the batch's words. Adds Σ_t
    φ_tk to out_tables (K,) and writes θ_k = Σ_t E[π_t] φ_tk to out_shares (S, K). Unless out_counts
    is empty, writes the tokens Σ_t c_i ζ_it φ_tk to it and adds their sums to out_tokens (K,).
    Unless out_bounds is empty, writes `bound_slots` of each document to it (S,).
    """
    num_topics = topics.shape[1]
    longest = longest_document(documents)
    work = make_work_arrays(longest, topics)
    scratch = make_scratch(limits, longest, topics)
    active = np.arange(num_topics)
    is_taken = np.empty(num_topics, np.bool_)
    place = 0
    for j in range(documents.starts.shape[0] - 1):
        c, own, slots = fit_document(
            documents, j, topics, prior, iterations, limits, work, scratch, active, is_taken
        )
        sums = scratch.sums[:, : slots.phi.shape[1]]
        is_learning = out_counts.tokens.shape[0] > 0
        # The document's terms of Eq. 19 and 21, and θ.
        sum_slots(slots, limits.num_slots, sums)
        add_sums(sums, own, is_learning, out_tables, out_tokens, out_shares[j])
        if is_learning:
            block, place = next_block(out_counts, j, own, place)
            write_tokens(slots.phi, slots.tokens, block)
        if out_bounds.shape[0] > 0:
            out_bounds[j] = bound_slots(
                c, slots.phi, slots.tokens, slots.sticks, limits.doc_concentration
            )
