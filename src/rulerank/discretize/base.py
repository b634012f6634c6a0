"""What every discretiser does: check, keep the cuts, turn values into bins, say what a bin means; the simplest two."""

from __future__ import annotations

from abc import ABC
from collections.abc import Mapping
from functools import partial
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike

from rulerank._util.estimator import FLOATS, Estimator, check_is_fitted, in_asked_container, validate
from rulerank._util.loops import between, compiled, in_blocks
from rulerank._util.parameters import HasParameters, Parameter, Threads, Whole, unmasked
from rulerank._util.words import in_words, shorten
from rulerank.dataset import UNLABELLED, Array, check_grades
from rulerank.errors import DataError, ModelFileError

MAX_BINS = 254  # for values that are there; with the bin of missing values every bin number fits a byte
CELLS_PER_THREAD = 100_000  # about 0.2 ms of work, twice what a thread costs
ROWS_AT_ONCE = 256  # a tile of X stays in the nearest cache while every feature's bins are written in one run
FEW_CUTS = 32  # up to here comparing with every cut beats halving: no branch to mispredict


class Discretizer(HasParameters, Estimator, ABC):
    """Turn each feature's values into bin numbers; a subclass only says where to cut (`_cuts_of` or `_find_cuts`).

    A value's bin is the number of its feature's cuts that are not above it, so bins are intervals
    `[low, high)` and values outside the training range fall into the outermost ones.
    A missing value (NaN) has the bin `len(cuts) + 1`, whether or not one was seen in training.

    After `fit`: `cuts_`, one ascending float64 array per feature; `n_bins_`, how many bin numbers
    each feature has, the one for missing values included.
    """

    parameter_table: ClassVar[Mapping[str, Parameter]] = {
        "n_bins": Whole(2, MAX_BINS, meaning="number of intervals"),
        "n_jobs": Threads(meaning="number of threads"),
    }

    sklearn_bases = ("OneToOneFeatureMixin", "TransformerMixin", "BaseEstimator")
    kind: ClassVar[str]  # the name users and model files know it by
    needs_grades: ClassVar[bool] = False

    def __init__(self, n_bins: int = 10, n_jobs: int | None = None) -> None:
        self.n_bins = n_bins
        self.n_jobs = n_jobs

    def _find_cuts(self, X: Array, grades: Array) -> list[Array]:
        """Return the ascending cuts of each feature. grades is empty unless needs_grades."""
        cuts: list[Array] = [np.empty(0)] * X.shape[1]

        def work(start: int, stop: int) -> None:
            for feature in range(start, stop):
                cuts[feature] = self._cuts_of(X[:, feature])

        in_blocks(work, X.shape[1], self.n_jobs)
        return cuts

    def _cuts_of(self, values: Array) -> Array:
        """Return the ascending cuts of one feature, by its values alone."""
        raise NotImplementedError

    def fit(self, X: ArrayLike, y: ArrayLike | None = None) -> Self:
        """Find the cuts of each feature."""
        self.check_parameters()
        values = self._check(X, reset=True)
        grades = self._check_grades(y, len(values)) if self.needs_grades else np.empty(0, dtype=np.uint8)
        self._keep(self._find_cuts(values, grades))
        self.record_params()
        return self

    def cuts_in(self, X: Array, grades: Array) -> list[Array]:
        """Return the cuts that `fit` finds in checked columns: for callers who hold only some of them at a time.

        >>> from rulerank.discretize import EqualWidth
        >>> EqualWidth(n_bins=2).cuts_in(np.array([[0.0], [1.0]]), np.zeros(2))
        [array([0.5])]
        """
        self.check_parameters()
        known = grades.astype(np.uint8) if self.needs_grades else np.empty(0, dtype=np.uint8)
        return self._find_cuts(np.ascontiguousarray(X), known)

    def with_cuts(self, cuts: list[Array]) -> Self:
        """Take these cuts over, one ascending array for each feature, as if `fit` had found them."""
        self._keep(cuts)
        self.n_features_in_ = len(cuts)
        self.record_params()
        return self

    def transform(self, X: ArrayLike) -> Array:
        """Return the bin of each value, uint8 (n_rows, n_features)."""
        self._check_fitted()
        return in_asked_container(self, self.bins_of(self._check(X, reset=False)).T, X)

    def fit_transform(self, X: ArrayLike, y: ArrayLike | None = None) -> Array:
        """Find the cuts and return the bin of each value."""
        return self.fit(X, y).transform(X)

    def bins_of(self, X: Array) -> Array:
        """Return the bins feature by feature, uint8 (n_features, n_rows), as the rule engine reads them.

        The quick way for callers who have checked X already: float32 or float64, no infinities.

        >>> from rulerank.discretize import EqualWidth
        >>> X = np.array([[0.0, 5.0], [1.0, np.nan], [0.2, 7.0]])
        >>> EqualWidth(n_bins=2).fit(X).bins_of(X).tolist()
        [[0, 1, 0], [0, 2, 1]]
        """
        self._check_fitted()
        X = np.ascontiguousarray(X)
        n_features = self._offsets.size - 1
        if X.ndim != 2 or X.shape[1] != n_features or X.dtype not in (np.float32, np.float64):
            raise DataError(
                f"X must be float32 or float64 with {n_features} features: got {X.dtype} of shape {X.shape}"
            )
        out = np.empty((n_features, X.shape[0]), dtype=np.uint8)
        assign = partial(assign_bins, X, self._flat_cuts, self._offsets, out)
        in_blocks(assign, X.shape[0], self.n_jobs, min_block=CELLS_PER_THREAD // n_features)
        return out

    def describe(self, feature: int, bin: int, name: str | None = None) -> str:
        """Say what it means that a feature, by number, has this bin.

        >>> from rulerank.discretize import EqualWidth
        >>> lengths = EqualWidth(n_bins=3).fit([[1.0], [4.0]])
        >>> [lengths.describe(0, bin, "tf") for bin in range(4)]
        ['tf < 2', 'tf in [2, 3)', 'tf >= 3', 'tf is missing']
        """
        self._check_fitted()
        if not 0 <= feature < len(self.cuts_):
            raise DataError(f"feature must be between 0 and {len(self.cuts_) - 1}: got {feature}")
        cuts = self.cuts_[feature]
        if not 0 <= bin <= len(cuts) + 1:
            raise DataError(f"feature {feature} has bins 0 to {len(cuts) + 1}: got {bin}")
        name = self._name_of(feature) if name is None else name
        return in_words(name, bin, self._shown.get(feature) or self._shown.setdefault(feature, shorten(cuts)))

    def to_state(self) -> dict[str, Any]:
        """Return all that was learned as plain values and arrays, for a model file.

        >>> from rulerank.discretize import EqualWidth
        >>> state = EqualWidth(n_bins=2).fit([[0.0], [1.0]]).to_state()
        >>> EqualWidth.from_state(state).cuts_
        [array([0.5])]
        """
        self._check_fitted()
        names = getattr(self, "feature_names_in_", None)
        return {
            "kind": self.kind,
            "params": self.params_,
            "cuts": self._flat_cuts,
            "offsets": self._offsets,
            "feature_names": [] if names is None else list(names),
        }

    @classmethod
    def from_state(cls, state: dict[str, Any]) -> Self:
        """Return the discretiser that `to_state` described, bit for bit."""
        try:
            if state["kind"] != cls.kind:
                raise ValueError(f"a {cls.kind!r} discretiser has the state of a {state['kind']!r}")
            made, names = cls.from_params(state["params"]), list(state["feature_names"])
            cuts = np.asarray(state["cuts"], dtype=np.float64)
            offsets = np.asarray(state["offsets"], dtype=np.int64)
            sizes = np.diff(offsets)
            fits = (cuts.ndim, offsets.ndim) == (1, 1) and sizes.size > 0 and 0 <= sizes.min() <= sizes.max() < MAX_BINS
            if not fits or (offsets[0], offsets[-1]) != (0, cuts.size) or len(names) not in (0, sizes.size):
                raise ValueError("offsets of cuts, cuts and names do not fit each other")
            parts = np.split(cuts, offsets[1:-1])
            if not np.isfinite(cuts).all() or any((np.diff(part) <= 0).any() for part in parts):
                raise ValueError("cuts are not finite and ascending")
        except (KeyError, TypeError, ValueError) as error:
            raise ModelFileError(f"the discretiser cannot be read ({error}); save the model again") from error
        made._keep(parts)
        made.n_features_in_ = len(parts)
        if names:
            made.feature_names_in_ = np.array(names, dtype=object)
        return made

    def _keep(self, cuts: list[Array]) -> None:
        self._flat_cuts = np.concatenate(cuts, dtype=np.float64)
        self._offsets = np.cumsum([0, *map(len, cuts)], dtype=np.int64)
        self.cuts_ = np.split(self._flat_cuts, self._offsets[1:-1])
        self.n_bins_ = np.diff(self._offsets) + 2
        self._shown: dict[int, list[str]] = {}  # cuts as `describe` writes them, once it has

    def _check_fitted(self) -> None:
        check_is_fitted(self)

    def _check(self, X: ArrayLike, reset: bool) -> Array:
        """Return X as float32 or float64, C-contiguous, without infinities."""
        values: Array = validate(self, unmasked(X), reset=reset, order="C", dtypes=FLOATS[::-1])
        infinite = np.isinf(values)
        if infinite.any():
            row, feature = np.argwhere(infinite)[0]
            raise DataError(
                f"X contains infinity, the feature {self._name_of(feature)!r} at row {row}: "
                "features must be numbers, or NaN where they are missing"
            )
        return values

    def _check_grades(self, y: ArrayLike | None, n_rows: int) -> Array:
        name = type(self).__name__
        if y is None:
            raise DataError(
                f"{name} requires y to be passed, but the target y is None: give the grades, fit(X, y), "
                "or use EqualFrequency(), which needs none"
            )
        grades = check_grades(y, n_rows)
        unlabelled = np.flatnonzero(grades == UNLABELLED)
        if unlabelled.size:
            raise DataError(
                f"{name} learns from grades, but row {unlabelled[0]} is not labelled (grade -1); "
                "leave such rows out (Dataset.labelled() does), or use EqualFrequency(), which needs no grades"
            )
        return grades.astype(np.uint8)

    def _name_of(self, feature: int) -> str:
        names = getattr(self, "feature_names_in_", None)
        return f"f{feature + 1}" if names is None else str(names[feature])

    def __sklearn_tags__(self) -> Any:
        from sklearn.utils import TransformerTags

        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.target_tags.required = self.needs_grades
        tags.transformer_tags = TransformerTags(preserves_dtype=[])  # bins are bytes whatever X is
        return tags


@compiled
def assign_bins(X: Array, cuts: Array, offsets: Array, bins: Array, first: int, last: int) -> None:
    """Write the bins of the rows first .. last - 1 into bins, uint8[n_features, n_rows].

    cuts     float64[n_cuts]         the cuts of all features, ascending within each
    offsets  int64[n_features + 1]   the cuts of feature f are cuts[offsets[f]:offsets[f + 1]]
    """
    for top in range(first, last, ROWS_AT_ONCE):
        bottom = min(top + ROWS_AT_ONCE, last)
        for feature in range(X.shape[1]):
            start, stop = offsets[feature], offsets[feature + 1]
            for row in range(top, bottom):
                value = X[row, feature]
                if value != value:
                    bins[feature, row] = stop - start + 1
                    continue
                low, size = start, stop - start
                while size > FEW_CUTS:  # halve without a branch: a mispredicted one costs more than the comparison
                    half = size // 2
                    low += half * (cuts[low + half - 1] <= value)
                    size -= half
                n_below = low - start
                for cut in range(low, low + size):
                    n_below += cuts[cut] <= value
                bins[feature, row] = n_below


class EqualWidth(Discretizer):
    """Cut each feature's training range into intervals of equal width.

    A constant feature gets no cut. Missing values do not count.

    Parameters
    ----------
    n_bins: number of intervals, 2 to 254.
    n_jobs: number of threads; all cores unless given.

    >>> widths = EqualWidth(n_bins=4).fit([[0.0], [1.0], [8.0]])
    >>> widths.cuts_
    [array([2., 4., 6.])]
    >>> widths.transform([[-5.0], [2.0], [7.0], [float("nan")]]).ravel().tolist()
    [0, 1, 3, 4]
    """

    kind = "equal_width"

    def _cuts_of(self, values: Array) -> Array:
        share = np.arange(1, self.n_bins) / self.n_bins
        low, high = float(np.fmin.reduce(values)), float(np.fmax.reduce(values))  # NaN only where every value is
        cuts = low * (1 - share) + high * share
        # a range of a few neighbouring floats holds fewer cuts than asked for
        return np.unique(cuts[(cuts > low) & (cuts <= high)])


class EqualFrequency(Discretizer):
    """Cut each feature so that its intervals hold equally many training rows, as nearly as ties allow.

    Rows with the same value stay together: a cut that would part them moves to the nearer end of
    their run (the lower when both are as near), and cuts that meet become one. A cut lies halfway
    between two neighbouring values. A constant feature gets no cut. Missing values do not count.

    Parameters
    ----------
    n_bins: maximum number of intervals, 2 to 254.
    n_jobs: number of threads; all cores unless given. The cuts do not depend on it.

    >>> EqualFrequency(n_bins=2).fit([[1.0], [2.0], [4.0], [90.0]]).cuts_
    [array([3.])]
    >>> EqualFrequency(n_bins=4).fit([[0.0], [0.0], [0.0], [1.0]]).cuts_
    [array([0.5])]
    """

    kind = "equal_frequency"

    def _cuts_of(self, values: Array) -> Array:
        return equal_frequency_cuts(values, self.n_bins)


def equal_frequency_cuts(values: Array, n_bins: int) -> Array:
    """Return the cuts of one feature.

    >>> equal_frequency_cuts(np.array([5.0, 1.0, 1.0, 1.0, 2.0]), n_bins=2)
    array([1.5])
    """
    values = np.sort(values[~np.isnan(values)])
    n_rows = values.size
    if n_rows == 0:
        return np.empty(0)
    places = (2 * n_rows * np.arange(1, n_bins) + n_bins) // (2 * n_bins)  # n_rows * i / n_bins, rounded
    places = np.minimum(places, n_rows - 1)
    run_starts = np.searchsorted(values, values[places], side="left")
    run_stops = np.searchsorted(values, values[places], side="right")
    places = np.where(places - run_starts <= run_stops - places, run_starts, run_stops)
    places = np.unique(places[(places > 0) & (places < n_rows)])
    return between(values[places - 1], values[places])
