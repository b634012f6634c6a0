"""The fusions once more, obvious and slow: one document at a time."""

from fractions import Fraction
from itertools import groupby
from math import isnan


def fuse_plainly(lists, queries, method):
    """Fuse integer scores exactly."""
    fused = {}
    for query in dict.fromkeys(queries):
        rows = [row for row, own in enumerate(queries) if own == query]
        own = [{row: None if isnan(one[row]) else Fraction(one[row]) for row in rows} for one in lists]
        for row in rows:
            fused[row] = float(BY_NAME[method](own, row))
    return [fused[row] for row in range(len(queries))]


def scaled(one, row):
    found = [score for score in one.values() if score is not None]
    if one[row] is None or min(found) == max(found):
        return Fraction(0)
    return (one[row] - min(found)) / (max(found) - min(found))


def comb_sum(lists, row):
    return sum(scaled(one, row) for one in lists)


def comb_mnz(lists, row):
    return comb_sum(lists, row) * sum(one[row] is not None for one in lists)


def places(one, row):
    """The places that a row shares with those of equal score, from 0; missing rows share the last ones."""

    def key(r):
        return (one[r] is None, 0 if one[r] is None else -one[r])

    start = 0
    for _, tied in groupby(sorted(one, key=key), key=key):
        tied = list(tied)
        if row in tied:
            return range(start, start + len(tied))
        start += len(tied)
    raise AssertionError


def mean(values):
    values = list(values)
    return sum(values, Fraction(0)) / len(values)


def borda(lists, row):
    return sum(mean(len(one) - place for place in places(one, row)) for one in lists)


def rrf(lists, row):
    return sum(mean(Fraction(1, 61 + place) for place in places(one, row)) for one in lists if one[row] is not None)


def condorcet(lists, row):
    wins = Fraction(0)
    for other in lists[0]:
        above = sum(places(one, row)[0] < places(one, other)[0] for one in lists)
        below = sum(places(one, row)[0] > places(one, other)[0] for one in lists)
        wins += Fraction(0 if other == row else 1 if above > below else Fraction(1, 2) if above == below else 0)
    return wins


BY_NAME = {"comb_sum": comb_sum, "comb_mnz": comb_mnz, "borda": borda, "condorcet": condorcet, "rrf": rrf}
