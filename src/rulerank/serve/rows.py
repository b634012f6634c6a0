"""Documents as rows for a ranker: features in dicts, arrays and data frames; texts by id or by field."""

from __future__ import annotations

import contextlib
import datetime
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import chain
from operator import itemgetter
from typing import Any

import numpy as np

from rulerank._util.parameters import is_whole, shown, unmasked
from rulerank._util.words import as_date, counted, listed
from rulerank.dataset import UNLABELLED, Array, Dataset
from rulerank.errors import DataError
from rulerank.explain.documents import Documents, placed
from rulerank.io.columns import day_number, is_a_category, is_frame, to_polars
from rulerank.rankers.base import Ranker
from rulerank.text.text_features import TextFeatures

FEATURES = "features"  # the key of the features in a dict with an id
ID = "id"
ENGINE = ("engine_rank", "engine_score")  # features from a search engine's response
FIRST_DAY, LAST_DAY = 3652, 40176  # valid days for dates, 1980 to 2079; excludes years, Excel's days and seconds
NUMBERS = {float, int, bool, type(None), np.float64, np.float32, np.int64, np.int32, np.bool_}


@dataclass(frozen=True, slots=True)
class Reason:
    """One contribution to a score. The contributions of a document sum to its score.

    >>> print(Reason("bm25", "bm25 3.2, higher than 80 % of 40 documents", 0.25, 3.2))
    +0.25 bm25 3.2, higher than 80 % of 40 documents
    """

    feature: str | None  # or the baseline ranking; None: the base, or a sum of several contributions
    text: str  # the value in the units of the data, and its rank among the documents
    adds: float
    value: float | str | None = None  # of the feature, as given; None if missing

    def __str__(self) -> str:
        return f"{self.adds:+.3g} {self.text}"

    def to_dict(self) -> dict[str, Any]:
        return {"feature": self.feature, "text": self.text, "adds": self.adds, "value": self.value}


@dataclass(frozen=True, eq=False)
class FeatureRows:
    """Documents of one query, in the given order; explanations are computed on access."""

    ranker: Ranker
    data: Dataset
    ids: Sequence[str]
    documents: Sequence[Mapping[str, Any]] = ()  # as given; empty if only features were given

    def __len__(self) -> int:
        return len(self.ids)

    def document(self, row: int) -> dict[str, Any] | None:
        """Return the fields of a document, as given or from the index."""
        if self.documents:
            return dict(self.documents[row])
        return {name: texts[row] for name, texts in self.data.texts.items() if name != "query_text"} or None

    @cached_property
    def explained(self) -> Documents:
        """The documents with raw values and contributions."""
        return Documents(self.ranker, self.data)

    @cached_property
    def scores(self) -> Array:
        """The scores of all documents, float64."""
        return np.asarray(self.ranker.predict(self.data), dtype=np.float64)

    def values(self, row: int) -> dict[str, float | str | None]:
        """Return the features of the ranker by name: None if missing, categories by name."""
        docs = self.explained
        found: dict[str, float | str | None] = {}
        for name, value in zip(docs.features, docs.raw[row].tolist(), strict=True):
            if value != value:
                found[name] = None
            elif name in docs.dates:
                found[name] = as_date(value)
            elif (
                name in self.data.categories
            ):  # by the codes of the data: the ranker has one code for all unknown categories
                code = self.data.X[row, self.data.feature_names.index(name)]
                found[name] = self.data.categories[name][int(code)]
            else:
                found[name] = value
        return found

    def reasons(self, row: int, n: int | None = None, *, at_least: bool = False) -> tuple[Reason, ...]:
        """Return the contributions to a score: the base, the n strongest, then the sum of the others.

        at_least: more than n where the others together would be the largest.
        Empty for rankers without contributions. Features that are equal in all documents come last.
        """
        docs = self.explained
        try:
            base, shares = float(docs.bases[row]), docs.shares[row]
        except DataError:  # no contributions; Reranker.explain has the reason
            return ()
        there = np.flatnonzero(shares)
        strongest = there[np.lexsort((-np.abs(shares[there]), ~docs.varies[there]))]
        n = strongest.size if n is None else n
        while (
            at_least and n < strongest.size and abs(shares[strongest[n:]].sum()) > np.abs(shares[strongest[:n]]).max()
        ):
            n += 1
        first, rest = strongest[:n], strongest[n:]
        values, found = self.values(row), [Reason(None, self.ranker.base_text, base)]
        for part in first.tolist():
            name, column, adds = docs.name(part), docs.column(part), float(shares[part])
            if column is None:  # the scores of a model
                found.append(Reason(name, docs.seen(row, part), adds))
            else:
                text = f"{docs.human(part)} {placed(docs.value(row, part), docs.standing(row, part))}"
                found.append(Reason(name, text, adds, values[docs.features[column]]))
        if rest.size:
            found.append(Reason(None, f"{counted(rest.size, 'other part')} together", float(shares[rest].sum())))
        return tuple(found)

    def column(self, name: str) -> Array:
        """Return a column, also one that the ranker does not use: float64, NaN if missing."""
        if name in self.data.feature_names:
            return self.data.X[:, self.data.feature_names.index(name)].astype(np.float64)
        found = [{name: features_in(doc).get(name, doc.get(name))} for doc in self.documents]
        if any(row[name] is not None for row in found):
            return feature_matrix(found, (name,), {})[:, 0].astype(np.float64)
        raise DataError(f"baseline: no document has the feature {name!r}")


def rows_of_features(docs: Any, ranker: Ranker) -> FeatureRows:
    """Return documents given by features: a list of dicts, a data frame, an array or a Dataset.

    A dict has features by name (missing ones are None or left out), or {"id": .., "features": {..}}. Values are rounded
    to float32, as in every Dataset.
    """
    names = ranker.feature_names_
    if isinstance(docs, Dataset):
        if len(docs) and (docs.qid != docs.qid[0]).any():
            raise DataError("docs must be documents of one query: the Dataset has several queries")
        return FeatureRows(ranker, docs, numbered(docs.docid, len(docs)))
    if is_frame(docs):
        docs = to_polars(docs).to_dicts()
    if isinstance(docs, Sequence) and docs and all(isinstance(doc, Mapping) for doc in docs):
        own = [features_in(doc, names) for doc in docs]
        if ranker.dates_:
            own = [_with_days(row, ranker.dates_, place) for place, row in enumerate(own)]
        kinds = {name: with_new_names(name, kinds, own) for name, kinds in ranker.categories_.items()}
        ids = numbered(None if ID in names else [doc.get(ID) for doc in docs], len(docs))
        return FeatureRows(ranker, _dataset(feature_matrix(own, names, kinds), names, kinds), ids, docs)
    X = _matrix(docs, names)
    return FeatureRows(ranker, _dataset(X, names, {}), numbered(None, len(X)))


def _dataset(X: Array, names: tuple[str, ...], kinds: Mapping[str, tuple[str, ...]]) -> Dataset:
    qid = np.zeros(len(X), dtype=np.int64)
    return Dataset(X, np.full(len(X), UNLABELLED), qid, feature_names=names, categories=kinds)


def feature_matrix(
    rows: Sequence[Mapping[str, Any]], names: Sequence[str], categories: Mapping[str, Sequence[str]]
) -> Array:
    """Return float32 (n_rows, n_features) of dicts, NaN for missing values; a feature missing in all is an error.

    >>> feature_matrix([{"bm25": 2.5, "length": None}, {"length": 7}], ["bm25", "length"], {}).tolist()
    [[2.5, nan], [nan, 7.0]]
    """
    pick = itemgetter(*names) if len(names) > 1 else lambda row: tuple(row[name] for name in names)
    try:
        cells = [pick(row) for row in rows]
    except KeyError:
        cells = [tuple(row.get(name) for name in names) for row in rows]
        missing = [name for name in names if not any(name in row for row in rows)]
        if missing:
            raise DataError(
                f"the documents lack {len(missing)} of the {counted(len(names), 'feature')} of the model: "
                f"{listed(missing)}; give null (None) for missing values"
            ) from None
    if categories or not {*map(type, chain.from_iterable(cells))} <= NUMBERS:
        cells = [
            tuple(_number(value, name, categories.get(name), place) for value, name in zip(row, names, strict=True))
            for place, row in enumerate(cells)
        ]
    with np.errstate(over="ignore"):
        try:
            X = np.array(cells, dtype=np.float32)
        except OverflowError:  # whole numbers too large for a float
            X = np.array([[_float(value) for value in row] for row in cells], dtype=np.float32)
    if np.isinf(X).any():
        row, column = (int(place[0]) for place in np.nonzero(np.isinf(X)))
        raise DataError(
            f"document {row}: feature {names[column]!r} must be finite and fit float32, or null if missing: "
            f"got {_brief(cells[row][column])}"
        )
    return X.reshape(len(rows), len(names))


def features_in(doc: Mapping[str, Any], names: Sequence[str] = ()) -> Mapping[str, Any]:
    """Return the features of a document: the dict itself, or the one under its key `features`."""
    own = doc.get(FEATURES) if FEATURES not in names else None
    return own if isinstance(own, Mapping) else doc


def numbered(ids: Any, n_docs: int) -> list[str]:
    """Return ids as text; documents without an id get their index."""
    if ids is None:
        return [str(place) for place in range(n_docs)]
    return [str(place) if own is None or (own_id := str(own)) == "" else own_id for place, own in enumerate(ids)]


def _matrix(docs: Any, names: Sequence[str]) -> Array:
    expected = f"docs must be a list of dicts of features, a data frame, or an array of {len(names)} columns"
    if isinstance(docs, str | bytes | Mapping) or not hasattr(docs, "__len__") or hasattr(docs, "toarray"):
        raise DataError(f"{expected}: got one {type(docs).__name__}")
    if len(docs) == 0:
        return np.empty((0, len(names)))
    try:
        X = np.asarray(unmasked(docs)).astype(np.float64)
    except (TypeError, ValueError):
        kinds = listed(sorted({type(doc).__name__ for doc in docs}))
        raise DataError(f"{expected}: got a list of {kinds}") from None
    if X.ndim != 2 or X.shape[1] != len(names):
        raise DataError(f"{expected}: got an array of shape {X.shape}")
    return X


def _with_days(row: Mapping[str, Any], dates: Sequence[str], place: int) -> Mapping[str, Any]:
    """Return the features of a document with dates as days."""
    return {**row, **{name: _day(row[name], name, place) for name in dates if row.get(name) is not None}}


def _day(value: Any, name: str, place: int) -> float:
    """Return a date as days since 1970-01-01; numbers must be plausible days, not years or seconds."""
    if isinstance(value, int | float | np.integer | np.floating) and not isinstance(value, bool):
        if value != value or FIRST_DAY <= value <= LAST_DAY:
            return float(value)
    elif isinstance(value, str | datetime.date):
        with contextlib.suppress(DataError):
            return day_number(value)
    raise DataError(
        f"document {place}: {name} must be a date such as 2026-11-18, or days since 1970-01-01 as a number from "
        f"{FIRST_DAY} (1980) to {LAST_DAY} (2079): got {_brief(value)}"
    )


def with_new_names(name: str, kinds: Sequence[str], rows: Sequence[Mapping[str, Any]]) -> tuple[str, ...]:
    """Return the categories of a model, followed by new ones in the documents.

    >>> with_new_names("brand", ("lg",), [{"brand": "sony"}, {"brand": "lg"}, {"brand": None}, {"brand": ""}])
    ('lg', 'sony')
    """
    new = {value for row in rows if isinstance(value := row.get(name), str) and value}
    return (*kinds, *sorted(new - {*kinds}))


def _number(value: Any, name: str, kinds: Sequence[str] | None, place: int) -> Any:
    """Return a value as a number; categories by name."""
    if kinds is not None:
        if isinstance(value, str):
            return kinds.index(value) if value in kinds else None
        if value is None or value != value:
            return None
        raise DataError(f"document {place}: {is_a_category(name, kinds)}: got {_brief(value)}")
    if type(value) in NUMBERS or isinstance(value, int | float | np.integer | np.floating):
        return value
    raise DataError(f"document {place}: feature {name!r} must be a number, or null if missing: got {_brief(value)}")


def _float(value: Any) -> float:
    try:
        return float("nan") if value is None else float(value)
    except OverflowError:
        return float("inf")


def _brief(value: Any) -> str:
    try:
        return repr(value)[:60]
    except ValueError:  # too many digits for Python to print
        return "a whole number of thousands of digits"


def rows_of_texts(
    features: TextFeatures,
    query: str,
    docs: list[Any] | None,
    ranker: Ranker,
    *,
    candidates: int,
    vectors: Mapping[str, Sequence[float]] | None,
) -> FeatureRows:
    """Return the features of a query and its documents: ids, dicts of fields, or for None from the index.

    Dicts with only ids are documents of the index.
    """
    brought = tuple(n for n in ranker.feature_names_ if comes_along(n) and n not in features.feature_names_)
    if docs is None and not is_whole(candidates, 1):
        raise DataError(f"candidates must be an integer of at least 1: got {shown(candidates)}")
    dicts = docs if docs and isinstance(docs[0], Mapping) else None
    if brought and dicts is None and docs != []:
        raise DataError(
            f"the ranker needs {listed(brought)} with the documents: give docs as dicts, such as "
            f'{{"id": .., "{brought[0]}": ..}} for documents of the index'
        )
    asked = docs
    in_index = dicts is not None and _named_only(dicts, features)
    if dicts is not None and in_index:
        asked = [str(doc[ID]) for doc in dicts]
    data = features.for_query(query, asked, top=candidates, vectors=vectors)
    if dicts is None:
        return FeatureRows(ranker, data, numbered(data.docid, len(data)))
    if brought:
        data = _with_columns(data, brought, dicts)
    if in_index:
        read = {name: texts for name, texts in data.texts.items() if name != "query_text"}
        dicts = [{name: texts[row] for name, texts in read.items()} | dict(doc) for row, doc in enumerate(dicts)]
    return FeatureRows(ranker, data, numbered([doc.get(ID) for doc in dicts], len(dicts)), dicts)


def comes_along(feature: str) -> bool:
    """Tell whether a feature is of no text: an engine's or another retriever's, which documents bring along.

    >>> comes_along("engine_rank"), comes_along("score(dense)"), comes_along("bm25(all)")
    (True, True, False)
    """
    return feature in ENGINE or feature.startswith(("score(", "reciprocal_rank("))


def as_docs(docs: Any) -> list[Any]:
    """Return ids as text, or dicts of fields."""
    if isinstance(docs, str | bytes | Mapping) or not hasattr(docs, "__iter__"):
        raise DataError(f"docs must be a list of ids or of dicts of fields: got one {type(docs).__name__}")
    if hasattr(docs, "columns"):  # a data frame, of Polars or pandas
        docs = docs.to_dicts() if hasattr(docs, "to_dicts") else docs.to_dict("records")
    given = [str(doc) if is_whole(doc, 0) else doc for doc in docs]
    for place, doc in enumerate(given):
        if not isinstance(doc, str | Mapping) or isinstance(doc, str) != isinstance(given[0], str):
            raise DataError(
                f"docs must be all ids or all dicts of fields: number {place} is a {type(doc).__name__}, "
                f"the first a {type(given[0]).__name__}"
            )
    return given


def bring_features(docs: list[Any], features: TextFeatures) -> bool:
    """Return whether documents have features, {"id": .., "features": {..}}, instead of texts."""
    if any(field.name == FEATURES for field in features.fields_):
        return False
    n_ready = sum(isinstance(doc, Mapping) and isinstance(doc.get(FEATURES), Mapping) for doc in docs)
    if 0 < n_ready < len(docs):
        raise DataError(f"all docs must have {FEATURES}, or none: {n_ready} of {len(docs)} have them")
    return n_ready > 0


def _named_only(dicts: Sequence[Mapping[str, Any]], features: TextFeatures) -> bool:
    """Return whether dicts have ids and no fields."""
    fields = {field.name for field in features.fields_}
    return all(doc.get(ID) is not None and fields.isdisjoint(doc) for doc in dicts)


def _with_columns(data: Dataset, names: tuple[str, ...], dicts: Sequence[Mapping[str, Any]]) -> Dataset:
    more = feature_matrix(dicts, names, {})
    return replace(data, X=np.column_stack((data.X, more)), feature_names=(*data.feature_names, *names))
