"""Feature logs of search engines into a data set: files of answers, the query of each, and labels from qrels."""

from __future__ import annotations

import json
import os
import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple, NoReturn, cast

import numpy as np

from rulerank.core.words import counted
from rulerank.dataset import UNLABELLED, Array, Dataset
from rulerank.errors import DataError, ReadError
from rulerank.io.delimited import check_utf8
from rulerank.io.engine_answers import Fail, Hit, is_answer, read_answer
from rulerank.io.streams import COMPRESSIONS, Source, read_bytes
from rulerank.io.table_columns import TEXT_NAMES
from rulerank.io.trec import Qrels, with_qrels

QUERY_IDS = ("query_id", "qid")  # what a wrapper calls the id
RANK, SCORE, QUERY = "engine_rank", "engine_score", "query_text"
WRAPPED = '{"query_id": ..., "response": ...}'


class _Row(NamedTuple):
    qid: str
    hit: Hit
    rank: float
    score: float
    query: str | None
    where: str


class _Logged(NamedTuple):
    """One answer as a file holds it."""

    value: Any
    qid: str | None
    query: str | None
    file: str
    line: int | None
    place: int | None  # its number in the file, None where there is one alone


def read_logs(
    sources: Source | Iterable[Source],
    *,
    qrels: Qrels | None = None,
    ids: Sequence[str] | None = None,
    key: str = "id",
    missing_as_zero: bool = False,
    unjudged: int | str | None = None,
) -> Dataset:
    """Read feature logs of OpenSearch or Elasticsearch (`sltr` with `ext.ltr_log`) or Solr (`[features]`), as JSON.

    A file holds one answer, a list of them, one a line, or what a multi-search returns. The query of each is said by a
    wrapper, `{"query_id": ..., "query": its text, "response": the answer}`, by `ids`, one per answer in order, or by
    the name of a file that holds one answer: `q7.json` is of `q7`.

    The engine's own order and score become `engine_rank` and `engine_score`, except where all scores of an answer are
    equal, as those of a filter are: its order says nothing. A feature without a value is missing;
    `missing_as_zero` makes it 0. Texts that come along (`_source`, Solr's stored fields) under a name that `read_table`
    keeps, such as title, text or url, are kept, unless a feature has that name.

    Parameters
    ----------
    sources: a file or several.
    qrels: labels, whose recall base is kept.
    unjudged: documents without a judgement have the grade 0 (0) or none ("skip"); by default 0 where the judgements
        hold hardly any grade 0.
    ids: the query ids, one per answer in order.
    key: the field of the document id in Solr's answers.
    missing_as_zero: read features without a value as 0.

    >>> import io
    >>> doc = '{"id": "d7", "score": 2.5, "[features]": "title=9.5,is_book=1.0"}'
    >>> data = read_logs(io.StringIO('{"response": {"docs": [' + doc + ']}}'), ids=["q1"])
    >>> data.feature_names, data.X.tolist(), data.qid.tolist()
    (('title', 'is_book', 'engine_rank', 'engine_score'), [[9.5, 1.0, 1.0, 2.5]], ['q1'])
    """
    one = isinstance(sources, str | os.PathLike) or hasattr(sources, "read")
    files = cast("list[Source]", [sources] if one else sources)
    logged = [answer for file in files for answer in _answers(file)]
    if ids is not None:
        logged = _with_ids(logged, ids)
    rows = [row for answer in logged for row in _rows(answer, key)]
    if not rows:
        raise DataError(f"the {counted(len(logged), 'answer')} hold no document")
    _check_once(rows)
    data = _as_data(rows, missing_as_zero)
    return data if qrels is None else join_labels(data, qrels, unjudged)


def join_labels(data: Dataset, qrels: Qrels, unjudged: int | str | None = None) -> Dataset:
    """Return the documents with the grades of the qrels, as `with_qrels` joins them, or say that none is judged.

    >>> data = Dataset([[0.5], [0.1]], [-1, -1], ["q", "q"], docid=["a", "b"])
    >>> join_labels(data, Qrels(["q"], ["b"], [2]), "skip").y.tolist()
    [-1, 2]
    """
    pairs = set(zip(map(str, data.qid), map(str, data.docid if data.docid is not None else ()), strict=True))
    unseen = set(zip(qrels.qid, qrels.docid, strict=True)) - pairs
    if len(unseen) == len(qrels):
        raise DataError(
            f"no judgement is of a document that is there: the qrels have {_pair(qrels.qid, qrels.docid)}, "
            f"the documents are {_pair(data.qid, data.docid)}; both must use the same ids"
        )
    if unseen:
        warnings.warn(
            f"{counted(len(unseen), 'judgement')} of documents that are not there: they count as not retrieved",
            stacklevel=2,
        )
    return with_qrels(data, qrels, unjudged)


def read_ids(source: Source) -> list[str]:
    """Read query ids, one a line.

    >>> import io
    >>> read_ids(io.StringIO("q1\\nq2\\n"))
    ['q1', 'q2']
    """
    content, name = read_bytes(source)
    check_utf8(content, name)
    lines = content.decode("utf-8-sig").splitlines()
    for number, line in enumerate(lines, 1):
        if not line.strip():
            raise ReadError(name, number, "expected a query id, got an empty line")
    return [line.strip() for line in lines]


def _answers(source: Source) -> Iterator[_Logged]:
    """Yield the answers of a file with their query ids where these are known."""
    content, name = read_bytes(source)
    if not content.strip():
        raise ReadError(name, None, "the file is empty: expected answers of a search engine as JSON")
    check_utf8(content, name)
    values = list(_values(content.decode("utf-8-sig"), name))
    found = [answer for value, line in values for answer in _unwrapped(value, name, line)]
    if len(found) == 1:
        qid = found[0].qid or (_stem(name) if isinstance(source, str | os.PathLike) and source != "-" else None)
        yield found[0]._replace(qid=qid, place=None)
        return
    for place, answer in enumerate(found, 1):
        yield answer._replace(place=None if answer.line is not None and len(values) == len(found) else place)


def _values(text: str, name: str) -> Iterator[tuple[Any, int | None]]:
    """Yield the JSON values of a file: one, or one a line, each with its line."""
    try:
        yield json.loads(text), None
        return
    except (ValueError, RecursionError) as error:
        whole = error
    lines = [(number, line) for number, line in enumerate(text.split("\n"), 1) if line.strip()]
    try:
        json.loads(lines[0][1])
        by_line = len(lines) > 1
    except (ValueError, RecursionError):
        by_line = False
    if not by_line:  # one value, and it is broken
        raise ReadError(name, getattr(whole, "lineno", None), f"expected JSON: {whole}")
    for number, line in lines:
        try:
            yield json.loads(line), number
        except (ValueError, RecursionError) as error:
            raise ReadError(name, number, f"expected JSON, one answer a line: {error}") from None


def _unwrapped(value: Any, name: str, line: int | None) -> Iterator[_Logged]:
    if isinstance(value, list):
        for one in value:
            yield from _unwrapped(one, name, line)
    elif isinstance(value, Mapping) and isinstance(value.get("responses"), list):  # of a multi-search
        for one in value["responses"]:
            yield from _unwrapped(one, name, line)
    elif isinstance(value, Mapping) and any(key in value for key in QUERY_IDS):
        qid = value[next(key for key in QUERY_IDS if key in value)]
        if isinstance(qid, bool) or not isinstance(qid, str | int) or qid == "":
            raise ReadError(name, line, f"expected text or a whole number as the query id, got {qid!r:.60}")
        inner = value.get("response")
        inner = inner if is_answer(inner) else value
        query = value.get("query")
        yield _Logged(inner, str(qid), query if isinstance(query, str) else None, name, line, None)
    else:
        yield _Logged(value, None, None, name, line, None)


def _with_ids(logged: list[_Logged], ids: Sequence[str]) -> list[_Logged]:
    if isinstance(ids, str) or len(ids) != len(logged):
        n_ids = "text" if isinstance(ids, str) else counted(len(ids), "id")
        raise DataError(f"ids must hold one query id per answer: {counted(len(logged), 'answer')}, {n_ids}")
    return [answer._replace(qid=str(qid)) for answer, qid in zip(logged, ids, strict=True)]


def _rows(logged: _Logged, key: str) -> Iterator[_Row]:
    fail = _fail(logged)
    if not is_answer(logged.value):
        fail("expected an answer of OpenSearch or Elasticsearch ('hits') or Solr ('response'), or one in " + WRAPPED)
    if logged.qid is None:
        fail(f"whose query is this? Write {WRAPPED}, or name the ids, one per answer (ids=; on the command line --ids)")
    answer = read_answer(logged.value, key, fail)
    ranked = answer.ranked()
    for place, hit in enumerate(answer.hits, 1):
        for name in (RANK, SCORE):
            if name in hit.features:
                fail(f"document {place}: {name!r} is what we call the engine's own; give the feature another name")
        rank, score = (answer.start + place, hit.score) if ranked else (np.nan, np.nan)
        yield _Row(logged.qid, hit, rank, score, logged.query or answer.query, _where(logged, place))


def _fail(logged: _Logged) -> Fail:
    def fail(message: str) -> NoReturn:
        before = "" if logged.place is None else f"answer {logged.place}: "
        raise ReadError(logged.file, logged.line, before + message)

    return fail


def _where(logged: _Logged, place: int) -> str:
    file = logged.file if logged.line is None else f"{logged.file}:{logged.line}"
    return f"{file}, document {place}" + ("" if logged.place is None else f" of answer {logged.place}")


def _check_once(rows: list[_Row]) -> None:
    documents: dict[tuple[str, str], _Row] = {}
    ranks: dict[tuple[str, float], _Row] = {}
    for row in rows:
        before = documents.setdefault((row.qid, row.hit.docid), row)
        if before is not row:
            twice = f"document {row.hit.docid!r} of query {row.qid!r} is there twice"
            raise DataError(f"{row.where}: {twice}, first in {before.where}")
        before = ranks.setdefault((row.qid, row.rank), row) if row.rank == row.rank else row
        if before is not row:
            raise DataError(
                f"{row.where}: query {row.qid!r} has two documents at rank {row.rank:g}, the other in {before.where}; "
                "give one answer a query, or pages of Solr, which say where they start"
            )


def _as_data(rows: list[_Row], missing_as_zero: bool) -> Dataset:
    names = list(dict.fromkeys(name for row in rows for name in row.hit.features))
    place = {name: number for number, name in enumerate(names)}
    X = np.full((len(rows), len(names)), np.nan)
    for number, row in enumerate(rows):
        for name, value in row.hit.features.items():
            X[number, place[name]] = value
    if missing_as_zero:
        X = np.nan_to_num(X, nan=0.0)
    for name, column in ((RANK, [row.rank for row in rows]), (SCORE, [row.score for row in rows])):
        if not np.isnan(column).all():
            names.append(name)
            X = np.column_stack([X, column])
    texts: dict[str, Array] = {}
    if any(row.query is not None for row in rows):
        texts[QUERY] = _column([row.query for row in rows])
    shown = dict.fromkeys(name for row in rows for name in row.hit.texts if name in TEXT_NAMES)
    for name in [one for one in shown if one not in names]:  # in a table the two would be one column
        texts.setdefault(name, _column([row.hit.texts.get(name) for row in rows]))
    qid, docid = _column([row.qid for row in rows]), _column([row.hit.docid for row in rows])
    return Dataset(X, np.full(len(rows), UNLABELLED), qid, docid, tuple(names), texts=texts)


def _column(values: list[str | None]) -> Array:
    column = np.empty(len(values), dtype=object)
    column[:] = values
    return column


def _stem(name: str) -> str:
    path = Path(name)
    return (path.with_suffix("") if path.suffix.lower() in COMPRESSIONS else path).stem


def _pair(qid: Array, docid: Array | None) -> str:
    return f"{qid[0]!r} with {docid[0]!r}" if qid.size and docid is not None else "none"
