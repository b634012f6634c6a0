"""Rows in bins by a discretiser, chosen by name or as an object, and features that are categories ("kinds").

A kind, such as a genre, has a bin of its own; all rare ones together have one.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, Self

import numpy as np

from rulerank._util.estimator import clone
from rulerank._util.parameters import Checked, shown
from rulerank.dataset import Array
from rulerank.discretize.base import MAX_BINS, Discretizer, EqualFrequency, EqualWidth
from rulerank.discretize.mdlp import MDLP
from rulerank.discretize.tube import TUBE
from rulerank.errors import DataError, ModelFileError

RARE = 5  # kinds of fewer rows share a bin: too few to tell them apart by
UNSEEN = 255  # stands for every bin number beyond what a byte holds: no discretiser gives it

DISCRETIZERS: dict[str, type[Discretizer]] = {c.kind: c for c in (MDLP, TUBE, EqualWidth, EqualFrequency)}


def kind_bins(codes: Array, n_kinds: int, most: int = MAX_BINS, rare: int = RARE) -> Array:
    """Return the bin of each kind 0 .. n_kinds - 1, and at the end that of kinds which come later.

    Frequent kinds have bins of their own, in their order; those with fewer than `rare` rows, those beyond the `most`
    bins, and kinds never seen share the last one.

    >>> kind_bins(np.array([0.0] * 6 + [1.0] + [2.0] * 9 + [np.nan]), 4).tolist()
    [0, 2, 1, 2, 2]
    """
    counts = np.bincount(codes[~np.isnan(codes)].astype(np.int64), minlength=n_kinds)[:n_kinds]
    frequent = np.sort(np.argsort(-counts, kind="stable")[: most - 1])
    frequent = frequent[counts[frequent] >= rare]
    found = np.full(n_kinds + 1, frequent.size, dtype=np.int64)
    found[frequent] = np.arange(frequent.size)
    return found


def bins_of_codes(values: Array, bins: Array) -> Array:
    """Return the bin of each code: kinds that are not known have the last bin, missing values the one after it.

    >>> bins_of_codes(np.array([0.0, 7.0, np.nan]), np.array([0, 1, 2])).tolist()
    [0, 2, 3]
    """
    missing = np.isnan(values)
    codes = np.where(missing, 0, np.clip(values, 0, bins.size - 1)).astype(np.int64)
    found: Array = np.where(missing, bins[-1] + 1, bins[codes])
    return found


def kind_text(name: str, bin: int, kinds: Sequence[str], bins: Array) -> str:
    """Say what it means that a feature has this bin.

    >>> bins = np.array([0, 2, 1, 2, 2])
    >>> [kind_text("genre", bin, ("Drama", "War", "Crime", "Noir"), bins) for bin in range(4)]
    ['genre is Drama', 'genre is Crime', 'genre is War, Noir or another rare one', 'genre is missing']
    """
    if bin > bins[-1]:
        return f"{name} is missing"
    members = [kind for kind, own in zip(kinds, bins[:-1].tolist(), strict=True) if own == bin]
    if bin < bins[-1]:
        return f"{name} is {members[0]}"
    shown = ", ".join(members[:2])
    return f"{name} is {shown} or another rare one" if shown else f"{name} is one not seen in training"


class WithCategories:
    """A discretiser whose features that name kinds are binned by kind, the others as the inner one does."""

    def __init__(self, inner: Discretizer, kinds: Mapping[int, tuple[str, ...]]) -> None:
        self.inner, self.kinds = inner, dict(kinds)  # kinds: feature number: what its codes stand for
        self.bins: dict[int, Array] = {}

    def fit(self, X: Array, y: Any = None) -> Self:
        """Find the bins of each feature."""
        self.inner.fit(X, y)
        self.bins = {f: kind_bins(X[:, f], len(names)) for f, names in self.kinds.items()}
        return self

    @property
    def cuts_(self) -> list[Array]:
        """The cuts of each feature; kinds have no order, so that no distance to a cut is known."""
        cuts = list(self.inner.cuts_)
        for f, bins in self.bins.items():
            cuts[f] = np.full(int(bins[-1]), np.nan)
        return cuts

    def bins_of(self, X: Array) -> Array:
        """Return the bins feature by feature, uint8 (n_features, n_rows)."""
        found = self.inner.bins_of(X)
        for f, bins in self.bins.items():
            found[f] = bins_of_codes(X[:, f], bins)
        return found

    def describe(self, feature: int, bin: int, name: str | None = None) -> str:
        """Say what it means that a feature, by number, has this bin."""
        if feature in self.kinds:
            shown = f"f{feature + 1}" if name is None else name
            return kind_text(shown, bin, self.kinds[feature], self.bins[feature])
        return self.inner.describe(feature, bin, name)

    def to_state(self) -> dict[str, Any]:
        """Return all that was learned as plain values and arrays, for a model file."""
        own = [{"feature": f, "kinds": list(names), "bins": self.bins[f]} for f, names in sorted(self.kinds.items())]
        return {"kind": "categories", "inner": self.inner.to_state(), "categories": own}

    @classmethod
    def from_state(cls, state: dict[str, Any], inner: Discretizer) -> Self:
        """Return the discretiser that `to_state` described, bit for bit."""
        made = cls(inner, {int(one["feature"]): tuple(one["kinds"]) for one in state["categories"]})
        for one in state["categories"]:
            bins = np.asarray(one["bins"], dtype=np.int64)
            fits = bins.shape == (len(one["kinds"]) + 1,) and 0 <= bins.min() <= bins.max() == bins[-1] < MAX_BINS
            if not fits or not 0 <= one["feature"] < len(inner.cuts_):
                raise ModelFileError("the bins of a feature's categories do not fit; save the model again")
            made.bins[int(one["feature"])] = bins
        return made


def make_discretizer(choice: Any, n_jobs: int | None = None) -> Discretizer | None:
    """Return a new, unfitted discretiser; None if X holds bin numbers already.

    choice: a name, whose discretiser gets n_jobs, or a discretiser, which is copied.

    >>> make_discretizer("equal_width")
    EqualWidth()
    >>> make_discretizer(EqualWidth(n_bins=5))
    EqualWidth(n_bins=5)
    """
    if isinstance(choice, str) and choice in DISCRETIZERS:
        return DISCRETIZERS[choice](n_jobs=n_jobs)
    if isinstance(choice, Discretizer | None):
        return clone(choice) if choice is not None else None
    raise DataError(f"unknown discretizer {shown(choice)}; choose from {CHOICES}")


CHOICES = f"{', '.join(DISCRETIZERS)}, None for bin numbers, or an object of rulerank.discretize"
DISCRETIZER = Checked(make_discretizer, CHOICES, meaning="how values are binned", none="X holds bin numbers from 0")


def bins_by(discretizer: Any, X: Array, *, most: float = math.inf) -> Array:
    """Return the bin of each value, whole numbers (n_features, n_rows), by a fitted discretiser; None: X holds them.

    most: the highest allowed bin number in X; numbers above a byte become UNSEEN.

    >>> bins_by(None, np.array([[0.0, 2.0], [1.0, 999.0]])).tolist()
    [[0, 1], [2, 255]]
    """
    if discretizer is not None:
        found: Array = discretizer.bins_of(X)
        return found
    whole = np.isfinite(X) & (np.floor(X) == X) & (X >= 0) & ~(most < X)
    if not whole.all():
        row, column = np.argwhere(~whole)[0]
        limit = f" to {most}" if math.isfinite(most) else ""
        raise DataError(
            f"with discretizer=None, X must hold bin numbers (integers from 0{limit}): row {row}, column {column} is "
            f"{X[row, column]}; name a discretizer such as 'mdlp' or 'tube' to bin the values"
        )
    return np.minimum(X, UNSEEN).astype(np.int64).T


def bin_limits(discretizer: Any, n_features: int) -> Array:
    """Return how many bins each feature may have by a fitted discretiser, int32: no bin number lies above.

    >>> bin_limits(EqualWidth(n_bins=2).fit([[0.0], [1.0]]), 1).tolist(), bin_limits(None, 1).tolist()
    ([3], [256])
    """
    if discretizer is None:
        return np.full(n_features, UNSEEN + 1, dtype=np.int32)
    return np.array([len(cuts) + 2 for cuts in discretizer.cuts_], dtype=np.int32)


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
