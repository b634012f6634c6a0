"""Columns of a table: which are features, texts or ids, and their values as a data set holds them."""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable, Collection, Sequence
from typing import NamedTuple

import numpy as np
import polars as pl

from rulerank.dataset import MAX_GRADE, UNLABELLED, Array, Dataset
from rulerank.errors import DataError
from rulerank.io.delimited import MISSING, either
from rulerank.io.frame_columns import (
    ROWS_THAT_TELL,
    US_PER_DAY,
    column_numbers,
    is_category,
    is_date,
    is_number,
    parsed,
)
from rulerank.io.marked_columns import FIELD
from rulerank.io.other_tools import fraction_hint

TEXT_COLUMNS = {  # what people read of a row, and the columns of text that are taken for it
    "query_text": ("query_text", "query"),
    "description": ("description", "narrative"),
    "title": ("title",),
    "text": ("text", "body", "abstract"),
    "url": ("url", "link"),
}
TEXT_NAMES = [name for names in TEXT_COLUMNS.values() for name in names]

# product_id, id, sku, docid, productId: what tells documents apart and says nothing about them
ID_NAME = re.compile(
    r"(?i:(?:^|[\s_.:-])(?:id|uid|uuid|guid|pid|sku|ean|gtin|upc|asin|isbn)$)"
    r"|(?i:^(?:doc|document|item|product|user|query|row|page|article|movie|film|book|post|url)id$)|[a-z]I[dD]$"
)

Mistake = Callable[[int | None, str], Exception]  # (row or None, message) -> the error that says where


def feature_columns(
    others: pl.DataFrame,
    qid: pl.Series,
    wanted: Collection[str] | None = None,
    *,
    else_hold: str = "do not hold numbers",
) -> list[str]:
    """Return which columns are features: numbers and categories that do not look like ids. A warning names the others.

    wanted: columns of numbers that stay whatever they look like; with it nothing is said.
    """
    numbers = [column for column, dtype in others.schema.items() if is_feature(dtype)]
    like_ids = [column for column in numbers if column not in (wanted or ()) and looks_like_ids(others[column], qid)]
    features = [column for column in numbers if column not in like_ids]
    if wanted is not None:
        return features
    no_numbers = [f"{column!r} ({dtype})" for column, dtype in others.schema.items() if not is_feature(dtype)]
    if no_numbers:
        text = next((column for column, dtype in others.schema.items() if dtype == pl.String), None)
        hint = "" if text is None else f"; to read one as a category, give it that type (in a csv: {text}:category)"
        warnings.warn(f"columns left out because they {else_hold}: {', '.join(no_numbers)}{hint}", stacklevel=4)
    if like_ids:
        warnings.warn(
            f"columns left out because they look like ids: {', '.join(map(repr, like_ids))}; "
            f"to keep one, name all features ({either('features')})",
            stacklevel=4,
        )
    return features


def with_names(frame: pl.DataFrame, others: Collection[str], wanted: Collection[str] | None) -> pl.DataFrame:
    """Return a frame whose columns of text are categories or dates: those that are wanted, or that look like it."""
    texts = [column for column in frame if column.dtype == pl.String and column.name not in others]
    if wanted is not None:
        return frame.with_columns(parsed(column, certain=True) for column in texts if column.name in wanted)
    return frame.with_columns(parsed(column) for column in texts if not ID_NAME.search(column.name))


def looks_like_ids(column: pl.Series, qid: pl.Series) -> bool:
    """Whether a column holds whole numbers that are named as ids are, or that are all different in several queries.

    >>> looks_like_ids(pl.Series("product_id", [7, 9]), pl.Series([1, 1]))
    True
    >>> looks_like_ids(pl.Series("clicks", [7, 9]), pl.Series([1, 1]))
    False
    """
    if column.dtype == pl.Boolean or not column.dtype.is_numeric() or not column.drop_nulls().len():
        return False
    values = column.drop_nulls().drop_nans() if column.dtype.is_float() else column.drop_nulls()
    if column.dtype.is_float() and not (values % 1 == 0).all():
        return False
    if ID_NAME.search(column.name):
        return True
    enough = len(column) >= ROWS_THAT_TELL and qid.n_unique() > 1
    return bool(enough and len(values) == len(column) and values.n_unique() == len(column))


def is_feature(dtype: pl.DataType) -> bool:
    """Whether a column of this type is taken for a feature: numbers, booleans, categories, dates."""
    return is_number(dtype) or is_category(dtype) or is_date(dtype)


def texts_of(frame: pl.DataFrame) -> list[str]:
    """Return the columns that hold texts for people to read: those that are called so, and marked fields."""
    marked = [name for name in frame.columns if name.endswith(FIELD)]
    return [name for name in (*TEXT_NAMES, *marked) if name in frame.columns and frame[name].dtype == pl.String]


def text_column(name: str, values: Array) -> pl.Series:
    """Return a text as a column, marked as a field where its name does not tell."""
    marked = name if name in TEXT_NAMES else f"{name}{FIELD}"
    return pl.Series(marked, [None if value is None else str(value) for value in values.tolist()], dtype=pl.String)


def feature_column(data: Dataset, name: str, values: Array) -> pl.Series:
    if name in data.dates:
        found = pl.Series(name, values, nan_to_null=True, dtype=pl.Float64)
        if (found.drop_nulls() % 1 == 0).all():
            return found.cast(pl.Int32).cast(pl.Date)
        return (found * US_PER_DAY).round().cast(pl.Int64).cast(pl.Datetime("us"))
    if name not in data.categories:
        return pl.Series(name, values, nan_to_null=True, dtype=pl.Float32)
    kinds = data.categories[name]
    return pl.Series(name, [None if value != value else kinds[int(value)] for value in values], dtype=pl.Enum(kinds))


class Features(NamedTuple):
    """The features of a table as numbers."""

    X: Array  # float32 (n_rows, n_features)
    categories: dict[str, tuple[str, ...]]
    dates: tuple[str, ...]


def feature_values(frame: pl.DataFrame, features: Sequence[str], mistake: Mistake) -> Features:
    """Return the features as numbers; a category is the number of its name, a date that of its day."""
    X = np.empty((len(frame), len(features)), dtype=np.float32)
    categories, dates = {}, []
    for i, feature in enumerate(features):
        if not is_number(frame[feature].dtype):
            try:
                found = column_numbers(frame[feature])
            except DataError as error:
                raise mistake(None, str(error)) from None
            X[:, i] = found.values
            dates += [feature] if found.is_date else []
            if found.names is not None:
                categories[feature] = found.names
            continue
        X[:, i] = frame[feature].cast(pl.Float32).to_numpy()
        infinite = np.flatnonzero(np.isinf(X[:, i]))
        if infinite.size:
            row = int(infinite[0])
            raise mistake(
                row, f"expected finite numbers that fit in 32 bits in column {feature!r}, got {frame[feature][row]}"
            )
    return Features(X, categories, tuple(dates))


def grade_values(column: pl.Series, mistake: Mistake) -> Array:
    """Return grades as whole numbers, UNLABELLED where there is none."""
    if column.dtype == pl.String:
        cells = column.str.strip_chars()
        cells = cells.set(cells.is_in([*MISSING, "?"]), None)
    elif is_number(column.dtype):
        cells = column.cast(pl.Float64).fill_nan(None)
    else:
        raise mistake(None, f"column {column.name!r} must hold grades: it holds {column.dtype}")
    grades = cells.cast(pl.Float64, strict=False)
    allowed = (grades % 1 == 0) & grades.is_between(UNLABELLED, MAX_GRADE)
    wrong = np.flatnonzero((cells.is_not_null() & ~allowed.fill_null(False)).to_numpy())
    if wrong.size:
        row = int(wrong[0])
        raise mistake(
            row,
            f"expected a whole number from 0 to {MAX_GRADE} as the grade, or nothing or ? for not labelled, "
            f"got {column[row]!r} in column {column.name!r}"
            + fraction_hint(column[row], f"(pl.col({column.name!r}) * 2).round() in Polars"),
        )
    return grades.fill_null(UNLABELLED).cast(pl.Int16).to_numpy()


def ids(column: pl.Series, mistake: Mistake) -> Array:
    """Return ids as text, "" where there is none: whole numbers in decimal, equal ids as one string."""
    if column.dtype.is_float() and column.drop_nulls().is_finite().all() and (column.drop_nulls() % 1 == 0).all():
        column = column.cast(pl.Int64)  # pandas has no empty integers
    if not (column.dtype.is_integer() or column.dtype in (pl.String, pl.Categorical, pl.Enum, pl.Null)):
        raise mistake(None, f"column {column.name!r} must hold text or whole numbers: it holds {column.dtype}")
    return shared_strings(column.cast(pl.String).fill_null(""))


def shared_strings(column: pl.Series) -> Array:
    """Return an object array in which equal strings are one object."""
    one: dict[str, str] = {}
    strings = np.empty(len(column), dtype=object)
    strings[:] = [one.setdefault(value, value) for value in column.to_list()]
    return strings
