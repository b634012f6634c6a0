"""Rankers of every kind that serves, and those that give reasons."""

from functools import partial

import rulerank as rr
from papers.baselines import RankBoost

RANKERS = {
    "GlobalRules": rr.GlobalRules,
    "GlobalRules, rank": partial(rr.GlobalRules, normalize="rank"),
    "StableRules": rr.StableRules,
    "QueryRules": rr.QueryRules,
    "FittedRules": partial(rr.FittedRules, n_folds=2),
    "FittedRules, zscore": partial(rr.FittedRules, normalize="zscore"),
    "QueryIntercepts": partial(rr.QueryIntercepts, missing="mean"),
    "Anchored": partial(rr.Anchored, baseline="bm25_body"),
    "RankBoost": partial(RankBoost, n_rounds=20),  # gives no reasons
    "Competence": partial(rr.Competence, members={"rules": rr.GlobalRules(), "stable": rr.StableRules()}),
}
EXPLAINED = [name for name in RANKERS if name != "RankBoost"]
