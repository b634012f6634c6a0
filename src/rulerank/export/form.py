"""What is exported: a fitted ranker as a sum, or the reason why it cannot be written as one."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from rulerank._util.estimator import check_is_fitted
from rulerank.dataset import Array
from rulerank.errors import DataError, TooLargeError
from rulerank.export.trees import Leaf, Tree, tree_of, with_missing_code
from rulerank.rules.additive import DOUBLE_BITS, AdditiveTables


@dataclass(frozen=True, eq=False)
class Form:
    """A ranker as score = base + sum of trees, or as a weighted sum of values."""

    kind: str  # the ranker's class
    tables: AdditiveTables
    filled: bool  # whether a model with weights was trained on missing values
    categories: Mapping[str, tuple[str, ...]]  # feature: the names of its codes 0, 1, ...

    @property
    def feature_names(self) -> tuple[str, ...]:
        """The names of the features, in the model's order."""
        return self.tables.feature_names

    @cached_property
    def trees(self) -> tuple[Tree, ...]:
        """The trees without the base; a category that is missing has a code of its own in them, too."""
        n_names = {self.feature_names.index(name): len(names) for name, names in self.categories.items()}
        return tuple(tree_of(with_missing_code(table, n_names)) for table in self.tables.tables)

    @cached_property
    def used(self) -> set[str]:
        """The features that affect the score."""
        places = {feature for table in self.tables.tables for feature in table.features}
        if self.tables.weights is not None:
            places |= {*np.flatnonzero(self.tables.weights).tolist()}
        return {self.feature_names[place] for place in places}

    def codes(self) -> dict[str, dict[str, Any]]:
        """Return the codes of each category that the model uses: of its `names` (0, 1, ...), `other` and `missing`.

        missing: None if the model has no code for it; the value is then left out, as that of a number is.
        """
        return {
            name: {
                "names": list(names),
                "other": len(names),
                "missing": len(names) + 1 if self.tables.weights is None else None,
            }
            for name, names in self.categories.items()
            if name in self.used
        }

    @cached_property
    def with_base(self) -> tuple[Tree, ...]:
        """The trees, and the base as the last one: small sums are added up first, which loses least in float32."""
        return (*self.trees, Leaf(self.tables.base)) if self.tables.base or not self.trees else self.trees

    def on_grid(self) -> Form:
        """Return the same form with votes whose sums are exact in doubles, in whatever order they are added."""
        return replace(self, tables=self.tables.on_grid(bits=DOUBLE_BITS))

    def linear(self, target: str, *, fills: bool = False) -> Array | None:
        """Return the weights of a linear model, None for a model of trees; fills: can the target fill in means?"""
        if self.tables.weights is not None and self.filled and not fills:
            raise refusal(self.kind, f"it replaces missing values by means, but {target} reads them as 0")
        return self.tables.weights

    def missing_votes(self) -> list[str]:
        """Return the features for which a missing value may score differently from 0."""
        found = set()
        for table in self.tables.tables:
            for axis, (feature, cuts) in enumerate(zip(table.features, table.cuts, strict=True)):
                zero = np.take(table.votes, int(np.searchsorted(cuts, 0.0, side="right")), axis=axis)
                if (np.take(table.votes, len(cuts) + 1, axis=axis) != zero).any():
                    found.add(feature)
        names = [self.feature_names[feature] for feature in sorted(found)]
        return [name for name in names if name not in self.categories]  # these have a code for a missing value


def form_of(ranker: Any) -> Form:
    """Return a fitted ranker as a sum; the error says why it cannot be exported."""
    kind = type(ranker).__name__
    if not hasattr(ranker, "additive"):
        raise refusal(kind, "it is not a ranker of this library")
    check_is_fitted(ranker)
    alone = "but other systems score each document separately"
    mixed = getattr(ranker, "tables_", None)
    if getattr(ranker, "baseline_model_", None) is not None:
        raise refusal(kind, f"it starts from a ranking whose scores are normalised by query, {alone}")
    if mixed is not None and mixed.weights is not None and mixed.tables:
        raise refusal(kind, "it adds votes to a weighted value, but other systems accept either trees or weights")
    if getattr(ranker, "normalize_", None) is not None:
        raise refusal(kind, f"it normalises features by query (normalize={ranker.normalize_!r}), {alone}")
    try:
        tables: AdditiveTables = ranker.additive()
    except (DataError, TooLargeError) as error:
        raise refusal(kind, str(error).partition("; ")[0]) from None  # the reason without the advice
    filled = bool(getattr(ranker, "n_missing_", 0))
    return Form(kind, tables, filled, dict(ranker.categories_))


def first_features(what: str, request: str, form: Form) -> str:
    """Return the note for engines that must know the features before the model."""
    names = ", ".join(form.feature_names[:5]) + (", ..." if len(form.feature_names) > 5 else "")
    return f"first create the {what} ({request}) with all {len(form.feature_names)} features by these names: {names}"


def refusal(kind: str, why: str) -> DataError:
    """Return the error for a model that cannot be exported, with the one option that avoids it."""
    return DataError(
        f"this {kind} cannot be exported: {why}; `rulerank train --exportable` (in Python select(..., "
        "exportable=True)) trains a model that can be"
    )


def why_not_exportable(ranker: Any) -> str | None:
    """Say why a fitted ranker cannot be exported to a search engine; None if it can.

    >>> from rulerank.rankers.linear.query_intercepts import QueryIntercepts
    >>> rows, grades = [[0, 1], [1, 0], [1, 1], [0, 0], [1, 1]], [0, 0, 1, 1, 0]
    >>> why_not_exportable(QueryIntercepts().fit(rows, grades)) is None
    True
    >>> why_not_exportable(QueryIntercepts(normalize="rank").fit(rows, grades, qid=[1] * 5))
    "it normalises features by query (normalize='rank'), but other systems score each document separately"
    """
    try:
        form_of(ranker).linear("a search engine")
    except DataError as error:
        return str(error).partition("cannot be exported: ")[2].partition("; `rulerank train")[0]
    return None
