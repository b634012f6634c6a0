"""Labels counted by query and by rater, for the overview."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence

import numpy as np

from rulerank.judging.labels import Label
from rulerank.judging.pool import Pool
from rulerank.judging.views import QueryCount, RaterCount

Labels = Mapping[int, Mapping[str, Label]]  # row -> rater -> label


def count_queries(pool: Pool, grades: Mapping[int, int], labels: Labels) -> tuple[QueryCount, ...]:
    """Count the labels of every query of the pool, in its order."""
    given: dict[int, list[int | None]] = defaultdict(list)
    for row in labels:
        given[int(pool.query_numbers[row])].append(grades.get(row))
    counts = []
    first_rows = np.unique(pool.query_numbers, return_index=True)[1]
    for number, n_docs in enumerate(np.bincount(pool.query_numbers).tolist()):
        graded = [grade for grade in given[number] if grade is not None]
        counts.append(
            QueryCount(
                query=pool.queries[number],
                query_text=pool.shown(int(first_rows[number])).get("query_text"),
                n_docs=n_docs,
                labelled=len(graded),
                cannot_judge=len(given[number]) - len(graded),
                mean_grade=_mean(graded),
            )
        )
    return tuple(counts)


def count_rater(rater: str, labels: Labels, n_skipped: int) -> RaterCount:
    """Count the labels of one rater."""
    given = [by_rater[rater].grade for by_rater in labels.values() if rater in by_rater]
    graded = [grade for grade in given if grade is not None]
    return RaterCount(rater, len(graded), len(given) - len(graded), n_skipped, _mean(graded))


def _mean(grades: Sequence[int]) -> float | None:
    return round(sum(grades) / len(grades), 2) if grades else None
