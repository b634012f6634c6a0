"""What is too large for QueryRules: said before the work, with what to do."""

from __future__ import annotations

from rulerank.errors import TooLargeError

ADDITIONS_PER_STEP = 8  # of neighbouring numbers, in the time that one row is counted


def check_matrix(n_rows: int, n_queries: int, memory_budget: float) -> None:
    """Refuse a matrix of documents by queries that would not fit into memory."""
    need = 8 * n_rows * n_queries / 2**20
    if need > memory_budget:
        raise TooLargeError(
            f"a matrix of {n_rows:,} documents by {n_queries:,} queries takes {need:,.0f} MiB, more than "
            f"memory_budget ({memory_budget:,.0f}); ask for fewer documents at a time, or raise memory_budget"
        )


def check_work(n_rows: int, n_sets: int, n_queries: int, work_limit: float | None) -> None:
    """Refuse training in which every query judging every row would take too many steps."""
    steps = n_rows * n_sets * n_queries / ADDITIONS_PER_STEP
    if work_limit is not None and steps > work_limit:
        raise TooLargeError(
            f"{n_queries:,} queries that each judge {n_rows:,} rows by {n_sets:,} feature sets are {steps:.1e} "
            f"steps (the limit is {work_limit:.1e}); lower max_size, raise drop_weakest to keep fewer "
            "features, train on fewer queries, or set work_limit=None to do it all the same"
        )
