"""The rankers by the names that papers, people and model files give them: one line each, known everywhere."""

from __future__ import annotations

from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING

from rulerank.errors import DataError

if TYPE_CHECKING:
    from rulerank.rankers.base import Ranker


@dataclass(frozen=True, slots=True)
class Method:
    """A ranker that can be named without loading it."""

    name: str  # as the papers have it
    short: str  # in one word
    module: str
    class_name: str

    @property
    def names(self) -> tuple[str, str, str]:
        """All that it may be called."""
        return self.name, self.short, self.class_name

    def ranker_class(self) -> type[Ranker]:
        """Load the class.

        >>> METHODS["RE-GR"].ranker_class().__name__
        'GlobalRules'
        """
        found: type[Ranker] = getattr(import_module(f"rulerank.{self.module}"), self.class_name)
        return found


METHODS = {
    method.name: method
    for method in (
        Method("RE-GR", "global", "rankers.global_rules", "GlobalRules"),
        Method("RE-SR", "stable", "rankers.stable_rules", "StableRules"),
        Method("RE-QR", "query", "rankers.query_rules", "QueryRules"),
        Method("QI", "intercepts", "rankers.linear.query_intercepts", "QueryIntercepts"),
        Method("FR", "fitted", "rankers.fitted.fitted_rules", "FittedRules"),
        Method("Anchored", "anchored", "rankers.anchored.anchored", "Anchored"),
        Method("Competence", "competence", "fusion.competence", "Competence"),
    )
}  # fmt: skip

INSTEAD = {  # learners of version 0.1 that left, and what to use now
    **dict.fromkeys(("Regression", "RankSVM", "SVMMAP", "AdaRank", "ListNet"), "QueryIntercepts"),
    **dict.fromkeys(("RankBoost", "FRank"), "FittedRules"),
    "LambdaMART": "FittedRules, or LightGBM itself",
    "AnchoredRules": "Anchored",
}
FROM_BASELINE = ("Anchored",)  # those that start from the baseline ranking


def method_named(name: str) -> Method:
    """Return a method by its name, its short name or its class; capitals do not matter.

    >>> method_named("re-gr") is method_named("global") is method_named("GlobalRules")
    True
    """
    for method in METHODS.values():
        if name.lower() in map(str.lower, method.names):
            return method
    left = next((one for one in INSTEAD if one.lower() == name.lower()), None)
    if left is not None:
        raise DataError(f"{left} is no longer part of rulerank; use {INSTEAD[left]} instead")
    choices = ", ".join(f"{method.name} ({method.short})" for method in METHODS.values())
    raise DataError(f"unknown method {name!r}; choose from {choices}")


def method_name(ranker: Ranker) -> str:
    """Return the short name of a ranker's method, or the name of its class where it is a user's own.

    >>> method_name(METHODS["QI"].ranker_class()())
    'QI'
    """
    own = type(ranker).__name__
    return next((method.name for method in METHODS.values() if method.class_name == own), own)
