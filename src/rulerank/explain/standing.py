"""A document among those of its query: its raw values, where they stand, and what people read of it."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
from scipy.sparse import issparse

from rulerank.core.arrays import unmasked
from rulerank.core.intervals import SCALES
from rulerank.core.words import as_date, counted, decimal
from rulerank.dataset import Array, Dataset
from rulerank.rankers.base import Ranker
from rulerank.rules.rule import Item

IN_ALL = ("the same in all ", "as in all ")  # how the place of a value begins that tells no documents apart
MOST_LETTERS = 280  # of a text
QUERY_TEXT = "query_text"
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

    @property
    def asked(self) -> str:
        """The query as people call it: its words, or its id."""
        return f"“{self.query_text}”" if self.query_text else self.query


@dataclass(frozen=True, eq=False)
class Background:
    """The raw values of a query's documents, of which one is meant."""

    X: Array  # float (n_docs, n_features), in the ranker's order
    row: int
    categories: Mapping[str, tuple[str, ...]]
    names: tuple[str, ...]
    about: About
    dates: Collection[str] = ()

    def number(self, name: str) -> float:
        """Return the document's value of a feature, by its name."""
        return float(self.X[self.row, self.names.index(name)])

    def value(self, feature: int) -> str:
        """Return the document's value of a feature as people write it."""
        return self.written(feature, float(self.X[self.row, feature]))

    def written(self, feature: int, value: float) -> str:
        """Return any value of a feature as people write it."""
        name = self.names[feature]
        return as_date(value) if name in self.dates else written(value, self.categories.get(name))

    def said(self, feature: int) -> str:
        """Return the feature, its value and where that lies among those of the query."""
        return f"{self.names[feature]} {placed(self.value(feature), self.standing(feature))}"

    def item(self, item: Item, feature: int | None) -> Item:
        """Return an item of a feature with its raw value before what is on a model's own scale; None: it has none."""
        if feature is None:
            return item
        name = self.names[feature]
        for scale, _ in SCALES.values():
            before, found, after = str(item).partition(f"{name} {scale}")
            if found:
                return replace(item, text=f"{before}{name} {self.value(feature)} ({scale}{after})")
        return item

    @cached_property
    def varies(self) -> Array:
        """Which features the documents of the query differ in, bool (n_features,)."""
        first = self.X[:1]
        differs: Array = ((first != self.X) & ~(np.isnan(self.X) & np.isnan(first))).any(axis=0)
        return differs if len(self.X) > 1 else np.ones_like(differs)

    def standing(self, feature: int) -> str:
        """Say where the value stands among those of the query."""
        return standing(self.X[:, feature], self.row, category=self.names[feature] in self.categories)


def placed(value: str, standing: str) -> str:
    """Return a value and where it stands, whichever is known.

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
    """Say where a value lies among those of its query, exactly: percentages are rounded down.

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


def background_of(ranker: Ranker, x: Any, row: int | None) -> Background:
    """Return a document among those of its query, as `Ranker.explain` was given them."""
    names, number = ranker.feature_names_, 0 if row is None else row
    if isinstance(x, Dataset):
        rows = np.flatnonzero(x.qid == x.qid[number])
        place = int(np.flatnonzero(rows == number)[0])
        columns = [x.feature_names.index(name) for name in names]
        kinds, dates = {**ranker.categories_, **x.categories}, {*ranker.dates_, *x.dates}
        return Background(x.X[rows][:, columns], place, kinds, names, about(x, number), dates)
    if hasattr(x, "columns") and ranker.has_names_:
        values = np.asarray(ranker.frame_rows(x), dtype=np.float64)
    else:
        values = np.atleast_2d(x.toarray() if issparse(x) else np.asarray(unmasked(x))).astype(np.float64)
    return Background(values, number, ranker.categories_, names, About(), ranker.dates_)


def about(data: Dataset, row: int) -> About:
    """Return what people read of a row."""
    texts = {name: clipped(str(column[row])) for name, column in data.texts.items() if column[row] is not None}
    query_text = texts.pop(QUERY_TEXT, "") or texts.pop("query", "")
    return About(str(data.qid[row]), query_text, {name: text for name, text in texts.items() if text})


def clipped(text: str, most: int = MOST_LETTERS) -> str:
    """Return a text in one line, of a long one the beginning.

    >>> clipped("a long  text of\\nwords", 12)
    'a long text …'
    """
    flat = " ".join(text.split())
    return flat if len(flat) <= most else f"{flat[:most].rsplit(' ', 1)[0]} …"
