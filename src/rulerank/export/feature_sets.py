"""A draft of the features that must go with a model into an engine: ours by name, as each engine writes them.

`bm25(title)` and the like say which field they are of. What an engine has no equal for, and where its own differs from
ours, is marked with CHECK: train on the features that the engine logs, or put ours into its index. A category needs a
script, or nested conditions, that give the model's code for its name.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any, NamedTuple

FORM = re.compile(r"(\w+)\((\w+)\)")
BM25_DIFFERS = "CHECK: its BM25 counts words, lengths and idf per shard and analyser; ours over all documents"
NO_EQUAL = "CHECK: the engine has no equal; put it into the index as a number, or write a query for it"
CATEGORY = "CHECK: a category: the model reads the code that this gives for its name; the field must hold one name"
ALL = "all"
Codes = Mapping[str, Mapping[str, Any]]  # of categories, as `Form.codes` has them


class Draft(NamedTuple):
    """What is known of a feature by its name."""

    measure: str  # bm25, exact, phrase, length, log; value: a number of the document
    field: str
    remark: str | None


def draft_of(name: str) -> Draft:
    """Read a feature's name.

    >>> draft_of("bm25(title)").field, draft_of("price")
    ('title', Draft(measure='value', field='price', remark=None))
    """
    found = FORM.fullmatch(name)
    if not found:
        return Draft("value", name, None)
    measure, field = found.groups()
    if measure == "bm25":
        return Draft("bm25", field, BM25_DIFFERS)
    if measure in ("phrase", "terms", "log"):
        return Draft(measure, field, None if measure == "log" else "CHECK: the analyser must be the one of training")
    return Draft("value", re.sub(r"\W+", "_", name).strip("_"), NO_EQUAL)


def feature_set_for(
    target: str, names: tuple[str, ...], feature_set: str, codes: Codes
) -> dict[str, Any] | list[Any] | str | None:
    """Return the draft for one target; None where it takes rows of numbers."""
    if target in ("opensearch-ltr", "elasticsearch-ltr"):
        features = [
            {"name": name, "params": ["query"], "template_language": "mustache", "template": _asked(name, codes)}
            for name in names
        ]
        return {"featureset": {"name": feature_set, "features": features}}
    if target == "elasticsearch":
        return extractors(names, codes)
    if target == "solr-ltr":
        return [
            {"store": feature_set, "name": name}
            | (_solr_code(name, codes[name]) if name in codes else _solr(draft_of(name)))
            for name in names
        ]
    return _vespa(names, feature_set, codes) if target == "vespa" else None


def extractors(names: tuple[str, ...], codes: Codes) -> list[dict[str, Any]]:
    """Return the feature extractors of Elasticsearch's own learning to rank."""
    return [{"query_extractor": {"feature_name": name, "query": _asked(name, codes)}} for name in names]


def _asked(name: str, codes: Codes) -> dict[str, Any]:
    return _code_query(name, codes[name]) if name in codes else _query(draft_of(name), "{{query}}")


def _code_query(name: str, codes: Mapping[str, Any]) -> dict[str, Any]:
    """Return a query whose score is the code of a document's name."""
    known = {kind: code for code, kind in enumerate(codes["names"])}
    field, missing = json.dumps(name, ensure_ascii=False), codes["missing"]  # Painless reads no escapes
    source = f"params.codes.getOrDefault(doc[{field}].value, params.other)"
    inner: dict[str, Any] = {"exists": {"field": name}}  # a document without it lacks the feature
    if missing is not None:
        source, inner = f"doc[{field}].size() == 0 ? params.missing : {source}", {"match_all": {}}
        known.setdefault("", missing)
    script = {"source": source, "params": {"codes": known, "other": codes["other"], "missing": missing}}
    return {"bool": {"must": [{"script_score": {"query": inner, "script": script}}], "_name": CATEGORY}}


def _query(draft: Draft, words: str) -> dict[str, Any]:
    """Return a query whose score is the feature; what is to be checked is in its name."""
    if draft.measure == "bm25" and draft.field == ALL:
        query: dict[str, Any] = {"multi_match": {"query": words, "type": "cross_fields", "fields": ["*"]}}
    elif draft.measure == "bm25":
        query = {"match": {draft.field: {"query": words}}}
    elif draft.measure == "phrase":
        query = {"constant_score": {"filter": {"match_phrase": {draft.field: words}}}}
    elif draft.measure == "terms":
        query = {"match": {draft.field: {"query": words}}}
    else:
        factor: dict[str, Any] = {"field": draft.field} | ({"modifier": "ln1p"} if draft.measure == "log" else {})
        exists = {"exists": {"field": draft.field}}  # a document without it lacks the feature
        query = {"function_score": {"query": exists, "field_value_factor": factor, "boost_mode": "replace"}}
    if draft.remark:
        return {"bool": {"must": [query], "_name": draft.remark}}
    return query


def _solr(draft: Draft) -> dict[str, Any]:
    kind = "org.apache.solr.ltr.feature."
    if draft.measure in ("bm25", "terms"):
        made: dict[str, Any] = {
            "class": f"{kind}SolrFeature",
            "params": {"q": f"{{!dismax qf={draft.field}}}${{query}}"},
        }
    elif draft.measure == "phrase":
        made = {"class": f"{kind}SolrFeature", "params": {"q": f"{{!field f={draft.field}}}${{query}}"}}
    elif draft.measure == "log":
        made = {"class": f"{kind}SolrFeature", "params": {"q": f"{{!func}}ln(sum(1,{draft.field}))"}}
    else:
        made = {"class": f"{kind}FieldValueFeature", "params": {"field": draft.field}}
    return made


def _solr_code(name: str, codes: Mapping[str, Any]) -> dict[str, Any]:
    missing = codes["other"] if codes["missing"] is None else codes["missing"]
    field = draft_of(name).field
    body = f"if(exists({field}),{codes['other']},{missing})"
    for code, kind in reversed([*enumerate(codes["names"])]):
        written = kind.replace("\\", "\\\\").replace("'", "\\'")
        body = f"if(termfreq({field},'{written}'),{code},{body})"
    return {"class": "org.apache.solr.ltr.feature.SolrFeature", "params": {"q": f"{{!func}}{body}"}}


def _vespa_code(name: str, codes: Mapping[str, Any]) -> str:
    missing = codes["other"] if codes["missing"] is None else codes["missing"]
    field = draft_of(name).field
    body = f'if (attribute({field}) == "", {missing}, {codes["other"]})'
    for code, kind in reversed([*enumerate(codes["names"])]):
        body = f"if (attribute({field}) == {json.dumps(kind, ensure_ascii=False)}, {code}, {body})"
    return body


def _vespa(names: tuple[str, ...], profile: str, codes: Codes) -> str:
    """Return a rank profile with a function for each feature that is none of Vespa's own."""
    from rulerank.export.vespa import vespa_name

    lines = [f"rank-profile {re.sub(r'[^A-Za-z0-9_]+', '_', profile)} {{"]
    for name in names:
        draft, own = draft_of(name), vespa_name(name)
        if name in codes:
            draft = Draft("value", name, CATEGORY)
        if draft.remark:
            lines.append(f"    # {name}: {draft.remark}")
        if draft.measure == "bm25" and draft.field != ALL:
            continue  # bm25(title) is a rank feature of Vespa's
        body = f"log(1 + attribute({draft.field}))" if draft.measure == "log" else f"attribute({draft.field})"
        body = _vespa_code(name, codes[name]) if name in codes else body
        function = re.sub(r"\W+", "_", own).strip("_")
        if function != own:
            lines.append(f"    # Vespa has no {own}: rename the feature {function} before training")
        lines += [f"    function {function}() {{", f"        expression: {body}", "    }"]
    return "\n".join([*lines, "}", ""])
