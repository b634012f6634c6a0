"""SVMMAP: a linear ranker that looks at whole rankings and their average precision."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from papers.baselines.linear_kernels import map_hinges
from papers.baselines.rank_svm import MarginRanker
from rulerank.dataset import Array


class SVMMAP(MarginRanker):
    """Rank documents by a weighted sum of features that is trained for mean average precision.

    Minimises |coef_|^2 / 2 + C times the mean over queries of the largest, over all rankings, of 1 - average precision
    of the ranking + how much better it suits the scores than one with all relevant documents on top: an upper bound on
    1 - MAP. Y. Yue, T. Finley, F. Radlinski and T. Joachims (2007). Documents of grade 1 and above are relevant;
    queries with only relevant documents, or none, are left out.

    Parameters
    ----------
    C: how much the rankings count against small weights, as in SVMmap. `C_GRID` lists values worth trying.
    eps: stop when the objective is surely within this share of its minimum.
    max_iter: rounds of the cutting-plane search at most.
    normalize: normalise features by query first: None, "minmax", "rank" or "zscore"; predict then needs qid.
    missing: what to do with NaN: "error", or "mean" to replace it by the mean of the training rows.
    n_jobs: threads; all cores by default. The weights are the same bits whatever the number.

    Attributes
    ----------
    coef_, objective_, gap_, n_iter_: as in `RankSVM`.
    n_informative_: queries with relevant and other documents.

    Examples
    --------
    >>> from rulerank.datasets.ranking import make_ranking
    >>> data = make_ranking(n_queries=30, n_features=3, seed=0)
    >>> ranker = SVMMAP(normalize="zscore").fit(data)
    >>> dict(zip(ranker.feature_names_, ranker.coef_.round(2).tolist()))
    {'bm25_body': 0.07, 'bm25_title': 0.08, 'pagerank': 0.07}
    """

    _loss = staticmethod(map_hinges)
    _kind: ClassVar[str] = "kind (relevant or not)"

    def _kinds(self, grades: Array) -> Array:
        return (grades > 0).astype(np.int16)
