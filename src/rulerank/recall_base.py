"""What qrels hold beyond the grades of rows: which rows are judged, and how many documents of each grade a query has.

One rule for documents without a judgement, wherever judgements meet documents: `counted_rows`.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import Any, NamedTuple, Self, cast

import numpy as np

from rulerank._util.parameters import Array
from rulerank._util.words import counted
from rulerank.errors import DataError

N_GRADES = 32
FEW_ZEROS = 0.2  # share of grade 0 below which judgements list what is relevant; pools judged for TREC have over half
ENGINE_FEATURES = ("engine_rank", "engine_score")  # of documents that an engine retrieved
JUDGED = ("no", "yes", "extra")  # as tables say it


class RowColumns:
    """Columns with one entry per row: what `Impressions` and `RecallBase` share."""

    def set_columns(self, **columns: Array) -> None:
        """Keep columns after looking at their lengths."""
        names = fields(cast(Any, self))
        n_rows = columns[names[0].name].size
        for name, column in columns.items():
            if column.ndim != 1 or column.size != n_rows:
                raise DataError(f"{name} must have one entry per row: expected {n_rows}, got {column.size}")
            object.__setattr__(self, name, column)

    def columns(self) -> tuple[Array, ...]:
        """Return the columns in their order."""
        return tuple(getattr(self, field.name) for field in fields(cast(Any, self)))

    def __len__(self) -> int:
        return int(self.columns()[0].size)

    def __getitem__(self, rows: Any) -> Self:
        """Pick rows by a mask, row numbers or a slice."""
        return type(self)(*(column[rows] for column in self.columns()))

    @classmethod
    def concat(cls, parts: Sequence[Self]) -> Self:
        """Put several one after the other."""
        return cls(*map(np.concatenate, zip(*(part.columns() for part in parts), strict=True)))


@dataclass(frozen=True, eq=False)
class RecallBase(RowColumns):
    """One entry per row: whether it is judged, is there for that alone, and its query's judgements by grade.

    >>> base = RecallBase([True, False], [False, False], ["0:2 1:3", "0:2 1:3"])
    >>> base[[1]]
    RecallBase(1 row, 0 judged)
    """

    judged: Array  # bool (n_rows,)
    extra: Array  # bool (n_rows,): among the candidates only because it is judged
    grades: Array  # (n_rows,) of its query: how many judged documents have each grade, "0:2 1:3"; "": not known

    def __post_init__(self) -> None:
        kinds = (("judged", np.bool_), ("extra", np.bool_), ("grades", object))
        self.set_columns(**{name: np.asarray(getattr(self, name), dtype=kind) for name, kind in kinds})

    def __repr__(self) -> str:
        return f"RecallBase({counted(len(self), 'row')}, {int(self.judged.sum()):,} judged)"

    @staticmethod
    def of_pool(y: Array) -> RecallBase:
        """Return that of documents about which nothing else is known: the graded ones are judged."""
        return RecallBase(y >= 0, np.zeros(y.size, dtype=bool), np.full(y.size, "", dtype=object))

    def missed(self, y: Array, query: Array) -> tuple[Array, Array]:
        """Return the judged documents of these queries that are not among the rows: first row of its query, grade.

        >>> base = RecallBase([True, False], [False, False], ["0:2 1:3", "0:2 1:3"])
        >>> [column.tolist() for column in base.missed(np.array([1, 0]), np.array([0, 0]))]
        [[0, 0, 0, 0], [0, 0, 1, 1]]
        """
        if not len(self):
            return np.empty(0, dtype=np.int64), np.empty(0, dtype=np.int16)
        _, first, numbers = np.unique(query, return_index=True, return_inverse=True)
        numbers = numbers.reshape(-1)
        lacking = np.array([grade_counts(text) for text in self.grades[first]])
        there = self.judged & (y >= 0) & (self.grades != "")
        np.subtract.at(lacking, (numbers[there], y[there]), 1)
        if (lacking < 0).any():
            at, grade = np.argwhere(lacking < 0)[0]
            n, text = int((there & (numbers == at) & (y == grade)).sum()), self.grades[first[at]]
            raise DataError(
                f"the grades are not those of the recall base: the query of row {first[at]} has "
                f"{counted(n, 'judged document')} of grade {grade}, and its recall base {text!r:.60}; "
                "join the judgements again (rulerank.io.trec.with_qrels), or drop the base: dataclasses.replace(data, "
                "base=None), of a table its columns judged:qrels and base:qrels"
            )
        queries, grades = np.nonzero(lacking > 0)
        times = lacking[queries, grades]
        return np.repeat(first[queries], times), np.repeat(grades, times).astype(np.int16)


def grade_counts(text: str) -> Array:
    """Return how many documents have each grade, as a recall base writes it.

    >>> grade_counts("0:2 1:3")[:3].tolist()
    [2, 3, 0]
    """
    counts = np.zeros(N_GRADES, dtype=np.int64)
    try:
        for part in text.split():
            grade, _, n = part.partition(":")
            counts[int(grade)] = int(n)
        if (counts < 0).any():
            raise ValueError
    except (ValueError, IndexError):
        raise DataError(
            f"expected how many judged documents have each grade, such as '0:2 1:3': got {text!r:.60}"
        ) from None
    return counts


def grade_text(grades: Array) -> str:
    """Return how many documents have each grade, in words that `grade_counts` reads; below 0 counts as 0.

    >>> grade_text(np.array([1, -2, 1, 3]))
    '0:1 1:2 3:1'
    """
    found, counts = np.unique(np.maximum(grades, 0), return_counts=True)
    return " ".join(f"{grade}:{n}" for grade, n in zip(found.tolist(), counts.tolist(), strict=True))


def check_unjudged(unjudged: object) -> str | None:
    """Return what is done with documents without a judgement: "0", "skip", or None where it was not said.

    >>> check_unjudged(0), check_unjudged("skip"), check_unjudged(None)
    ('0', 'skip', None)
    """
    word = unjudged if unjudged is None else str(unjudged).lower()
    if word not in (None, "0", "skip") or isinstance(unjudged, bool):
        raise DataError(
            f"unjudged must be 0, to count documents without a judgement as not relevant, or skip, to leave them out: "
            f"got {unjudged!r:.60}"
        )
    return word


def usual_unjudged(grades: Array, n_unjudged: int) -> str:
    """Return how documents without a judgement are treated by default, and warn if they count.

    Judgements without grade 0, or with hardly any, list the relevant documents: the rest is not relevant. Other
    judgements cover documents of both kinds; the rest is unknown.

    >>> usual_unjudged(np.array([0, 1, 2]), 5)
    'skip'
    """
    zeros = float((grades <= 0).mean()) if grades.size else 1.0
    if zeros >= FEW_ZEROS:
        return "skip"
    if n_unjudged:
        having = "no judgement has" if not zeros else f"only {zeros:.0%} of the judgements have"
        count, them = ("counts", "it") if n_unjudged == 1 else ("count", "them")
        warnings.warn(
            f"{having} grade 0: {counted(n_unjudged, 'document')} without a judgement {count} as not relevant (to "
            f"leave {them} out: unjudged='skip' in Python, `train --unjudged skip`, `compare --convention "
            "standard:unjudged=skip`)",
            stacklevel=4,
        )
    return "0"


class CountedRows(NamedTuple):
    """The rows that count, with their grades, and what was left out."""

    rows: Array
    y: Array  # of these rows
    unjudged: str | None  # "0" or "skip"; None: every document has a judgement, and nothing was asked for
    n_skipped: int = 0  # documents without a judgement, of queries that have some
    n_extra: int = 0  # documents that were there only because they are judged
    n_queries: int = 0  # queries without any judgement
    n_missed_queries: int = 0  # queries with relevant documents, none of whose rows counts


def counted_rows(y: Array, query: Array, base: RecallBase | None, unjudged: object = None) -> CountedRows:
    """Return the rows that training and evaluation count, by the one rule for documents without a judgement.

    unjudged: "0" counts them as not relevant, "skip" leaves them out. By default what the grades hold already, as
    `rulerank features` wrote them; else "0" where the judgements hold hardly any grade 0 and "skip" where they do.
    Documents that are there only because they are judged are left out with "0": otherwise being there would already
    give away that they are relevant.
    Queries without any judgement are left out: nobody knows that none of their documents is relevant.
    query: the number of each row's query.

    >>> counted_rows(np.array([1, -1, -1]), np.array([0, 0, 1]), None, "0").y.tolist()
    [1, 0]
    """
    way = check_unjudged(unjudged)
    known = y >= 0
    judged = known if base is None else known & base.judged
    if judged.all() and (base is None or not base.extra.any()):
        return CountedRows(np.arange(y.size), y, None if base is None else way)
    answered = np.zeros(int(query.max()) + 1, dtype=bool)  # queries with judgements
    answered[query[judged]] = True
    if base is not None:
        answered[query[base.grades != ""]] = True
    asked = answered[query]
    n_queries = int((~answered[np.unique(query)]).sum())
    if way is None and base is not None:
        way = "0" if (known & ~base.judged).any() else "skip"
    elif way is None:
        way = usual_unjudged(y[judged], int((~judged & asked).sum()))
    kept = asked & (judged | (way == "0"))
    n_extra = 0
    if base is not None and way != "skip":
        n_extra = int((kept & base.extra).sum())
        kept &= ~base.extra
    rows = np.flatnonzero(kept)
    grades = np.where(judged[rows], y[rows], 0).astype(y.dtype)
    n_skipped = 0 if way == "0" else int((asked & ~judged).sum())
    n_missed = 0
    if base is not None and rows.size < y.size:
        without = np.isin(query, query[rows], invert=True)
        texts = dict(zip(query[without].tolist(), base.grades[without].tolist(), strict=True))
        n_missed = sum(bool(grade_counts(text)[1:].any()) for text in texts.values())
    if judged.all():
        way = check_unjudged(unjudged)
    return CountedRows(rows, grades, way, n_skipped, n_extra, n_queries, n_missed)


def warn_unknown_base(name: str, base: RecallBase | None, found: CountedRows, features: Sequence[str]) -> None:
    """Warn where documents were retrieved and nobody knows how many relevant ones were not.

    They were retrieved where some have no judgement, or where features say how an engine ranked them. LETOR files and
    other data whose documents are all judged are taken to hold all relevant documents.
    """
    if base is None and (found.unjudged is not None or any(one in ENGINE_FEATURES for one in features)):
        warnings.warn(
            f"{name}: the recall base is not known, so relevant documents that were not retrieved do not count; "
            "files that `rulerank features --qrels` writes have it",
            stacklevel=3,
        )
