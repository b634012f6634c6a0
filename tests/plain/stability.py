"""Stable rules once more, obvious and slow: the oracle of the tests. One document at a time, in exact fractions."""

from fractions import Fraction

from plain.engine import least_rows, rows_like, score_plainly, sets_of, strength_plainly, surprise


def score_stably(train, grades, queries, document, *, max_size, min_support=0.0, min_queries=2):
    """Score one document by what the queries say of its cells; by all rules when no cell is stable.

    >>> round(score_stably([(0,), (1,), (0,), (1,)], [0, 1, 0, 1], [0, 0, 1, 1], (1,), max_size=1), 4)
    0.8333
    """
    above, below = 0.0, 0.0
    for members, rows in _cells(train, document, max_size):
        holding = sorted({queries[i] for i in rows})
        if len(rows) < least_rows(train, min_support) or len(holding) < min_queries:
            continue
        own = {q: [i for i in rows if queries[i] == q] for q in holding}
        lifts = [sum(surprise(grades, queries, i) for i in own[q]) / len(own[q]) for q in holding]
        agree = [lift for lift in lifts if lift * sum(lifts) > 0]
        strength = sum(strength_plainly(train, grades, queries, f) for f in members) / len(members)
        weight = float(strength) * len(agree) / len(holding)
        above += weight * float(sum(lifts) / (len(holding) + 1))
        below += weight
    if below == 0:
        options = {"max_size": max_size, "min_support": min_support, "votes": "evidence", "additive": False}
        return score_plainly(train, grades, queries, document, **options)
    return sum(grades) / len(grades) + above / below


def score_literally(train, grades, queries, document, *, max_size, phi, min_support=0, min_queries=1):
    """Score one document by the rules whose confidence in each query is within phi, a decimal, of the overall one.

    >>> score_literally([(0,), (1,), (0,), (1,)], [0, 1, 0, 1], [0, 0, 1, 1], (1,), max_size=1, phi="0.1")
    1.0
    """
    confidences = {}
    for _, rows in _cells(train, document, max_size):
        for grade in {grades[i] for i in rows}:
            overall = _confidence(rows, grades, grade)
            own = [[i for i in rows if queries[i] == q] for q in {queries[i] for i in rows}]
            thetas = [_confidence(part, grades, grade) for part in own]
            stable = all(abs(overall - theta) <= Fraction(phi) for theta in thetas)
            if stable and len(own) >= min_queries and overall * len(rows) >= least_rows(train, min_support):
                confidences.setdefault(grade, []).append(float(overall))
    if not confidences:
        return score_plainly(train, grades, queries, document, max_size=max_size, min_support=min_support)
    means = {grade: sum(found) / len(found) for grade, found in confidences.items()}
    return sum(grade * mean for grade, mean in means.items()) / sum(means.values())


def _cells(train, document, max_size):
    return [(members, rows_like(train, document, members)) for members in sets_of(train, max_size)]


def _confidence(rows, grades, grade):
    return Fraction(sum(grades[i] == grade for i in rows), len(rows))
