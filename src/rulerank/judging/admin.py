"""Counts of labels by query and rater, agreement, and disputes: what the overview and the admin see."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from rulerank.judging.agreement import Coefficient, Dispute, disputes, krippendorff_alpha
from rulerank.judging.grades import CurrentLabels
from rulerank.judging.labels import Plain
from rulerank.judging.pool import Pool

if TYPE_CHECKING:
    from rulerank.judging.store import LabelStore


@dataclass(frozen=True, slots=True)
class QueryCount(Plain):
    """Labels of one query."""

    query: str
    query_text: str | None
    n_docs: int
    labelled: int


@dataclass(frozen=True, slots=True)
class RaterCount(Plain):
    """Labels of one rater."""

    rater: str
    graded: int
    cannot_judge: int
    skipped: int
    mean_grade: float | None


@dataclass(frozen=True, slots=True)
class LabelOverview(Plain):
    """Counts of all labels, and the agreement of raters."""

    labelled: int
    cannot_judge: int
    pool_size: int
    elsewhere: int  # labels in the store whose document is not in the pool
    queries: tuple[QueryCount, ...]
    raters: tuple[RaterCount, ...]
    agreement: Coefficient  # Krippendorff's alpha of the human raters, ordinal


def count_queries(pool: Pool, current: CurrentLabels) -> tuple[QueryCount, ...]:
    """Count the labels of every query of the pool, in its order."""
    n_docs, first_rows = np.bincount(pool.query_numbers), np.unique(pool.query_numbers, return_index=True)[1]
    graded = np.bincount(pool.query_numbers[list(current.grades)], minlength=len(n_docs))
    texts = [pool.shown(row).get("query_text") for row in first_rows.tolist()]
    rows = zip(pool.queries, texts, n_docs.tolist(), graded.tolist(), strict=True)
    return tuple(QueryCount(str(query), *counts) for query, *counts in rows)


def count_raters(pool: Pool, store: LabelStore, current: CurrentLabels) -> tuple[RaterCount, ...]:
    """Count the labels of every rater, human or not."""
    given: dict[str, list[int | None]] = defaultdict(list)
    for row in current.by_row | current.by_other_rater:
        for label in current.labels_of(row):
            given[label.rater].append(label.grade)
    counts = []
    for rater, grades in sorted(given.items()):
        graded = [grade for grade in grades if grade is not None]
        n_skipped = len(pool.rows_in(store.skipped(rater)))
        counts.append(RaterCount(rater, len(graded), len(grades) - len(graded), n_skipped, _mean(graded)))
    return tuple(counts)


def _mean(grades: Sequence[int]) -> float | None:
    return round(sum(grades) / len(grades), 2) if grades else None


def alpha_of_people(current: CurrentLabels) -> Coefficient:
    """Return Krippendorff's alpha of the human raters, with an interval or the reason for none."""
    return krippendorff_alpha([label.grade for label in by.values()] for by in current.by_row.values())


def disputes_of(current: CurrentLabels) -> list[Dispute[int]]:
    """Return the documents on which human raters disagree, by row, the largest first; decided ones too.

    After them come those on which only non-human raters, such as a language model, differ.
    """
    grades = {row: {label.rater: label.grade for label in current.labels_of(row)} for row in current.by_row}
    return disputes(grades, current.counting.other_raters)
