"""Splits into halves and what was gained in them once more, spelt out: the oracle of the tests."""

import numpy as np


def halves_plainly(qid, seed):
    """Return the rows whose queries are labelled, and those tested on; of an odd number the larger half is tested on.

    >>> [len(rows) for rows in halves_plainly(["a", "b", "a", "c"], seed=0)]
    [1, 3]
    """
    names = sorted({str(name) for name in qid})
    drawn = list(np.random.default_rng(seed).permutation(names))
    labelled = {str(name) for name in drawn[: len(names) // 2]}
    rows = range(len(qid))
    return [row for row in rows if str(qid[row]) in labelled], [row for row in rows if str(qid[row]) not in labelled]


def gains_plainly(new, baseline):
    """Return mean, worst and number of losses of more than .02; new: of each split the values of its draws.

    >>> gains_plainly([[0.5], [0.4]], [0.4, 0.5])[2]
    1
    """
    total, worst, losses, n = 0.0, float("inf"), 0, 0
    for values, before in zip(new, baseline, strict=True):
        for value in values:
            total += value - before
            worst = min(worst, value - before)
            losses += value - before < -0.02
            n += 1
    return total / n, worst, losses
