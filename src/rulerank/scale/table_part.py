"""Parquet files as parts: only the columns and rows that are needed are read."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl

from rulerank.dataset import MAX_GRADE, UNLABELLED, Array, Dataset, query_index
from rulerank.errors import DataError, ReadError
from rulerank.io.frame_columns import category_names, column_numbers, is_category, is_number
from rulerank.io.table_columns import ids, is_feature
from rulerank.io.tables import from_part
from rulerank.scale.part import Columns, Keys, Shape, lacks, other_kinds

HEAD_ROWS = 10_000  # rows that show which columns are features: what is no id there is none in all


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
            with _readable(self.name):
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
        if self.columns.grade not in self.schema():  # nobody has judged it; where grades are needed, the survey says so
            frame = self.frame([self.columns.qid])
            return Keys(np.full(len(frame), UNLABELLED, dtype=np.int16), *self._queries(frame[self.columns.qid]))
        frame = self.frame([self.columns.qid, self.columns.grade])
        return Keys(self._grades(frame), *self._queries(frame[self.columns.qid]))

    def grades(self) -> Array:
        column = self.frame([self.columns.grade])[self.columns.grade]
        return self._plain_grades(column) if self._are_plain(column) else self.keys().grades

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
        with _readable(self.name):
            scan = pl.scan_parquet(self.path, glob=False)
            scan = scan if names is None else scan.select(names)
            return (scan if self.rows is None else scan.slice(*self.rows)).collect()

    def schema(self) -> dict[str, pl.DataType]:
        """Return the columns and their types."""
        with _readable(self.name):
            return dict(pl.read_parquet_schema(self.path))

    def _dataset(self, frame: pl.DataFrame, features: Sequence[str] | None) -> Dataset:
        """Return what the library's own reader makes of columns; its messages name the part."""
        try:
            return from_part(frame, **{**self.columns.named(), "features": features})
        except DataError as error:
            raise ReadError(self.name, None, str(error)) from None

    def _grades(self, frame: pl.DataFrame) -> Array:
        column = frame[self.columns.grade]
        return self._plain_grades(column) if self._are_plain(column) else self._dataset(frame, ()).y

    def _are_plain(self, column: pl.Series) -> bool:
        """Tell whether grades are whole numbers that need no second look, which is slow."""
        if not (column.dtype.is_integer() and len(column) and not column.null_count()):
            return False
        low, high = column.min(), column.max()
        return isinstance(low, int) and isinstance(high, int) and low >= UNLABELLED and high <= MAX_GRADE

    def _plain_grades(self, column: pl.Series) -> Array:
        return column.cast(pl.Int16).to_numpy()

    def _queries(self, column: pl.Series) -> tuple[Array, Array]:
        runs = column.rle_id()
        n_runs = int(runs[-1]) + 1 if len(runs) else 0
        starts = np.flatnonzero(np.diff(runs.to_numpy(), prepend=-1)) if len(runs) else np.zeros(0, dtype=np.int64)
        heads = ids(column[starts.tolist()], lambda row, message: ReadError(self.name, None, message))
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


class _readable:  # noqa: N801
    """Turn whatever a reader says of a damaged file into one error that names it."""

    def __init__(self, name: str) -> None:
        self.name = name

    def __enter__(self) -> None:
        return None

    def __exit__(self, kind: Any, error: BaseException | None, trace: Any) -> None:
        if isinstance(error, FileNotFoundError):
            raise ReadError(self.name, None, "there is no such file") from None
        if isinstance(error, pl.exceptions.PolarsError | pl.exceptions.PanicException | OSError | ValueError):
            reason = (str(error).splitlines() or ["damaged"])[0]
            message = f"expected a parquet file, got something else or a damaged one: {reason}"
            raise ReadError(self.name, None, message) from None
