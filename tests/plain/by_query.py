"""Query-level rules once more, obvious and slow: the oracle of the tests, straight from the definitions."""

import math
from fractions import Fraction
from itertools import product
from statistics import fmean

from plain.engine import least_rows, rows_like, score_plainly, sets_of

STEP = 2.0**-20  # as in `competence.py`


def mean_confidences(sets, rows, labels, document, min_support):
    """Return s(label), the mean confidence of the rules X -> label that cover the document.

    labels: what share each row has of each label. One row, or any share of one, is enough for a rule without support.
    """
    thetas = {}
    for members in sets:
        covered = rows_like(rows, document, members)
        for label in {label for i in covered for label in labels[i]}:
            held = sum((labels[i].get(label, Fraction(0)) for i in covered), Fraction(0))
            if held > 0 and held >= round(min_support * len(rows), 9):
                thetas.setdefault(label, []).append(float(held / len(covered)))
    return {label: sum(values) / len(values) for label, values in thetas.items()}


def rank_of_query(sets, rows, grades, document, min_support):
    """Return rank(q, d) from the rows of one query, NaN when it has no rule for d.

    >>> rank_of_query([(0,)], [(0,), (0,), (1,)], [0, 1, 1], (0,), 0.0)
    0.5
    """
    s = mean_confidences(sets, rows, [{grade: Fraction(1)} for grade in grades], document, min_support)
    return sum(grade * theta for grade, theta in s.items()) / sum(s.values()) if s else math.nan


def deltas_plainly(train, grades, queries, *, max_size, min_support=0.0, leave_one_out=True):
    """Return Delta(q, d) = |rank(q, d) - grade| for each training document and each query."""
    sets = sets_of(train, max_size)
    deltas = []
    for d, document in enumerate(train):
        own = []
        for q in sorted(set(queries)):
            members = [i for i in range(len(train)) if queries[i] == q and not (leave_one_out and i == d)]
            rank = rank_of_query(sets, [train[i] for i in members], [grades[i] for i in members], document, min_support)
            own.append(abs(rank - grades[d]))
        deltas.append(own)
    return deltas


def labels_plainly(deltas, ties, queries=()):
    """Return D*: the share of each query in each document's label, empty when all abstain.

    queries: the number of each document's own, for ties="other".

    >>> labels_plainly([[0.5, 0.5], [math.nan, 0.0]], "share")
    [{0: Fraction(1, 2), 1: Fraction(1, 2)}, {1: Fraction(1, 1)}]
    """
    labels = []
    for d, own in enumerate(deltas):
        steps = {q: round(delta / STEP) for q, delta in enumerate(own) if not math.isnan(delta)}
        best = [q for q, step in steps.items() if step == min(steps.values())]
        if ties == "other":
            best = [q for q in best if q != queries[d]] or best
        best = best if ties == "share" else best[:1]
        labels.append({q: Fraction(1, len(best)) for q in best})
    return labels


def score_literally(train, grades, queries, document, *, max_size, min_support=0.0, leave_one_out=True, ties="first"):
    """Score one document by the paper's RE-QR."""
    sets = sets_of(train, max_size)
    numbers = sorted(set(queries))
    support = {"max_size": max_size, "min_support": min_support}
    deltas = deltas_plainly(train, grades, queries, leave_one_out=leave_one_out, **support)
    labels = labels_plainly(deltas, ties, [numbers.index(q) for q in queries])
    kept = [i for i, label in enumerate(labels) if label]
    s = mean_confidences(sets, [train[i] for i in kept], [labels[i] for i in kept], document, min_support)
    above = below = 0.0
    for q in numbers:
        own = [i for i in range(len(train)) if queries[i] == q]
        rank = rank_of_query(sets, [train[i] for i in own], [grades[i] for i in own], document, min_support)
        if not math.isnan(rank):
            above += s.get(q, 0.0) * rank
            below += s.get(q, 0.0)
    if below:
        return above / below
    return score_plainly(train, grades, queries, document, **support)


def lift_of_query(train, grades, queries, query, document, *, max_size, strength, shrink, min_support=0.0):
    """Return how far above the mean grade one query puts a document, NaN when no cell of the document is known."""
    means = {q: fmean([g for g, own in zip(grades, queries, strict=True) if own == q]) for q in set(queries)}
    surprises = [g - means[q] for g, q in zip(grades, queries, strict=True)]
    above = below = 0.0
    for members in sets_of(train, max_size):
        rows = rows_like(train, document, members)
        if len(rows) < least_rows(train, min_support):
            continue
        everyone = sum(surprises[i] for i in rows) / (len(rows) + 10)
        own = [i for i in rows if queries[i] == query]
        weight = fmean([strength[f] for f in members])
        above += weight * (sum(surprises[i] for i in own) + shrink * everyone) / (len(own) + shrink)
        below += weight
    return above / below if below else math.nan


def share_of_right_pairs_plainly(lifts, grades, queries):
    """Return each query's share of right pairs, given lifts[q][d] of every training document; tied ones half."""
    shares = []
    for q, lift in enumerate(lifts):
        pairs = [(i, j) for i, j in product(range(len(grades)), repeat=2) if grades[i] > grades[j]]
        pairs = [(i, j) for i, j in pairs if queries[i] == queries[j] != q]
        right = sum(1.0 if lift[i] > lift[j] else 0.5 if lift[i] == lift[j] else 0.0 for i, j in pairs)
        shares.append(right / len(pairs) if pairs else 0.5)
    return shares
