"""What a reranker answers: documents in their new order, each with its score, features and reasons."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, overload

import numpy as np

from rulerank.core.words import counted
from rulerank.dataset import Array
from rulerank.errors import DataError
from rulerank.explain.score import part_name, raw_column
from rulerank.explain.standing import Background, background_of
from rulerank.rankers.base import Ranker

if TYPE_CHECKING:
    from rulerank.serve.feature_rows import FeatureRows


@dataclass(frozen=True, slots=True)
class Reason:
    """One part of a score. The parts of a document add up to its score.

    >>> print(Reason("bm25", "bm25 3.2, higher than 80 % of 40 documents", 0.25, 3.2))
    +0.25 bm25 3.2, higher than 80 % of 40 documents
    """

    feature: str | None  # or the baseline ranking; None: where every document starts, or several parts together
    text: str  # the value in the units of the data, and its place among the documents
    adds: float
    value: float | str | None = None  # of the feature, as it came; None where it is missing

    def __str__(self) -> str:
        return f"{self.adds:+.3g} {self.text}"

    def to_dict(self) -> dict[str, Any]:
        return {"feature": self.feature, "text": self.text, "adds": self.adds, "value": self.value}


class Scored:
    """All documents of one answer, with what their reasons are made of when somebody asks for them."""

    def __init__(self, ranker: Ranker, rows: FeatureRows) -> None:
        self.ranker = ranker
        self.rows = rows

    @cached_property
    def checked(self) -> Array:
        """The rows as the ranker scores them."""
        return self.ranker.check_rows(self.rows.data, self.rows.qid)

    def reasons(self, row: int, n: int | None = None) -> tuple[Reason, ...]:
        """Return the parts of a score, the base first, then the n strongest, then what all others add together.

        None if the ranker cannot tell. What is the same in all documents comes last: it is no reason for their order.
        """
        try:
            base, base_text, shares, case = self._parts(row)
        except DataError:  # its score is no sum of parts that can be read; Reranker.explain says so
            return ()
        there = np.flatnonzero(shares)
        columns = [raw_column(case, part) for part in there.tolist()]
        alike = np.array([column is not None and not self.behind.varies[column] for column in columns], dtype=bool)
        strongest = there[np.lexsort((-np.abs(shares[there]), alike))]
        first, rest = strongest[:n], strongest[n:] if n is not None else strongest[:0]
        values, behind = self.rows.values(row, self.ranker), replace(self.behind, row=row)
        own = (self._reason(values, behind, case, part, shares) for part in first.tolist())
        found = [Reason(None, base_text, base), *own]
        if rest.size:
            found.append(Reason(None, f"{counted(rest.size, 'other part')} together", float(shares[rest].sum())))
        return tuple(found)

    def _reason(
        self, values: Mapping[str, float | str | None], behind: Background, case: Any, part: int, shares: Array
    ) -> Reason:
        names = self.ranker.feature_names_
        name, column, adds = part_name(case, names, part), raw_column(case, part), float(shares[part])
        if column is None:  # the scores of a model
            return Reason(name, case.value(part), adds)
        text = name + behind.said(column).removeprefix(names[column])
        return Reason(name, text, adds, values[names[column]])

    def _parts(self, row: int) -> tuple[float, str, Array, Any]:
        """Return where a score starts, in words too, what each part adds, and the case, unless parts are features."""
        form, shares = self._of_tables
        if form is not None:  # those of the case, for all documents at once
            return form.tables.base, form.base_text, shares[row], None
        case = self.ranker.case(self.checked, row)
        return float(case.ballot.base), case.base_text, case.ballot.shares, case

    @cached_property
    def behind(self) -> Background:
        """The documents by their raw values."""
        return background_of(self.ranker, self.rows.data, 0)

    @cached_property
    def _of_tables(self) -> tuple[Any, Array]:
        form = self.ranker.table_form()
        if form is None or form.tables.weights is not None:  # weights are the baseline ranking's part
            return None, np.zeros(0)
        return form, form.tables.shares(self.checked)


@dataclass(frozen=True, slots=True)
class Result:
    """One document of an answer. What takes time (features, reasons, document) is made when it is asked for."""

    id: str
    score: float
    rank: int  # from 1
    place: int  # among the documents as they came, from 0
    today: int | None  # its rank today, from 1
    scored: Scored = field(repr=False, compare=False)

    @property
    def features(self) -> dict[str, float | str | None]:
        """The features that the ranker reads, by name; None where missing."""
        return self.scored.rows.values(self.place, self.scored.ranker)

    @property
    def document(self) -> dict[str, Any] | None:
        """The fields of the document, where they are known."""
        return self.scored.rows.document(self.place)

    @property
    def reasons(self) -> tuple[Reason, ...]:
        """The parts that add up to the score, the base first; none for rankers that cannot tell."""
        return self.scored.reasons(self.place)

    def top_reasons(self, n: int = 3) -> tuple[Reason, ...]:
        """Return the base, the n strongest parts, and all others as one: they add up to the score, too."""
        return self.scored.reasons(self.place, n)

    def to_dict(self, *, features: bool = True, n_reasons: int | None = 3) -> dict[str, Any]:
        """Return plain values; n_reasons as in `top_reasons`, 0 for none and None for all."""
        found: dict[str, Any] = {"id": self.id, "score": self.score, "rank": self.rank, "today": self.today}
        if features:
            found["features"] = self.features
        if n_reasons != 0:
            found["reasons"] = [reason.to_dict() for reason in self.scored.reasons(self.place, n_reasons)]
        return found


class Ranking(Sequence[Result]):
    """The answer to one query, best first: a list of results that knows which model gave it."""

    def __init__(self, query: str, results: Sequence[Result], n_docs: int, version: Callable[[], str]) -> None:
        self.query = query
        self.n_docs = n_docs  # that were scored; results are the first of them
        self._results = tuple(results)
        self._version = version

    @property
    def version(self) -> str:
        """By what the model is called that gave this answer: `Reranker.version`."""
        return self._version()

    @property
    def ids(self) -> list[str]:
        return [result.id for result in self._results]

    @property
    def scores(self) -> list[float]:
        return [result.score for result in self._results]

    def to_dict(self, *, features: bool = True, n_reasons: int | None = 3) -> dict[str, Any]:
        """Return plain values, as JSON has them."""
        results = [result.to_dict(features=features, n_reasons=n_reasons) for result in self._results]
        return {"query": self.query, "version": self.version, "n_docs": self.n_docs, "results": results}

    @overload
    def __getitem__(self, place: int) -> Result: ...
    @overload
    def __getitem__(self, place: slice) -> tuple[Result, ...]: ...
    def __getitem__(self, place: int | slice) -> Result | tuple[Result, ...]:
        return self._results[place]

    def __len__(self) -> int:
        return len(self._results)

    def __iter__(self) -> Iterator[Result]:
        return iter(self._results)

    def __repr__(self) -> str:
        first = ", ".join(f"{result.id} {result.score:.4g}" for result in self._results[:5])
        return f"Ranking({first}{', ...' if len(self) > 5 else ''})"
