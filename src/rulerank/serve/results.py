"""What a reranker answers: documents in their new order, each with its score, features and reasons."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from rulerank.core.words import counted
from rulerank.errors import DataError
from rulerank.explain.documents import Documents, placed
from rulerank.rankers.base import Ranker

if TYPE_CHECKING:
    from rulerank.serve.rows import FeatureRows


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

    def reasons(self, row: int, n: int | None = None) -> tuple[Reason, ...]:
        """Return the parts of a score, the base first, then the n strongest, then what all others add together.

        None if the ranker cannot tell. What is the same in all documents comes last: it is no reason for their order.
        """
        try:
            base, shares = float(self.documents.bases[row]), self.documents.shares[row]
        except DataError:  # its score is no sum of parts that can be read; Reranker.explain says so
            return ()
        there = np.flatnonzero(shares)
        strongest = there[np.lexsort((-np.abs(shares[there]), ~self.documents.varies[there]))]
        first, rest = strongest[:n], strongest[n:] if n is not None else strongest[:0]
        values = self.rows.values(row, self.ranker)
        found = [Reason(None, self.ranker.base_text, base)]
        found += [self._reason(values, row, part, float(shares[part])) for part in first.tolist()]
        if rest.size:
            found.append(Reason(None, f"{counted(rest.size, 'other part')} together", float(shares[rest].sum())))
        return tuple(found)

    def _reason(self, values: Mapping[str, float | str | None], row: int, part: int, adds: float) -> Reason:
        docs, column = self.documents, self.documents.column(part)
        if column is None:  # the scores of a model
            return Reason(docs.name(part), docs.seen(row, part), adds)
        text = f"{docs.name(part)} {placed(docs.value(row, part), docs.standing(row, part))}"
        return Reason(docs.name(part), text, adds, values[docs.features[column]])

    @cached_property
    def documents(self) -> Documents:
        """The documents by their raw values, with what each part adds to their scores."""
        return Documents(self.ranker, self.rows.data)


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


class Ranking(tuple[Result, ...]):
    """The answer to one query, best first: results, and which model gave them."""

    query: str
    n_docs: int  # that were scored; results are the first of them

    def __new__(cls, query: str, results: Iterable[Result], n_docs: int, version: Callable[[], str]) -> Self:
        made = super().__new__(cls, results)
        made.query, made.n_docs, made._version = query, n_docs, version
        return made

    _version: Callable[[], str]

    @property
    def version(self) -> str:
        """By what the model is called that gave this answer: `Reranker.version`."""
        return self._version()

    @property
    def ids(self) -> list[str]:
        return [result.id for result in self]

    @property
    def scores(self) -> list[float]:
        return [result.score for result in self]

    def to_dict(self, *, features: bool = True, n_reasons: int | None = 3) -> dict[str, Any]:
        """Return plain values, as JSON has them."""
        results = [result.to_dict(features=features, n_reasons=n_reasons) for result in self]
        return {"query": self.query, "version": self.version, "n_docs": self.n_docs, "results": results}

    def __repr__(self) -> str:
        first = ", ".join(f"{result.id} {result.score:.4g}" for result in self[:5])
        return f"Ranking({first}{', ...' if len(self) > 5 else ''})"
