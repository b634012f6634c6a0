"""Runs (`qid Q0 docid rank score tag`) and qrels (`qid 0 docid grade`) of TREC, how the two meet, and files of scores.

As in trec_eval, a run is ordered by its scores alone: the rank column is written for other tools and not read,
nor are the second columns (`Q0`, `0`). Columns are apart by any white space; ids are any text without it.
"""

from __future__ import annotations

import io
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
import polars as pl
from numpy.typing import ArrayLike

from rulerank._util.words import counted
from rulerank.dataset import MAX_GRADE, UNLABELLED, Array, Dataset, check_column, query_index
from rulerank.errors import DataError, ReadError
from rulerank.io.columns import doc_keys, first_repeat, require_docids, shared_strings, with_keys
from rulerank.io.files import Source, decoded, format_suffix, read_bytes, write_bytes
from rulerank.io.frames import write_frame
from rulerank.recall_base import RecallBase, check_unjudged, grade_text, usual_unjudged

RUN = ("qid", "Q0", "docid", "rank", "score", "tag")
QRELS = ("qid", "0", "docid", "grade")
READ = {"qid": pl.String(), "docid": pl.String(), "score": pl.Float64(), "tag": pl.String(), "grade": pl.Int32()}
NUMBERS = {"score": "a finite number as the score", "grade": "an integer as the grade"}
BLANKS = bytes.maketrans(b"\t\r\v\f", b"    ")
LARGEST = np.iinfo(np.int32).max
NOT_JUDGED = LARGEST + 1
SCORE_FORMATS = {"scores": "one per line", "run": "as a TREC run", "csv": "as csv"}


class QueryDocuments:
    """Documents of queries, each at most once per query: what `Run` and `Qrels` share."""

    qid: Array
    docid: Array

    def __post_init__(self) -> None:
        for name in ("qid", "docid"):
            values = check_column(name, getattr(self, name), len(self.qid))
            texts = np.array([value if type(value) is str else str(value) for value in values.tolist()], dtype=object)
            object.__setattr__(self, name, texts)
        twice = first_repeat(self.pairs())
        if twice:
            pair = f"document {self.docid[twice[1]]!r} of query {self.qid[twice[1]]!r}"
            raise DataError(f"a document can occur once per query: {pair} is at rows {twice[0]} and {twice[1]}")

    def __len__(self) -> int:
        return self.qid.size

    def __repr__(self) -> str:
        n_queries = counted(len(set(self.qid)), "query", "queries")
        return f"{type(self).__name__}({counted(len(self), 'row')}, {n_queries})"

    def pairs(self) -> list[tuple[str, str]]:
        """Return query and document of each row."""
        return list(zip(self.qid, self.docid, strict=True))


@dataclass(frozen=True, eq=False, repr=False)
class Run(QueryDocuments):
    """Documents retrieved for queries, with a score each; in the order of the file.

    >>> Run(["q1", "q1"], ["a", "b"], [0.5, 0.7], ["bm25", "bm25"])
    Run(2 rows, 1 query)
    """

    qid: Array  # (n_rows,) query ids
    docid: Array  # (n_rows,) document ids, each at most once per query
    score: Array  # float64 (n_rows,), finite; the higher the better
    tag: Array  # (n_rows,) the name of the system

    def __post_init__(self) -> None:
        super().__post_init__()
        score = check_column("score", self.score, len(self))
        if score.size and score.dtype.kind not in "fiub":
            raise DataError(f"scores must be numbers: got {score[0]!r} ...")
        score = score.astype(np.float64)
        bad = np.flatnonzero(~np.isfinite(score))
        if bad.size:
            raise DataError(f"scores must be finite: got {score[bad[0]]} at row {bad[0]}")
        object.__setattr__(self, "score", score)
        object.__setattr__(self, "tag", check_column("tag", self.tag, len(self)))

    def ranks(self) -> Array:
        """Number the documents of each query from 1, best first; equal scores rank in the order of the file."""
        query = query_index(self.qid)[0]
        order = np.lexsort((-self.score, query))
        starts = np.flatnonzero(np.diff(query[order], prepend=-1))
        ranks = np.empty(len(self), dtype=np.int64)
        sizes = np.diff(starts, append=len(self))
        ranks[order] = np.arange(len(self)) - np.repeat(starts, sizes) + 1
        return ranks


@dataclass(frozen=True, eq=False, repr=False)
class Qrels(QueryDocuments):
    """Judged documents of queries; in the order of the file.

    A grade below 0 stays as it is: TREC uses -1 and -2 for junk or pages nobody could judge. The measures count
    it as not relevant, as trec_eval does. It differs from -1 in a `Dataset`, which means not judged.

    >>> Qrels(["q1", "q1"], ["a", "b"], [2, -2])
    Qrels(2 rows, 1 query)
    """

    qid: Array  # (n_rows,) query ids
    docid: Array  # (n_rows,) document ids, each at most once per query
    grade: Array  # int32 (n_rows,)

    def __post_init__(self) -> None:
        super().__post_init__()
        grade = check_column("grade", self.grade, len(self))
        if grade.size and not np.issubdtype(grade.dtype, np.integer):
            raise DataError(f"grades of qrels must be integers: got {grade.dtype}")
        object.__setattr__(self, "grade", grade.astype(np.int32))

    def by_pair(self) -> dict[tuple[str, str], int]:
        """Return the grade of each query and document."""
        return dict(zip(self.pairs(), self.grade.tolist(), strict=True))


class JudgedRun(NamedTuple):
    """A run beside its judgements, ready for the measures."""

    y: Array  # int32; 0 where nobody judged the document, or judged it below 0
    scores: Array  # float64; NaN where the run did not retrieve the document
    qid: Array
    docid: Array
    retrieved: Array  # bool


def read_run(source: Source) -> Run:
    """Read a TREC run.

    >>> read_run(io.BytesIO(b"q1 Q0 doc-7 1 12.5 bm25\\n")).score.tolist()
    [12.5]
    """
    return Run(**_read_columns(source, RUN))


def read_qrels(source: Source) -> Qrels:
    """Read TREC relevance judgements.

    >>> read_qrels(io.BytesIO(b"q1 0 doc-7 2\\nq1 0 doc-8 -1\\n")).grade.tolist()
    [2, -1]
    """
    return Qrels(**_read_columns(source, QRELS))


def write_run(run: Run, target: Source) -> None:
    """Write a TREC run in its own order, with ranks from 1 by score; equal scores rank in that order.

    >>> out = io.BytesIO()
    >>> write_run(Run(["q", "q"], ["a", "b"], [0.5, 0.7], ["me", "me"]), out)
    >>> print(out.getvalue().decode().strip())
    q Q0 a 2 0.5 me
    q Q0 b 1 0.7 me
    """
    _write_lines(
        {"qid": run.qid, "Q0": "Q0", "docid": run.docid, "rank": run.ranks(), "score": run.score, "tag": run.tag},
        target,
    )


def write_qrels(qrels: Qrels, target: Source) -> None:
    """Write TREC relevance judgements.

    >>> out = io.BytesIO()
    >>> write_qrels(Qrels(["q1"], ["doc-7"], [2]), out)
    >>> out.getvalue()
    b'q1 0 doc-7 2\\n'
    """
    _write_lines({"qid": qrels.qid, "0": "0", "docid": qrels.docid, "grade": qrels.grade}, target)


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
    grades = qrels.by_pair()
    pairs = zip(map(str, data.qid.tolist()), map(str, require_docids(data).tolist()), strict=True)
    found = np.array([grades.get(pair, NOT_JUDGED) for pair in pairs], dtype=np.int64)
    judged = found != NOT_JUDGED
    query, ids = query_index(qrels.qid)
    order = np.argsort(query, kind="stable")
    parts = np.split(qrels.grade[order], np.cumsum(np.bincount(query))[:-1]) if len(qrels) else []
    of_query = {one: grade_text(part) for one, part in zip(ids.tolist(), parts, strict=True)}
    texts = np.array([of_query.get(str(one), "") for one in data.qid.tolist()], dtype=object)
    asked = texts != ""
    if len(data) and not asked.any():
        raise DataError(
            f"no query of the judgements is among the documents: the judgements have {some_ids(qrels.qid)}, "
            f"the documents {some_ids(data.qid)}"
        )
    if way is None:
        way = usual_unjudged(qrels.grade, int((asked & ~judged).sum()))
    y = np.where(asked & (way == "0"), 0, UNLABELLED)
    y[judged] = np.maximum(found[judged], 0)  # TREC's grades below 0 are not relevant
    base = RecallBase(judged, np.zeros(len(data), dtype=bool) if extra is None else extra, texts)
    return replace(data, y=y, base=base)


def join(run: Run, qrels: Qrels, complete: bool = False, unjudged: int | str | None = None) -> JudgedRun:
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
            f"the run has {some_ids(run.qid)}, the qrels have {some_ids(qrels.qid)}"
        )
    grades = qrels.by_pair()
    skip = check_unjudged(unjudged) == "skip"
    rows = [
        (*pair, score, grades.get(pair, UNLABELLED), True)
        for pair, score in zip(run.pairs(), run.score.tolist(), strict=True)
        if pair[0] in judged_queries and (pair in grades or not skip)
    ]
    there = {row[:2] for row in rows}
    rows += [
        (*pair, np.nan, grade, False)
        for pair, grade in grades.items()
        if pair not in there and (complete or pair[0] in run_queries)
    ]
    qid, docid, scores, y, retrieved = ([*column] for column in zip(*rows, strict=True)) if rows else ([],) * 5
    known = np.maximum(np.array(y, dtype=np.int32), 0)
    queries, documents = np.array(qid, dtype=object), np.array(docid, dtype=object)
    found = np.array(retrieved, dtype=bool)
    return JudgedRun(known, np.array(scores, dtype=float), queries, documents, found)


def read_scores(source: Source) -> Array:
    """Read a file of scores in SVMrank's format: one number per line, in the order of the documents.

    >>> read_scores(io.StringIO("0.5\\n-1e3\\n")).tolist()
    [0.5, -1000.0]
    """
    content, name = read_bytes(source)
    lines = content.decode("utf-8", "replace").rstrip().split("\n")
    if lines == [""]:
        raise ReadError(name, None, "the file is empty: expected one score per line")
    if len(lines[0].split()) == len(RUN):
        how = "rulerank evaluate --qrels QRELS RUN, in Python read_run and read_qrels"
        raise ReadError(name, None, f"this looks like a TREC run, not a score file; evaluate a run with qrels ({how})")
    for number, line in enumerate(lines, 1):
        if not _is_number(line.strip(), float):
            raise ReadError(
                name, number, f"expected one finite number, the score of a document: got {line.strip()[:60]!r}"
            )
    return np.array(lines, dtype=np.float64)


def write_scores(data: Dataset, scores: Array, target: Source, format: str) -> None:
    """Write the scores of documents: one per line, as a TREC run, or as a table beside their ids or keys.

    >>> out = io.BytesIO()
    >>> write_scores(Dataset([[0.5]], y=[-1], qid=["q"], docid=["d"]), np.array([0.25]), out, "csv")
    >>> print(out.getvalue().decode())
    qid,docid,score
    q,d,0.25
    """
    if format == "run":
        write_run(run_from_scores(with_keys(data), scores), target)
    elif format == "csv":
        ids = {"qid": [str(query) for query in data.qid], "docid": doc_keys(data).tolist()}
        write_frame(pl.DataFrame(ids | {"score": scores}), target, format="csv")
    else:
        write_bytes(target, "".join(f"{score!r}\n" for score in scores.tolist()).encode())


def score_format(named: str | None, out: str) -> str:
    """Return the format that was named, or the one that the file's name ends in.

    >>> score_format(None, "a.run.gz"), score_format(None, "a.txt"), score_format("csv", "a.txt")
    ('run', 'scores', 'csv')
    """
    if named is None:
        suffix = format_suffix(out).removeprefix(".")
        return suffix if suffix in SCORE_FORMATS else "scores"
    if named.lower() not in SCORE_FORMATS:
        raise DataError(f"unknown format {named!r}; choose from {', '.join(SCORE_FORMATS)}")
    return named.lower()


def _read_columns(source: Source, columns: Sequence[str]) -> dict[str, Array]:
    """Return those columns of a TREC file that mean something; each document is there once per query."""
    content, name = read_bytes(source)
    content = decoded(content, name).encode()  # without a byte order mark
    if not content.strip():
        raise ReadError(name, None, f"the file is empty: expected lines '{' '.join(columns)}'")
    plain = content.translate(BLANKS).strip()
    for several, one in ((b"  ", b" "), (b" \n", b"\n"), (b"\n ", b"\n"), (b"\n\n", b"\n")):
        while several in plain:
            plain = plain.replace(several, one)
    schema = dict.fromkeys(columns, pl.String)
    try:
        frame = pl.read_csv(plain, has_header=False, separator=" ", quote_char=None, schema=schema)
        kept = {column: frame[column].cast(dtype) for column, dtype in READ.items() if column in columns}
    except pl.exceptions.PolarsError:
        raise _mistake(content, name, columns) from None
    numbers = next(kept[column] for column in NUMBERS if column in kept)
    if any(column.null_count() for column in frame) or not numbers.is_finite().all():
        raise _mistake(content, name, columns)
    found = {n: shared_strings(one) if one.dtype == pl.String else one.to_numpy() for n, one in kept.items()}
    twice = first_repeat(list(zip(found["qid"], found["docid"], strict=True)))
    if twice:
        lines = [line for line, text in enumerate(content.split(b"\n"), start=1) if text.strip()]
        pair = f"document {found['docid'][twice[1]]!r} of query {found['qid'][twice[1]]!r}"
        raise ReadError(name, lines[twice[1]], f"{pair} appears twice, first in line {lines[twice[0]]}")
    return found


def _mistake(content: bytes, name: str, columns: Sequence[str]) -> ReadError:
    """Return the error of the first line that is not as it should be."""
    number = next(column for column in columns if column in NUMBERS)
    for line, text in enumerate(content.translate(BLANKS).split(b"\n"), start=1):
        words = [word.decode() for word in text.split(b" ") if word]
        if words and len(words) != len(columns):
            shown = " ".join(words)[:80]
            return ReadError(name, line, f"expected '{' '.join(columns)}', got {len(words)} columns: {shown!r}")
        came = words[columns.index(number)] if words else "0"
        if not _is_number(came, float if number == "score" else int):
            return ReadError(name, line, f"expected {NUMBERS[number]}, got {came!r}")
    return ReadError(name, None, f"expected lines '{' '.join(columns)}'")


def _is_number(word: str, kind: type[float] | type[int]) -> bool:
    try:
        return "_" not in word and abs(kind(word)) <= (LARGEST if kind is int else np.finfo(np.float64).max)
    except ValueError:
        return False


def _write_lines(columns: dict[str, Array | str], target: Source) -> None:
    """Write one line per row, with a space between any two columns, none of which may hold one."""
    frame = pl.DataFrame({"qid": pl.Series(columns["qid"], dtype=pl.String)})
    for name, values in columns.items():
        column = pl.lit(values) if isinstance(values, str) else pl.Series(values.tolist(), dtype=READ.get(name))
        frame = frame.with_columns(column.alias(name))
    for column in frame.select(pl.col(pl.String)):
        broken = column.filter(column.str.contains(r"[ \t\n\r\x0b\x0c]") | (column == ""))
        if len(broken):
            raise DataError(
                f"in a TREC file {column.name} must be a word without white space: got {broken[0]!r}; csv and "
                "parquet can hold it"
            )
    buffer = io.BytesIO()
    frame.write_csv(buffer, include_header=False, separator=" ", quote_style="never")
    write_bytes(target, buffer.getvalue())


def some_ids(ids: Array) -> str:
    """Return the first three different ids, for a message."""
    return ", ".join(repr(str(one)) for one in list(dict.fromkeys(ids[:1000].tolist()))[:3]) or "none"
