"""The description of an API as OpenAPI 3.1, made from the same table as its routes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from rulerank import __version__
from rulerank.web.endpoint import Endpoint
from rulerank.web.fields import Value

Schema = dict[str, Any]

TEXT: Schema = {"type": "string"}
MAYBE_TEXT: Schema = {"type": ["string", "null"]}
COUNT: Schema = {"type": "integer", "minimum": 0}
SHARE: Schema = {"type": "number", "minimum": 0, "maximum": 1}
NUMBER: Schema = {"type": "number"}
MAYBE_NUMBER: Schema = {"type": ["number", "null"]}
YES_NO: Schema = {"type": "boolean"}


def thing(**properties: Schema) -> Schema:
    """Return the schema of an object that has all of these properties and no others."""
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }


def may_lack(schema: Schema, *names: str) -> Schema:
    """Return the schema of an object that may lack some properties.

    >>> may_lack(thing(field=TEXT, message=TEXT), "field")["required"]
    ['message']
    """
    return schema | {"required": [name for name in schema["required"] if name not in names]}


def many(items: Schema) -> Schema:
    return {"type": "array", "items": items}


def named(name: str) -> Schema:
    return {"$ref": f"#/components/schemas/{name}"}


def perhaps(name: str) -> Schema:
    return {"oneOf": [named(name), {"type": "null"}]}


ERROR = thing(error=may_lack(thing(code=TEXT, field=TEXT, message=TEXT), "field"))
OF_BODIES = ("400", "408", "413", "415")  # refusals of what has a body


def describe(
    endpoints: Sequence[Endpoint],
    *,
    title: str,
    about: str,
    schemas: Mapping[str, Schema],
    refusals: Mapping[str, str],
    has_token: bool,
    parameters: Sequence[Schema] = (),
) -> Schema:
    """Return the description of an API.

    refusals: what each status means; parameters: of every operation beside its own.
    """
    paths: dict[str, Schema] = {}
    for endpoint in endpoints:
        paths.setdefault(endpoint.path, {})[endpoint.method.lower()] = _operation(endpoint, refusals, parameters)
    description: Schema = {
        "openapi": "3.1.0",
        "info": {"title": title, "version": __version__, "description": about},
        "paths": paths,
        "components": {"schemas": {"Error": ERROR} | dict(schemas)},
    }
    if has_token:
        description["components"]["securitySchemes"] = {"token": {"type": "http", "scheme": "bearer"}}
        description["security"] = [{"token": []}]
    return description


def _operation(endpoint: Endpoint, refusals: Mapping[str, str], parameters: Sequence[Schema]) -> Schema:
    refused = [code for code in refusals if endpoint.body is not None or code not in OF_BODIES]
    if "404" in refused and not any(field.name == "doc" for field in (*endpoint.query, *(endpoint.body or ()))):
        refused.remove("404")
    operation: Schema = {
        "summary": endpoint.about,
        "operationId": endpoint.method.lower() + endpoint.path.removeprefix("/api").replace("/", "_"),
        "parameters": [*(_parameter(field) for field in endpoint.query), *parameters],
        "responses": {"200": _answer("What was asked for.", endpoint.answer)}
        | {code: _answer(refusals[code], "Error") for code in refused},
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


def _parameter(field: Value) -> Schema:
    return {"name": field.name, "in": "query", "required": field.required, "schema": field.schema()}


def _answer(about: str, schema: str) -> Schema:
    return {"description": about, "content": {"application/json": {"schema": named(schema)}}}
