"""Tables of documents: data frames (Polars, pandas) to and from a `Dataset`, one row per query-document pair.

In all tables, `author:field` is a field of documents for people to read, and not a feature. Columns marked
`position:log`, `impressions:log` and `clicks:log` say how often a row was shown and clicked; `judged:qrels` says of a
row whether it is judged (yes, no, or extra: among the candidates only because it is), `base:qrels` how many judged
documents of each grade its query has in all, such as 0:12 1:3.
"""

from __future__ import annotations

import warnings
from collections.abc import Collection, Sequence
from typing import Any

import numpy as np
import polars as pl

from rulerank._util.words import listed
from rulerank.dataset import UNLABELLED, Array, Dataset, Impressions
from rulerank.errors import DataError
from rulerank.io.columns import (
    US_PER_DAY,
    check_repeats,
    column_numbers,
    grade_values,
    ids,
    is_feature,
    is_number,
    looks_like_ids,
    parsed,
    shared_strings,
    to_polars,
)
from rulerank.io.files import Origin, Source
from rulerank.io.frames import FIELD, QUEPID, either, read_frame, write_frame
from rulerank.recall_base import JUDGED, RecallBase, grade_counts

ROLES = {
    "qid": "column of the query id",
    "docid": "column of the document id",
    "grade": "column of the grade",
    "features": "columns of the features",
    "rater": "column with the rater",
}
TEXT_COLUMNS = {  # what people read of a row, and the columns of text that are taken for it
    "query_text": ("query_text", "query"),
    "description": ("description", "narrative"),
    "title": ("title",),
    "text": ("text", "body", "abstract"),
    "url": ("url", "link"),
}
TEXT_NAMES = [*(name for names in TEXT_COLUMNS.values() for name in names), "comment"]
LOG_COLUMNS = ("position:log", "impressions:log", "clicks:log")
BASE_COLUMNS = ("judged:qrels", "base:qrels")
MARKED_COLUMNS = (*LOG_COLUMNS, *BASE_COLUMNS)  # of a table, beside features and texts


def read_table(
    source: Any,
    *,
    qid: str = "qid",
    docid: str = "docid",
    grade: str = "grade",
    features: Sequence[str] | None = None,
    format: str | None = None,
    graded: bool = False,
    wanted: Collection[str] | None = None,
    rater: str | None = None,
    repeats: bool = False,
) -> Dataset:
    """Read a csv, tsv or parquet file, or a data frame.

    All columns of numbers, booleans, categories or dates are features unless `features` names them, but for those that
    look like ids. Columns of text named query_text, query, description, narrative, title, text, body, abstract, url or
    link are kept as texts to be read, and so are columns of fields that `rulerank features` writes, such as
    author:field; a warning names the columns that are left out. `wanted`: features that will be taken by name, which
    stay whatever they look like, without a warning about others. Ids are text ("007" stays "007"). No `docid` or
    `grade` column is needed; a grade that is empty, `?` or -1 is not labelled, but with `graded` the column must be
    there; an empty feature is missing (NaN). The column of who graded
    each row, `rater`, is kept as a text. The columns position:log, impressions:log and clicks:log, which `rulerank
    clicks` writes, are what was shown and clicked; judged:qrels and base:qrels, which `rulerank features` writes, are
    which rows are judged and how many judgements of each grade the query has. A document that appears twice in one
    query is an error, unless two raters graded it, it was shown at two positions, or `repeats` allows it. A csv of
    Quepid, with the header query,docid,rating, is read by these names.

    >>> import io
    >>> read_table(io.BytesIO(b"qid,docid,grade,bm25\\n1,a,2,0.5\\n1,b,?,\\n"), format="csv")
    Dataset(2 rows, 1 query, 1 feature, grades not labelled: 1, 2: 1)
    """
    text = {qid, docid, grade, *MARKED_COLUMNS} | {rater or qid} | ({"comment"} - {*(features or ())})
    frame, origin = read_frame(source, text=text, numeric=features or (), format=format)
    if (qid, docid, grade) == ("qid", "docid", "grade") and [*map(str.lower, frame.columns)] == [*QUEPID]:
        qid, docid, grade = frame.columns
    if graded:
        _check_columns(frame, origin, [("grade", grade)])
    return _to_dataset(frame, origin, qid, docid, grade, features, wanted, rater, repeats)


def from_frame(
    frame: Any, *, qid: str = "qid", docid: str = "docid", grade: str = "grade", features: Sequence[str] | None = None
) -> Dataset:
    """Return a Polars or pandas frame as a Dataset, by the rules of `read_table`.

    Categories and dates are known by the type of their column; a csv marks them (`brand:category`, `added:date`). Dates
    are days since 1970-01-01.

    >>> from_frame(pl.DataFrame({"query": [1, 1], "clicked": [True, False], "bm25": [0.5, None]}), qid="query",
    ...            grade="clicked").X.tolist()
    [[0.5], [nan]]
    """
    return _to_dataset(to_polars(frame), Origin(), qid, docid, grade, features)


def to_frame(data: Dataset) -> pl.DataFrame:
    """Return a frame with the columns qid, docid, grade, features and texts; null where a value is missing.

    A feature of categories is a column of their names (an Enum of Polars).

    >>> data = Dataset([[0.5], [float("nan")]], y=[1, -1], qid=["q", "q"], feature_names=["bm25"])
    >>> to_frame(data).rows()
    [('q', 1, 0.5), ('q', None, None)]
    """
    texts = {name if name in TEXT_NAMES else f"{name}{FIELD}": values for name, values in data.texts.items()}
    columns = [_text_series("qid", data.qid)]
    columns += [] if data.docid is None else [_text_series("docid", data.docid)]
    columns.append(pl.Series("grade", data.y).replace(UNLABELLED, None))
    columns += [_feature_series(data, name, data.X[:, i]) for i, name in enumerate(data.feature_names)]
    columns += [_text_series(name, values) for name, values in texts.items()]
    if data.impressions is not None:
        columns += map(pl.Series, LOG_COLUMNS, data.impressions.columns())
    if data.base is not None:
        kinds = np.where(data.base.extra, 2, data.base.judged.astype(int))
        columns.append(_text_series(BASE_COLUMNS[0], np.array(JUDGED, dtype=object)[kinds]))
        columns.append(_text_series(BASE_COLUMNS[1], data.base.grades))
    taken = {"qid", "docid", "grade", *MARKED_COLUMNS, *texts}.intersection(data.feature_names)
    if taken:
        raise DataError(
            f"a feature or text cannot be named {min(taken)!r}, which a table uses for another column; rename it"
        )
    return pl.DataFrame(columns)


def write_table(data: Dataset, target: Source, *, format: str | None = None) -> None:
    """Write csv, tsv or parquet, by the file name or `format`.

    >>> import io
    >>> out = io.BytesIO()
    >>> write_table(Dataset([[0.1]], y=[2], qid=["007"]), out, format="csv")
    >>> out.getvalue()
    b'qid,grade,f1\\n007,2,0.1\\n'
    """
    write_frame(to_frame(data), target, format=format)


def feature_columns(
    others: pl.DataFrame, wanted: Collection[str] | None = None, *, else_hold: str = "do not hold numbers"
) -> list[str]:
    """Return which columns are features: numbers and categories that do not look like ids. A warning names the others.

    wanted: columns of numbers that stay whatever they look like; with it there is no warning.
    """
    numbers = [column for column, dtype in others.schema.items() if is_feature(dtype)]
    like_ids = [column for column in numbers if column not in (wanted or ()) and looks_like_ids(others[column])]
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


def _to_dataset(
    frame: pl.DataFrame,
    origin: Origin,
    qid: str = "qid",
    docid: str = "docid",
    grade: str = "grade",
    features: Sequence[str] | None = None,
    wanted: Collection[str] | None = None,
    rater: str | None = None,
    repeats: bool = False,
) -> Dataset:
    named = [("qid", qid), *(("features", feature) for feature in features or ())]
    named += [("rater", rater)] if rater else []
    named += [(role, column) for role, column in (("docid", docid), ("grade", grade)) if column != role]
    _check_columns(frame, origin, named)
    reserved = {qid, docid, grade, *MARKED_COLUMNS} | ({rater} if rater else set())
    texts = [name for name in frame.columns if name in TEXT_NAMES or name.endswith(FIELD)]
    texts = [name for name in texts if frame[name].dtype == pl.String and name not in reserved]
    if features is None:
        if "" in frame.columns:  # what pandas calls its index in a csv
            raise origin(None, f"a column has no name; name it, remove it, or choose columns ({either('features')})")
        others = {*reserved, *texts}
        texts_wanted = [column for column in frame if column.dtype == pl.String and column.name in (wanted or ())]
        frame = frame.with_columns(parsed(column) for column in texts_wanted if column.name not in others)
        features = feature_columns(frame.drop(others, strict=False), wanted)
    elif reserved.intersection(features):
        column = min(reserved.intersection(features))
        raise origin(
            None, f"column {column!r} cannot be a feature: it is an id, the grade, or of a click log or of qrels"
        )
    qids = ids(frame[qid], origin)
    if (qids == "").any():
        raise origin(int(np.argmax(qids == "")), f"expected a query id in column {qid!r}, got nothing")
    docids = ids(frame[docid], origin) if docid in frame.columns else None
    kept = {name.removesuffix(FIELD): shared_strings(frame[name]) for name in texts if name not in features}
    if rater:
        kept[rater] = ids(frame[rater], origin)
    impressions = _impressions_of(frame, origin)
    if docids is not None and impressions is None and not repeats:
        pairs = zip(qids, kept[rater], strict=True) if rater else ()
        check_repeats(qids, docids, origin, np.array([f"{q}\0{who}" for q, who in pairs], dtype=object))
    if docids is not None and not (docids != "").any():
        docids = None
    X, categories, dates = feature_values(frame, features, origin)
    y = grade_values(frame[grade], origin) if grade in frame.columns else np.full(len(frame), UNLABELLED)
    base = _base_of(frame, origin)
    return Dataset(X, y, qids, docids, tuple(features), kept, categories, impressions, base, dates)


def _check_columns(frame: pl.DataFrame, origin: Origin, named: Sequence[tuple[str, str]]) -> None:
    for role, column in named:
        if column not in frame.columns:
            there = f"there is no column {column!r}; the columns are {listed(frame.columns)}"
            raise origin(None, f"{there}; name the {ROLES[role]} ({either(role)})")


def feature_values(
    frame: pl.DataFrame, features: Sequence[str], origin: Origin
) -> tuple[Array, dict[str, tuple[str, ...]], tuple[str, ...]]:
    """Return features as numbers, a category as that of its name, a date as that of its day; the names; the dates."""
    X = np.empty((len(frame), len(features)), dtype=np.float32)
    categories, dates = {}, []
    for i, feature in enumerate(features):
        if is_number(frame[feature].dtype):
            X[:, i] = frame[feature].cast(pl.Float32).to_numpy()
            if np.isinf(X[:, i]).any():
                row = int(np.isinf(X[:, i]).argmax())
                came = f"got {frame[feature][row]}"
                raise origin(row, f"expected finite numbers that fit in 32 bits in column {feature!r}, {came}")
            continue
        with origin.named():
            found = column_numbers(frame[feature])
        X[:, i] = found.values
        dates += [feature] if found.is_date else []
        if found.names is not None:
            categories[feature] = found.names
    return X, categories, tuple(dates)


def _feature_series(data: Dataset, name: str, values: Array) -> pl.Series:
    if name in data.categories:
        kinds = data.categories[name]
        texts = [None if value != value else kinds[int(value)] for value in values]
        return pl.Series(name, texts, dtype=pl.Enum(kinds))
    if name not in data.dates:
        return pl.Series(name, values, nan_to_null=True, dtype=pl.Float32)
    days = pl.Series(name, values, nan_to_null=True, dtype=pl.Float64)
    if (days.drop_nulls() % 1 == 0).all():
        return days.cast(pl.Int32).cast(pl.Date)
    return (days * US_PER_DAY).round().cast(pl.Int64).cast(pl.Datetime("us"))


def _text_series(name: str, values: Array) -> pl.Series:
    return pl.Series(name, [None if value is None else str(value) for value in values.tolist()], dtype=pl.String)


def _impressions_of(frame: pl.DataFrame, origin: Origin) -> Impressions | None:
    """Return how often rows were shown and clicked; None without such columns."""
    there = [name for name in LOG_COLUMNS if name in frame.columns]
    if not there:
        return None
    if len(there) < len(LOG_COLUMNS):
        raise origin(None, f"the columns {listed(LOG_COLUMNS)} go together: there is only {listed(there)}")
    with origin.named():
        return Impressions(*(_whole_numbers(frame[name], origin) for name in LOG_COLUMNS))


def _whole_numbers(column: pl.Series, origin: Origin) -> Array:
    if column.dtype.is_float():  # pandas has no empty integers; 1.5 is refused where 1 is expected
        return column.fill_null(float("nan")).to_numpy()
    numbers = column.cast(pl.Int64, strict=False)
    if numbers.null_count():
        row = int(numbers.is_null().arg_max() or 0)
        raise origin(row, f"expected a whole number in column {column.name!r}, got {column[row]!r}")
    return numbers.to_numpy()


def _base_of(frame: pl.DataFrame, origin: Origin) -> RecallBase | None:
    """Return which rows are judged, and the judgements of each query; None without such columns."""
    there = [name for name in BASE_COLUMNS if name in frame.columns]
    if not there:
        return None
    if len(there) < len(BASE_COLUMNS):
        raise origin(None, f"the columns {listed(BASE_COLUMNS)} go together: there is only {there[0]}")
    judged = ids(frame[BASE_COLUMNS[0]], origin)
    wrong = np.flatnonzero(~np.isin(judged, JUDGED))
    if wrong.size:
        row = int(wrong[0])
        raise origin(row, f"expected yes, no or extra in column {BASE_COLUMNS[0]!r}, got {judged[row]!r:.60}")
    grades = shared_strings(frame[BASE_COLUMNS[1]].cast(pl.String).fill_null(""))
    for text in dict.fromkeys(grades.tolist()):
        try:
            grade_counts(text)
        except DataError as error:
            raise origin(int(np.argmax(grades == text)), f"column {BASE_COLUMNS[1]!r}: {error}") from None
    return RecallBase(judged != "no", judged == "extra", grades)
