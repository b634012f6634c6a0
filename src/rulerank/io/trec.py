"""TREC files: runs (`qid Q0 docid rank score tag`) and qrels (`qid 0 docid grade`), and how the two meet.

As in trec_eval, a run is ordered by its scores alone: the rank column is written for other tools and not read,
nor are the second columns (`Q0`, `0`). Columns are apart by any white space; ids are any text without it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple, TypeVar

import numpy as np
import polars as pl
from numpy.typing import ArrayLike

from rulerank.core.words import counted
from rulerank.dataset import MAX_GRADE, UNLABELLED, Array, Dataset, check_column, query_index
from rulerank.errors import DataError, ReadError
from rulerank.io.streams import Source
from rulerank.io.trec_lines import QRELS, RUN, read_columns, words, write_lines
from rulerank.recall_base import RecallBase, check_unjudged, grade_text, usual_unjudged


@dataclass(frozen=True, eq=False)
class Run:
    """Documents retrieved for queries, with a score each; in the order of the file.

    >>> Run(["q1", "q1"], ["a", "b"], [0.5, 0.7], ["bm25", "bm25"])
    Run(2 rows, 1 query)
    """

    qid: Array  # (n_rows,) query ids
    docid: Array  # (n_rows,) document ids, each at most once per query
    score: Array  # float64 (n_rows,), finite; the higher the better
    tag: Array  # (n_rows,) the name of the system

    def __post_init__(self) -> None:
        _check_pairs(self)
        n_rows = len(self)
        score = check_column("score", self.score, n_rows)
        if score.size and score.dtype.kind not in "fiub":
            raise DataError(f"scores must be numbers: got {score[0]!r} ...")
        score = score.astype(np.float64)
        bad = np.flatnonzero(~np.isfinite(score))
        if bad.size:
            raise DataError(f"scores must be finite: got {score[bad[0]]} at row {bad[0]}")
        object.__setattr__(self, "score", score)
        object.__setattr__(self, "tag", check_column("tag", self.tag, n_rows))

    def __len__(self) -> int:
        return self.qid.size

    def __repr__(self) -> str:
        return f"Run({_size(self)})"

    def ranks(self) -> Array:
        """Number the documents of each query from 1, best first; equal scores rank in the order of the file."""
        return _ranks(self)


@dataclass(frozen=True, eq=False)
class Qrels:
    """Judged documents of queries; in the order of the file.

    A grade below 0 stays as it is: TREC uses -1 and -2 for junk or pages nobody could judge. The measures count
    it as not relevant, as trec_eval does. It is not `Dataset`'s -1, which means nobody has looked.

    >>> Qrels(["q1", "q1"], ["a", "b"], [2, -2])
    Qrels(2 rows, 1 query)
    """

    qid: Array  # (n_rows,) query ids
    docid: Array  # (n_rows,) document ids, each at most once per query
    grade: Array  # int32 (n_rows,)

    def __post_init__(self) -> None:
        _check_pairs(self)
        grade = check_column("grade", self.grade, len(self))
        if grade.size and not np.issubdtype(grade.dtype, np.integer):
            raise DataError(f"grades of qrels must be integers: got {grade.dtype}")
        object.__setattr__(self, "grade", grade.astype(np.int32))

    def __len__(self) -> int:
        return self.qid.size

    def __repr__(self) -> str:
        return f"Qrels({_size(self)})"


class Joined(NamedTuple):
    """A run beside its judgements, ready for the measures."""

    y: Array  # int32; 0 where nobody judged the document, or judged it below 0
    scores: Array  # float64; NaN where the run did not retrieve the document
    qid: Array
    docid: Array
    retrieved: Array  # bool
    judged: Array  # bool


def read_run(source: Source) -> Run:
    """Read a TREC run.

    >>> import io
    >>> read_run(io.BytesIO(b"q1 Q0 doc-7 1 12.5 bm25\\n")).score.tolist()
    [12.5]
    """
    return _build(Run, *read_columns(source, RUN))


def read_qrels(source: Source) -> Qrels:
    """Read TREC relevance judgements.

    >>> import io
    >>> read_qrels(io.BytesIO(b"q1 0 doc-7 2\\nq1 0 doc-8 -1\\n")).grade.tolist()
    [2, -1]
    """
    return _build(Qrels, *read_columns(source, QRELS))


def write_run(run: Run, target: Source) -> None:
    """Write a TREC run in its own order, with ranks from 1 by score; equal scores rank in that order.

    >>> import io
    >>> out = io.BytesIO()
    >>> write_run(Run(["q", "q"], ["a", "b"], [0.5, 0.7], ["me", "me"]), out)
    >>> print(out.getvalue().decode().strip())
    q Q0 a 2 0.5 me
    q Q0 b 1 0.7 me
    """
    columns = [
        words("qid", run.qid),
        pl.repeat("Q0", len(run), eager=True).alias("Q0"),
        words("docid", run.docid),
        pl.Series("rank", _ranks(run)),
        pl.Series("score", run.score),
        words("tag", run.tag),
    ]
    write_lines(columns, target)


def write_qrels(qrels: Qrels, target: Source) -> None:
    """Write TREC relevance judgements.

    >>> import io
    >>> out = io.BytesIO()
    >>> write_qrels(Qrels(["q1"], ["doc-7"], [2]), out)
    >>> out.getvalue()
    b'q1 0 doc-7 2\\n'
    """
    iteration = pl.repeat("0", len(qrels), eager=True).alias("0")
    columns = [words("qid", qrels.qid), iteration, words("docid", qrels.docid), pl.Series("grade", qrels.grade)]
    write_lines(columns, target)


def run_from_scores(data: Dataset | tuple[ArrayLike, ArrayLike], scores: ArrayLike, tag: str = "rulerank") -> Run:
    """Return the run of scored documents, given as a data set or as (qid, docid): best first, query by query.

    Queries keep the order in which they appear, and documents with equal scores their own order.

    >>> run = run_from_scores((["q1", "q2", "q1"], ["a", "b", "c"]), [0.1, 0.3, 0.2])
    >>> run.qid.tolist(), run.docid.tolist()
    (['q1', 'q1', 'q2'], ['c', 'a', 'b'])
    """
    qid, docid = (data.qid, require_docids(data)) if isinstance(data, Dataset) else map(np.asarray, data)
    run = Run(qid, docid, np.asarray(scores), np.full(qid.shape, tag, dtype=object))
    order = np.lexsort((-run.score, query_index(run.qid)[0]))
    return Run(run.qid[order], run.docid[order], run.score[order], run.tag)


def qrels_from_data(data: Dataset) -> Qrels:
    """Return the judgements of a data set; rows without a grade are not judged, so they are not in it.

    >>> qrels_from_data(Dataset([[0.5], [0.1]], y=[1, -1], qid=["q", "q"], docid=["a", "b"])).docid.tolist()
    ['a']
    """
    docid = require_docids(data)
    judged = data.y != UNLABELLED if data.base is None else (data.y != UNLABELLED) & data.base.judged
    return Qrels(data.qid[judged], docid[judged], data.y[judged])


def with_qrels(data: Dataset, qrels: Qrels, unjudged: int | str | None = None, extra: Array | None = None) -> Dataset:
    """Return documents with the grades of judgements, which meet them by ids, and the judgements' recall base.

    unjudged: 0 gives documents without a judgement the grade 0, "skip" none; by default 0 where the judgements hold
    hardly any grade 0. Queries without any judgement have no grades.
    extra: True for rows that are there only because they are judged.

    >>> data = Dataset([[0.5], [0.1]], [-1, -1], ["q", "q"], ["a", "b"])
    >>> found = with_qrels(data, Qrels(["q", "q"], ["a", "c"], [2, 1]), unjudged=0)
    >>> found.y.tolist(), found.base.grades.tolist()
    ([2, 0], ['1:1 2:1', '1:1 2:1'])
    """
    way = check_unjudged(unjudged)
    if len(qrels) and qrels.grade.max() > MAX_GRADE:
        raise DataError(f"grades must be at most {MAX_GRADE}: got {qrels.grade.max()}")
    grades = dict(zip(zip(qrels.qid, qrels.docid, strict=True), qrels.grade.tolist(), strict=True))
    pairs = zip(map(str, data.qid.tolist()), map(str, require_docids(data).tolist()), strict=True)
    found = [grades.get(pair) for pair in pairs]
    judged = np.array([grade is not None for grade in found], dtype=bool)
    query, ids = query_index(qrels.qid)
    order = np.argsort(query, kind="stable")
    parts = np.split(qrels.grade[order], np.cumsum(np.bincount(query))[:-1]) if len(qrels) else []
    of_query = {one: grade_text(part) for one, part in zip(ids.tolist(), parts, strict=True)}
    texts = np.array([of_query.get(str(one), "") for one in data.qid.tolist()], dtype=object)
    asked = texts != ""
    if len(data) and not asked.any():
        raise DataError(
            f"no query of the judgements is among the documents: the judgements have {_some(qrels.qid)}, "
            f"the documents {_some(data.qid)}"
        )
    if way is None:
        way = usual_unjudged(qrels.grade, int((asked & ~judged).sum()))
    y = np.where(asked & (way == "0"), 0, UNLABELLED)
    y[judged] = [max(grade, 0) for grade in found if grade is not None]  # TREC's grades below 0 are not relevant
    base = RecallBase(judged, np.zeros(len(data), dtype=bool) if extra is None else extra, texts)
    return replace(data, y=y, base=base)


def require_docids(data: Dataset) -> Array:
    """Return the document ids, or say that there are none."""
    if data.docid is None:
        raise DataError("expected an id for every document: the data has none; TREC and Quepid files name documents")
    empty = np.flatnonzero(data.docid == "")
    if empty.size:
        raise DataError(
            f"expected an id for every document: row {empty[0]} has none; TREC and Quepid files name documents"
        )
    return data.docid


def join(run: Run, qrels: Qrels, complete: bool = False, unjudged: int | str | None = None) -> Joined:
    """Put a run beside its judgements: first the run's rows, then judged documents that it did not retrieve.

    unjudged: documents without a judgement count as not relevant, as in trec_eval; "skip" takes them out of the run.

    Queries only in the run have nothing to be measured by and are left out. Queries only in the qrels are left out
    too, as trec_eval does; complete=True keeps them (trec_eval -c), so that finding nothing counts as nothing found.

    >>> run = Run(["q1", "q1"], ["a", "b"], [0.5, 0.7], ["me", "me"])
    >>> both = join(run, Qrels(["q1", "q1", "q2"], ["b", "c", "d"], [2, 1, 1]))
    >>> both.docid.tolist(), both.y.tolist(), both.scores.tolist()
    (['a', 'b', 'c'], [0, 2, 1], [0.5, 0.7, nan])
    """
    judged_queries, run_queries = set(qrels.qid), set(run.qid)
    if not (judged_queries & run_queries):
        raise DataError(
            "no query is in both the run and the qrels: "
            f"the run has {_some(run.qid)}, the qrels have {_some(qrels.qid)}"
        )
    grades = dict(zip(zip(qrels.qid, qrels.docid, strict=True), qrels.grade.tolist(), strict=True))
    kept = np.array([q in judged_queries for q in run.qid], dtype=bool)
    qid, docid, scores = run.qid[kept], run.docid[kept], run.score[kept]
    if check_unjudged(unjudged) == "skip":
        kept = np.array([pair in grades for pair in zip(qid, docid, strict=True)], dtype=bool)
        qid, docid, scores = qid[kept], docid[kept], scores[kept]
    y = np.array([grades.pop(pair, UNLABELLED) for pair in zip(qid, docid, strict=True)], dtype=np.int32)
    missed = [(q, d, grade) for (q, d), grade in grades.items() if complete or q in run_queries]
    missed_qid, missed_docid, missed_y = zip(*missed, strict=True) if missed else ((), (), ())
    n_missed = len(missed)
    all_y = np.concatenate((y, np.array(missed_y, dtype=np.int32)))
    return Joined(
        np.maximum(all_y, 0),
        np.concatenate((scores, np.full(n_missed, np.nan))),
        np.concatenate((qid, np.array(missed_qid, dtype=qid.dtype))),
        np.concatenate((docid, np.array(missed_docid, dtype=docid.dtype))),
        np.concatenate((np.ones(y.size, dtype=bool), np.zeros(n_missed, dtype=bool))),
        all_y >= 0,
    )


RunOrQrels = TypeVar("RunOrQrels", Run, Qrels)


class _RepeatedError(DataError):
    def __init__(self, table: Run | Qrels, first: int, again: int) -> None:
        self.rows = first, again
        self.pair = f"document {table.docid[again]!r} of query {table.qid[again]!r}"
        super().__init__(f"a document can be there once per query: {self.pair} is at rows {first} and {again}")


def _build(kind: type[RunOrQrels], columns: list[Array], lines: Sequence[int], name: str) -> RunOrQrels:
    try:
        return kind(*columns)
    except _RepeatedError as error:
        first, again = (lines[row] for row in error.rows)
        raise ReadError(name, again, f"{error.pair} is there twice, first in line {first}") from None


def _check_pairs(table: Run | Qrels) -> None:
    for name in ("qid", "docid"):
        values = check_column(name, getattr(table, name), len(table.qid))
        texts = np.empty(values.size, dtype=object)
        texts[:] = [value if type(value) is str else str(value) for value in values.tolist()]
        object.__setattr__(table, name, texts)
    pairs = list(zip(table.qid, table.docid, strict=True))
    if len(set(pairs)) < len(pairs):
        first: dict[tuple[str, str], int] = {}
        again = next(row for row, pair in enumerate(pairs) if first.setdefault(pair, row) != row)
        raise _RepeatedError(table, first[pairs[again]], again)


def _ranks(run: Run) -> Array:
    """Number the documents of each query from 1, best first."""
    query = query_index(run.qid)[0]
    order = np.lexsort((-run.score, query))
    starts = np.flatnonzero(np.diff(query[order], prepend=-1))
    ranks = np.empty(len(run), dtype=np.int64)
    sizes = np.diff(starts, append=len(run))
    ranks[order] = np.arange(len(run)) - np.repeat(starts, sizes) + 1
    return ranks


def _size(table: Run | Qrels) -> str:
    return f"{counted(len(table), 'row')}, {counted(len(set(table.qid)), 'query', 'queries')}"


def _some(qid: Array) -> str:
    return ", ".join(map(repr, list(dict.fromkeys(qid[:1000]))[:3])) if qid.size else "none"
