"""Feature logs of OpenSearch, Elasticsearch and Solr as a data set, with labels from qrels.

Missing values: OpenSearch and Elasticsearch list a feature that does not match without a value (0 with
`missing_as_zero` in the log spec); Solr's dense form writes the default of every feature, mostly 0, and its sparse form
omits features at their default. A feature without a value is missing here.
"""

from __future__ import annotations

import json
import os
import warnings
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple, cast

import numpy as np

from rulerank._util.words import counted, listed
from rulerank.dataset import UNLABELLED, Dataset
from rulerank.errors import DataError, ReadError, located
from rulerank.io.columns import require_docids
from rulerank.io.files import Source, decoded, read_bytes
from rulerank.io.tables import TEXT_NAMES
from rulerank.io.trec import Qrels, with_qrels

RANK, SCORE, QUERY = "engine_rank", "engine_score", "query_text"
WRAPPED = '{"query_id": ..., "response": ...}'
LARGEST = float(np.finfo(np.float32).max)


class _Answer(NamedTuple):
    """One response of an engine."""

    value: Any
    qid: str | None
    query: str | None
    file: str
    line: int | None
    place: int = 1  # its number in the file


class _Row(NamedTuple):
    """One document of a response."""

    docid: str
    features: dict[str, float]  # NaN: named, and without a value
    score: float  # NaN: unknown
    texts: dict[str, Any]
    rank: float = np.nan
    qid: str = ""
    query: str | None = None
    where: str = ""


def read_logs(
    sources: Source | Iterable[Source],
    *,
    qrels: Qrels | None = None,
    key: str = "id",
    unjudged: int | str | None = None,
) -> Dataset:
    """Read feature logs of OpenSearch or Elasticsearch (`sltr` with `ext.ltr_log`) or Solr (`[features]`), as JSON.

    A file has one response, a list, or one per line. A wrapper names the query of each response, `{"query_id": ...,
    "query": its text, "response": ...}`; a file with one response may be named by its query instead: `q7.json`.

    The engine's own order and score become `engine_rank` and `engine_score`, except where all scores of a response are
    equal, as those of a filter are: its order has no meaning. A feature without a value is missing. Texts in the
    response (`_source`, Solr's stored fields) with a name that `read_table` keeps, such as title or url, are kept,
    unless a feature has that name.

    Parameters
    ----------
    sources: a file or several.
    qrels: labels, whose recall base is kept.
    unjudged: documents without a judgement have the grade 0 (0) or none ("skip"); by default 0 where the judgements
        hold hardly any grade 0.
    key: the field of the document id in Solr's responses.

    >>> import io
    >>> doc = '{"id": "d7", "score": 2.5, "[features]": "title=9.5,is_book=1.0"}'
    >>> data = read_logs(io.StringIO('{"query_id": "q1", "response": {"docs": [' + doc + ']}}'))
    >>> data.feature_names, data.X.tolist(), data.qid.tolist()
    (('title', 'is_book', 'engine_rank', 'engine_score'), [[9.5, 1.0, 1.0, 2.5]], ['q1'])
    """
    one = isinstance(sources, str | os.PathLike) or hasattr(sources, "read")
    files = cast("list[Source]", [sources] if one else sources)
    answers = [answer for file in files for answer in _answers(file)]
    rows = []
    for answer in answers:
        with located(f"response {answer.place}", answer.file, answer.line):
            rows += _rows(answer, key)
    if not rows:
        raise DataError(f"no document in {counted(len(answers), 'response')}")
    seen: dict[tuple[str, str], _Row] = {}
    for row in rows:
        before = seen.setdefault((row.qid, row.docid), row)
        if before is not row:
            raise DataError(
                f"{row.where}: document {row.docid!r} of query {row.qid!r} appears twice, first in {before.where}"
            )
    data = _as_data(rows)
    return data if qrels is None else join_labels(data, qrels, unjudged)


def join_labels(data: Dataset, qrels: Qrels, unjudged: int | str | None = None) -> Dataset:
    """Return the documents with the grades of the qrels (`with_qrels`), or raise an error where none is judged.

    >>> data = Dataset([[0.5], [0.1]], [-1, -1], ["q", "q"], docid=["a", "b"])
    >>> join_labels(data, Qrels(["q"], ["b"], [2]), "skip").y.tolist()
    [-1, 2]
    """
    there = dict.fromkeys(zip(map(str, data.qid), map(str, require_docids(data)), strict=True))
    judged = dict.fromkeys(zip(qrels.qid, qrels.docid, strict=True))
    unseen = judged.keys() - there.keys()
    if len(unseen) == len(qrels):
        raise DataError(
            f"no judgement matches a document: the qrels have {next(iter(judged), 'none')}, the documents "
            f"{next(iter(there), 'none')}; both must use the same ids"
        )
    if unseen:
        warnings.warn(
            f"{counted(len(unseen), 'judged document')} not in the logs: counted as not retrieved", stacklevel=2
        )
    return with_qrels(data, qrels, unjudged)


def read_ids(source: Source) -> list[str]:
    """Read query ids, one per line.

    >>> import io
    >>> read_ids(io.StringIO("q1\\nq2\\n"))
    ['q1', 'q2']
    """
    content, name = read_bytes(source)
    lines = [line.strip() for line in decoded(content, name).splitlines()]
    if "" in lines:
        raise ReadError(name, lines.index("") + 1, "expected a query id, got an empty line")
    return lines


def _answers(source: Source) -> list[_Answer]:
    """Return the responses of a file with their query ids where these are known."""
    content, name = read_bytes(source)
    if not content.strip():
        raise ReadError(name, None, "the file is empty: expected responses of a search engine as JSON")
    values = _values(decoded(content, name), name)
    answers = [answer for value, line in values for answer in _unwrapped(value, name, line)]
    if len(answers) == 1 and answers[0].qid is None and Path(name.removesuffix(".gz")).suffix:
        return [answers[0]._replace(qid=Path(name.removesuffix(".gz")).stem)]
    return [answer._replace(place=place) for place, answer in enumerate(answers, 1)]


def _values(text: str, name: str) -> list[tuple[Any, int | None]]:
    """Return the JSON values of a file: one, or one per line, each with its line."""
    try:
        return [(json.loads(text), None)]
    except (ValueError, RecursionError) as error:
        whole = error
    values: list[tuple[Any, int | None]] = []
    for number, line in enumerate(text.split("\n"), 1):
        try:
            values += [(json.loads(line), number)] if line.strip() else []
        except (ValueError, RecursionError) as error:
            if not values:  # one value, and it is broken
                raise ReadError(name, getattr(whole, "lineno", None), f"expected JSON: {whole}") from None
            raise ReadError(name, number, f"expected JSON, one response per line: {error}") from None
    return values


def _unwrapped(value: Any, name: str, line: int | None) -> Iterator[_Answer]:
    if isinstance(value, list):
        for one in value:
            yield from _unwrapped(one, name, line)
        return
    if not isinstance(value, Mapping) or "query_id" not in value:
        yield _Answer(value, None, None, name, line)
        return
    qid, query, inner = value["query_id"], value.get("query"), value.get("response")
    if isinstance(qid, bool) or not isinstance(qid, str | int) or qid == "":
        raise ReadError(name, line, f"expected text or a whole number as the query id, got {qid!r:.60}")
    yield _Answer(
        inner if _is_answer(inner) else value, str(qid), query if isinstance(query, str) else None, name, line
    )


def _is_answer(value: object) -> bool:
    """Whether this looks like a response of an engine, or an error of it."""
    return isinstance(value, Mapping) and any(key in value for key in ("hits", "response", "docs", "error"))


def _get(value: Any, *keys: str) -> Any:
    """Return what lies under keys, None where there is nothing."""
    for key in keys:
        value = value.get(key) if isinstance(value, Mapping) else None
    return value


def _rows(answer: _Answer, key: str) -> list[_Row]:
    """Return the documents of a response, best first; `key` is the field of Solr's document ids."""
    value = answer.value
    if not _is_answer(value):
        raise DataError(
            f"expected a response of OpenSearch or Elasticsearch ('hits') or Solr ('response'), or one in {WRAPPED}"
        )
    if answer.qid is None:
        raise DataError(f"no query id for this response: wrap it as {WRAPPED}")
    if "error" in value:
        error = value["error"]
        raise DataError(
            f"this is an error of the engine: {_get(error, 'reason') or _get(error, 'msg') or error!s:.200}"
        )
    elastic = "hits" in value
    inner = value.get("response", value)
    hits, start = (_get(value, "hits", "hits"), 0) if elastic else (_get(inner, "docs"), _get(inner, "start") or 0)
    if not isinstance(hits, list) or not all(isinstance(hit, Mapping) for hit in hits) or type(start) is not int:
        raise DataError(
            "expected a list of documents in 'hits.hits' (OpenSearch, Elasticsearch) or 'response.docs' (Solr)"
        )
    asked = _get(value, "responseHeader", "params", "q")
    query = answer.query or (asked if isinstance(asked, str) else None)
    file = answer.file if answer.line is None else f"{answer.file}:{answer.line}"
    rows = []
    for place, hit in enumerate(hits, 1):
        with located(f"document {place}"):
            row = _elastic_row(hit) if elastic else _solr_row(hit, key)
            for name in {RANK, SCORE} & row.features.keys():
                raise DataError(f"{name!r} is the name of the engine's own rank or score; rename the feature")
        where = f"{file}, document {place} of response {answer.place}"
        rows.append(row._replace(rank=start + place, qid=answer.qid, query=query, where=where))
    scores = [row.score for row in rows]
    if len(scores) > 1 and min(scores) == max(scores):  # as of a filter: their order means nothing; NaN differs
        rows = [row._replace(rank=np.nan, score=np.nan) for row in rows]
    return rows


def _elastic_row(hit: Mapping[str, Any]) -> _Row:
    docid, log = _docid(hit, "_id"), _get(hit, "fields", "_ltrlog")
    if not isinstance(log, list) or not all(isinstance(part, Mapping) for part in log):
        raise DataError(
            f"{docid!r} has no features, 'fields._ltrlog'; log them: an sltr query, and ext.ltr_log that names it"
        )
    features: dict[str, float] = {}
    for entry, logged in (entry for part in log for entry in part.items()):
        for feature in logged if isinstance(logged, list) else [logged]:
            name, value = _get(feature, "name"), _get(feature, "value")
            if not isinstance(name, str) or not name:
                raise DataError(
                    f"expected a list of {{'name': ..., 'value': ...}} in the log entry {entry!r}, got {feature!r:.60}"
                )
            if name in features:
                raise DataError(f"feature {name!r} appears twice")
            features[name] = _number(name, value)
    source = hit.get("_source")
    return _Row(docid, features, _number("score", hit.get("_score")), source if isinstance(source, dict) else {})


def _solr_row(hit: Mapping[str, Any], key: str) -> _Row:
    docid = _docid(hit, key)
    column = next((name for name in hit if name.startswith("[features")), None)
    if column is None or not isinstance(hit[column], str):
        raise DataError(
            f"{docid!r} has no '[features]' such as 'a=0.5,b=2.0'; ask for it with fl={key},score,[features], "
            "without an alias"
        )
    texts = {name: value for name, value in hit.items() if name not in (key, column)}
    return _Row(docid, solr_features(hit[column]), _number("score", hit.get("score")), texts)


def solr_features(text: str) -> dict[str, float]:
    """Read the features of one document as Solr writes them, dense or sparse.

    >>> solr_features("title=9.5,body=NaN")
    {'title': 9.5, 'body': nan}
    """
    parts = [part.strip().rpartition("=") for part in text.split(",")] if text.strip() else []  # sparse: all defaults
    try:
        found = {name: float(value) for name, _, value in parts}
    except ValueError:
        found = {}
    if len(found) < len(parts) or "" in found:
        raise DataError(f"expected features as 'a=0.5,b=2.0', each once, got {text[:60]!r}")
    return {name: _number(name, value) for name, value in found.items()}


def _docid(hit: Mapping[str, Any], key: str) -> str:
    docid = hit.get(key)
    if isinstance(docid, bool) or not isinstance(docid, str | int) or docid == "":
        came = f"got {docid!r:.60}; its fields are {listed([*hit]) or 'none'}"
        raise DataError(f"expected the document's id in {key!r}: {came}")
    return str(docid)


def _number(name: str, value: Any) -> float:
    if value is None or value == "NaN":
        return np.nan
    if isinstance(value, bool) or not isinstance(value, int | float) or abs(value) > LARGEST:
        raise DataError(f"expected a finite number that fits float32 as {name!r}, got {value!r:.60}")
    return float(value)


def _as_data(rows: list[_Row]) -> Dataset:
    names = dict.fromkeys(name for row in rows for name in row.features)
    features = {name: [row.features.get(name, np.nan) for row in rows] for name in names}
    engine = {RANK: [row.rank for row in rows], SCORE: [row.score for row in rows]}
    features |= {name: column for name, column in engine.items() if not np.isnan(column).all()}
    texts: dict[str, list[Any]] = {QUERY: [row.query for row in rows]}
    for name in dict.fromkeys(name for row in rows for name in row.texts if name in TEXT_NAMES):
        if name not in features:  # in a table, texts and features share the columns
            texts.setdefault(name, [row.texts.get(name) for row in rows])
    columns = {name: [text if isinstance(text, str) else None for text in own] for name, own in texts.items()}
    kept = {name: np.array(own, dtype=object) for name, own in columns.items() if any(own)}
    qid, docid = (np.array([getattr(row, name) for row in rows], dtype=object) for name in ("qid", "docid"))
    X = np.array([*features.values()]).T.reshape(len(rows), len(features))
    return Dataset(X, np.full(len(rows), UNLABELLED), qid, docid, tuple(features), texts=kept)
