"""The systems of the papers, and those beyond them: one line each."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from rulerank.aggregate.competence import Competence
from rulerank.baselines.ada_rank import AdaRank
from rulerank.baselines.f_rank import FRank
from rulerank.baselines.lambda_mart import LambdaMART
from rulerank.baselines.list_net import ListNet
from rulerank.baselines.peers.bagged import Bagged
from rulerank.baselines.peers.cat_boost import YetiRank
from rulerank.baselines.peers.ebm import EBM
from rulerank.baselines.peers.ilmart import ILMARTLike
from rulerank.baselines.rank_boost import RankBoost
from rulerank.baselines.rank_svm import C_GRID, RankSVM
from rulerank.baselines.regression import Regression
from rulerank.baselines.svm_map import SVMMAP
from rulerank.errors import DataError
from rulerank.experiment.given import GivenRun, GivenScores
from rulerank.experiment.plans import BestFeature, Fuse, LinearCombination, Plan, Rank
from rulerank.experiment.sampled import SVM, AsChosen, Asked, AtRandom, FromTheTop
from rulerank.io.trec import Run
from rulerank.rankers.fitted.fitted_rules import FittedRules
from rulerank.rankers.global_rules import GlobalRules
from rulerank.rankers.linear.query_intercepts import L2_GRID, QueryIntercepts
from rulerank.rankers.query_rules import QueryRules
from rulerank.rankers.stable_rules import StableRules
from rulerank.sampling.ssar import SSAR

# the second paper's sigma_min was chosen on vali, and came out as .01; the first one's stands for one row
SUPPORTS = {"min_support": (0.0, 0.001, 0.01)}
GROUPS = {
    "rules": "rule voting",
    "metrics": "rule voting, by metric",
    "aggregation": "aggregation of the seven metrics",
    "linear": "query intercepts",
    "sampling": "rule voting on a few chosen labels",
    "baselines": "baselines of the papers",
    "beyond": "beyond the papers",
    "peers": "rankers of other libraries",
    "yours": "yours",
}


@dataclass(frozen=True)
class System:
    """A way to rank, by the name that the papers give it; + marks our default where it is not the paper's letter."""

    name: str
    group: str
    plan: Plan
    about: str
    uses: tuple[str, ...] = ()  # systems whose scores it builds on


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
ROBUST_LINEAR = QueryIntercepts(l2=30.0, normalize="zscore", missing="mean", n_jobs=1)  # the middle of the grid
MEMBERS = {
    "RE-GR+": GlobalRules(n_jobs=1),
    "RE-SR+": StableRules(n_jobs=1),
    "RE-QR+": QueryRules(n_jobs=1),
    "QI+": ROBUST_LINEAR,
}
LOW_FIRST = QueryIntercepts(missing="mean", order="low")
QC3A = Competence(literal=True, centric="query")
DC3A_SCALED = Competence(literal=True, scale="query")
QC3A_SCALED = Competence(literal=True, centric="query", scale="query")
STABLE = {"phi": (0.05, 0.1, 0.2), **SUPPORTS}
PENALTIES = {"l2": L2_GRID[1:]}
COSTS = {"C": C_GRID}
TREES = {"n_leaves": (7, 15, 31), "learning_rate": (0.05, 0.1)}
BAGGED_TREES = {f"ranker__{name}": values for name, values in TREES.items()}
SCALED: dict[str, Any] = {"normalize": "minmax", "missing": "mean"}  # as the LETOR sets themselves are

SYSTEMS = {
    system.name: system
    for system in (
        System("RE-GR", "rules", Rank(GlobalRules(votes="mean", drop_weakest=0.0)), "global rules, to the letter"),
        System("RE-SR", "rules", Rank(StableRules(literal=True)), "stable rules, phi 0.1, to the letter"),
        System("RE-QR", "rules", Rank(QueryRules(literal=True)), "query-level rules by competence, to the letter"),
        System("RE-SR tuned", "rules", Rank(StableRules(literal=True), STABLE), "RE-SR, phi and support chosen"),
        System("RE-SR mean", "rules", Rank(StableRules(stability="mean")), "rules stable in the mean of queries"),
        System("RE-GR+", "rules", Rank(GlobalRules()), "global rules, weighed by evidence"),
        System("RE-SR+", "rules", Rank(StableRules()), "rules weighed by how many queries agree"),
        System("RE-QR+", "rules", Rank(QueryRules()), "the 25 most trusted queries' shrunken rules"),
        System("FR+", "rules", Rank(FittedRules()), "one fitted vote per rule, 30 pairs of features at most"),
        *THE_SEVEN,
        System("DC3A", "aggregation", Rank(Competence(literal=True), SUPPORTS), "the metric best for the document"),
        System("QC3A", "aggregation", Rank(QC3A, SUPPORTS), "the metric best for the query"),
        System("DC3A scaled", "aggregation", Rank(DC3A_SCALED, SUPPORTS), "DC3A, what it picks scaled by query"),
        System("QC3A scaled", "aggregation", Rank(QC3A_SCALED, SUPPORTS), "QC3A, what it picks scaled by query"),
        System("CombMNZ", "aggregation", Fuse("comb_mnz"), "sum of scores times number of lists", SEVEN_NAMES),
        System("Borda Count", "aggregation", Fuse("borda"), "points by place", SEVEN_NAMES),
        System("Condorcet", "aggregation", Fuse("condorcet"), "pairwise majorities", SEVEN_NAMES),
        System("Linear Combination", "aggregation", LinearCombination(), "weights learned on vali", SEVEN_NAMES),
        System("QI", "linear", Rank(QueryIntercepts(missing="mean")), "logistic regression, an intercept per query"),
        System("QI low first", "linear", Rank(LOW_FIRST), "QI, the lowest level first: the paper's footnote"),
        System("QI+", "linear", Rank(ROBUST_LINEAR, PENALTIES), "the same on z-scores by query, with a penalty"),
        System("SSAR", "sampling", Asked(SSAR()), "literal RE-GR on the documents that SSAR asks for"),
        System("Random (SSAR)", "sampling", AtRandom(), "literal RE-GR on as many documents at random", ("SSAR",)),
        System("Top feature (SSAR)", "sampling", FromTheTop(), "literal RE-GR on the top by a feature", ("SSAR",)),
        System("SSARP", "sampling", Asked(SSAR(partitions=5)), "literal RE-GR on the documents that SSARP asks for"),
        System("Random (SSARP)", "sampling", AtRandom(), "literal RE-GR on as many documents at random", ("SSARP",)),
        System("Top feature (SSARP)", "sampling", FromTheTop(), "literal RE-GR on the top by a feature", ("SSARP",)),
        System("RankSVM (SSARP)", "sampling", AsChosen(SVM), "RankSVM on what SSARP asks for", ("SSARP",)),
        System("RankSVM, random (SSARP)", "sampling", AtRandom(SVM), "RankSVM on as many at random", ("SSARP",)),
        System("RankSVM, top (SSARP)", "sampling", FromTheTop(learner=SVM), "RankSVM on a feature's top", ("SSARP",)),
        System("RankSVM", "baselines", Rank(RankSVM(**SCALED), COSTS), "pairs of documents, hinge loss"),
        System("RankBoost", "baselines", Rank(RankBoost()), "boosted stumps on pairs"),
        System("FRank", "baselines", Rank(FRank()), "boosted stumps on pairs, fidelity loss"),
        System("AdaRank-MAP", "baselines", Rank(AdaRank("MAP", **SCALED)), "boosted features, queries weighed by MAP"),
        System("AdaRank-NDCG", "baselines", Rank(AdaRank("NDCG@10", **SCALED)), "the same, weighed by NDCG@10"),
        System("ListNet", "baselines", Rank(ListNet(**SCALED)), "cross entropy of the chance to be first"),
        System("SVMMAP", "baselines", Rank(SVMMAP(**SCALED), COSTS), "whole rankings, a bound of MAP"),
        System("Regression", "baselines", Rank(Regression(**SCALED)), "least squares on grades"),
        System("LambdaMART", "beyond", Rank(LambdaMART(n_trees=300), TREES), "boosted trees (LightGBM)"),
        System("Best feature", "beyond", BestFeature(), "one feature alone"),
        System("Competence", "beyond", Rank(Competence(MEMBERS, n_jobs=1)), "RE-GR+, RE-SR+, RE-QR+ and QI+, mixed"),
        System("LambdaMART x5", "peers", Rank(Bagged(LambdaMART(500)), BAGGED_TREES), "five of them, bagged by query"),
        System("ILMART-like", "peers", Rank(Bagged(ILMARTLike())), "trees of one feature, then of 30 pairs (LightGBM)"),
        System("EBM", "peers", Rank(EBM()), "boosted functions of features and 20 pairs (interpret)"),
        System("CatBoost", "peers", Rank(Bagged(YetiRank())), "symmetric trees, YetiRank (CatBoost)"),
        System("RRF", "beyond", Fuse("rrf"), "reciprocal ranks of the seven metrics", SEVEN_NAMES),
    )
}  # fmt: skip
FORMER_NAMES = {f"BM25 ({way})": SYSTEMS[f"Top feature ({way})"] for way in ("SSAR", "SSARP")}  # whatever the feature
QUICK = ("RE-GR", "RE-SR+", "RE-QR+", "RE-GR+", "QI")


Asking = str | System | Mapping[str, Any]


def choose_systems(asked: Iterable[Asking] | Mapping[str, Any] | None = None) -> list[System]:
    """Return systems by name, as they are, or of your own by name; those that they build on come first.

    >>> [system.name for system in choose_systems(["RRF"])][-2:]
    ['Relative Confidence', 'RRF']
    >>> [system.name for system in choose_systems(["RE-GR", {"mine": GlobalRules(max_size=1)}])]
    ['RE-GR', 'mine']
    """
    if asked is None:
        return list(SYSTEMS.values())
    if isinstance(asked, str):
        raise DataError(f"expected a list of systems, such as [{asked!r}]: got the text {asked!r}")
    wanted: list[System] = []
    for one in [asked] if isinstance(asked, Mapping) else asked:
        if isinstance(one, Mapping):
            wanted += [own_system(str(name), value) for name, value in one.items()]
        else:
            wanted.append(one if isinstance(one, System) else system_named(one))
    if not wanted:
        raise DataError("expected at least one system to run: got none")
    chosen: dict[str, System] = {}
    known = SYSTEMS | {system.name: system for system in wanted}

    def add(system: System) -> None:
        for name in system.uses:
            if name not in known:
                raise DataError(f"{system.name} builds on {name!r}, which is not among the systems")
            add(known[name])
        if chosen.setdefault(system.name, system) is not system:
            raise DataError(f"two systems are called {system.name!r}: give each a name of its own")

    for system in wanted:
        add(system)
    return list(chosen.values())


def own_system(name: str, value: Any) -> System:
    """Return a system of one's own: a ranker, a run, scores by fold, or a known system under another name.

    >>> own_system("mine", GlobalRules()).about, own_system("letter", "RE-GR").about
    ('GlobalRules', 'global rules, to the letter')
    """
    if isinstance(value, str):
        return replace(system_named(value), name=name)
    if isinstance(value, System):
        return replace(value, name=name)
    if isinstance(value, Run):
        return System(name, "yours", GivenRun(value), "a run made elsewhere")
    if isinstance(value, Mapping):
        return System(name, "yours", GivenScores(value), "scores made elsewhere")
    if hasattr(value, "fit") and hasattr(value, "predict") and not isinstance(value, type):
        return System(name, "yours", Rank(value), type(value).__name__)
    came = f"the class {value.__name__}, not one of it" if isinstance(value, type) else f"{value!r:.60}"
    raise DataError(
        f"{name}: expected a ranker with fit and predict, a run (rr.read_run), scores by fold "
        f"({{'Fold1': scores, ...}}) or the name of a system: got {came}"
    )


def with_top_feature(systems: Sequence[System], feature: str) -> list[System]:
    """Return the systems with those that label the top documents of a feature told which one it is.

    >>> with_top_feature([system_named("Top feature (SSAR)")], "bm25")[0].plan.feature
    'bm25'
    """
    tops = (replace(s, plan=replace(s.plan, feature=feature)) if isinstance(s.plan, FromTheTop) else s for s in systems)
    return list(tops)


def system_named(name: str) -> System:
    """Return a system by its name; capitals, blanks and apostrophes do not matter.

    >>> system_named("re-gr").name, system_named("yules q").name
    ('RE-GR', "Yule's Q")
    """
    if not isinstance(name, str):
        raise DataError(f"expected the name of a system, or {{'mine': {name!r:.40}}} for one of your own")
    by_bare_name = {_bare(known): system for known, system in (SYSTEMS | FORMER_NAMES).items()}
    if _bare(name) in by_bare_name:
        return by_bare_name[_bare(name)]
    close = difflib.get_close_matches(_bare(name), by_bare_name, n=1)
    meant = f"did you mean {by_bare_name[close[0]].name}? " if close else ""
    raise DataError(f"unknown system {name!r}; {meant}choose from {', '.join(SYSTEMS)}")


def _bare(name: str) -> str:
    return "".join(char for char in name.lower() if char.isalnum() or char == "+")
