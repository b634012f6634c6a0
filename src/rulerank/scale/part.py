"""Parts: rows of whole queries, read when they are needed and sent to whoever reads them.

A part is a data set in memory or a Parquet file, of which only the columns and rows that are needed are read. A folder,
a pattern, files or data sets become parts in `open_parts`.
"""

from __future__ import annotations

import itertools
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import polars as pl

from rulerank._util.words import listed
from rulerank.dataset import UNLABELLED, Array, Dataset, query_index
from rulerank.errors import DataError, ReadError, located
from rulerank.io.columns import category_names, grade_values, ids, is_category, is_feature, is_frame
from rulerank.io.files import Origin, file_names, format_suffix, note_input, read_parts
from rulerank.io.formats import FORMATS, HEAD, detect, known_format, read_documents
from rulerank.io.frames import parquet_errors
from rulerank.io.letor import widen
from rulerank.io.tables import feature_values, from_frame, write_table
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
    normalize: str | None = None  # how features are normalised by query
    labelled_only: bool = False  # leave rows without a grade out; else they are an error
    own_kinds: bool = False  # categories are those of each part: who reads them matches them by name


class Keys(NamedTuple):
    """What a part says of its rows beside their features."""

    grades: Array  # int16 (n_rows,) -1 = not labelled
    queries: Array  # int64 (n_rows,) numbers from 0, in order of appearance
    query_ids: Array  # of each number


@dataclass(frozen=True, eq=False)
class DatasetPart:
    """A data set that is in memory."""

    name: str
    data: Dataset
    read_keys: Keys | None = None  # where they were read before

    @classmethod
    def of(cls, part: Part, shape: Shape) -> DatasetPart:
        """Read a part once, to keep it."""
        keys, X = part.keys(), part.values(shape, shape.feature_names)
        qid, kinds = keys.query_ids[keys.queries], dict(shape.categories)
        return cls(part.name, Dataset(X, keys.grades, qid, None, shape.feature_names, categories=kinds), keys)

    def look(self) -> tuple[tuple[str, ...], Mapping[str, tuple[str, ...]]]:
        return self.data.feature_names, self.data.categories

    def keys(self) -> Keys:
        return self.read_keys or Keys(self.data.y, *query_index(self.data.qid))

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

    def dataset(self, features: Sequence[str]) -> Dataset:
        check_features(self.name, features, self.data.feature_names)
        return self.data


@dataclass(frozen=True)
class TablePart:
    """A Parquet file, or some of its rows."""

    name: str
    path: str
    columns: Columns
    rows: tuple[int, int] | None = None  # first, and how many
    zeros: bool = False  # features that are not there are 0: the file was LETOR text, which leaves zeros out

    def look(self) -> tuple[tuple[str, ...], Mapping[str, tuple[str, ...]]]:
        if self.zeros:
            return tuple(name for name in self.schema() if name not in ("qid", "docid", "grade", "comment")), {}
        data = self._dataset(self.frame(None), self.columns.features)
        return data.feature_names, data.categories

    def keys(self) -> Keys:
        column = self.frame([self.columns.qid])[self.columns.qid]
        starts = np.flatnonzero(np.diff(column.rle_id().to_numpy(), prepend=-1))  # ids of runs of rows, not of each
        heads = ids(column[starts.tolist()], Origin(self.name))
        if (heads == "").any():
            row = int(starts[np.flatnonzero(heads == "")[0]])
            raise ReadError(self.name, None, f"row {row}: expected a query id in column {column.name!r}, got nothing")
        numbers, query_ids = query_index(heads)
        return Keys(self.grades(), np.repeat(numbers, np.diff(starts, append=len(column))), query_ids)

    def grades(self) -> Array:
        return grade_values(self.frame([self.columns.grade])[self.columns.grade], Origin(self.name))

    def values(self, shape: Shape, features: Sequence[str]) -> Array:
        there = self._there(features)
        frame = self.frame(there)
        for feature in there:
            self.check_type(shape, feature, frame[feature].dtype)
            kinds = shape.categories.get(feature)
            if kinds is not None:
                if not {*category_names(frame[feature])} <= {*kinds}:
                    raise other_kinds(self.name, feature, kinds, category_names(frame[feature]))
                frame = frame.with_columns(pl.col(feature).cast(pl.String).cast(pl.Enum(kinds)))
        X, _, _ = feature_values(frame, there, Origin(self.name))
        return np.pad(X, ((0, 0), (0, len(features) - len(there))))

    def dataset(self, features: Sequence[str]) -> Dataset:
        there = self._there(features)
        keys = [key for key in (self.columns.qid, self.columns.docid, self.columns.grade) if key in self.schema()]
        return widen(self._dataset(self.frame([*keys, *there]), there), len(features))

    def _there(self, features: Sequence[str]) -> list[str]:
        """Return the features to read: of LETOR text, which leaves zeros out, those that it has."""
        schema = self.schema() if self.zeros else features
        return [feature for feature in features if feature in schema]

    def check_type(self, shape: Shape, feature: str, dtype: pl.DataType) -> None:
        """Refuse a column whose type is not that of the first part."""
        kinds = shape.categories.get(feature)
        if not is_feature(dtype):
            raise ReadError(self.name, None, f"column {feature!r} must hold numbers: it holds {dtype}")
        if is_category(dtype) != (kinds is not None):
            raise other_kinds(self.name, feature, kinds, ("...",) if is_category(dtype) else None)

    def frame(self, names: Sequence[str] | None) -> pl.DataFrame:
        """Read some columns, or all."""
        for name in names or ():
            if name not in self.schema():
                raise ReadError(self.name, None, lacks(name, self.columns, self.schema()))
        with parquet_errors(self.name):
            scan = pl.scan_parquet(self.path, glob=False)
            scan = scan if names is None else scan.select(names)
            return (scan if self.rows is None else scan.slice(*self.rows)).collect()

    def schema(self) -> dict[str, pl.DataType]:
        """Return the columns and their types."""
        with parquet_errors(self.name):
            return dict(pl.read_parquet_schema(self.path))

    def _dataset(self, frame: pl.DataFrame, features: Sequence[str] | None) -> Dataset:
        """Return what the library's own reader makes of columns; its messages name the part."""
        with located("", self.name):
            return from_frame(frame, **{**self.columns.named(), "features": features})


Part = DatasetPart | TablePart


def labelled(part: Part, shape: Shape) -> Labelled:
    """Return a part as rankers learn from it: checked, its features in order, on one scale by query if asked for."""
    keys = part.keys()
    rows = counted_rows(part.name, keys.grades, shape)
    X = part.values(shape, shape.feature_names)
    if X.shape[0] != keys.grades.size:
        raise ReadError(part.name, None, f"it has {X.shape[0]} rows of features and {keys.grades.size} of grades")
    queries, query_ids = keys.queries[rows], keys.query_ids
    if not isinstance(rows, slice):
        queries, kept = query_index(queries)
        query_ids = query_ids[kept]
    X = on_one_scale(X[rows], queries, shape, shape.feature_names)
    return Labelled(X, keys.grades[rows], queries, query_ids, None, shape.categories)


def columns_of(part: Part, features: Sequence[str], shape: Shape) -> tuple[Array, Array]:
    """Return some columns in the form of `labelled`, and the grades."""
    grades = part.grades()
    rows = counted_rows(part.name, grades, shape)
    X = part.values(shape, features)[rows]
    if shape.normalize is not None:
        X = on_one_scale(X, query_index(part.keys().queries[rows])[0], shape, features)
    return X, grades[rows]


def on_one_scale(X: Array, queries: Array, shape: Shape, features: Sequence[str]) -> Array:
    """Return rows normalised by query; codes of categories stay what they are."""
    if shape.normalize is None:
        return X
    codes = [place for place, feature in enumerate(features) if feature in shape.categories]
    return normalize_by_query(X, queries, shape.normalize, codes=codes)


def counted_rows(name: str, grades: Array, shape: Shape) -> Array | slice:
    """Return the rows that have a grade."""
    n_without = int((grades == UNLABELLED).sum())
    if n_without and not shape.labelled_only:
        raise DataError(
            f"{name}: {n_without} of {grades.size} rows are not labelled (grade -1); leave them out, "
            "for example with labelled_only=True"
        )
    return np.flatnonzero(grades != UNLABELLED) if n_without else slice(None)


def check_features(name: str, features: Sequence[str], there: Sequence[str]) -> None:
    """Refuse a part that lacks features of the others."""
    missing = [feature for feature in features if feature not in there]
    if missing:
        which = f"{len(missing)} of the {len(features)} features of the first part: {listed(missing, 5)}"
        raise DataError(f"{name}: it lacks {which}")


def lacks(name: str, columns: Columns, there: Mapping[str, Any]) -> str:
    """Say that a column is not there, and what to do."""
    role = next((role for role, own in vars(columns).items() if own == name), None)
    from_first = "which the first part has; all parts must have the same columns"
    what = f"name the column of the {role} ({role}=, command line --{role})" if role else from_first
    return f"there is no column {name!r}" + (f"; it has {listed([*there], 8)}; {what}" if role else f", {what}")


def other_kinds(name: str, feature: str, kinds: Sequence[str] | None, found: Sequence[str] | None) -> DataError:
    """Return the error of a feature whose categories are not those of the other parts."""

    def said(names: Sequence[str] | None) -> str:
        return "numbers" if names is None else f"the categories {', '.join(names[:5])}{', ...' * (len(names) > 5)}"

    return DataError(
        f"{name}: the feature {feature!r} has {said(found)}, and {said(kinds)} in the first part; write it the same "
        "way in all parts, categories as an Enum that lists them all"
    )


LEFT_OUT = (".md", ".json", ".sha256", ".crc")  # files that lie beside data
FEWEST_ROWS = 10_000  # of a part of a file: less is not worth a read of its own


def document_files(source: str | os.PathLike[str]) -> list[str]:
    """Return the files of a folder or a pattern, or the file itself; a folder's other files are left out."""
    folder = os.fspath(source)
    return file_names(source, lambda path: not _beside(path, folder), "the folder has no files of documents")


def open_parts(
    parts: Any, columns: Columns, *, format: str | None = None, spool: str | None = None, max_values: int = 2**25
) -> list[Part]:
    """Return parts in their order: files in that of their names, the rest as given.

    parts: a folder, a pattern such as "data/*.parquet", or a sequence of files, data sets and data frames.
    spool: the folder where text is kept as Parquet, so that it is read but once; None where text cannot be.
    max_values: a Parquet file with more numbers than this becomes several parts, cut between queries.
    """
    given = [parts] if isinstance(parts, str | os.PathLike | Dataset) or is_frame(parts) else [*parts]
    opened: list[Part] = []
    for number, one in enumerate(given, 1):
        if isinstance(one, str | os.PathLike):
            for name in document_files(one):
                opened += _open_file(name, columns, format, spool, len(opened), max_values)
        elif isinstance(one, Dataset):
            opened.append(DatasetPart(f"part {number}", one))
        elif is_frame(one):
            with located(f"part {number}"):
                opened.append(DatasetPart(f"part {number}", from_frame(one, **columns.named())))
        elif isinstance(one, Part):
            opened.append(one)
        else:
            raise DataError(f"part {number} must be a file, a Dataset or a data frame: got {type(one).__name__}")
    if not opened:
        raise DataError("expected at least one part: got none")
    return opened


def _open_file(
    name: str, columns: Columns, format: str | None, spool: str | None, number: int, max_values: int
) -> Sequence[Part]:
    found = known_format(format) if format else _format_of(name)
    packed = name.lower().endswith(".gz")
    if found == "parquet" and not packed:
        note_input(name, name)
        return cut_file(TablePart(name, name, columns), max_values)
    if spool is None:
        raise DataError(
            f"{name}: on a cluster, parts must be Parquet files, so that every machine reads only what it needs; "
            "convert it first (rulerank convert), or give a Dask data frame"
        )
    read = read_documents(name, columns.named(), format=format, graded=True)
    kept = os.path.join(spool, f"{number:06}.parquet")
    write_table(read.data, kept, format="parquet")
    return [TablePart(name, kept, Columns(features=None), zeros=read.format == "letor")]


def cut_file(part: TablePart, max_values: int) -> list[TablePart]:
    """Return a Parquet file as one part, or as several where it is large and its queries lie side by side."""
    schema = part.schema()
    if part.columns.qid not in schema:
        return [part]  # whoever reads it says so
    with parquet_errors(part.name):
        n_rows = int(pl.scan_parquet(part.path, glob=False).select(pl.len()).collect().item())
    most = max(FEWEST_ROWS, max_values // max(1, len(schema)))
    if n_rows <= most:
        return [part]
    runs = part.frame([part.columns.qid])[part.columns.qid]
    changes = np.flatnonzero(np.diff(runs.rle_id().to_numpy())) + 1
    if changes.size + 1 != runs.n_unique():
        return [part]  # queries lie scattered: only the whole file holds whole queries
    wanted = np.arange(most, n_rows, most)
    cuts = np.unique(np.concatenate([[0], changes[np.searchsorted(changes, wanted, "right") - 1], [n_rows]]))
    return [
        TablePart(f"{part.name} (rows {a:,} to {b - 1:,})", part.path, part.columns, (int(a), int(b - a)))
        for a, b in itertools.pairwise(cuts)
    ]


def _format_of(name: str) -> str:
    head = next(read_parts(name), b"")
    if not head:
        raise ReadError(name, None, "the file is empty")
    return detect(name, head[:HEAD])


def _beside(path: Path, folder: str) -> bool:
    """Tell whether a file of a folder is none of its data: hidden, a mark of another tool, a page to be read."""
    hidden = any(part.startswith((".", "_")) for part in path.relative_to(folder).parts)
    known = {suffix for format in FORMATS.values() for suffix in format.suffixes}
    return hidden or (path.suffix.lower() in LEFT_OUT and format_suffix(path) not in known)
