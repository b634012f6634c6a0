"""Bins of features that name kinds, such as genres: one for each kind, one for all rare ones together."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Self

import numpy as np

from rulerank.dataset import Array
from rulerank.discretize.base import MAX_BINS, Discretizer
from rulerank.errors import ModelFileError

RARE = 5  # kinds of fewer rows share a bin: too few to tell them apart by


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

    def transform(self, X: Array) -> Array:
        """Return the bin of each value, uint8 (n_rows, n_features)."""
        return self.bins_of(X).T

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
            if bins.shape != (len(one["kinds"]) + 1,) or not 0 <= bins.min() <= bins.max() == bins[-1] < MAX_BINS:
                raise ModelFileError(
                    "the bins of a feature's categories do not fit the categories; save the model again"
                )
            if not 0 <= one["feature"] < len(inner.cuts_):
                raise ModelFileError(f"there is no feature {one['feature']} with categories; save the model again")
            made.bins[int(one["feature"])] = bins
        return made
