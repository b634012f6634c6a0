"""What a part is: rows of whole queries that can be read when they are needed, and be sent to whoever reads them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple, Protocol

import numpy as np

from rulerank.dataset import UNLABELLED, Array, Dataset, query_index
from rulerank.errors import DataError, ReadError
from rulerank.normalize import normalize_by_query
from rulerank.rankers.base import Labelled


@dataclass(frozen=True)
class Columns:
    """What the columns of a table are called, as in `read_table`."""

    qid: str = "qid"
    docid: str = "docid"
    grade: str = "grade"
    features: tuple[str, ...] | None = None

    def named(self) -> dict[str, Any]:
        """Return those that were named, as the readers take them."""
        return {name: value for name, value in vars(self).items() if value != getattr(Columns, name)}


@dataclass(frozen=True)
class Shape:
    """What all parts have in common: the features, what their categories stand for, and which rows count."""

    feature_names: tuple[str, ...]
    categories: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    has_names: bool = True
    normalize: str | None = None  # how features are put on one scale by query
    labelled_only: bool = False  # leave rows without a grade out; else they are an error
    graded: bool = True  # a table must have the column of the grade
    own_kinds: bool = False  # categories are those of each part: who reads them matches them by name


class Keys(NamedTuple):
    """What a part says of its rows beside their features."""

    grades: Array  # int16 (n_rows,) -1 = not labelled
    queries: Array  # int64 (n_rows,) numbers from 0, in order of appearance
    query_ids: Array  # of each number


class Part(Protocol):
    """Rows of whole queries."""

    @property
    def name(self) -> str:
        """What messages call it."""
        ...

    def look(self) -> tuple[tuple[str, ...], Mapping[str, tuple[str, ...]]]:
        """Return the features that the part would be taken to have by itself, and their categories."""
        ...

    def keys(self) -> Keys:
        """Read grades and queries."""
        ...

    def grades(self) -> Array:
        """Read the grades alone."""
        ...

    def values(self, shape: Shape, features: Sequence[str]) -> Array:
        """Read some features, float32 (n_rows, n_features)."""
        ...

    def dataset(self, shape: Shape) -> Dataset:
        """Read everything, ids of documents too."""
        ...


def graded_part(part: Part, shape: Shape) -> Dataset:
    """Return the rows of a part that have a grade; one part alone does not tell what to do with the others."""
    data = part.dataset(shape)
    return data[data.y != UNLABELLED]


@dataclass(frozen=True, eq=False)
class DatasetPart:
    """A data set that is in memory already."""

    name: str
    data: Dataset

    def look(self) -> tuple[tuple[str, ...], Mapping[str, tuple[str, ...]]]:
        return self.data.feature_names, self.data.categories

    def keys(self) -> Keys:
        return Keys(self.data.y, *query_index(self.data.qid))

    def grades(self) -> Array:
        return self.data.y

    def values(self, shape: Shape, features: Sequence[str]) -> Array:
        check_features(self.name, features, self.data.feature_names)
        for feature in features:
            kinds, found = shape.categories.get(feature), self.data.categories.get(feature)
            if kinds != found:
                raise other_kinds(self.name, feature, kinds, found)
        if tuple(features) == self.data.feature_names:
            return self.data.X
        return self.data.X[:, [self.data.feature_names.index(feature) for feature in features]]

    def dataset(self, shape: Shape) -> Dataset:
        if shape.own_kinds:
            check_features(self.name, shape.feature_names, self.data.feature_names)
            return self.data
        X = self.values(shape, shape.feature_names)
        return Dataset(
            X, self.data.y, self.data.qid, self.data.docid, shape.feature_names, categories=dict(shape.categories)
        )


@dataclass(frozen=True, eq=False)
class KeptPart:
    """A part that was read once and is kept."""

    name: str
    own: Keys
    X: Array
    feature_names: tuple[str, ...]

    @classmethod
    def of(cls, part: Part, shape: Shape) -> KeptPart:
        """Read a part."""
        return cls(part.name, part.keys(), part.values(shape, shape.feature_names), shape.feature_names)

    def look(self) -> tuple[tuple[str, ...], Mapping[str, tuple[str, ...]]]:
        return self.feature_names, {}

    def keys(self) -> Keys:
        return self.own

    def grades(self) -> Array:
        return self.own.grades

    def values(self, shape: Shape, features: Sequence[str]) -> Array:
        first = self.feature_names.index(features[0])  # neighbours, as all callers ask for them
        return self.X if len(features) == len(self.feature_names) else self.X[:, first : first + len(features)]

    def dataset(self, shape: Shape) -> Dataset:
        ids = self.own.query_ids[self.own.queries]
        return Dataset(self.X, self.own.grades, ids, None, shape.feature_names, categories=dict(shape.categories))


def labelled(part: Part, shape: Shape) -> Labelled:
    """Return a part as rankers learn from it: checked, its features in order, on one scale by query if asked for."""
    keys = part.keys()
    rows = counted_rows(part.name, keys.grades, shape)
    X = part.values(shape, shape.feature_names)
    if X.shape[0] != keys.grades.size:
        raise ReadError(part.name, None, f"it has {X.shape[0]} rows of features and {keys.grades.size} of grades")
    queries, query_ids, grades = keys.queries, keys.query_ids, keys.grades
    if rows is not None:
        X, grades = X[rows], grades[rows]
        queries, kept = query_index(queries[rows])
        query_ids = query_ids[kept]
    X = on_one_scale(X, queries, shape, shape.feature_names)
    return Labelled(X, grades, queries, query_ids, None, shape.categories)


def columns_of(part: Part, shape: Shape, features: Sequence[str]) -> tuple[Array, Array]:
    """Return some columns as `labelled` has them, and the grades."""
    X, grades = part.values(shape, features), part.grades()
    rows = counted_rows(part.name, grades, shape)
    if rows is not None:
        X, grades = X[rows], grades[rows]
    if shape.normalize is None:
        return X, grades
    queries = part.keys().queries
    return on_one_scale(X, queries if rows is None else query_index(queries[rows])[0], shape, features), grades


def on_one_scale(X: Array, queries: Array, shape: Shape, features: Sequence[str]) -> Array:
    """Return rows normalised by query; codes of categories stay what they are."""
    if shape.normalize is None:
        return X
    out = normalize_by_query(X, queries, shape.normalize)
    codes = [place for place, feature in enumerate(features) if feature in shape.categories]
    out[:, codes] = X[:, codes]
    return out


def counted_rows(name: str, grades: Array, shape: Shape) -> Array | None:
    """Return the rows that have a grade, None for all."""
    without = np.flatnonzero(grades == UNLABELLED)
    if not without.size:
        return None
    if not shape.labelled_only:
        raise DataError(
            f"{name}: {without.size} of {grades.size} rows are not labelled (grade -1); leave them out, "
            "for example with labelled_only=True"
        )
    return np.flatnonzero(grades != UNLABELLED)


def check_features(name: str, features: Sequence[str], there: Sequence[str]) -> None:
    """Refuse a part that lacks features of the others."""
    missing = [feature for feature in features if feature not in there]
    if missing:
        shown = ", ".join(missing[:5]) + (", ..." if len(missing) > 5 else "")
        raise DataError(f"{name}: it lacks {len(missing)} of the {len(features)} features of the first part: {shown}")


def lacks(name: str, columns: Columns, there: Mapping[str, Any]) -> str:
    """Say that a column is not there, and what to do."""
    role = next((role for role, own in vars(columns).items() if own == name), None)
    from_first = "which the first part has; all parts must have the same columns"
    what = f"name the column of the {role} ({role}=, command line --{role})" if role else from_first
    shown = ", ".join([*there][:8]) + (", ..." if len(there) > 8 else "")
    return (
        f"there is no column {name!r}, {what}" if not role else f"there is no column {name!r}; it has {shown}; {what}"
    )


def other_kinds(name: str, feature: str, kinds: Sequence[str] | None, found: Sequence[str] | None) -> DataError:
    """Return the error of a feature whose categories are not those of the other parts."""

    def said(names: Sequence[str] | None) -> str:
        return "numbers" if names is None else f"the categories {', '.join(names[:5])}{', ...' * (len(names) > 5)}"

    return DataError(
        f"{name}: the feature {feature!r} has {said(found)}, and {said(kinds)} in the first part; write it the same "
        "way in all parts, categories as an Enum that lists them all"
    )
