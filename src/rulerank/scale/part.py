"""Parts: rows of whole queries, read when they are needed and sent to whoever reads them.

A part is a data set in memory or a Parquet file, of which only the columns and rows that are needed are read. A folder,
a pattern, files or data sets become parts in `open_parts`.
"""

from __future__ import annotations

import glob
import itertools
import os
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import polars as pl

from rulerank.dataset import MAX_GRADE, UNLABELLED, Array, Dataset, query_index
from rulerank.errors import DataError, ReadError
from rulerank.io.columns import category_names, column_numbers, ids, is_category, is_feature, is_frame, is_number
from rulerank.io.files import Origin, format_suffix, is_many, note_input, read_parts
from rulerank.io.formats import FORMATS, HEAD, detect, known_format
from rulerank.io.frames import parquet_errors
from rulerank.io.tables import from_part, write_table
from rulerank.normalize import normalize_by_query
from rulerank.rankers.base import Labelled
from rulerank.rankers.rows import read_documents

HEAD_ROWS = 10_000  # rows that show which columns are features: what is no id there is none in all


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
    own_kinds: bool = False  # categories are those of each part: who reads them matches them by name


class Keys(NamedTuple):
    """What a part says of its rows beside their features."""

    grades: Array  # int16 (n_rows,) -1 = not labelled
    queries: Array  # int64 (n_rows,) numbers from 0, in order of appearance
    query_ids: Array  # of each number


def graded_part(part: Part, shape: Shape) -> Dataset:
    """Return the rows of a part that have a grade; one part alone does not tell what to do with the others."""
    data = part.dataset(shape)
    return data[data.y != UNLABELLED]


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

    def dataset(self, shape: Shape) -> Dataset:
        if shape.own_kinds:
            check_features(self.name, shape.feature_names, self.data.feature_names)
            return self.data
        X = self.values(shape, shape.feature_names)
        return Dataset(
            X, self.data.y, self.data.qid, self.data.docid, shape.feature_names, categories=dict(shape.categories)
        )


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
        data = (
            self._looked_at()
            if self.columns.features is None
            else self._dataset(self.frame(None), self.columns.features)
        )
        return data.feature_names, data.categories

    def _looked_at(self) -> Dataset:
        """Read the first rows, or all of them where some columns need that to be told from ids."""
        schema = self.schema()
        if self.columns.qid in schema and pl.Categorical not in {type(dtype) for dtype in schema.values()}:
            with parquet_errors(self.name):
                scan = pl.scan_parquet(self.path, glob=False)
                head = (scan if self.rows is None else scan.slice(*self.rows)).head(HEAD_ROWS).collect()
            with warnings.catch_warnings(record=True):
                warnings.simplefilter("always")
                features = {*self._dataset(head, None).feature_names}
            reserved = {self.columns.qid, self.columns.docid, self.columns.grade, "comment"}
            if head[self.columns.qid].n_unique() > 1 and not any(
                is_feature(dtype) for name, dtype in schema.items() if name not in features | reserved
            ):
                return self._dataset(head, None)  # says what is left out
        return self._dataset(self.frame(None), None)

    def keys(self) -> Keys:
        queries, query_ids = self._queries(self.frame([self.columns.qid])[self.columns.qid])
        return Keys(self.grades(), queries, query_ids)

    def grades(self) -> Array:
        column = self.frame([self.columns.grade])[self.columns.grade]
        if column.dtype.is_integer() and len(column) and not column.null_count():
            low, high = column.min(), column.max()
            if isinstance(low, int) and isinstance(high, int) and low >= UNLABELLED and high <= MAX_GRADE:
                return column.cast(pl.Int16).to_numpy()  # needs no second look, which is slow
        return self._dataset(self.frame([self.columns.qid, self.columns.grade]), ()).y

    def values(self, shape: Shape, features: Sequence[str]) -> Array:
        there = self.schema()
        wanted = [feature for feature in features if not self.zeros or feature in there]
        frame = self.frame(wanted)
        X = np.zeros((len(frame), len(features)), dtype=np.float32)
        plain = wanted == [*features] and all(is_number(dtype) for dtype in frame.dtypes)
        if plain and not shape.categories.keys() & {*features}:
            X = frame.cast(pl.Float32).to_numpy(order="c")
        else:
            for place, feature in enumerate(features):
                if feature in wanted:
                    X[:, place] = self._column(frame[feature], shape.categories.get(feature))
        if np.isinf(X).any():
            row, place = (int(found[0]) for found in np.nonzero(np.isinf(X)))
            raise ReadError(
                self.name,
                None,
                f"row {row}: expected finite numbers that fit in 32 bits in column {features[place]!r}, "
                f"got {frame[features[place]][row]}",
            )
        return X

    def dataset(self, shape: Shape) -> Dataset:
        keys = [self.columns.qid, self.columns.docid, self.columns.grade]
        there = [key for key in keys if key in self.schema()]
        if shape.own_kinds and not self.zeros:
            return self._dataset(self.frame([*there, *shape.feature_names]), shape.feature_names)
        data = self._dataset(self.frame(there), ())
        X = self.values(shape, shape.feature_names)
        return Dataset(X, data.y, data.qid, data.docid, shape.feature_names, categories=dict(shape.categories))

    def values_types(self, shape: Shape) -> None:
        """Refuse columns whose type is not that of the first part, without reading them."""
        for name, dtype in self.schema().items():
            if name in shape.feature_names:
                kinds = shape.categories.get(name)
                if not is_feature(dtype):
                    raise ReadError(self.name, None, f"column {name!r} must hold numbers: it holds {dtype}")
                if is_category(dtype) != (kinds is not None):
                    raise other_kinds(self.name, name, kinds, ("...",) if is_category(dtype) else None)

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
        try:
            return from_part(frame, **{**self.columns.named(), "features": features})
        except DataError as error:
            raise ReadError(self.name, None, str(error)) from None

    def _queries(self, column: pl.Series) -> tuple[Array, Array]:
        runs = column.rle_id()
        n_runs = int(runs[-1]) + 1 if len(runs) else 0
        starts = np.flatnonzero(np.diff(runs.to_numpy(), prepend=-1)) if len(runs) else np.zeros(0, dtype=np.int64)
        heads = ids(column[starts.tolist()], Origin(self.name))
        if (heads == "").any():
            row = int(starts[np.flatnonzero(heads == "")[0]])
            raise ReadError(self.name, None, f"row {row}: expected a query id in column {column.name!r}, got nothing")
        numbers, query_ids = query_index(heads)
        queries = runs.to_numpy().astype(np.int64)
        return (queries if len(query_ids) == n_runs else numbers[queries]), query_ids

    def _column(self, column: pl.Series, kinds: tuple[str, ...] | None) -> Array:
        if not is_feature(column.dtype):
            raise ReadError(self.name, None, f"column {column.name!r} must hold numbers: it holds {column.dtype}")
        found = category_names(column) if is_category(column.dtype) else None
        if kinds is None and found is None:
            return column.cast(pl.Float32).to_numpy() if is_number(column.dtype) else column_numbers(column).values
        if kinds is None or found is None or not {*found} <= {*kinds}:
            raise other_kinds(self.name, column.name, kinds, found)
        return column.cast(pl.String).cast(pl.Enum(kinds)).to_physical().cast(pl.Float32).to_numpy()


Part = DatasetPart | TablePart


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


def columns_of(part: Part, features: Sequence[str], shape: Shape) -> tuple[Array, Array]:
    """Return some columns in the form of `labelled`, and the grades."""
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


LEFT_OUT = (".md", ".json", ".sha256", ".crc")  # files that lie beside data
FEWEST_ROWS = 10_000  # of a part of a file: less is not worth a read of its own


def file_names(source: str | os.PathLike[str]) -> list[str]:
    """Return the files of a folder or a pattern, or the file itself, in the order of their names."""
    name = os.fspath(source)
    if os.path.isdir(name):
        found = sorted(str(path) for path in Path(name).rglob("*") if path.is_file() and not _beside(path, name))
        if not found:
            raise DataError(f"{name}: the folder holds no files of documents")
        return found
    if is_many(name):
        found = sorted(path for path in glob.glob(name, recursive=True) if os.path.isfile(path))
        if not found:
            raise DataError(f"{name}: no file has such a name")
        return found
    return [name]


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
            for name in file_names(one):
                opened += _open_file(name, columns, format, spool, len(opened), max_values)
        elif isinstance(one, Dataset):
            opened.append(DatasetPart(f"part {number}", one))
        elif is_frame(one):
            try:
                opened.append(DatasetPart(f"part {number}", from_part(one, **columns.named())))
            except DataError as error:
                raise DataError(f"part {number}: {error}") from None
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
    read = read_documents(name, format, columns.named(), graded=True)
    kept = os.path.join(spool, f"{number:06}.parquet")
    write_table(read.data, kept, format="parquet")
    return [TablePart(name, kept, Columns(features=None), zeros=read.is_letor)]


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
