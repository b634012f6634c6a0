"""One answer of a search engine with logged features: OpenSearch and Elasticsearch LTR, and Solr, as documents.

What is missing: OpenSearch and Elasticsearch name a feature that does not match and give it no value (a 0 when asked
with `missing_as_zero`); Solr's dense form gives every feature its default value, mostly 0, and its sparse form leaves
out those that have it. What has no value here is missing; what the engine has filled in is what it says.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, NoReturn

import numpy as np

from rulerank.core.words import listed

MISSING = float("nan")
MOST = float(np.finfo(np.float32).max)
FORMS = (("=", ","), (":", ";"), (":", " "))  # Solr's: the default, an old one, the guide's for sparse

Fail = Callable[[str], NoReturn]  # says where it is


@dataclass(frozen=True)
class Hit:
    """One document of an answer."""

    docid: str
    features: dict[str, float]  # NaN: named, and without a value
    score: float  # NaN: not told
    texts: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Answer:
    """The documents of one answer, best first."""

    hits: list[Hit]
    start: int = 0  # how many documents came before, on earlier pages
    query: str | None = None  # what was asked, if the answer says so

    def ranked(self) -> bool:
        """Whether the order means something: a filter gives all documents one score."""
        scores = [hit.score for hit in self.hits]
        return len(scores) < 2 or any(np.isnan(scores)) or min(scores) < max(scores)


def is_answer(value: object) -> bool:
    """Whether this looks like the answer of an engine, an error among them."""
    return isinstance(value, Mapping) and any(key in value for key in ("hits", "response", "docs", "error"))


def read_answer(value: Mapping[str, Any], key: str, fail: Fail) -> Answer:
    """Read one answer; `key` is the field of Solr's document ids.

    >>> log = [{"log_entry1": [{"name": "title", "value": 9.5}, {"name": "body"}]}]
    >>> hit = {"_id": "7", "_score": 2.5, "fields": {"_ltrlog": log}}
    >>> read_answer({"hits": {"hits": [hit]}}, "id", print).hits
    [Hit(docid='7', features={'title': 9.5, 'body': nan}, score=2.5, texts={})]
    >>> doc = {"id": "7", "score": 2.5, "[features]": "title=9.5,body=0.0"}
    >>> read_answer({"response": {"docs": [doc]}}, "id", print).hits
    [Hit(docid='7', features={'title': 9.5, 'body': 0.0}, score=2.5, texts={})]
    """
    if "error" in value:
        fail(f"this is an error of the engine, not an answer: {_reason(value['error'])}")
    if "hits" in value:
        found = value["hits"]
        if not isinstance(found, Mapping) or not isinstance(found.get("hits"), list):
            fail("expected the documents in 'hits.hits', a list, as OpenSearch and Elasticsearch write it")
        return Answer([_elastic_hit(hit, _at(fail, place)) for place, hit in enumerate(found["hits"], 1)])
    found = value.get("response", value)
    if not isinstance(found, Mapping) or not isinstance(found.get("docs"), list):
        fail("expected the documents in 'hits.hits' (OpenSearch, Elasticsearch) or 'response.docs' (Solr)")
    start = found.get("start", 0)
    if isinstance(start, bool) or not isinstance(start, int) or start < 0:
        fail(f"expected a whole number from 0 as 'response.start', got {start!r:.60}")
    header = value.get("responseHeader")
    params = header.get("params") if isinstance(header, Mapping) else None
    query = params.get("q") if isinstance(params, Mapping) else None
    hits = [_solr_hit(doc, key, _at(fail, place)) for place, doc in enumerate(found["docs"], 1)]
    return Answer(hits, start, query if isinstance(query, str) else None)


def _at(fail: Fail, place: int) -> Fail:
    def fail_here(message: str) -> NoReturn:
        fail(f"document {place}: {message}")

    return fail_here


def _elastic_hit(hit: Any, fail: Fail) -> Hit:
    if not isinstance(hit, Mapping):
        fail(f"expected an object, got {hit!r:.60}")
    docid = _docid(hit, "_id", fail)
    fields = hit.get("fields")
    log = fields.get("_ltrlog") if isinstance(fields, Mapping) else None
    if not isinstance(log, list):
        fail(f"{docid!r} has no features, 'fields._ltrlog'; log them: an sltr query, and ext.ltr_log that names it")
    features: dict[str, float] = {}
    for name, value in _logged(log, fail):
        if name in features:
            fail(f"feature {name!r} is there twice")
        features[name] = value
    source = hit.get("_source")
    return Hit(docid, features, _score(hit.get("_score"), fail), _texts(source) if isinstance(source, Mapping) else {})


def _logged(log: list[Any], fail: Fail) -> Iterator[tuple[str, float]]:
    """Yield names and values; with several log entries in a document, each name begins with its entry's."""
    entries = [entry for part in log if isinstance(part, Mapping) for entry in part.items()]
    if not entries or len([part for part in log if isinstance(part, Mapping)]) < len(log):
        fail(f"expected log entries in 'fields._ltrlog', such as {{'log_entry1': [...]}}, got {log!r:.60}")
    for entry, features in entries:
        if not isinstance(features, list):
            fail(f"expected a list of features in the log entry {entry!r}, got {features!r:.60}")
        before = f"{entry}." if len(entries) > 1 else ""
        for feature in features:
            name = feature.get("name") if isinstance(feature, Mapping) else None
            if not isinstance(name, str) or not name:
                fail(f"expected {{'name': ..., 'value': ...}} in the log entry {entry!r}, got {feature!r:.60}")
            value = feature.get("value")
            if isinstance(value, Mapping):  # what a script adds in extra_logging; its texts are no features
                for one, inner in value.items():
                    if not isinstance(inner, str):
                        yield f"{before}{name}.{one}", _number(f"{name}.{one}", inner, fail)
            else:
                yield before + name, _number(name, value, fail)


def _solr_hit(doc: Any, key: str, fail: Fail) -> Hit:
    if not isinstance(doc, Mapping):
        fail(f"expected an object, got {doc!r:.60}")
    docid = _docid(doc, key, fail)
    column = next((name for name in doc if name.startswith("[features")), None)
    if column is None:
        fail(f"{docid!r} has no '[features]'; ask for it with fl={key},score,[features] and give it no other name")
    if not isinstance(doc[column], str):
        fail(f"expected text such as 'a=0.5,b=2.0' in {column!r}, got {doc[column]!r:.60}")
    texts = {name: value for name, value in doc.items() if name not in (key, column)}
    return Hit(docid, solr_features(doc[column], fail), _score(doc.get("score"), fail), _texts(texts))


def solr_features(text: str, fail: Fail) -> dict[str, float]:
    """Read the features of one document as Solr writes them, dense or sparse.

    >>> solr_features("title=9.5,body=NaN", print)
    {'title': 9.5, 'body': nan}
    >>> solr_features("title:9.5 is_book:1.0", print)
    {'title': 9.5, 'is_book': 1.0}
    """
    if not text.strip():
        return {}  # sparse, and every feature has its default
    for between, after in FORMS:
        parts = [part.strip().rpartition(between) for part in text.strip().split(after)]
        if all(name and between not in name and _is_number(value) for name, _, value in parts):
            break
    else:
        fail(f"expected features as 'a=0.5,b=2.0' or 'a:0.5 b:2.0', got {text[:60]!r}")
    features = {name: _number(name, float(value), fail) for name, _, value in parts}
    if len(features) < len(parts):
        fail(f"a feature is there twice: {text[:60]!r}")
    return features


def _docid(hit: Mapping[str, Any], key: str, fail: Fail) -> str:
    docid = hit.get(key)
    if isinstance(docid, bool) or not isinstance(docid, str | int) or docid == "":
        came = f"got {docid!r:.60}" if key in hit else f"there is none; its fields are {listed([*hit]) or 'none'}"
        fail(f"expected the document's id in {key!r}: {came}")
    return str(docid)


def _score(value: Any, fail: Fail) -> float:
    return _number("score", value, fail)


def _number(name: str, value: Any, fail: Fail) -> float:
    if value is None or value == "NaN":
        return MISSING
    if isinstance(value, bool) or not isinstance(value, int | float) or abs(value) > MOST:
        fail(f"expected a finite number that fits float32 as {name!r}, got {value!r:.60}")
    return float(value)


def _is_number(word: str) -> bool:
    try:
        float(word)
    except ValueError:
        return False
    return True


def _texts(fields: Mapping[str, Any]) -> dict[str, str]:
    return {name: value for name, value in fields.items() if isinstance(value, str)}


def _reason(error: Any) -> str:
    """Say in a line what the engine complains about."""
    if isinstance(error, Mapping):
        said = error.get("reason") or error.get("msg") or (error.get("root_cause") or [{}])[0]
        return f"{said!s:.200}"
    return f"{error!s:.200}"
