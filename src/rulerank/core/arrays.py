"""The type of our arrays, and what becomes of NumPy's masked ones."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from rulerank.errors import DataError

Array = NDArray[Any]


def unmasked(X: Any) -> Any:
    """Return features with NaN, a missing value, for what a NumPy masked array masks; anything else as it is.

    >>> unmasked(np.ma.masked_equal([[1, -99]], -99)).tolist()
    [[1.0, nan]]
    """
    if not isinstance(X, np.ma.MaskedArray):
        return X
    floats = np.result_type(X.dtype, np.float32) if X.dtype.kind in "biuf" else np.float64
    return np.ma.filled(X.astype(floats), np.nan)


def refuse_mask(name: str, values: Any) -> None:
    """Refuse a masked array where every row needs a value."""
    if isinstance(values, np.ma.MaskedArray):
        raise DataError(f"{name} must not be a masked array: leave the masked rows out, or fill them")
