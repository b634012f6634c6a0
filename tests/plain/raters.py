"""Dawid and Skene's model of raters, document by document, with dictionaries."""

import math


def truth_plainly(docs, shares, confusion, levels):
    """P(true grade) of each document: shares[level], confusion[rater][true][given]."""
    found = {}
    for doc, by_rater in docs.items():
        joint = {
            level: shares[level] * math.prod(confusion[rater][level][given] for rater, given in by_rater.items())
            for level in levels
        }
        found[doc] = {level: joint[level] / sum(joint.values()) for level in levels}
    return found


def raters_plainly(docs, steps, right, wrong):
    """Return P(true grade) of each document after so many steps, from the shares of its grades."""
    levels = sorted({grade for by in docs.values() for grade in by.values()})
    raters = sorted({rater for by in docs.values() for rater in by})
    truth = {doc: {level: [*by.values()].count(level) / len(by) for level in levels} for doc, by in docs.items()}
    for _ in range(steps):
        shares = {level: (sum(t[level] for t in truth.values()) + 1) / (len(docs) + len(levels)) for level in levels}
        confusion = {}
        for rater in raters:
            confusion[rater] = {}
            for true in levels:
                counts = {given: right if given == true else wrong / (len(levels) - 1) for given in levels}
                for doc, by in docs.items():
                    if rater in by:
                        counts[by[rater]] += truth[doc][true]
                total = sum(counts.values())
                confusion[rater][true] = {given: counts[given] / total for given in levels}
        truth = truth_plainly(docs, shares, confusion, levels)
    return truth
