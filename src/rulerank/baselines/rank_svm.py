"""RankSVM: a linear ranker that keeps pairs of documents apart."""

from __future__ import annotations

from rulerank.baselines.margin import MarginRanker
from rulerank.baselines.margin_kernels import pair_hinges


class RankSVM(MarginRanker):
    """Rank documents by a weighted sum of features that puts better ones at least 1 above worse ones of their query.

    Minimises |coef_|^2 / 2 + C times the mean over queries of the sum, over its pairs of documents with different
    grades, of max(0, 1 - score of the better + score of the worse): the optimum of R. Herbrich, T. Graepel and
    K. Obermayer (2000) and T. Joachims (2002), found without ever listing the pairs, as in T. Joachims (2006).
    Queries whose documents all have one grade say nothing and are left out of the mean.

    Parameters
    ----------
    C: how much the pairs count against small weights, as in SVMrank. `C_GRID` lists values worth trying. In SVMlight
        and in scikit-learn's LinearSVC on differences of documents it is C / number of queries.
    eps: stop when the objective is surely within this share of its minimum.
    max_iter: rounds of the cutting-plane search at most; some 10 to 100 are enough.
    normalize: put features on one scale by query first: None, "minmax", "rank" or "zscore"; predict then needs qid.
        Weights depend on the units of features, so those of raw features of different sizes are seldom good.
    missing: what to do with NaN: "error", or "mean" to put the mean of the training rows in its place.
    n_jobs: threads; all cores by default. The weights are the same bits whatever the number.

    Attributes
    ----------
    coef_: weight of each feature.
    objective_, gap_, n_iter_: value reached, the share of it that the minimum is at most below, rounds.
    n_informative_: queries with documents of different grades.

    Examples
    --------
    >>> from rulerank.worlds import make_world
    >>> data = make_world(n_queries=30, n_features=3, seed=0)
    >>> ranker = RankSVM(normalize="zscore").fit(data)
    >>> dict(zip(ranker.feature_names_, ranker.coef_.round(2).tolist()))
    {'bm25_body': 0.42, 'bm25_title': 0.45, 'pagerank': 0.42}
    """

    _loss = staticmethod(pair_hinges)
