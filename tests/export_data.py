"""Models to export, and rows on which a target could go wrong."""

from functools import cache

import numpy as np

import rulerank as rr

LARGEST = np.finfo(np.float32).max


def synthetic(n_queries=40, n_features=6):
    """Documents with a feature that is often missing."""
    return rr.datasets.make_ranking(n_queries=n_queries, n_features=n_features, seed=3)


# one ranker of each exportable kind
RANKERS = {
    "FittedRules": rr.FittedRules(max_pairs=6),
    "FittedRules, no pairs": rr.FittedRules(max_pairs=0),
    "GlobalRules": rr.GlobalRules(),
    "GlobalRules of one": rr.GlobalRules(max_size=1, min_support=0.05),
    "GlobalRules of three": rr.GlobalRules(max_size=3, discretizer=rr.discretize.EqualFrequency(3)),
    "Anchored": rr.Anchored(baseline=0),
    "Anchored, baseline often missing": rr.Anchored(baseline="clicks"),
    "QueryIntercepts": rr.QueryIntercepts(l2=1),
}
LINEAR = ("QueryIntercepts",)


@cache
def fitted(name):
    """The ranker of that name, fitted to the synthetic data when a test first asks for it."""
    data = synthetic()
    if name in LINEAR:
        data = rr.Dataset(np.nan_to_num(data.X), data.y, data.qid, feature_names=data.feature_names)
    return RANKERS[name].fit(data)


def edge_rows(ranker, data, n_cuts=8):
    """Rows with a value on a cut, the next float32 up and down, missing, 0, and the largest numbers of float32."""
    rng = np.random.default_rng(0)
    rows = [data.X[:60].astype(np.float32)]
    tables = ranker.additive().tables
    cuts = [(f, cut) for t in tables for f, own in zip(t.features, t.cuts, strict=True) for cut in own.tolist()]
    cuts += [(f, special) for f in range(data.X.shape[1]) for special in (np.nan, 0.0, LARGEST, -LARGEST)]
    for place in (*rng.permutation(len(cuts))[: n_cuts * data.X.shape[1]].tolist(), *range(-24, 0)):
        feature, cut = cuts[place]
        near = np.float32(cut)
        some = data.X[rng.integers(0, len(data.X), 3)].astype(np.float32)
        with np.errstate(over="ignore"):
            values = [near, np.nextafter(near, np.float32(np.inf)), np.nextafter(near, np.float32(-np.inf))]
        some[:, feature] = [value if not np.isinf(value) else near for value in values]
        rows.append(some)
    return np.concatenate(rows)


def rows_for(name, ranker, data):
    """Edge rows; without what is missing or enormous for a linear ranker."""
    if name not in LINEAR:
        return edge_rows(ranker, data)
    return np.nan_to_num(data.X).astype(np.float32)
