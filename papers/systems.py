"""Every system of the papers' comparisons: those of the library, and the ones that only reproduce the papers."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

from papers.baselines import (
    EBM,
    SVMMAP,
    AdaRank,
    Bagged,
    FRank,
    ILMARTLike,
    LambdaMART,
    ListNet,
    RankBoost,
    RankSVM,
    Regression,
    YetiRank,
)
from papers.baselines.rank_svm import C_GRID
from papers.plans import Fuse, LinearCombination
from papers.run import Follower
from papers.sampled import SVM, AsChosen, Asked, AtRandom, FromTheTop
from rulerank.errors import DataError
from rulerank.experiment.systems import SYSTEMS as OWN_SYSTEMS
from rulerank.experiment.systems import Rank, System
from rulerank.fusion.competence import Competence
from rulerank.rankers.global_rules import GlobalRules
from rulerank.rankers.stable_rules import StableRules
from rulerank.sampling.ssar import SSAR

# the second paper's sigma_min was chosen on vali, and came out as .01; the first one's stands for one row
SUPPORTS = {"min_support": (0.0, 0.001, 0.01)}


def metric(name: str, of_rules: str) -> System:
    """RE-GR whose rules vote with another metric."""
    ranker = GlobalRules(votes="mean", metric=of_rules, drop_weakest=0.0)
    return System(name, "metrics", Rank(ranker, SUPPORTS), f"literal RE-GR whose rules vote with their {name.lower()}")


THE_SEVEN = (
    metric("Added Value", "added_value"),
    metric("Certainty", "certainty"),
    metric("Confidence", "confidence"),
    metric("Strength Score", "strength"),
    metric("Yule's Q", "yule_q"),
    metric("Yule's Y", "yule_y"),
    metric("Relative Confidence", "relative_confidence"),
)
SEVEN_NAMES = tuple(system.name for system in THE_SEVEN)
QC3A = Competence(literal=True, centric="query")
STABLE = {"phi": (0.05, 0.1, 0.2), **SUPPORTS}
COSTS = {"C": C_GRID}
TREES = {"n_leaves": (7, 15, 31), "learning_rate": (0.05, 0.1)}
BAGGED_TREES = {f"ranker__{name}": values for name, values in TREES.items()}
SCALED: dict[str, Any] = {"normalize": "minmax", "missing": "mean"}  # as the LETOR sets themselves are

AS_PUBLISHED = {  # what the papers call the library's systems; + marks a default that is not as published
    "GlobalRules, literal": "RE-GR",
    "StableRules, literal": "RE-SR",
    "QueryRules, literal": "RE-QR",
    "GlobalRules": "RE-GR+",
    "StableRules": "RE-SR+",
    "QueryRules": "RE-QR+",
    "FittedRules": "FR+",
    "QueryIntercepts": "QI",
    "QueryIntercepts, tuned": "QI+",
}
OWN = [replace(system, name=AS_PUBLISHED.get(name, name)) for name, system in OWN_SYSTEMS.items()]
SYSTEMS = {system.name: system for system in OWN} | {
    system.name: system
    for system in (
        System("RE-SR tuned", "rules", Rank(StableRules(literal=True), STABLE), "RE-SR, phi and support chosen"),
        *THE_SEVEN,
        System("DC3A", "aggregation", Rank(Competence(literal=True), SUPPORTS), "the metric best for the document"),
        System("QC3A", "aggregation", Rank(QC3A, SUPPORTS), "the metric best for the query"),
        Follower("CombMNZ", "aggregation", Fuse("comb_mnz"), "sum of scores times number of lists", SEVEN_NAMES),
        Follower("Borda Count", "aggregation", Fuse("borda"), "points by rank", SEVEN_NAMES),
        Follower("Condorcet", "aggregation", Fuse("condorcet"), "pairwise majorities", SEVEN_NAMES),
        Follower("Linear Combination", "aggregation", LinearCombination(), "weights learned on vali", SEVEN_NAMES),
        System("SSAR", "sampling", Asked(SSAR()), "literal RE-GR on the documents that SSAR asks for"),
        Follower("Random (SSAR)", "sampling", AtRandom(), "literal RE-GR on as many documents at random", ("SSAR",)),
        Follower("Top feature (SSAR)", "sampling", FromTheTop(), "literal RE-GR on the top by a feature", ("SSAR",)),
        System("SSARP", "sampling", Asked(SSAR(partitions=5)), "literal RE-GR on the documents that SSARP asks for"),
        Follower("Random (SSARP)", "sampling", AtRandom(), "literal RE-GR on as many documents at random", ("SSARP",)),
        Follower("Top feature (SSARP)", "sampling", FromTheTop(), "literal RE-GR on the top by a feature", ("SSARP",)),
        Follower("RankSVM (SSARP)", "sampling", AsChosen(SVM), "RankSVM on what SSARP asks for", ("SSARP",)),
        Follower("RankSVM, random (SSARP)", "sampling", AtRandom(SVM), "RankSVM on as many at random", ("SSARP",)),
        Follower("RankSVM, top (SSARP)", "sampling", FromTheTop(learner=SVM), "RankSVM on a feature's top", ("SSARP",)),
        System("RankSVM", "baselines", Rank(RankSVM(**SCALED), COSTS), "pairs of documents, hinge loss"),
        System("RankBoost", "baselines", Rank(RankBoost()), "boosted stumps on pairs"),
        System("FRank", "baselines", Rank(FRank()), "boosted stumps on pairs, fidelity loss"),
        System("AdaRank-MAP", "baselines", Rank(AdaRank("MAP", **SCALED)), "boosted features, queries weighed by MAP"),
        System("AdaRank-NDCG", "baselines", Rank(AdaRank("NDCG@10", **SCALED)), "the same, weighed by NDCG@10"),
        System("ListNet", "baselines", Rank(ListNet(**SCALED)), "cross entropy of the chance to be first"),
        System("SVMMAP", "baselines", Rank(SVMMAP(**SCALED), COSTS), "whole rankings, a bound of MAP"),
        System("Regression", "baselines", Rank(Regression(**SCALED)), "least squares on grades"),
        System("LambdaMART", "beyond", Rank(LambdaMART(n_trees=300), TREES), "boosted trees (LightGBM)"),
        System("LambdaMART x5", "libraries", Rank(Bagged(LambdaMART(500)), BAGGED_TREES), "five, bagged by query"),
        System("ILMART-like", "libraries", Rank(Bagged(ILMARTLike())), "trees of one feature, then pairs (LightGBM)"),
        System("EBM", "libraries", Rank(EBM()), "boosted functions of features and 20 pairs (interpret)"),
        System("CatBoost", "libraries", Rank(Bagged(YetiRank())), "symmetric trees, YetiRank (CatBoost)"),
        Follower("RRF", "beyond", Fuse("rrf"), "reciprocal ranks of the seven metrics", SEVEN_NAMES),
    )
}  # fmt: skip


def systems_named(names: Iterable[str]) -> list[System]:
    """Return systems by name, after those that they build on.

    >>> [system.name for system in systems_named(["RE-GR", "RRF"])][-2:]
    ['Relative Confidence', 'RRF']
    """
    found: dict[str, System] = {}
    for name in names:
        if name not in SYSTEMS:
            raise DataError(f"unknown system {name!r}; choose from {', '.join(SYSTEMS)}")
        for one in (*getattr(SYSTEMS[name], "uses", ()), name):
            found[one] = SYSTEMS[one]
    return list(found.values())


def with_top_feature(systems: Sequence[System], feature: str) -> list[System]:
    """Return the systems with those that label the top documents of a feature told which one it is.

    >>> with_top_feature([SYSTEMS["Top feature (SSAR)"]], "bm25")[0].plan.feature
    'bm25'
    """
    tops = (replace(s, plan=replace(s.plan, feature=feature)) if isinstance(s.plan, FromTheTop) else s for s in systems)
    return list(tops)
