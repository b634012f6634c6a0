"""The description of the API at /openapi.json, made from the same table as its routes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from rulerank import __version__
from rulerank.judging.web.endpoint import STORE_HEADER, Endpoint, Field

TEXT: dict[str, Any] = {"type": "string"}
MAYBE_TEXT: dict[str, Any] = {"type": ["string", "null"]}
COUNT: dict[str, Any] = {"type": "integer", "minimum": 0}
SHARE: dict[str, Any] = {"type": "number", "minimum": 0, "maximum": 1}
NUMBER: dict[str, Any] = {"type": "number"}
MAYBE_NUMBER: dict[str, Any] = {"type": ["number", "null"]}
YES_NO: dict[str, Any] = {"type": "boolean"}
GRADE: dict[str, Any] = {"type": ["integer", "null"], "minimum": 0}

STORE: dict[str, Any] = {
    "name": STORE_HEADER, "in": "header", "required": False, "schema": {"type": "string"},
    "description": "The store that is meant, as every answer names it in this header; another one refuses.",
}  # fmt: skip
REFUSALS = {
    "400": "The body is not JSON.",
    "401": "The token is missing or wrong.",
    "403": "The request comes from another site, names another host, or names another rater than its token.",
    "404": "There is no such document.",
    "408": "The body did not arrive in time.",
    "409": "The request was meant for another label store.",
    "413": "The body is too large.",
    "415": "The content type is not application/json.",
    "422": "A value is missing or not allowed, or what is asked is not possible yet.",
    "503": "The label store cannot be written or read; try again.",
}


def thing(**properties: dict[str, Any]) -> dict[str, Any]:
    """Return the schema of an object that has all of these properties and no others."""
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }


def many(items: dict[str, Any]) -> dict[str, Any]:
    return {"type": "array", "items": items}


def named(name: str) -> dict[str, Any]:
    return {"$ref": f"#/components/schemas/{name}"}


def perhaps(name: str) -> dict[str, Any]:
    return {"oneOf": [named(name), {"type": "null"}]}


TEXTS = dict.fromkeys(("query_text", "description", "title", "text", "url"), MAYBE_TEXT)
FACT = {
    "id": COUNT, "query": TEXT, "doc": TEXT, "grade": GRADE, "rater": TEXT, "time": TEXT,
    "superseded_by": GRADE, "withdrawn": MAYBE_TEXT,
}  # fmt: skip
HANDED = {"task": perhaps("Task"), "progress": named("Progress")}

SCHEMAS: dict[str, Any] = {
    "Error": thing(error=thing(code=TEXT, message=TEXT)),
    "Task": thing(query=TEXT, doc=TEXT, **TEXTS, judged=YES_NO, grade=GRADE),
    "Progress": thing(
        rater=TEXT, mine=COUNT, labelled=COUNT, cannot_judge=COUNT, skipped=COUNT, pool_size=COUNT,
        closeness=SHARE, done=YES_NO, reason=TEXT,
    ),
    "Label": thing(**FACT),
    "Estimate": thing(grade=NUMBER, rank=COUNT, n_docs=COUNT, reasons=many(TEXT), n_labels=COUNT),
    "Coefficient": thing(value=MAYBE_NUMBER, n_docs=COUNT, reason=TEXT),
    "Agreement": thing(
        n_docs=COUNT, nominal=named("Coefficient"), ordinal=named("Coefficient"),
        pairs=many(thing(raters=many(TEXT), kappa=named("Coefficient"), weighted=named("Coefficient"))),
    ),
    "Overview": thing(
        labelled=COUNT, cannot_judge=COUNT, pool_size=COUNT, elsewhere=COUNT, closeness=SHARE,
        queries=many(thing(
            query=TEXT, query_text=MAYBE_TEXT, n_docs=COUNT, labelled=COUNT, cannot_judge=COUNT,
            mean_grade=MAYBE_NUMBER,
        )),
        raters=many(thing(
            rater=TEXT, graded=COUNT, cannot_judge=COUNT, skipped=COUNT, mean_grade=MAYBE_NUMBER,
        )),
        agreement=named("Agreement"), rules=many(TEXT),
        standing=many(TEXT),
    ),
    "Duel": thing(query=TEXT, docs=many(named("Task")), number=COUNT),
    "Check": thing(
        won=COUNT, lost=COUNT, drawn=COUNT, verdict=TEXT, over=YES_NO, interval=many(SHARE), line=TEXT, changed=SHARE,
    ),
    "Duelling": thing(duel=perhaps("Duel"), check=perhaps("Check")),
    "CheckOnly": thing(check=perhaps("Check")),
    "Handed": thing(**HANDED),
    "Features": thing(features=many(thing(name=TEXT, value=MAYBE_NUMBER, percentile=MAYBE_NUMBER))),
    "Labels": thing(labels=many(thing(**FACT, query_text=MAYBE_TEXT, title=MAYBE_TEXT, in_pool=YES_NO))),
    "Labelled": thing(label=named("Label"), **HANDED),
    "Estimated": thing(estimate=perhaps("Estimate")),
    "Undone": thing(undone=perhaps("Label"), **HANDED),
    "ProgressOnly": thing(progress=named("Progress")),
    "OverviewOnly": thing(overview=named("Overview")),
    "Model": thing(path=TEXT, method=TEXT, n_labels=COUNT, notes=many(TEXT)),
}  # fmt: skip


def describe(endpoints: Sequence[Endpoint], *, has_token: bool) -> dict[str, Any]:
    """Return the OpenAPI 3.1 description of an API."""
    paths: dict[str, dict[str, Any]] = {}
    for endpoint in endpoints:
        paths.setdefault(endpoint.path, {})[endpoint.method.lower()] = _operation(endpoint)
    description: dict[str, Any] = {
        "openapi": "3.1.0",
        "info": {
            "title": "rulerank judge",
            "version": __version__,
            "description": "Hands out documents to judge, takes grades, and tells how far the labels have come.",
        },
        "paths": paths,
        "components": {"schemas": SCHEMAS},
    }
    if has_token:
        description["components"]["securitySchemes"] = {"token": {"type": "http", "scheme": "bearer"}}
        description["security"] = [{"token": []}]
    return description


def _operation(endpoint: Endpoint) -> dict[str, Any]:
    refused = [code for code in REFUSALS if endpoint.body is not None or code not in ("400", "408", "413", "415")]
    if not any(field.name == "doc" for field in (*endpoint.query, *(endpoint.body or ()))):
        refused.remove("404")
    operation: dict[str, Any] = {
        "summary": endpoint.about,
        "operationId": endpoint.method.lower() + endpoint.path.removeprefix("/api").replace("/", "_"),
        "parameters": [*(_parameter(field) for field in endpoint.query), STORE],
        "responses": {"200": _answer("What was asked for.", endpoint.answer)}
        | {code: _answer(REFUSALS[code], "Error") for code in refused},
    }
    if endpoint.body is not None:
        schema = {
            "type": "object",
            "properties": {field.name: field.schema() for field in endpoint.body},
            "required": [field.name for field in endpoint.body if field.required],
            "additionalProperties": False,
        }
        operation["requestBody"] = {"required": True, "content": {"application/json": {"schema": schema}}}
    return operation


def _parameter(field: Field) -> dict[str, Any]:
    return {"name": field.name, "in": "query", "required": field.required, "schema": field.schema()}


def _answer(about: str, schema: str) -> dict[str, Any]:
    return {"description": about, "content": {"application/json": {"schema": named(schema)}}}
