"""The model of raters, document by document, with dictionaries."""

import math


def truth_plainly(docs, shares, right, levels):
    """P(true grade) of each document: shares[level] before any label, right[rater] how often a rater is right."""
    found = {}
    for doc, by_rater in docs.items():
        joint = {
            level: shares[level]
            * math.prod(
                right[rater] if given == level else (1 - right[rater]) / (len(levels) - 1)
                for rater, given in by_rater.items()
            )
            for level in levels
        }
        found[doc] = {level: joint[level] / sum(joint.values()) for level in levels}
    return found


def raters_plainly(docs, steps, prior_right, prior_wrong):
    """Return P(true grade) of each document after so many steps, from the shares of its grades."""
    levels = sorted({grade for by in docs.values() for grade in by.values()})
    raters = sorted({rater for by in docs.values() for rater in by})
    truth = {doc: {level: [*by.values()].count(level) / len(by) for level in levels} for doc, by in docs.items()}
    for _ in range(steps):
        shares = {level: (sum(t[level] for t in truth.values()) + 1) / (len(docs) + len(levels)) for level in levels}
        right = {}
        for rater in raters:
            judged = [doc for doc, by in docs.items() if rater in by]
            hits = sum(truth[doc][docs[doc][rater]] for doc in judged) + prior_right
            right[rater] = max(1 / max(2, len(levels)), hits / (len(judged) + prior_right + prior_wrong))
        truth = truth_plainly(docs, shares, right, levels)
    return truth
