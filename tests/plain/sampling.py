"""Selective sampling once more, obvious and slow: the oracle of the tests. Every rule is a set of items, spelt out."""

import math
from collections.abc import Sequence
from fractions import Fraction
from itertools import combinations

Row = Sequence[int]  # one bin per feature


def n_rules_plainly(pool, labels, row, max_size):
    """Count the rules that the labelled rows hold for one row of the pool: sets of items they share, and a grade.

    >>> n_rules_plainly([(0, 0), (0, 1)], {0: 1}, 1, max_size=2)
    1
    """
    rules = set()
    for other, grade in labels.items():
        shared = sorted(set(enumerate(pool[row])) & set(enumerate(pool[other])))
        rules |= {(items, grade) for size in range(1, max_size + 1) for items in combinations(shared, size)}
    return len(rules)


def pick_plainly(pool, labels, candidates, max_size):
    """Return the row with the fewest rules; ties: smallest projection, most common items, lowest number.

    >>> pick_plainly([(0, 0), (0, 1), (1, 1)], {0: 1}, [0, 1, 2], max_size=1)
    2
    """

    def n_shared(a, b):
        return sum(x == y for x, y in zip(pool[a], pool[b], strict=True))

    def key(row):
        projection = sum(n_shared(row, other) for other in labels)
        common = sum(n_shared(row, other) for other in range(len(pool)))
        return n_rules_plainly(pool, labels, row, max_size), projection, -common, row

    return min(candidates, key=key)


def select_plainly(pool, ask, *, max_size, groups=None, queries=None):
    """Return the rows asked for until the stop, one run of the method per group of features.

    queries holds the number of each row's query, in order of appearance, to visit them in turn.

    >>> select_plainly([(0, 0), (0, 0), (1, 1), (1, 1)], lambda row: 0, max_size=1)
    [0, 2]
    """
    known = {}
    for group in groups or [range(len(pool[0]))]:
        part = [tuple(row[f] for f in group) for row in pool]
        labels = {}
        numbers = [0] * len(pool) if queries is None else queries
        waiting = list(dict.fromkeys(numbers))
        while waiting:
            query = waiting.pop(0)
            row = pick_plainly(part, labels, [r for r in range(len(pool)) if numbers[r] == query], max_size)
            if row in labels:
                continue
            alone = not any(numbers[r] == query for r in labels)
            if row not in known:
                known[row] = ask(row)
            labels[row] = known[row]
            waiting.insert(0 if alone else len(waiting), query)  # two documents of a query at first
    return list(known)


def deal_plainly(pool, partitions):
    """Deal the features to groups, those that tell most about the others first.

    >>> deal_plainly([(0, 0, 1), (1, 1, 1), (1, 1, 0), (0, 0, 0)], partitions=2)
    [[0, 2], [1]]
    """
    features = range(len(pool[0]))
    scores = dict.fromkeys(features, 0.0)
    for feature in features:
        others = sorted((f for f in features if f != feature), key=lambda f: -chi_square(pool, f, feature))
        for place, other in enumerate(others, start=1):
            scores[other] += 1 / math.log10(10 * place)
    ranked = sorted(features, key=lambda f: -round(scores[f], 9))
    return [sorted(ranked[start::partitions]) for start in range(partitions)]


def chi_square(pool, a, b):
    """Return the chi-square statistic of two features' bins: how far they are from independent.

    >>> chi_square([(0, 0), (1, 1)], 0, 1)
    Fraction(2, 1)
    """
    total = Fraction(0)
    for x in {row[a] for row in pool}:
        for y in {row[b] for row in pool}:
            observed = sum(row[a] == x and row[b] == y for row in pool)
            product = sum(row[a] == x for row in pool) * sum(row[b] == y for row in pool)
            expected = Fraction(product, len(pool))
            total += (observed - expected) ** 2 / expected
    return total
