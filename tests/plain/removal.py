"""Scores without some features, obvious and slow: the definitions on rows whose columns are gone."""

import math
from fractions import Fraction

from plain.by_query import (
    deltas_plainly,
    labels_plainly,
    lift_of_query,
    mean_confidences,
    rank_of_query,
    sets_of,
)
from plain.engine import score_plainly, strength_plainly
from plain.stability import score_literally as stable_literally
from plain.stability import score_stably


def without(rows, removed):
    """Take columns away."""
    kept = [f for f in range(len(rows[0])) if f not in removed]
    return [tuple(row[f] for f in kept) for row in rows]


def global_score(train, grades, queries, document, removed, **options):
    train, (document,) = without(train, removed), without([document], removed)
    return score_plainly(train, grades, queries, document, **options)


def stable_score(train, grades, queries, document, removed, *, literal, **options):
    train, (document,) = without(train, removed), without([document], removed)
    return (stable_literally if literal else score_stably)(train, grades, queries, document, **options)


def literal_query_score(train, grades, queries, document, removed, *, max_size, min_support=0.0):
    """RE-QR whose labels D* were learned with all features, and whose rules then lose some."""
    labels = labels_plainly(deltas_plainly(train, grades, queries, max_size=max_size, min_support=min_support), "first")
    train, (document,) = without(train, removed), without([document], removed)
    sets = sets_of(train, max_size)
    kept = [i for i, label in enumerate(labels) if label]
    s = mean_confidences(sets, [train[i] for i in kept], [labels[i] for i in kept], document, min_support)
    above = below = 0.0
    for q in sorted(set(queries)):
        own = [i for i in range(len(train)) if queries[i] == q]
        rank = rank_of_query(sets, [train[i] for i in own], [grades[i] for i in own], document, min_support)
        if not math.isnan(rank):
            above, below = above + s.get(q, 0.0) * rank, below + s.get(q, 0.0)
    if below:
        return above / below
    return score_plainly(train, grades, queries, document, max_size=max_size, min_support=min_support)


def trusted_query_score(train, grades, queries, document, removed, *, trusted, max_size, shrink, min_support=0.0):
    """The mean over trusted queries, which were chosen with all features."""
    strength = [float(strength_plainly(train, grades, queries, f)) for f in range(len(document))]
    strength = [s for f, s in enumerate(strength) if f not in removed]
    train, (document,) = without(train, removed), without([document], removed)
    options = {"max_size": max_size, "strength": strength, "shrink": shrink, "min_support": min_support}
    lifts = [lift_of_query(train, grades, queries, q, document, **options) for q in trusted]
    mean = float(Fraction(sum(grades), len(grades)))
    return mean + (0.0 if math.isnan(lifts[0]) else sum(lifts) / len(lifts))
