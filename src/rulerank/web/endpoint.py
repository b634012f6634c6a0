"""Endpoints of an API: validated requests, JSON responses, and their OpenAPI 3.1 description."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from inspect import signature
from itertools import groupby
from typing import Any, get_args

import msgspec
from msgspec import UNSET, Struct, UnsetType
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from rulerank import __version__
from rulerank.errors import EmbeddingError, RulerankError
from rulerank.web.requests import (
    MAX_BODY,
    REFS,
    RequestError,
    Schema,
    read_address,
    read_body,
    read_object,
    values_struct,
)

REFUSALS = {
    "400": "The body is not JSON.",
    "401": "The token is missing or wrong.",
    "403": "The request comes from another site or names another host.",
    "408": "The body did not arrive in time.",
    "413": "The body is too large.",
    "415": "The content type is not application/json.",
    "422": "A value is missing or invalid, or the request is not possible; error.field names the value.",
}
OF_BODIES = ("400", "408", "413", "415")  # refusals of requests with a body


def many(kind: Any) -> Any:
    """Return the type of a list."""
    return list[kind]


def record(name: str, /, **fields: Any) -> Any:
    """Return a struct with these fields; `| UnsetType`: an optional field.

    >>> msgspec.json.schema(record("Point", x=int, y=int | UnsetType))["$defs"]["Point"]["required"]
    ['x']
    """
    held = [(one, kind, UNSET) if UnsetType in get_args(kind) else (one, kind) for one, kind in fields.items()]
    return msgspec.defstruct(name, held, kw_only=True)


@dataclass(frozen=True)
class Endpoint:
    """A function that is called with the values of a request by name; its docstring's first line is the summary."""

    method: str
    path: str
    call: Callable[..., Any]
    answer: Any  # the return type, or the fields by name
    types: Mapping[str, Any] = field(repr=False)  # of request values, by name
    in_address: tuple[
        str, ...
    ] = ()  # optional URL parameters of requests with a body; without a body, all values are in the URL

    @property
    def has_body(self) -> bool:
        return self.method == "POST"

    @property
    def most_bytes(self) -> int:
        """Maximum size of the body."""
        return MAX_BODY

    @property
    def operation(self) -> str:
        return self.method.lower() + self.path.removeprefix("/api").replace("/", "_")

    @cached_property
    def names(self) -> tuple[list[str], list[str]]:
        """The names of the values in the URL and in the body."""
        every = [name for name in signature(self.call).parameters if name in self.types]
        address = [name for name in every if not self.has_body or name in self.in_address]
        return address, [name for name in every if name not in address]

    @cached_property
    def address(self) -> type[Struct]:
        return values_struct(f"{self.operation}_address", self.call, self.names[0], self.types, self.in_address)

    @cached_property
    def body(self) -> type[Struct]:
        return values_struct(f"{self.operation}_request", self.call, self.names[1], self.types)

    @cached_property
    def answer_type(self) -> Any:
        return record(f"{self.operation}_answer", **self.answer) if isinstance(self.answer, dict) else self.answer

    async def answer_to(self, request: Request) -> Response:
        """Read the request, run the call in a thread, and answer in JSON."""
        values = self.address_values(request)
        body = await read_body(request, self.most_bytes) if self.has_body else None
        return Response(await self.work(lambda: self.answer_bytes(values, body)), media_type="application/json")

    def address_values(self, request: Request) -> dict[str, Any]:
        """Return the validated values of the URL."""
        return read_address(request.query_params.multi_items(), self.address)

    def work(self, task: Callable[[], bytes]) -> Awaitable[bytes]:
        """Run a task in a thread."""
        return run_in_threadpool(task)

    def answer_bytes(self, values: dict[str, Any], body: bytes | None) -> bytes:
        """Return the response to validated URL values and a raw body."""
        if body is not None:
            values = values | read_object(body, self.body)
        try:
            return msgspec.json.encode(self.call(**values), enc_hook=lambda number: number.item())  # NumPy's
        except RulerankError as error:
            raise self.refusal_of(error) from None

    def refusal_of(self, error: RulerankError) -> Exception:
        """Convert an error of the library."""
        if isinstance(error, EmbeddingError):
            return RequestError(503, "no_embedding", str(error))
        return RequestError(422, "not_possible", str(error))


def routes_of(endpoints: Sequence[Endpoint]) -> list[Route]:
    """Return one route per path, for all its methods."""
    routes = []
    for path, group in groupby(endpoints, key=lambda endpoint: endpoint.path):
        by_method = {endpoint.method: endpoint for endpoint in group}

        async def handle(request: Request, by_method: dict[str, Endpoint] = by_method) -> Response:
            method = "GET" if request.method == "HEAD" else request.method
            return await by_method[method].answer_to(request)

        routes.append(Route(path, handle, methods=list(by_method)))
    return routes


ERROR = record("Error", error=record("Refusal", code=str, field=str | UnsetType, message=str))


def describe(
    endpoints: Sequence[Endpoint],
    *,
    title: str,
    about: str,
    refusals: Mapping[str, str],
    has_token: bool,
    parameters: Sequence[Schema] = (),
) -> Schema:
    """Return the OpenAPI description of an API.

    refusals: descriptions of error statuses; parameters: additional parameters of every operation.
    """
    kinds = [kind for one in endpoints for kind in (one.address, one.body, one.answer_type)]
    found, components = msgspec.json.schema_components([ERROR, *kinds], ref_template=REFS)
    for schema in components.values():
        _complete(schema)
    for one in endpoints:
        if not one.has_body:
            del components[one.body.__name__]
    addresses = [components.pop(one.address.__name__) for one in endpoints]
    paths: dict[str, Schema] = {}
    for number, (one, address) in enumerate(zip(endpoints, addresses, strict=True)):
        body, answer = found[3 * number + 2], found[3 * number + 3]
        known = [code for code in refusals if one.has_body or code not in OF_BODIES]
        operation = {
            "summary": (one.call.__doc__ or "").partition("\n")[0],
            "operationId": one.operation,
            "parameters": [
                {"name": name, "in": "query", "required": name in address["required"], "schema": schema}
                for name, schema in address["properties"].items()
            ]
            + list(parameters),
            "responses": {"200": _answer("Success.", answer)}
            | {
                code: _answer(refusals[code], found[0])
                for code in known
                if code != "404" or "doc" in (*one.names[0], *one.names[1])
            },
        }
        if one.has_body:
            operation["requestBody"] = {"required": True, "content": {"application/json": {"schema": body}}}
        paths.setdefault(one.path, {})[one.method.lower()] = operation
    description: Schema = {
        "openapi": "3.1.0",
        "info": {"title": title, "version": __version__, "description": about},
        "paths": paths,
        "components": {"schemas": components},
    }
    if has_token:
        description["components"]["securitySchemes"] = {"token": {"type": "http", "scheme": "bearer"}}
        description["security"] = [{"token": []}]
    return description


def _complete(schema: Schema) -> None:
    """Forbid other fields of an object, and require fields with defaults, which are always present."""
    if "properties" in schema:
        has = [name for name, one in schema["properties"].items() if "default" in one or name in schema["required"]]
        schema |= {"required": has, "additionalProperties": False}


def _answer(about: str, schema: Schema) -> Schema:
    return {"description": about, "content": {"application/json": {"schema": schema}}}
