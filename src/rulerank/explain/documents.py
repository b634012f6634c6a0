"""The documents of a query: their raw values with their place among each other, what people read, what a model sees."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from inspect import signature
from typing import Any

import numpy as np

from rulerank._util.estimator import check_is_fitted
from rulerank._util.parameters import is_whole, unmasked
from rulerank._util.words import as_date, counted, decimal, on_scale
from rulerank.dataset import Array, Dataset, doc_name
from rulerank.errors import DataError
from rulerank.rankers.base import Ranker
from rulerank.rankers.rows import frame_rows, recoded
from rulerank.rankers.rule_ranker import RuleRanker
from rulerank.rules.additive import Contributions, baseline_name
from rulerank.rules.layout import UNSEEN
from rulerank.rules.tables import Counts
from rulerank.text.fields import human_name

MOST_LETTERS = 280  # of a text
TITLES = ("title", "name")


@dataclass(frozen=True, slots=True)
class About:
    """What people read of a document: the query it was found for, and its texts."""

    query: str = ""  # its id
    query_text: str = ""
    texts: Mapping[str, str] = field(default_factory=dict)  # by name, as long as people like to read

    @property
    def title(self) -> str:
        """The document's title, where it has one."""
        return next((self.texts[name] for name in TITLES if name in self.texts), "")


def about(data: Dataset, row: int) -> About:
    """Return what people read of a row."""
    texts = {name: clipped(str(column[row])) for name, column in data.texts.items() if column[row] is not None}
    query_text = texts.pop("query_text", "") or texts.pop("query", "")
    return About(str(data.qid[row]), query_text, {name: text for name, text in texts.items() if text})


def clipped(text: str, most: int = MOST_LETTERS) -> str:
    """Return a text in one line, of a long one the beginning.

    >>> clipped("a long  text of\\nwords", 12)
    'a long text …'
    """
    flat = " ".join(text.split())
    return flat if len(flat) <= most else f"{flat[:most].rsplit(' ', 1)[0]} …"


def rules_of(ranker: Any) -> RuleRanker | None:
    """Return the rules whose bins a ranker reads; None where it has none."""
    found: RuleRanker | None = ranker if isinstance(ranker, RuleRanker) else getattr(ranker, "metric_rules", None)
    return found


def method_of(ranker: Ranker) -> str:
    """Return what a fitted ranker is called: its class, with the words and switches that were chosen.

    >>> import rulerank as rr
    >>> method_of(rr.GlobalRules(votes="mean").fit([[0.0], [1.0]], [0, 1], qid=[1, 1]))
    "GlobalRules(votes='mean')"
    """
    defaults = {name: one.default for name, one in signature(type(ranker)).parameters.items()}
    chosen = {name: own for name, own in ranker.params_.items() if isinstance(own, str | bool) and name != "members"}
    said = ", ".join(f"{name}={own!r}" for name, own in chosen.items() if own != defaults[name])
    return f"{type(ranker).__name__}({said})" if said else type(ranker).__name__


class Documents:
    """The documents of a query: rows as they came, and as the ranker scores them.

    Categories have the codes of the ranker in both.

    A part of a score is a feature, by its column, or the baseline ranking, which comes after the features.
    """

    def __init__(self, ranker: Ranker, x: Any, rows: Array | None = None) -> None:
        """Take all rows of x, or those of a Dataset that are given."""
        self.ranker = ranker
        self.features = ranker.feature_names_
        self.tables = ranker.as_tables()
        self.rules = rules_of(ranker)
        self.categories, self.dates = ranker.categories_, ranker.dates_
        self._rows: dict[int, Contributions] = {}
        self._last_bins: tuple[int, Array] | None = None
        self.data = x[rows] if isinstance(x, Dataset) and rows is not None else x
        if isinstance(self.data, Dataset):
            columns = [x.feature_names.index(name) for name in self.features]
            self.raw = recoded(self.data.X[:, columns], self.data, self.features, self.categories)
            self.names = [doc_name(x, int(row)) for row in (range(len(x)) if rows is None else rows)]
        else:
            if hasattr(x, "columns") and ranker.has_names_:
                values: Any = frame_rows(ranker, x)
            else:
                self.data = values = x if hasattr(x, "columns") else np.atleast_2d(np.asarray(unmasked(x)))
            self.raw = np.asarray(values, dtype=np.float64)
            self.names = [f"row {row + 1}" for row in range(len(self.raw))]

    @cached_property
    def checked(self) -> Any:
        """The rows as the ranker scores them."""
        return self.ranker.check_rows(self.data, np.zeros(len(self.raw)))

    def about(self, row: int) -> About:
        """Return what people read of a document."""
        return about(self.data, row) if isinstance(self.data, Dataset) else About()

    def contributions(self, row: int) -> Contributions:
        """Return where the score of one document starts, and what each term adds to it."""
        if row not in self._rows:
            if "_all" in self.__dict__ or (self.tables is None and self.ranker.needs_the_query()):
                found, own = self._all, slice(row, row + 1)  # a mixture compares the documents of the query
                self._rows[row] = Contributions(found.base[own], found.values[own], found.terms, found.features)
            else:
                one = self.checked[row : row + 1]
                self._rows[row] = self.ranker.checked_contributions(one, np.zeros(1, dtype=np.int64))
        return self._rows[row]

    def score(self, row: int) -> float:
        """Return the score of one document, as `predict` gives it."""
        if self.ranker.needs_the_query():
            return float(self.scores[row])
        return float(self.ranker.checked_scores(self.checked[row : row + 1])[0])

    @cached_property
    def scores(self) -> Array:
        """The scores of all documents."""
        return self.ranker.predict_codes(self.data, np.zeros(len(self.raw)))

    @cached_property
    def _all(self) -> Contributions:
        return self.ranker.checked_contributions(self.checked, np.zeros(len(self.raw), dtype=np.int64))

    @cached_property
    def bases(self) -> Array:
        """Where the score of each document starts."""
        return self._all.base

    @cached_property
    def shares(self) -> Array:
        """What each part adds to the score of each document, (n_docs, n_features + 1)."""
        return self._all.by_feature(len(self.features) + 1)

    @cached_property
    def noun(self) -> str:
        """What the terms of a score are: rules, features by themselves, or parts of several models."""
        tables = self.tables
        if self.rules is not None or (tables is not None and tables.tables and not tables.baseline):
            return "rule"
        return "part" if self.tables is None else "feature"

    @cached_property
    def baseline(self) -> str:
        """What the part after the features is called."""
        tables = self.tables
        if tables is None:
            return "baseline ranking of members"
        if len(tables.baseline) > 1:
            return baseline_name(str(getattr(self.ranker, "baseline_", "")))
        return baseline_name(tables.feature_names[tables.baseline[0]]) if tables.baseline else ""

    def name(self, part: int) -> str:
        """Return the name of a part of a score."""
        return self.features[part] if part < len(self.features) else self.baseline

    def human(self, part: int) -> str:
        """Return what people call a part of a score."""
        if part < len(self.features):
            return called(self.ranker, self.features[part])
        column = self.column(part)
        return self.baseline if column is None else baseline_name(called(self.ranker, self.features[column]))

    def column(self, part: int) -> int | None:
        """Return the column of the raw values of a part of a score; None for the scores of models and sums."""
        if part < len(self.features):
            return part
        tables = self.tables
        return (
            tables.baseline[0] if tables is not None and len(tables.baseline) == 1 and not tables.from_model else None
        )

    def value(self, row: int, part: int) -> str:
        """Return a document's value of a part as people write it."""
        column = self.column(part)
        return "" if column is None else self.written(column, float(self.raw[row, column]))

    def written(self, column: int, value: float) -> str:
        """Return any value of a feature as people write it."""
        name = self.features[column]
        return as_date(value) if name in self.dates else written(value, self.categories.get(name))

    def standing(self, row: int, part: int) -> str:
        """Return where the value of a part lies among those of the query, in words."""
        column = self.column(part)
        if column is None:
            return ""
        return standing(self.raw[:, column], row, category=self.features[column] in self.categories)

    @cached_property
    def varies(self) -> Array:
        """The parts in which the documents differ, bool (n_features + 1,): only these are reasons for their order."""
        first = self.raw[:1]
        differs = ((first != self.raw) & ~(np.isnan(self.raw) & np.isnan(first))).any(axis=0) | (len(self.raw) < 2)
        column = self.column(len(self.features))
        return np.append(differs, True if column is None else differs[column])

    def seen(self, row: int, part: int) -> str:
        """Return what the model sees of a value, in words: its bin, or the value that a weight takes."""
        name, tables, n_features = self.name(part), self.tables, len(self.features)
        if self.rules is not None:
            bin = int(self._bins(row)[part])
            return f"{name}: not seen in training" if bin == UNSEEN else self.rules.item_text(part, bin)
        if tables is None:
            return name if part == n_features else f"{name} = {decimal(float(self.raw[row, part]), 4)}"
        if part == n_features and len(tables.baseline) > 1:
            return "; ".join(self.seen(row, column) for column in tables.baseline)
        column = tables.baseline[0] if part == n_features else part
        value = float(self.dense(row)[column])
        if tables.tables and not tables.baseline:
            if part not in tables.finest:
                return f"{name} has no vote"
            table, axis = tables.finest[part]
            bin = self._table_bins(row, table)[axis]
            return tables.item_text(table, axis, bin, self.ranker.normalize_, self.ranker.dates_)
        stands_for = "behind all others" if part == n_features else "the training mean"
        if not np.isnan(value) or (tables.fill is None and not tables.tables):
            return value_text(self.ranker, name, value)
        if tables.tables:  # in steps so fine that people read values
            return f"{name} is missing{f': {stands_for}' if part == n_features else ''}"
        assert tables.fill is not None
        return f"{value_text(self.ranker, name, float(tables.fill[column]))} (missing: {stands_for})"

    def items(self, row: int, term: int, members: tuple[int, ...]) -> tuple[str, ...]:
        """Return a term as a rule that covers the document: its condition on each of its features."""
        if self.rules is not None or self.tables is None or term >= len(self.tables.tables):
            found = [self.seen(row, part) for part in members]
        else:
            bins = self._table_bins(row, term)
            scale, dates = self.ranker.normalize_, self.ranker.dates_
            found = [self.tables.item_text(term, axis, bin, scale, dates) for axis, bin in enumerate(bins)]
        return tuple(
            f"{self.human(part)}{text.removeprefix(self.name(part))}" for part, text in zip(members, found, strict=True)
        )

    def bins_of(self, term: int, members: tuple[int, ...]) -> Array | None:
        """Return the bins of all documents on the axes of a term, (n_members, n_docs); None where it is a weight."""
        if self.rules is not None:
            return self.rules.known_bins(self.checked)[list(members)]
        if self.tables is None or term >= len(self.tables.tables):
            return None
        cuts = self.tables.tables[term].cuts
        return np.array([bins_of(self.checked[:, f], own) for f, own in zip(members, cuts, strict=True)])

    def counts(self, row: int) -> Counts | None:
        """Return the training counts of the rules that cover a document, by term; None: not known."""
        return None if self.rules is None else self.rules.engine_.votes_of(self._bins(row))[0]

    def dense(self, row: int) -> Array:
        """Return a document as the ranker scores it, float64."""
        own = self.checked[row : row + 1]
        return np.asarray(own, dtype=np.float64)[0]

    def _table_bins(self, row: int, number: int) -> tuple[int, ...]:
        assert self.tables is not None
        table, values = self.tables.tables[number], self.dense(row)
        return table.bins([float(values[feature]) for feature in table.features])

    def _bins(self, row: int) -> Array:
        assert self.rules is not None
        if self._last_bins is None or self._last_bins[0] != row:
            bins = self.rules.known_bins(self.checked[row : row + 1])[:, 0]
            self._last_bins = row, np.ascontiguousarray(bins)
        return self._last_bins[1]


def called(ranker: Ranker, feature: str) -> str:
    """Return what people call a feature of a ranker."""
    return ranker.human_names_.get(feature) or human_name(feature)


def bins_of(values: Array, cuts: Array) -> Array:
    """Return the bin of each value: how many cuts are not above it; missing values have the one after the last."""
    return np.where(np.isnan(values), len(cuts) + 1, np.searchsorted(cuts, values, side="right"))


def value_text(ranker: Ranker, name: str, value: float) -> str:
    """Return a value that a weight takes in words, with the name of the scale that it is on."""
    scale = ranker.scale_of(name)
    number = as_date(round(value)) if name in ranker.dates_ and scale is None else decimal(value, 4)
    return on_scale(f"{name} = {number}", name, scale)


def find_documents(ranker: Ranker, x: Any, row: int | None, name: str = "the document") -> tuple[Documents, int]:
    """Return the document that is meant, given alone, or as a row of the documents of its query, or of a Dataset."""
    check_is_fitted(ranker)
    rows = None
    if isinstance(x, Dataset) and is_whole(row, 0, len(x) - 1):
        rows = np.flatnonzero(x.qid == x.qid[row])
    documents = Documents(ranker, x, rows)
    n_rows = len(x) if isinstance(x, Dataset) else len(documents.raw)
    whole_query = ranker.needs_the_query()
    if row is None and (n_rows != 1 or whole_query):
        raise DataError(
            "this ranker compares the documents of a query with each other: give all of them and the row of one, "
            "explain(X_of_the_query, row=3)"
            if whole_query
            else f"expected one document: got {n_rows}; give its row, explain(X, row=3)"
        )
    number = 0 if row is None else row
    if not is_whole(number, 0, n_rows - 1):
        raise DataError(f"row must be an integer from 0 to {n_rows - 1}: got {row!r}")
    if row is None and not isinstance(x, Dataset):
        documents.names = [name]
    return documents, number if rows is None else int(np.flatnonzero(rows == number)[0])


def placed(value: str, standing: str) -> str:
    """Return a value and where it lies, whichever is known.

    >>> placed("6.48", "highest of 40"), placed("6.48", "")
    ('6.48, highest of 40', '6.48')
    """
    return ", ".join(filter(None, (value, standing)))


def written(value: float, kinds: tuple[str, ...] | None = None) -> str:
    """Return a raw value as people write it.

    >>> written(6.4812), written(1999.0), written(float("nan")), written(1.0, ("Drama", "War"))
    ('6.48', '1999', 'missing', 'War')
    """
    if kinds is not None and not np.isnan(value):
        return kinds[int(value)] if 0 <= int(value) < len(kinds) else "one not seen in training"
    return decimal(value)


def standing(values: Array, row: int, *, category: bool = False) -> str:
    """Return where a value lies among those of its query, in words: percentages are rounded down.

    Empty where there is nothing to compare it with.

    >>> values = np.array([6.5, 3.0, 3.0, 1.0, 0.5, 0.0, 0.0, np.nan])
    >>> [standing(values, row) for row in (0, 1, 4, 5)]
    ['highest of 7', 'higher than 57 % of 7 documents', 'lower than 57 % of 7 documents', 'lowest of 7, with 1 other']
    >>> standing(values, 7), standing(np.array([1.0, 2.0, 2.0, 2.0, 3.0]), 1)
    ('as in 1 of 8 documents', 'the same in 3 of 5 documents')
    """
    n_docs = len(values)
    if n_docs < 2:
        return ""
    value, known = values[row], values[~np.isnan(values)]
    if np.isnan(value):
        return f"as in {f'{n_docs - len(known):,} of' if len(known) else 'all'} {n_docs:,} documents"
    n, n_same = len(known), int((known == value).sum())
    if n_same == n:
        if n < n_docs:
            return f"the same in the {n:,} documents that have a value" if n > 1 else "the only one with a value"
        return f"the same in all {n:,} documents"
    if category:
        return f"as in {n_same:,} of {n:,} documents"
    n_above, n_below = int((known > value).sum()), int((known < value).sum())
    others = f", with {counted(n_same - 1, 'other')}" if n_same > 1 else ""
    if not n_above or not n_below:
        return f"{'highest' if not n_above else 'lowest'} of {n:,}{others}"
    if 2 * n_same > n:
        return f"the same in {n_same:,} of {n:,} documents"
    share = 100 * max(n_above, n_below) // n
    return f"{'higher' if n_below >= n_above else 'lower'} than {share} % of {n:,} documents"
