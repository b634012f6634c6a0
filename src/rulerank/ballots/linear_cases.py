"""A linear ranker taken apart: weight times value."""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.sparse import issparse

from rulerank.ballots.ballot import linear_ballot
from rulerank.ballots.case import Case
from rulerank.core.intervals import on_scale
from rulerank.core.words import as_date, counted, decimal
from rulerank.dataset import Array
from rulerank.rules.rule import Item


@dataclass(frozen=True, eq=False)
class LinearForm:
    """A model as a function of values: its score is the sum of weight times value."""

    names: tuple[str, ...]
    coef: Array  # float64 (n_features,)
    scale: Array  # float64 (n_features,) how far values usually lie apart; 1 where that is not known
    fill: Callable[[Any], Any]  # checked rows -> the same without missing values
    score: Callable[[Array], Array]  # rows without missing values -> scores
    errors: Array | None = None  # float64 (n_features,) standard errors of coef, NaN where one is not known
    scale_of: Callable[[str], str | None] = lambda name: None  # feature -> what its values are put on by query
    dates: Collection[str] = ()  # features whose values are days since 1970-01-01

    def text(self, feature: int, value: float, sign: str = "=") -> str:
        """Return a value in words, with the name of the scale that it is on."""
        name = self.names[feature]
        scale = self.scale_of(name)
        number = as_date(round(value)) if name in self.dates and scale is None else decimal(value, 4)
        return on_scale(f"{name} {sign} {number}", name, scale)


def linear_case(form: LinearForm, X: Any, row: int, method: str, behind: int | None = None) -> Case:
    """Return the case of a document under a linear ranker, missing values filled in as it does.

    behind: a feature where a missing value counts as worse than all others.
    """
    given = X[row : row + 1]
    filled = form.fill(given)
    given, filled = ((part.toarray() if issparse(part) else part)[0] for part in (given, filled))
    coef = form.coef
    ballot = linear_ballot(filled, coef)

    def value(feature: int) -> str:
        stands_for = "behind all others" if feature == behind else "the training mean"
        missing = f" (missing: {stands_for})" if np.isnan(given[feature]) else ""
        return f"{form.text(feature, float(filled[feature]))}{missing}"

    def item(cell: int, feature: int) -> Item:
        return Item(feature, -1, f"{value(feature)} times {decimal(float(coef[feature]), 4)}")

    return Case(
        method=method,
        ballot=ballot,
        item=item,
        value=value,
        base_text="where every linear score starts",
        noun="feature",
        arithmetic=(
            f"the sum of weight times value over {counted(int(ballot.voted.sum()), 'feature')} is {ballot.score:.4f}",
        ),
    )
