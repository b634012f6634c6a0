"""The state of the labels as one HTML file, to send around: what can be said of a model, raters, agreement, queries."""

from __future__ import annotations

from datetime import UTC, datetime

from rulerank.core.words import counted
from rulerank.judging.agreement import Coefficient
from rulerank.judging.overview import LabelOverview
from rulerank.render import Block, Page, Sentences, Table, render_html
from rulerank.render.document import DASH


def label_report(overview: LabelOverview, source: str, combined: str) -> str:
    """Return the page; source: what the labels are of; combined: how labels of several raters became one.

    >>> import tempfile, rulerank as rr
    >>> from rulerank.judging.loop import Judging
    >>> from rulerank.judging.pool import Pool
    >>> from rulerank.judging.store import LabelStore
    >>> with LabelStore(tempfile.mkdtemp() + "/labels.db") as store:
    ...     overview = Judging(Pool(rr.make_world(n_queries=3, docs_per_query=5, seed=0)), store).overview()
    >>> "Labels of pool.csv" in label_report(overview, "pool.csv", "the median")
    True
    """
    return render_html(_page(overview, source, combined))


def _page(o: LabelOverview, source: str, combined: str) -> Page:
    facts = (
        ("Documents labelled", f"{o.labelled:,} of {o.pool_size:,}"),
        ("Cannot be judged", f"{o.cannot_judge:,}"),
        ("Raters", f"{len(o.raters):,}"),
        ("Agreement", _coefficient(o.agreement.ordinal)),
    )
    raters = Table(
        "Raters",
        ("rater", "graded", "cannot judge", "skipped", "mean grade"),
        tuple(
            (row.rater, f"{row.graded:,}", f"{row.cannot_judge:,}", f"{row.skipped:,}", _mean(row.mean_grade))
            for row in o.raters
        ),
    )
    judged = [row for row in o.queries if row.labelled or row.cannot_judge]
    queries = Table(
        "Queries that have labels",
        ("query", "labelled", "documents", "cannot judge", "mean grade"),
        tuple(
            (row.query_text or row.query, f"{row.labelled:,}", f"{row.n_docs:,}", f"{row.cannot_judge:,}",
             _mean(row.mean_grade))
            for row in sorted(judged, key=lambda row: -row.labelled)
        ),
        note=f"{counted(len(o.queries) - len(judged), 'more query', 'more queries')} without a label.",
    )  # fmt: skip
    blocks: list[Block] = [Sentences("New against today", o.standing)]
    if o.rules:
        blocks.append(Sentences("Strongest rules so far", o.rules))
    blocks += [raters, *_pairs(o), queries]
    now = datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC")
    lead = f"{counted(o.labelled, 'document')} with a grade; of several raters {combined}."
    return Page(f"Labels of {source}", (lead,), tuple(blocks), facts, footer=f"As of {now}.", sortable=True)


def _pairs(o: LabelOverview) -> list[Table]:
    if not o.agreement.pairs:
        return []
    rows = tuple(
        (" and ".join(pair.raters), f"{pair.kappa.n_docs:,}", _coefficient(pair.kappa), _coefficient(pair.weighted))
        for pair in o.agreement.pairs
    )
    return [Table("Agreement of two raters", ("raters", "documents both graded", "Cohen's kappa", "weighted"), rows)]


def _coefficient(found: Coefficient) -> str:
    return DASH if found.reason else f"{found.value:.2f}"


def _mean(grade: float | None) -> str:
    return DASH if grade is None else f"{grade:.2f}"
