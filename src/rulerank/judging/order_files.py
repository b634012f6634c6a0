"""Orders of documents, as raters gave them, in a csv."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable

from rulerank.judging.team import Order

COLUMNS = ("qid", "rater", "place", "docid", "time", "page")


def orders_csv(orders: Iterable[Order]) -> str:
    """Return orders as a csv, a line for each document: whose order, of which query, its place, from 1.

    >>> from datetime import UTC, datetime
    >>> order = Order(id=1, rater="ann", time=datetime(2026, 1, 5, tzinfo=UTC), query="milk", docs=("d2", "d1"))
    >>> print(orders_csv([order]), end="")
    qid,rater,place,docid,time,page
    milk,ann,1,d2,2026-01-05T00:00:00+00:00,
    milk,ann,2,d1,2026-01-05T00:00:00+00:00,
    """
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(COLUMNS)
    for order in orders:
        for place, doc in enumerate(order.docs, start=1):
            writer.writerow((order.query, order.rater, place, doc, order.time.isoformat(), order.page or ""))
    return out.getvalue()
