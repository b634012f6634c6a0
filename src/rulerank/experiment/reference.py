"""Published figures, to print beside ours: facts from the papers, each with its source, in reference.csv."""

from __future__ import annotations

import csv
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

from rulerank.dataset import Fold, query_index
from rulerank.errors import DataError

OHSUMED = {45: "OHSUMED, LETOR 3.0", 25: "OHSUMED, LETOR 2.0"}  # by number of features
CHOICES = ("auto", "ohsumed", "none")


@dataclass(frozen=True, slots=True)
class Published:
    """One figure of a paper."""

    collection: str
    system: str
    measure: str  # MAP, NDCG@10, ...; "seconds per query", "seconds" over all queries
    fold: str  # 1 to 5, or mean
    value: float
    source: str


@cache
def published() -> tuple[Published, ...]:
    """Return all figures.

    >>> next(figure for figure in published() if figure.system == "RE-QR" and figure.fold == "mean").value
    0.465
    """
    text = (files("rulerank.experiment") / "reference.csv").read_text(encoding="utf-8")
    return tuple(
        Published(collection, system, measure, fold, float(value), source)
        for collection, system, measure, fold, value, source in list(csv.reader(text.splitlines()))[1:]
    )


def collection_of(folds: Sequence[Fold]) -> str | None:
    """Return which published collection the folds are, by their size: 106 queries, 16,140 documents, 45 features."""
    queries = {query for fold in folds for query in query_index(fold.test.qid)[1].tolist()}
    n_docs = sum(len(fold.test) for fold in folds)
    if (len(folds), len(queries), n_docs) != (5, 106, 16_140):
        return None
    return OHSUMED.get(folds[0].train.X.shape[1])


def choose_reference(asked: str, folds: Sequence[Fold]) -> str | None:
    """Return the collection whose published figures are shown, None for none.

    >>> choose_reference("none", [])
    """
    if asked not in CHOICES:
        raise DataError(f"unknown reference {asked!r}; choose from {', '.join(CHOICES)}")
    if asked == "none":
        return None
    return collection_of(folds) or (OHSUMED[45] if asked == "ohsumed" else None)
