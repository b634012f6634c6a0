"""The models of raters, document by document, with dictionaries."""

import math


def truth_plainly(docs, shares, tables, levels, known):
    """P(true grade) of each document: shares[level] before any label, tables[rater][true][given] what raters do."""
    found = {}
    for doc, by_rater in docs.items():
        chance = {level: [tables[rater][level][given] for rater, given in by_rater.items()] for level in levels}
        joint = {level: shares[level] * math.prod(chance[level]) for level in levels}
        found[doc] = {level: joint[level] / sum(joint.values()) for level in levels}
        if doc in known:
            found[doc] = {level: float(level == known[doc]) for level in levels}
    return found


def shares_plainly(truth, levels):
    return {level: (sum(t[level] for t in truth.values()) + 1) / (len(truth) + len(levels)) for level in levels}


def one_number_each(docs, truth, raters, levels, prior_right, prior_wrong):
    """Return a table of each rater in which all wrong grades are alike."""
    tables = {}
    for rater in raters:
        judged = [doc for doc, by in docs.items() if rater in by]
        hits = sum(truth[doc][docs[doc][rater]] for doc in judged) + prior_right
        right = max(1 / max(2, len(levels)), hits / (len(judged) + prior_right + prior_wrong))
        wrong = (1 - right) / max(1, len(levels) - 1)
        tables[rater] = {true: {given: right if given == true else wrong for given in levels} for true in levels}
    return tables


def raters_plainly(docs, steps, prior_right, prior_wrong, known=None):
    """Return P(true grade) of each document after so many steps, and the tables, from the shares of its grades."""
    known = known or {}
    levels = sorted({grade for by in docs.values() for grade in by.values()} | {*known.values()})
    raters = sorted({rater for by in docs.values() for rater in by})
    truth = {doc: {level: [*by.values()].count(level) / len(by) for level in levels} for doc, by in docs.items()}
    truth |= {doc: {level: float(level == known[doc]) for level in levels} for doc in known}
    for _ in range(steps):
        shares = shares_plainly(truth, levels)
        tables = one_number_each(docs, truth, raters, levels, prior_right, prior_wrong)
        truth = truth_plainly(docs, shares, tables, levels, known)
    return truth, tables


def tables_plainly(docs, steps, prior_right, prior_wrong, prior_table, known=None):
    """The same with a table of grades a rater, from where one number each has led after as many steps."""
    known = known or {}
    truth, prior = raters_plainly(docs, steps, prior_right, prior_wrong, known)
    levels = sorted(prior[min(prior)])
    for _ in range(steps):
        shares = shares_plainly(truth, levels)
        tables = {}
        for rater in prior:
            tables[rater] = {}
            for true in levels:
                counts = {
                    given: prior_table * prior[rater][true][given]
                    + sum(truth[doc][true] for doc, by in docs.items() if by.get(rater) == given)
                    for given in levels
                }
                tables[rater][true] = {given: n / sum(counts.values()) for given, n in counts.items()}
        truth = truth_plainly(docs, shares, tables, levels, known)
    return truth, tables
