"""Missing values, for rankers that cannot use them: refuse them by name, or put the training mean in their place."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.sparse import issparse

from rulerank.dataset import Array
from rulerank.errors import DataError

LISTED = 5  # features named in a message


def check_present(X: Any, feature_names: tuple[str, ...]) -> None:
    """Refuse NaN in an array or a CSR matrix."""
    missing = count_missing(X)
    lacking = [name for name, n in zip(feature_names, missing, strict=True) if n]
    if lacking:
        shown = ", ".join(lacking[:LISTED]) + (", ..." if len(lacking) > LISTED else "")
        raise DataError(
            f"{missing.sum():,} values are missing (NaN), in {len(lacking)} of {len(feature_names)} features: {shown}; "
            'give missing="mean" to put the mean of the training rows in their place, or fill them before, '
            "for example with scikit-learn's SimpleImputer"
        )


def column_means(X: Any) -> Array:
    """Return each feature's mean over the rows that have it, 0 when none does; what is not stored is 0.

    >>> column_means(np.array([[1.0, np.nan], [2.0, np.nan]])).tolist()
    [1.5, 0.0]
    """
    n_rows, n_features = X.shape
    present = n_rows - count_missing(X)
    if issparse(X):
        sums = np.bincount(X.indices, weights=np.nan_to_num(X.data, nan=0.0), minlength=n_features)
    elif (present == n_rows).all():
        sums = X.sum(axis=0, dtype=np.float64)
    else:
        sums = np.nansum(X, axis=0, dtype=np.float64)
    return sums / np.maximum(present, 1)


def fill_missing(X: Any, fill: Array) -> Any:
    """Return X with a feature's number of `fill` in place of NaN; X itself when nothing is missing.

    >>> fill_missing(np.array([[1.0, np.nan]]), np.array([5.0, 6.0])).tolist()
    [[1.0, 6.0]]
    """
    missing = np.isnan(X.data if issparse(X) else X)
    if not missing.any():
        return X
    X = X.copy()
    if issparse(X):
        X.data[missing] = fill[X.indices[missing]]
    else:
        X[missing] = fill[np.nonzero(missing)[1]]
    return X


def count_missing(X: Any) -> Array:
    """Return how many values of each feature are NaN."""
    if issparse(X):
        return np.bincount(X.indices[np.isnan(X.data)], minlength=X.shape[1])
    if not np.isnan(X.sum(dtype=np.float64)):  # needs no memory; a NaN never gets lost in a sum
        return np.zeros(X.shape[1], dtype=np.int64)
    return np.isnan(X).sum(axis=0)
