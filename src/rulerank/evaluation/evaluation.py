"""Evaluate a ranking: check the arrays, group them by query, run the compiled loops, return a `Result`."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from rulerank._util.loops import in_blocks
from rulerank._util.parameters import Array, is_whole, refuse_mask
from rulerank.dataset import MAX_GRADE, UNLABELLED, Dataset, check_column, check_contrast, check_grades, query_index
from rulerank.errors import DataError
from rulerank.io.columns import is_frame
from rulerank.io.trec import Qrels, Run
from rulerank.recall_base import CountedRows
from rulerank.render.html import html_table, table_of
from rulerank.render.text import plain_table

from .measures import KINDS, TIE_RULES, Measure, as_measures, convention_named

if TYPE_CHECKING:
    from rulerank.evaluation.comparison import ComparisonTable

Cell = str | int | float
ROWS_PER_THREAD = 50_000  # about a millisecond of work; starting a thread takes a tenth of that


@dataclass(frozen=True, eq=False, repr=False)
class Result:
    """The measures of one ranking: means, and values by query."""

    measures: tuple[Measure, ...]
    queries: Array  # query ids in order of appearance
    values: Array  # float64 (n_measures, n_queries)
    n_docs: int
    n_tied: int  # documents that share their score with another one of the same query
    n_without_relevant: int  # queries without a relevant document count 0 (in NDCG and ERR: without any gain)
    convention: str
    ties: str
    remarks: tuple[Remark, ...] = ()  # notes, such as how many queries are missing in a run

    @property
    def n_queries(self) -> int:
        return int(self.values.shape[1])

    @property
    def means(self) -> dict[str, float]:
        """The mean of each measure over all queries, by its label."""
        return dict(zip(map(str, self.measures), self.values.mean(axis=1).tolist(), strict=True))

    @property
    def per_query(self) -> dict[str, Array]:
        """The values of each measure, in the order of `queries`."""
        return dict(zip(map(str, self.measures), self.values, strict=True))

    @property
    def note(self) -> str:
        """How the results were computed, in one line."""
        queries = "1 query" if self.n_queries == 1 else f"{self.n_queries:,} queries"
        if self.n_without_relevant:
            queries += f" ({self.n_without_relevant:,} without a relevant document)"
        tied = f"{self.n_tied:,} of {self.n_docs:,} documents tied"
        return "; ".join(
            [f"{queries}, convention {self.convention}, ties {self.ties}: {tied}", *(one.text for one in self.remarks)]
        )

    def __repr__(self) -> str:
        return f"{plain_table(['measure', 'mean'], self._rounded())}\n{self.note}"

    def _repr_html_(self) -> str:
        return html_table(table_of(["measure", "mean"], self._rounded(), note=self.note))

    def to_dict(self, *, per_query: bool = False) -> dict[str, Any]:
        """Return the means and the settings as plain values; per_query: also the value of every query."""
        facts = ("means", "n_queries", "n_without_relevant", "n_docs", "n_tied", "convention", "ties")
        payload: dict[str, Any] = {name: getattr(self, name) for name in facts}
        payload |= {remark.key: remark.n for remark in self.remarks}
        if per_query:
            payload["queries"] = self.queries.tolist()
            payload["per_query"] = {label: values.tolist() for label, values in self.per_query.items()}
        return payload

    def _rounded(self) -> list[list[str]]:
        return [[label, f"{mean:.4f}"] for label, mean in self.means.items()]


class Remark(NamedTuple):
    """A count that a reader of the results must know."""

    key: str  # in JSON
    n: int
    text: str


def evaluate(
    y: Any,
    scores: Any,
    qid: ArrayLike | None = None,
    measures: str | Measure | Iterable[str | Measure] = ("MAP", "NDCG@10", "P@1"),
    *,
    complete: bool = False,
    convention: str = "standard",
    ties: str | None = None,
    docid: ArrayLike | None = None,
    retrieved: ArrayLike | None = None,
    relevant_from: int = 1,
    max_grade: int | None = None,
    unjudged: int | str | None = None,
    any_grades: bool = False,
    n_jobs: int | None = None,
) -> Result:
    """Compute ranking measures of scores, or of a TREC run, by query; rows may be in any order.

    >>> evaluate(y=[2, 0, 1, 0, 1], scores=[0.9, 0.9, 0.1, 0.4, 0.7], qid=["a", "a", "a", "b", "b"])
    measure    mean
    MAP      0.8542
    NDCG@10  0.9050
    P@1      0.7500
    2 queries, convention standard, ties expected: 2 of 5 documents tied

    A Dataset includes queries and document ids: evaluate(data, scores, measures="MAP"). A run with qrels is evaluated
    as in trec_eval:

    >>> run = Run(["q1", "q1", "q1"], ["a", "b", "c"], [3.0, 2.0, 1.0], ["bm25"] * 3)
    >>> evaluate(run, Qrels(["q1", "q1", "q2"], ["b", "c", "a"], [2, 1, 1]), measures=["NDCG@10", "P@1"])
    measure    mean
    NDCG@10  0.6697
    P@1      0.0000
    1 query, convention standard, ties expected: 0 of 3 documents tied; 1 of 2 judged queries are not in the run: \
they are not counted; complete=True counts them 0

    Parameters
    ----------
    y : grades (then qid is the query of each), a Dataset, or a run: a `Run`, a TREC run file, or a table with the
        columns qid, docid and score.
    scores : one score per document; for a run its judgements: a `Qrels`, a Dataset with grades, or a file of either.
    measures : one or several, such as "MAP", "NDCG@10" or NDCG @ 10; `evaluation.KINDS` lists them.
    complete : a judged query that is not in the run counts 0 (trec_eval -c); otherwise it is left out, with a note.
    convention : "standard" (trec_eval), "standard-exp" (gain 2^g - 1), "letor3" or "letor4" (the LETOR scripts).
    ties : "expected" (exact mean over all orders of tied documents), "file" (in row order) or "docid" (trec_eval: by
        id as text, descending); None: the rule of the convention. Scores tie if they are equal as float64; trec_eval
        and pytrec_eval round them to float32 first: round them too to reproduce their ties.
    docid : document ids, for ties="docid". Equal ids of a query keep the order of their rows.
    retrieved : False for documents that were not retrieved. They have no rank and need no score, but count as
        relevant documents and in the ideal ranking. A query without a retrieved document counts 0.
    relevant_from : the lowest relevant grade, for all measures but NDCG, MeanNDCG and ERR, which use the grades.
    max_grade : the highest grade of the scale, for ERR; None: the highest in y.
    unjudged : 0 counts documents without a grade as not relevant, "skip" leaves them out. The default is 0 for a run,
        as in trec_eval; for a Dataset see `Dataset.labelled`. Relevant documents of its recall base that are not
        among its rows count as not retrieved.
    any_grades : allow data in which no query has documents of different grades, such as a single query. By default
        this is an error, because all rankings have the same value there.
    n_jobs : number of threads; None: all cores.
    """
    from rulerank.evaluation.kernels import measure_queries  # numba takes longer to load than the rest of the library

    if _is_run(y, scores):
        from rulerank.evaluation.rankings import run_beside

        if any(column is not None for column in (qid, docid, retrieved)):
            raise DataError("a run includes its queries and ids: name the rest, evaluate(run, qrels, measures=...)")
        return run_beside(y, scores, complete, unjudged).evaluate(
            measures, convention=convention, ties=ties, relevant_from=relevant_from, max_grade=max_grade,
            any_grades=unjudged != "skip", n_jobs=n_jobs,
        )  # fmt: skip
    if complete:
        raise DataError("complete is for a run, which may lack queries: evaluate(run, qrels, complete=True)")
    if isinstance(y, Dataset):
        _no_qid(qid, "evaluate(data, scores, measures=...)")
        y = y if docid is None else replace(y, docid=check_column("docid", docid, len(y)))
        y, scores, qid, docid, retrieved = with_missed(y, scores, retrieved, y.counted_rows(unjudged))
    elif unjudged is not None:
        raise DataError("unjudged is for a Dataset, which knows what is judged: evaluate(data, scores, unjudged=0)")
    y, qid, docid = graded(y, qid, docid, "evaluate(data, scores, measures=...)")
    asked = as_measures(measures)
    rules = convention_named(convention)
    tie_rule = rules.ties if ties is None else ties
    if tie_rule not in TIE_RULES:
        raise DataError(f"unknown tie rule {tie_rule!r}; choose from {', '.join(TIE_RULES)}")
    if tie_rule == "docid" and docid is None:
        raise DataError("ties='docid' needs the document ids: give docid=, or choose ties='expected' or 'file'")
    if not is_whole(relevant_from, 1, MAX_GRADE):
        raise DataError(f"relevant_from must be a grade from 1 to {MAX_GRADE}: got {relevant_from!r}")
    grades = _check_known_grades(y)
    n_rows = grades.size
    ranked = np.ones(n_rows, dtype=bool) if retrieved is None else _check_mask("retrieved", retrieved, n_rows)
    score_bits = _check_scores(scores, ranked).view(np.int64)
    names = None
    if docid is not None and tie_rule == "docid":
        names = [str(name) for name in check_column("docid", docid, n_rows).tolist()]
    rows, starts, queries = _group(check_column("qid", qid, n_rows), names)
    if rows is not None:
        score_bits, grades, ranked = score_bits[rows], grades[rows], ranked[rows]

    if not any_grades and ranked.all():
        differs = np.append(grades[1:] != grades[:-1], False)
        differs[starts[1:] - 1] = False
        if not differs.any():
            check_contrast(grades, np.repeat(np.arange(queries.size), np.diff(starts)), "compare rankings by")

    highest = int(grades.max())
    if not is_whole(highest if max_grade is None else max_grade, highest, MAX_GRADE):
        raise DataError(f"max_grade must be between the highest grade, {highest}, and {MAX_GRADE}: got {max_grade!r}")
    steps = np.arange(MAX_GRADE + 1)
    gains = 2.0**steps - 1 if rules.exponential_gain else steps.astype(np.float64)
    chances = (2.0**steps - 1) / 2.0 ** (highest if max_grade is None else max_grade)
    ranks = np.arange(1, np.diff(starts).max() + 1)
    discounts = 1 / np.log2(np.maximum(2, ranks + rules.rank_shift))
    kinds = np.array([list(KINDS).index(measure.name) for measure in asked], dtype=np.int64)
    cutoffs = np.array([measure.cutoff or 0 for measure in asked], dtype=np.int64)
    err_depth = max((measure.cutoff or n_rows for measure in asked if measure.name == "ERR"), default=0)
    values = np.empty((len(asked), queries.size))
    n_relevant, n_tied = np.empty((2, queries.size), dtype=np.int64)

    def work(first: int, last: int) -> None:
        measure_queries(
            first, last, score_bits, grades, ranked, starts, gains, chances, discounts, kinds, cutoffs,
            tie_rule == "expected", relevant_from, rules.short_is_zero, err_depth, values, n_relevant, n_tied,
        )  # fmt: skip

    in_blocks(work, queries.size, n_jobs, min_block=queries.size * ROWS_PER_THREAD // n_rows)
    n_empty = int((n_relevant == 0).sum())
    return Result(asked, queries, values, n_rows, int(n_tied.sum()), n_empty, rules.name, tie_rule)


def graded(
    y: ArrayLike | Dataset, qid: ArrayLike | None, docid: ArrayLike | None, by_name: str
) -> tuple[ArrayLike, ArrayLike, ArrayLike | None]:
    """Return grades, queries and document ids, of a Dataset its own; by_name: how to call with one."""
    if isinstance(y, Dataset):
        _no_qid(qid, by_name)
        return y.y, y.qid, y.docid if docid is None else docid
    if qid is None:
        raise DataError(f"expected qid, the query of each document; a Dataset includes it, {by_name}")
    return y, qid, docid


def with_missed(
    data: Dataset, scores: ArrayLike, retrieved: ArrayLike | None = None, found: CountedRows | None = None
) -> tuple[Array, Array, Array, Array | None, Array | None]:
    """Return the rows that count, followed by the judged documents of the recall base that are not among them.

    A query without such rows is included, with nothing retrieved, if its recall base has relevant documents.
    Returns the arguments of `evaluate`: grades, scores, queries, document ids, and which documents are retrieved.
    found: the rows that count, by default those of `labelled`.
    """
    found = data.counted_rows() if found is None else found
    if not found.rows.size:
        raise DataError("expected at least one document with a grade to evaluate: got none")
    n_rows, rows, part = len(data), found.rows, data.counted(found)
    given = check_column("scores", scores, n_rows)[rows]
    kept = None if retrieved is None else _check_mask("retrieved", retrieved, n_rows)[rows]
    if part.base is None:
        return part.y, given, part.qid, part.docid, kept
    assert data.base is not None
    y, query = np.full(n_rows, UNLABELLED, dtype=data.y.dtype), query_index(data.qid)[0]
    y[rows] = part.y
    first, grades = data.base.missed(y, query)
    counts = np.isin(query[first], np.concatenate((query[rows], query[first[grades > 0]])))
    first, grades = first[counts], grades[counts]
    n = grades.size

    def longer(column: Array, more: ArrayLike) -> Array:
        return np.concatenate((column, np.asarray(more, dtype=column.dtype)))

    return (
        longer(part.y, grades),
        np.concatenate((given.astype(np.float64), np.full(n, np.nan))) if given.dtype.kind in "fiub" else given,
        longer(part.qid, data.qid[first]),
        None if part.docid is None else longer(part.docid, np.full(n, "", dtype=object)),
        longer(np.ones(rows.size, dtype=bool) if kept is None else kept, np.zeros(n, dtype=bool)),
    )


def _is_run(y: Any, scores: Any) -> bool:
    """Tell whether a run and judgements are given, as values or as files."""
    files = any(isinstance(one, Run | Qrels | str | os.PathLike) for one in (y, scores))
    return files or is_frame(y) or isinstance(scores, Dataset)


def _no_qid(qid: ArrayLike | None, by_name: str) -> None:
    if qid is not None:
        raise DataError(f"a Dataset includes its queries: leave out qid, and name the rest, {by_name}")


def _group(qid: Array, names: list[str] | None) -> tuple[Array | None, Array, Array]:
    """Return the rows query by query (None: they are so already), where each query starts, and the query ids.

    Within a query the rows stay in order, or come by name, the last name first, when names are given.
    """
    n_rows = qid.size
    # numbering runs of equal ids is far faster than numbering rows
    heads = np.flatnonzero(np.concatenate([[True], qid[1:] != qid[:-1]]))
    number_of_run, queries = query_index(qid[heads])
    if names is None and queries.size == heads.size:
        return None, np.append(heads, n_rows), queries
    numbers = np.repeat(number_of_run, np.diff(np.append(heads, n_rows)))
    starts = np.concatenate([[0], np.bincount(numbers).cumsum()])
    numbers = numbers.astype(np.min_scalar_type(queries.size))  # NumPy sorts 16 bits in linear time
    if names is None:
        return np.argsort(numbers, kind="stable"), starts, queries
    by_name = np.array(sorted(range(n_rows), key=names.__getitem__, reverse=True))
    return by_name[np.argsort(numbers[by_name], kind="stable")], starts, queries


def _check_known_grades(y: ArrayLike) -> Array:
    refuse_mask("y", y)
    values = y if isinstance(y, np.ndarray) else np.asarray(y)
    if values.size == 0:
        raise DataError("expected at least one document to evaluate: got none")
    if values.ndim == 1 and values.dtype.kind in "iu" and values.min() >= 0 and values.max() <= MAX_GRADE:
        return values.astype(np.int16)
    grades = check_grades(values, values.shape[0] if values.ndim else 1)
    if (grades == UNLABELLED).any():
        raise DataError(
            f"expected a grade for every document: row {np.argmin(grades)} is not labelled (-1); leave such rows out "
            "with data.labelled(), or set them to 0 to count them as not relevant"
        )
    return grades


def _check_scores(scores: ArrayLike, ranked: Array) -> Array:
    column = check_column("scores", scores, ranked.size)
    try:
        values = column.astype(np.float64) + 0.0  # which makes -0.0 and 0.0 the same bits
    except (TypeError, ValueError):
        raise DataError(f"scores must be numbers: got {column[:3].tolist()!r} ...") from None
    bad = np.flatnonzero(~np.isfinite(values) & ranked)
    if bad.size:
        more = f" (and {bad.size - 1} more)" if bad.size > 1 else ""
        raise DataError(f"scores must be finite numbers: got {values[bad[0]]} at row {bad[0]}{more}")
    return values


def _check_mask(name: str, values: ArrayLike, n_rows: int) -> Array:
    mask = check_column(name, values, n_rows)
    if mask.dtype != np.bool_:
        raise DataError(f"{name} must hold True or False for each row: got {mask[:3].tolist()!r} ...")
    return mask.copy()  # contiguous and writable, or numba would compile everything once more


def side_by_side(results: Mapping[str, Result]) -> tuple[list[str], list[list[Cell]]]:
    """Return one row per ranking: the means, how many queries they are over and how many documents were tied."""
    first = next(iter(results.values()))
    header = ["ranking", *first.means, "queries", "docs", "tied"]
    rows: list[list[Cell]] = [
        [name, *result.means.values(), result.n_queries, result.n_docs, result.n_tied]
        for name, result in results.items()
    ]
    return header, rows


def by_query(results: Mapping[str, Result]) -> tuple[list[str], list[list[Cell]]]:
    """Return one row per ranking and query."""
    first = next(iter(results.values()))
    header = ["ranking", "qid", *(measure.per_query for measure in first.measures)]
    rows: list[list[Cell]] = [
        [name, str(query), *values]
        for name, result in results.items()
        for query, values in zip(result.queries, result.values.T.tolist(), strict=True)
    ]
    return header, rows


def note_of(results: Mapping[str, Result]) -> str:
    """Return how the results were computed."""
    first = next(iter(results.values()))
    empty = max(result.n_without_relevant for result in results.values())
    zeros = f"; queries without a relevant document count 0: {empty:,}" if empty else ""
    return f"convention {first.convention}; ties {first.ties}: {TIE_RULES[first.ties]}{zeros}"


def said(results: Mapping[str, Result]) -> list[str]:
    """Return the remarks as sentences, each after the name of its ranking."""
    return [f"{name}: {remark.text}" for name, result in results.items() for remark in result.remarks]


def as_dict(
    results: Mapping[str, Result], comparison: ComparisonTable | None, *, per_query: bool = False
) -> dict[str, Any]:
    """Return what the tables show as plain values, with all digits."""
    rankings = [{"ranking": name} | result.to_dict(per_query=per_query) for name, result in results.items()]
    pairs = {} if comparison is None else {"pairs": [pair.to_dict() for pair in comparison.pairs]}
    return {"rankings": rankings} | pairs
