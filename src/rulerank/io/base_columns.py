"""The columns of a table that keep what judgements say beyond grades, marked `judged:qrels` and `base:qrels`.

The first says of each row whether it is judged (yes, no, or extra: among the candidates only because it is), the second
how many judged documents of each grade its query has in all, such as 0:12 1:3.
"""

from __future__ import annotations

import numpy as np
import polars as pl

from rulerank.core.words import listed
from rulerank.errors import DataError
from rulerank.io.shown_columns import SHOWN_COLUMNS
from rulerank.io.table_columns import Mistake, ids, shared_strings
from rulerank.recall_base import JUDGED, RecallBase, grade_counts

BASE_COLUMNS = ("judged:qrels", "base:qrels")
MARKED_COLUMNS = (*SHOWN_COLUMNS, *BASE_COLUMNS)  # of a table, beside features and texts


def columns_of_base(base: RecallBase) -> list[pl.Series]:
    """Return the columns that a table holds of it.

    >>> [column.to_list() for column in columns_of_base(RecallBase([True], [False], ["0:2 1:3"]))]
    [['yes'], ['0:2 1:3']]
    """
    kinds = np.where(base.extra, 2, base.judged.astype(int))
    values = [JUDGED[kind] for kind in kinds.tolist()], base.grades.tolist()
    return [pl.Series(name, column, dtype=pl.String) for name, column in zip(BASE_COLUMNS, values, strict=True)]


def base_of(frame: pl.DataFrame, mistake: Mistake) -> RecallBase | None:
    """Return what the marked columns of a table hold; None where there are none.

    >>> base_of(pl.DataFrame({"judged:qrels": ["extra"], "base:qrels": ["0:2 1:3"]}), None)
    RecallBase(1 row, 1 judged)
    """
    there = [name for name in BASE_COLUMNS if name in frame.columns]
    if not there:
        return None
    if len(there) < len(BASE_COLUMNS):
        raise mistake(None, f"the columns {listed(BASE_COLUMNS)} go together: there is only {there[0]}")
    judged = ids(frame[BASE_COLUMNS[0]], mistake)
    wrong = np.flatnonzero(~np.isin(judged, JUDGED))
    if wrong.size:
        row = int(wrong[0])
        raise mistake(row, f"expected yes, no or extra in column {BASE_COLUMNS[0]!r}, got {judged[row]!r:.60}")
    grades = shared_strings(frame[BASE_COLUMNS[1]].cast(pl.String).fill_null(""))
    for text in dict.fromkeys(grades.tolist()):
        try:
            grade_counts(text)
        except DataError as error:
            raise mistake(int(np.argmax(grades == text)), f"column {BASE_COLUMNS[1]!r}: {error}") from None
    return RecallBase(judged != "no", judged == "extra", grades)
