"""The systems that can be compared by name: one line each."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from rulerank.aggregate.competence import Competence
from rulerank.errors import DataError
from rulerank.experiment.plans import BestFeature, GivenRun, GivenScores, Plan, Rank
from rulerank.io.trec import Run
from rulerank.rankers.fitted.fitted_rules import FittedRules
from rulerank.rankers.global_rules import GlobalRules
from rulerank.rankers.linear.query_intercepts import L2_GRID, QueryIntercepts
from rulerank.rankers.query_rules import QueryRules
from rulerank.rankers.stable_rules import StableRules

GROUPS = {"rules": "rule voting", "linear": "query intercepts", "beyond": "others", "yours": "yours"}


@dataclass(frozen=True)
class System:
    """A way to rank, by the name that the papers give it; + marks our default where it is not as published."""

    name: str
    group: str
    plan: Plan
    about: str


ROBUST_LINEAR = QueryIntercepts(l2=30.0, normalize="zscore", missing="mean", n_jobs=1)  # the middle of the grid
MEMBERS = {
    "RE-GR+": GlobalRules(n_jobs=1),
    "RE-SR+": StableRules(n_jobs=1),
    "RE-QR+": QueryRules(n_jobs=1),
    "QI+": ROBUST_LINEAR,
}
PENALTIES = {"l2": L2_GRID[1:]}

SYSTEMS = {
    system.name: system
    for system in (
        System("RE-GR", "rules", Rank(GlobalRules(votes="mean", drop_weakest=0.0)), "global rules, as published"),
        System("RE-SR", "rules", Rank(StableRules(literal=True)), "stable rules, phi 0.1, as published"),
        System("RE-QR", "rules", Rank(QueryRules(literal=True)), "query-level rules by competence, as published"),
        System("RE-GR+", "rules", Rank(GlobalRules()), "global rules, weighed by evidence"),
        System("RE-SR+", "rules", Rank(StableRules()), "rules weighed by how many queries agree"),
        System("RE-QR+", "rules", Rank(QueryRules()), "the 25 most trusted queries' shrunken rules"),
        System("FR+", "rules", Rank(FittedRules()), "one fitted vote per rule, 30 pairs of features at most"),
        System("QI", "linear", Rank(QueryIntercepts(missing="mean")), "logistic regression, an intercept per query"),
        System("QI+", "linear", Rank(ROBUST_LINEAR, PENALTIES), "the same on z-scores by query, with a penalty"),
        System("Best feature", "beyond", BestFeature(), "one feature alone"),
        System("Competence", "beyond", Rank(Competence(MEMBERS, n_jobs=1)), "RE-GR+, RE-SR+, RE-QR+ and QI+, mixed"),
    )
}
BY_CLASS = {  # what a class makes by default
    "GlobalRules": "RE-GR+", "StableRules": "RE-SR+", "QueryRules": "RE-QR+", "FittedRules": "FR+",
    "QueryIntercepts": "QI",
}  # fmt: skip

Asking = str | System | Mapping[str, Any]


def choose_systems(asked: Iterable[Asking] | Mapping[str, Any] | None = None) -> list[System]:
    """Return systems by name, as they are, or of your own by name.

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
    for system in wanted:
        if chosen.setdefault(system.name, system) is not system:
            raise DataError(f"two systems are called {system.name!r}: give each a name of its own")
    return list(chosen.values())


def own_system(name: str, value: Any) -> System:
    """Return a system of one's own: a ranker, a run, scores by fold, or a known system under another name.

    >>> own_system("mine", GlobalRules()).about, own_system("letter", "RE-GR").about
    ('GlobalRules', 'global rules, as published')
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


def system_named(name: str) -> System:
    """Return a system by its name, or by the class that makes it; capitals, blanks and apostrophes do not matter.

    >>> system_named("re-gr").name, system_named("bestfeature").name, system_named("GlobalRules").name
    ('RE-GR', 'Best feature', 'RE-GR+')
    """
    if not isinstance(name, str):
        raise DataError(f"expected the name of a system, or {{'mine': {name!r:.40}}} for one of your own")
    by_bare_name = {_bare(known): system for known, system in SYSTEMS.items()}
    by_bare_name |= {_bare(known): SYSTEMS[own] for known, own in BY_CLASS.items()}
    if _bare(name) in by_bare_name:
        return by_bare_name[_bare(name)]
    close = difflib.get_close_matches(_bare(name), by_bare_name, n=1)
    meant = f"did you mean {by_bare_name[close[0]].name}? " if close else ""
    raise DataError(f"unknown system {name!r}; {meant}choose from {', '.join(SYSTEMS)}")


def _bare(name: str) -> str:
    return "".join(char for char in name.lower() if char.isalnum() or char == "+")
