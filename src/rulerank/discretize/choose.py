"""The discretisers by the names that users, the command line and model files give them, and bins by any of them."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from scipy.sparse import issparse
from sklearn.base import clone

from rulerank.core.parameters import Checked, shown
from rulerank.dataset import Array
from rulerank.discretize.base import Discretizer
from rulerank.discretize.categories import WithCategories
from rulerank.discretize.mdlp import MDLP
from rulerank.discretize.tube import TUBE
from rulerank.discretize.uniform import EqualFrequency, EqualWidth
from rulerank.errors import DataError, ModelFileError

UNSEEN = 255  # stands for every bin number beyond what a byte holds: no discretiser gives it

DISCRETIZERS: dict[str, type[Discretizer]] = {c.kind: c for c in (MDLP, TUBE, EqualWidth, EqualFrequency)}


def make_discretizer(choice: Any, n_jobs: int | None = None) -> Any:
    """Return a new, unfitted discretiser; None stands for none, X holding bin numbers already.

    choice is a name, or any object with fit and transform, which is copied and itself left as it is. One that is
    named gets n_jobs.

    >>> make_discretizer("equal_width")
    EqualWidth()
    >>> make_discretizer(EqualWidth(n_bins=5))
    EqualWidth(n_bins=5)
    """
    choices = f"{', '.join(map(repr, DISCRETIZERS))}, None for bin numbers, or an object with fit and transform"
    if choice is None:
        return None
    if isinstance(choice, str):
        if choice not in DISCRETIZERS:
            raise DataError(f"unknown discretizer {choice!r}; choose from {choices}")
        return DISCRETIZERS[choice](n_jobs=n_jobs)
    if isinstance(choice, type) or not (hasattr(choice, "fit") and hasattr(choice, "transform")):
        raise DataError(f"discretizer must be one of {choices}: got {shown(choice)}")
    return clone(choice, safe=False)


DISCRETIZER = Checked(
    make_discretizer,
    f"{', '.join(DISCRETIZERS)}, None for bin numbers, or an object with fit and transform",
    meaning="how values are put into bins",
    none="X holds bin numbers from 0",
)


def bins_by(discretizer: Any, X: Array, *, most: int | None = None, such_as: str = "mdlp") -> Array:
    """Return the bin of each value, whole numbers (n_features, n_rows), by a fitted discretiser; None: X holds them.

    most: the highest bin number that is no error; by default any number is taken, those beyond a byte as UNSEEN.
    such_as: the discretiser that an error recommends.

    >>> bins_by(None, np.array([[0.0, 2.0], [1.0, 999.0]])).tolist()
    [[0, 1], [2, 255]]
    """
    if discretizer is None:
        return _whole_bins(X, "with discretizer=None, X must hold bin numbers", most, such_as)
    if hasattr(discretizer, "bins_of"):
        found: Array = discretizer.bins_of(X)
        return found
    bins = discretizer.transform(X)
    if issparse(bins) or np.shape(bins) != X.shape:
        raise DataError(
            f"the discretizer must give one bin number per row and feature, shape {X.shape}: "
            f"got {type(bins).__name__} of shape {np.shape(bins)}"
        )
    return _whole_bins(np.asarray(bins), "the discretizer must give bin numbers", most, such_as)


def bin_limits(discretizer: Any, n_features: int) -> Array:
    """Return how many bins each feature may have by a fitted discretiser, int32: no bin number lies above.

    >>> bin_limits(EqualWidth(n_bins=2).fit([[0.0], [1.0]]), 1).tolist(), bin_limits(None, 1).tolist()
    ([3], [256])
    """
    if isinstance(discretizer, Discretizer):
        return discretizer.n_bins_.astype(np.int32)
    if isinstance(discretizer, WithCategories) and isinstance(discretizer.inner, Discretizer):
        limits = discretizer.inner.n_bins_.astype(np.int32)
        for feature, bins in discretizer.bins.items():
            limits[feature] = bins[-1] + 2
        return limits
    return np.full(n_features, UNSEEN + 1, dtype=np.int32)


def _whole_bins(bins: Array, expected: str, most: int | None, such_as: str) -> Array:
    whole = np.isfinite(bins) & (np.floor(bins) == bins) & (bins >= 0) & (bins <= (math.inf if most is None else most))
    if not whole.all():
        row, column = (int(i[0]) for i in np.nonzero(~whole))
        to = "" if most is None else f" to {most}"
        raise DataError(
            f"{expected} (whole numbers from 0{to}): row {row}, column {column} is {bins[row, column]}; "
            f"name a discretizer such as {such_as!r} to have values put into bins"
        )
    return np.minimum(bins, UNSEEN).astype(np.int64).T


def discretizer_from_state(state: dict[str, Any]) -> Any:
    """Return the discretiser that `to_state` described.

    >>> discretizer_from_state(EqualWidth(n_bins=2).fit([[0.0], [1.0]]).to_state())
    EqualWidth(n_bins=2)
    """
    kind = state.get("kind")
    if kind == "categories":
        return WithCategories.from_state(state, discretizer_from_state(state["inner"]))
    if kind not in DISCRETIZERS:
        raise ModelFileError(f"unknown discretizer {kind!r} in the model; known are {', '.join(DISCRETIZERS)}")
    return DISCRETIZERS[kind].from_state(state)
