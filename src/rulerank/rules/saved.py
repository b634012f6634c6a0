"""Check an engine's state that comes from a file: the kernels trust every number in it."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from rulerank.dataset import MAX_GRADE, Array
from rulerank.errors import ModelFileError
from rulerank.rules.layout import MAX_BINS, MAX_SETS, size_of_work
from rulerank.rules.votes import Votes

MAX_SIZE = 30  # a set of more features has more than `layout.MAX_CELLS` cells


def check_saved(state: dict[str, Any], scheme: Votes) -> None:
    """Refuse a state that `Engine.to_state` cannot have made with such votes."""
    n_bins = _array(state["n_bins"], "n_bins", "i4", (None,), 0, MAX_BINS)
    used = _array(state["used"], "used", "i4", (None,), 0, n_bins.size - 1)
    _must((np.diff(used) > 0).all() and (n_bins[used] > 1).all(), "its features are not in order, or have one bin")
    max_size = _whole(state["max_size"], "max_size", 0, min(used.size, MAX_SIZE))
    _must(max_size > 0 or used.size == 0, "it uses features in sets of none")
    training = state["training"]
    n_grades = _whole(training["n_grades"], "n_grades", 1, MAX_GRADE + 1)
    _whole(training["min_rows"], "min_rows", 1, 2**62)
    mean = training["mean_grade"]
    _must(isinstance(mean, float) and math.isfinite(mean), f"mean_grade is {mean!r}")
    _array(training["strength"], "strength", "f8", n_bins.shape)
    _must(("rows" in state) != ("counts" in state), "it must hold either counts or rows")
    n_sets, n_cells = size_of_work(n_bins[used], max_size)
    if "counts" in state:
        _check_counts(state["counts"], n_cells, n_grades, scheme)
        needed = state["counts"]["grades"].max(axis=0, initial=0)
    else:
        _must(n_sets <= MAX_SETS, f"it would lay out {n_sets:,} feature sets")
        _check_rows(state["rows"], n_bins, used, n_grades)
        needed = np.bincount(state["rows"]["grades"], minlength=n_grades)
    n_by_grade = _array(training["n_by_grade"], "n_by_grade", "i8", (n_grades,), 0, 2**53)
    _must((needed <= n_by_grade).all(), "it counts more rows of a grade than there are")


def _check_counts(counts: dict[str, Array], n_cells: int, n_grades: int, scheme: Votes) -> None:
    _array(counts["grades"], "counts", "i4", (n_cells, n_grades))
    # votes that need no expectations are saved without
    n_expected = n_cells if scheme.needs_expected or len(counts["expected"]) else 0
    _array(counts["expected"], "expected", "i8", (n_expected,))


def _check_rows(rows: dict[str, Any], n_bins: Array, used: Array, n_grades: int) -> None:
    grades = _array(rows["grades"], "grades", "u1", (None,), 0, n_grades - 1)
    _must(grades.size > 0 and rows["n_grades"] == n_grades, "it holds no rows, or other grades than it says")
    bins = _array(rows["bins"], "bins", "u1", (n_bins.size, grades.size))
    _must((bins[used].max(axis=1) < n_bins[used]).all(), "rows have bins outside the tables")
    for name in ("expected", "spread"):
        _array(rows[name], name, "i8", grades.shape)


def _array(
    value: Any, name: str, dtype: str, shape: tuple[int | None, ...], low: int = 0, high: int | None = None
) -> Array:
    """Return the array if its type, shape (None: any) and range are right."""
    _must(isinstance(value, np.ndarray), f"{name} is not an array")
    array: Array = value
    _must(array.dtype == dtype, f"{name} must be of {np.dtype(dtype)}: got {array.dtype}")
    fits = array.ndim == len(shape) and all(want in (None, got) for want, got in zip(shape, array.shape, strict=True))
    _must(fits, f"{name} must have the shape {shape}: got {array.shape}")
    if array.size:
        fits = low <= array.min() and (high is None or array.max() <= high)
        _must(fits, f"{name} must be from {low} to {high}: got {array.min()} to {array.max()}")
    return array


def _whole(value: Any, name: str, low: int, high: int) -> int:
    _must(type(value) is int and low <= value <= high, f"{name} must be from {low} to {high}: got {value!r}")
    return int(value)


def _must(holds: object, otherwise: str) -> None:
    if not holds:
        raise ModelFileError(f"the rules are damaged: {otherwise}")
