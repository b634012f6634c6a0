"""The evaluation loops. Nothing here checks its arguments; `evaluation.py` does.

score_bits  int64[n_rows]                 float64 scores seen as integers, no -0.0; rows of a query are adjacent
grades      int16[n_rows]                 0 to 31
retrieved   bool[n_rows]                  False: no rank, but counted as relevant and in the ideal ranking
starts      int64[n_queries + 1]          first row of each query
gains       float64[32]                   gain of each grade
chances     float64[32]                   chance that a reader stops at a document of each grade (ERR)
discounts   float64[longest query]        discount at each rank, ranks from 0
kinds       int64[n_measures]             MAP, P, ... below
cutoffs     int64[n_measures]             0: none
out         float64[n_measures, n_queries]
n_relevant  int64[n_queries]              also written
n_tied      int64[n_queries]              also written

Every measure but MeanNDCG is a sum along the ranks of one of the `parts`, divided by a norm. A part at a rank is its
expected value over all orders of the documents tied there; a document that is tied with none is a group of one.
"""

from __future__ import annotations

import numpy as np

from rulerank._util.loops import compiled
from rulerank.dataset import Array

MAP, P, NDCG, MEAN_NDCG, MRR, ERR, RECALL = range(7)  # as in measures.KINDS
RELEVANCE, PRECISION, FIRST, STOP, GAIN, IDEAL, N_PARTS = range(7)
LOW_BITS = 2**63 - 1  # all but the sign
SHORT = 64  # up to here insertion beats eight passes over 256 buckets


@compiled
def measure_queries(
    first: int,
    last: int,
    score_bits: Array,
    grades: Array,
    retrieved: Array,
    starts: Array,
    gains: Array,
    chances: Array,
    discounts: Array,
    kinds: Array,
    cutoffs: Array,
    expected: bool,
    relevant_from: int,
    short_is_zero: bool,
    err_depth: int,
    out: Array,
    n_relevant: Array,
    n_tied: Array,
) -> None:
    """Compute every measure of the queries first to last - 1; ERR down to rank err_depth."""
    longest = 0
    for query in range(first, last):
        longest = max(longest, starts[query + 1] - starts[query])
    rows = np.empty(longest, np.int64)
    doc_keys = np.empty(longest, np.int64)
    order = np.empty(longest, np.int64)
    spare = np.empty(longest, np.int64)
    ranked_keys = np.empty(longest, np.int64)
    ranked_grades = np.empty(longest, np.int64)
    ends = np.empty(longest, np.int64)
    survival = np.empty(longest + 1)
    parts = np.empty((N_PARTS, longest))
    buckets = np.empty(256, np.int64)
    n_of_grade = np.empty(gains.size, np.int64)
    for query in range(first, last):
        start, n_docs = starts[query], starts[query + 1] - starts[query]
        n_of_grade[:] = 0
        n_ranked = 0
        for row in range(start, start + n_docs):
            n_of_grade[grades[row]] += 1
            if retrieved[row]:
                rows[n_ranked] = row
                doc_keys[n_ranked] = falling_key(score_bits[row])
                n_ranked += 1
        sort_keys(doc_keys, n_ranked, order, spare, buckets)
        for rank in range(n_ranked):
            ranked_keys[rank] = doc_keys[order[rank]]
            ranked_grades[rank] = grades[rows[order[rank]]]
        n_relevant[query] = n_of_grade[relevant_from:].sum()
        n_tied[query] = count_tied(ranked_keys, n_ranked)
        fill_ideal(n_of_grade, gains, discounts, parts)
        mark_groups(ranked_keys, n_ranked, expected, ends)
        fill_groups(ends, n_ranked, ranked_grades, gains, discounts, relevant_from, parts)
        fill_stops(ends, min(n_ranked, err_depth), ranked_grades, chances, survival, parts)
        for measure in range(kinds.size):
            out[measure, query] = sum_up(
                kinds[measure], cutoffs[measure], parts, n_docs, n_ranked, n_relevant[query], short_is_zero
            )


@compiled
def falling_key(score_bits: int) -> int:
    """Return an integer that is the smaller the larger the score, from the bits of the score."""
    return ~score_bits if score_bits >= 0 else score_bits & LOW_BITS


@compiled
def sort_keys(keys: Array, n: int, order: Array, spare: Array, buckets: Array) -> None:
    """Write the positions of the first n keys into order, smallest key first, equal keys as they came."""
    if n <= SHORT:
        for i in range(n):
            place = i
            while place > 0 and keys[order[place - 1]] > keys[i]:
                order[place] = order[place - 1]
                place -= 1
            order[place] = i
        return
    for i in range(n):
        order[i] = i
    for shift in range(0, 64, 8):  # least significant byte first
        flip = 128 if shift == 56 else 0  # negative keys come before positive ones
        buckets[:] = 0
        for i in range(n):
            buckets[((keys[i] >> shift) & 255) ^ flip] += 1
        if buckets[((keys[0] >> shift) & 255) ^ flip] == n:
            continue
        place = 0
        for bucket in range(256):
            count = buckets[bucket]
            buckets[bucket] = place
            place += count
        for i in range(n):
            bucket = ((keys[order[i]] >> shift) & 255) ^ flip
            spare[buckets[bucket]] = order[i]
            buckets[bucket] += 1
        order[:n] = spare[:n]


@compiled
def count_tied(ranked_keys: Array, n_ranked: int) -> int:
    """Count the documents whose key is also that of a neighbour."""
    n_tied = 0
    for rank in range(n_ranked):
        above = rank > 0 and ranked_keys[rank - 1] == ranked_keys[rank]
        below = rank + 1 < n_ranked and ranked_keys[rank + 1] == ranked_keys[rank]
        n_tied += above or below
    return n_tied


@compiled
def fill_ideal(n_of_grade: Array, gains: Array, discounts: Array, parts: Array) -> None:
    """Fill the discounted gains of the best possible ranking, which has all documents of the query."""
    rank = 0
    for grade in range(n_of_grade.size - 1, -1, -1):
        for _ in range(n_of_grade[grade]):
            parts[IDEAL, rank] = gains[grade] * discounts[rank]
            rank += 1


@compiled
def mark_groups(ranked_keys: Array, n_ranked: int, expected: bool, ends: Array) -> None:
    """Write at the first rank of each group of tied documents the rank after its last; of one if not expected."""
    begin = 0
    for rank in range(1, n_ranked + 1):
        if not expected or rank == n_ranked or ranked_keys[rank] != ranked_keys[begin]:
            ends[begin] = rank
            begin = rank


@compiled
def fill_groups(
    ends: Array, n_ranked: int, grades: Array, gains: Array, discounts: Array, relevant_from: int, parts: Array
) -> None:
    """Fill what each rank is expected to add to every measure but ERR.

    At a rank of a group each of its documents is equally likely. Given that a relevant one is there, each of the others
    above it in the group is relevant with chance (n_relevant - 1) / (size - 1).
    """
    n_seen = 0  # relevant documents above the group
    begin = 0
    while begin < n_ranked:
        end = ends[begin]
        size = end - begin
        n_relevant = 0
        gain = 0.0
        for rank in range(begin, end):
            n_relevant += grades[rank] >= relevant_from
            gain += gains[grades[rank]]
        mean_gain = gain / size
        share = n_relevant / size
        share_of_others = (n_relevant - 1) / (size - 1) if size > 1 else 0.0
        first = share if n_seen == 0 else 0.0  # chance that the first relevant document is at this rank
        for rank in range(begin, end):
            above = rank - begin
            parts[RELEVANCE, rank] = share
            parts[PRECISION, rank] = share * (n_seen + 1 + above * share_of_others) / (rank + 1)
            parts[GAIN, rank] = mean_gain * discounts[rank]
            parts[FIRST, rank] = first / (rank + 1)
            if rank + 1 < end:
                first *= (size - above - n_relevant) / (size - above - 1)
        n_seen += n_relevant
        begin = end


@compiled
def fill_stops(ends: Array, depth: int, grades: Array, chances: Array, survival: Array, parts: Array) -> None:
    """Fill, down to depth, the chance that a reader stops at each rank, over the rank.

    survival[j] is the chance to pass j documents drawn from a group: the mean, over all its subsets of size j, of the
    product of their members' chances to be passed. Documents join the group one by one; a subset of size j of the first
    n holds the nth with chance j / n. Those that nobody stops at come first: they leave every survival at 1.
    """
    reached = 1.0  # chance that the reader gets as far as the group
    begin = 0
    while begin < depth:
        end = ends[begin]
        n_wanted = min(end, depth) - begin
        n = 0
        for rank in range(begin, end):
            n += chances[grades[rank]] == 0.0
        for j in range(n_wanted + 1):
            survival[j] = 1.0 if j <= n else 0.0
        beyond = reached
        for rank in range(begin, end):
            chance = chances[grades[rank]]
            if chance > 0.0:
                n += 1
                beyond *= 1.0 - chance
                for j in range(min(n, n_wanted), 0, -1):
                    survival[j] = ((n - j) * survival[j] + j * (1.0 - chance) * survival[j - 1]) / n
        for j in range(n_wanted):
            parts[STOP, begin + j] = reached * (survival[j] - survival[j + 1]) / (begin + j + 1)
        reached = beyond
        begin = end


@compiled
def sum_up(
    kind: int, cutoff: int, parts: Array, n_docs: int, n_ranked: int, n_relevant: int, short_is_zero: bool
) -> float:
    """Return one measure of one query from the parts of its ranks."""
    depth = n_docs if cutoff == 0 else min(cutoff, n_docs)
    n_deep = min(depth, n_ranked)
    if kind == P:
        return parts[RELEVANCE, :n_deep].sum() / cutoff
    if kind == MRR:
        return parts[FIRST, :n_deep].sum()
    if kind == ERR:
        return parts[STOP, :n_deep].sum()
    if kind == MAP or kind == RECALL:
        part = PRECISION if kind == MAP else RELEVANCE
        return parts[part, :n_deep].sum() / n_relevant if n_relevant else 0.0
    if parts[IDEAL, 0] == 0.0 or (short_is_zero and cutoff > n_docs):
        return 0.0
    if kind == NDCG:
        return parts[GAIN, :n_deep].sum() / parts[IDEAL, :depth].sum()
    gain = ideal = total = 0.0  # MeanNDCG
    for rank in range(n_docs):
        gain += parts[GAIN, rank] if rank < n_ranked else 0.0
        ideal += parts[IDEAL, rank]
        total += gain / ideal
    return total / n_docs
