"""The case of a linear ranker: weight times value."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.sparse import issparse

from rulerank.ballots.ballot import linear_ballot
from rulerank.ballots.case import Case
from rulerank.core.words import counted
from rulerank.rules.rule import Item


def linear_case(ranker: Any, X: Any, row: int) -> Case:
    """Return the case of a ranker whose score is X @ coef_, missing values filled in as it does."""
    given = X[row : row + 1]
    filled = ranker._present(given)
    given, filled = ((part.toarray() if issparse(part) else part)[0] for part in (given, filled))
    names, coef = ranker.feature_names_, ranker.coef_
    ballot = linear_ballot(filled, coef)

    def value(feature: int) -> str:
        missing = " (missing: the training mean)" if np.isnan(given[feature]) else ""
        return f"{names[feature]} = {filled[feature]:.4g}{missing}"

    def item(cell: int, feature: int) -> Item:
        return Item(feature, -1, f"{value(feature)} times {coef[feature]:.4g}")

    return Case(
        method=f"{type(ranker).__name__}, linear",
        ballot=ballot,
        item=item,
        value=value,
        base_text="where every linear score starts",
        arithmetic=(
            f"the sum of weight times value over {counted(int(ballot.voted.sum()), 'feature')} is {ballot.score:.4f}",
        ),
    )
