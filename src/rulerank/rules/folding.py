"""Fewer tables that say the same: those of single features go into tables of sets that hold them."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import numpy as np

from rulerank.rules.additive import AdditiveTables, Table


def folded(model: AdditiveTables) -> AdditiveTables:
    """Return the same model with every table of one feature added to one that holds the feature in the same bins.

    A table that finds none, because pairs are cut more coarsely, stays what it is. Sums on a grid stay on it.

    >>> cuts = np.array([0.5])
    >>> one = Table((0,), (cuts,), np.array([1.0, 2.0, 0.0]))
    >>> two = Table((0, 1), (cuts, np.zeros(0)), np.array([[0.25, 0.0], [0.0, 0.0], [0.0, 0.5]]))
    >>> model = folded(AdditiveTables(0.0, (one, two), ("a", "b")))
    >>> [table.votes.tolist() for table in model.tables]
    [[[1.25, 1.0], [2.0, 2.0], [0.0, 0.5]]]
    """
    tables = list(model.tables)
    taken: Counter[int] = Counter()  # tables that took one: the others' trees should grow alike
    gone = set()
    for place, single in enumerate(tables):
        if len(single.features) > 1:
            continue
        hosts = [
            (taken[t], t, table.features.index(single.features[0]))
            for t, table in enumerate(tables)
            if len(table.features) > 1
            and single.features[0] in table.features
            and np.array_equal(table.cuts[table.features.index(single.features[0])], single.cuts[0])
        ]
        if not hosts:
            continue
        _, t, axis = min(hosts)
        shape = [-1 if one == axis else 1 for one in range(tables[t].votes.ndim)]
        tables[t] = Table(tables[t].features, tables[t].cuts, tables[t].votes + single.votes.reshape(shape))
        taken[t] += 1
        gone.add(place)
    return replace(model, tables=tuple(table for t, table in enumerate(tables) if t not in gone))
