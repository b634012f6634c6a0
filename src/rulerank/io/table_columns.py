"""Columns of a table: which are features, texts or ids, and their values as a data set holds them."""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable, Collection, Sequence

import numpy as np
import polars as pl

from rulerank.dataset import MAX_GRADE, UNLABELLED, Array, Dataset
from rulerank.io.delimited import MISSING, either
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
ROWS_THAT_TELL = 50  # fewer whole numbers, such as prices, may all differ by chance

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
        warnings.warn(f"columns left out because they {else_hold}: {', '.join(no_numbers)}", stacklevel=4)
    if like_ids:
        warnings.warn(
            f"columns left out because they look like ids: {', '.join(map(repr, like_ids))}; "
            f"to keep one, name all features ({either('features')})",
            stacklevel=4,
        )
    return features


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


def _is_number(dtype: pl.DataType) -> bool:
    return dtype.is_numeric() or dtype in (pl.Boolean, pl.Null)


def is_feature(dtype: pl.DataType) -> bool:
    """Whether a column of this type is taken for a feature: numbers, booleans, categories."""
    return _is_number(dtype) or is_category(dtype)


def is_category(dtype: pl.DataType) -> bool:
    """Whether a column of this type holds one of a few names."""
    return dtype in (pl.Enum, pl.Categorical)


def category_names(column: pl.Series) -> tuple[str, ...]:
    """Return what a column of categories may hold: in the order of an Enum, else in that of the alphabet."""
    if isinstance(column.dtype, pl.Enum):
        return tuple(column.dtype.categories)
    return tuple(sorted(column.cast(pl.String).drop_nulls().unique()))


def texts_of(frame: pl.DataFrame) -> list[str]:
    """Return the columns that hold texts for people to read: those that are called so, and marked fields."""
    marked = [name for name in frame.columns if name.endswith(FIELD)]
    return [name for name in (*TEXT_NAMES, *marked) if name in frame.columns and frame[name].dtype == pl.String]


def text_column(name: str, values: Array) -> pl.Series:
    """Return a text as a column, marked as a field where its name does not tell."""
    marked = name if name in TEXT_NAMES else f"{name}{FIELD}"
    return pl.Series(marked, [None if value is None else str(value) for value in values.tolist()], dtype=pl.String)


def feature_column(data: Dataset, name: str, values: Array) -> pl.Series:
    if name not in data.categories:
        return pl.Series(name, values, nan_to_null=True, dtype=pl.Float32)
    kinds = data.categories[name]
    return pl.Series(name, [None if value != value else kinds[int(value)] for value in values], dtype=pl.Enum(kinds))


def feature_values(frame: pl.DataFrame, features: Sequence[str], mistake: Mistake) -> Array:
    """Return the features as numbers, float32; a category is the number of its name."""
    for feature in features:
        if not is_feature(frame[feature].dtype):
            raise mistake(None, f"column {feature!r} must hold numbers: it holds {frame[feature].dtype}")
    X = np.empty((len(frame), len(features)), dtype=np.float32)
    for i, feature in enumerate(features):
        if is_category(frame[feature].dtype):
            codes = frame[feature].cast(pl.String).cast(pl.Enum(category_names(frame[feature]))).to_physical()
            X[:, i] = codes.cast(pl.Float32).to_numpy()
            continue
        X[:, i] = frame[feature].cast(pl.Float32).to_numpy()
        infinite = np.flatnonzero(np.isinf(X[:, i]))
        if infinite.size:
            row = int(infinite[0])
            raise mistake(
                row, f"expected finite numbers that fit in 32 bits in column {feature!r}, got {frame[feature][row]}"
            )
    return X


def grade_values(column: pl.Series, mistake: Mistake) -> Array:
    """Return grades as whole numbers, UNLABELLED where there is none."""
    if column.dtype == pl.String:
        cells = column.str.strip_chars()
        cells = cells.set(cells.is_in([*MISSING, "?"]), None)
    elif _is_number(column.dtype):
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
