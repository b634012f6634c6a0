"""The measures by their definitions: slow, obvious, and what the tests hold the fast loops against.

A ranking is the list of its documents' grades, best first; `grades` are those of all documents of the query, ranked or
not.
"""

import itertools
import math
from statistics import fmean

from rulerank.evaluation.measures import convention_named


def measure_ranking(measure, ranking, grades, *, convention="standard", relevant_from=1, max_grade=None):
    """Return a measure of one ranking without ties.

    >>> from rulerank.evaluation.measures import Measure
    >>> measure_ranking(Measure("MAP"), [0, 1, 1], [0, 1, 1])
    0.5833333333333333
    """
    relevant = [grade >= relevant_from for grade in ranking]
    n_relevant = sum(grade >= relevant_from for grade in grades)
    depth = measure.cutoff or len(grades)
    hits = [rank for rank, hit in enumerate(relevant[:depth], start=1) if hit]
    match measure.name:
        case "MAP":
            return sum(sum(relevant[:rank]) / rank for rank in hits) / n_relevant if n_relevant else 0.0
        case "P":
            return len(hits) / depth
        case "Recall":
            return len(hits) / n_relevant if n_relevant else 0.0
        case "MRR":
            return 1 / hits[0] if hits else 0.0
        case "ERR":
            return _err(ranking[:depth], max(grades) if max_grade is None else max_grade)
        case "NDCG":
            return _ndcg(ranking, grades, depth, convention_named(convention))
        case _:  # MeanNDCG
            return fmean(_ndcg(ranking, grades, k, convention_named(convention)) for k in range(1, len(grades) + 1))


def expected_measure(measure, scores, ranked_grades, grades, **options):
    """Return the mean of a measure over all orders of the tied documents.

    >>> from rulerank.evaluation.measures import Measure
    >>> expected_measure(Measure("MRR"), [0.5, 0.5], [0, 1], [0, 1])
    0.75
    """
    orders = orders_of_ties(scores, ranked_grades)
    return fmean(measure_ranking(measure, order, grades, **options) for order in orders)


def orders_of_ties(scores, grades):
    """Yield the grades in every order that the scores allow.

    >>> list(orders_of_ties([1, 2, 1], [0, 5, 3]))
    [[5, 0, 3], [5, 3, 0]]
    """
    levels = sorted(set(scores), reverse=True)
    groups = [[g for s, g in zip(scores, grades, strict=True) if s == level] for level in levels]
    for orders in itertools.product(*(itertools.permutations(group) for group in groups)):
        yield [grade for order in orders for grade in order]


def _err(ranking, max_grade):
    reached, total = 1.0, 0.0
    for rank, grade in enumerate(ranking, start=1):
        stop = (2**grade - 1) / 2**max_grade
        total += reached * stop / rank
        reached *= 1 - stop
    return total


def _ndcg(ranking, grades, depth, convention):
    if convention.short_is_zero and depth > len(grades):
        return 0.0
    ideal = _dcg(sorted(grades, reverse=True)[:depth], convention)
    return _dcg(ranking[:depth], convention) / ideal if ideal else 0.0


def _dcg(ranking, convention):
    total = 0.0
    for rank, grade in enumerate(ranking, start=1):
        gain = 2**grade - 1 if convention.exponential_gain else grade
        total += gain / math.log2(max(2, rank + convention.rank_shift))
    return total
