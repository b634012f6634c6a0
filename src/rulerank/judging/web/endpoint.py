"""One thing the API can do: what a request for it may hold, who sends it, and how it is answered or turned away."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any
from urllib.parse import quote, unquote

from starlette.concurrency import run_in_threadpool
from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from rulerank.errors import DataError, RulerankError
from rulerank.judging.labels import StoreError, check_rater

MAX_BODY = 16 * 1024  # bytes; the longest honest request holds two ids
MAX_TEXT = 1000  # characters of an id
COOKIE = "rulerank_rater"
A_YEAR = 365 * 24 * 3600
STORE_HEADER = "Rulerank-Store"  # the identity of the label store, in requests of the page and in all answers
BODY_SECONDS = 20  # how long a body may take to arrive


class RequestError(Exception):
    """Why a request is turned away; becomes {"error": {"code": ..., "message": ...}}.

    >>> RequestError(404, "unknown_document", "there is no document 'd9' of query 'q1'").payload()
    {'error': {'code': 'unknown_document', 'message': "there is no document 'd9' of query 'q1'"}}
    """

    def __init__(self, status: int, code: str, message: str, headers: dict[str, str] | None = None) -> None:
        super().__init__(message)
        self.status = status
        self.code = code
        self.message = message
        self.headers = headers or {}

    def payload(self) -> dict[str, dict[str, str]]:
        return {"error": {"code": self.code, "message": self.message}}


@dataclass(frozen=True, slots=True)
class Field:
    """One named value of a request.

    >>> Field("doc", "The document's id.").read("d7")
    'd7'
    >>> Field("grade", "The grade.", kind="grade", high=4).schema()
    {'type': ['integer', 'null'], 'minimum': 0, 'maximum': 4, 'description': 'The grade.'}
    """

    name: str
    about: str
    kind: str = "text"  # text, or grade: a whole number or null
    required: bool = True
    high: int = MAX_TEXT  # most characters, or the highest grade
    choices: tuple[str, ...] = ()

    def schema(self) -> dict[str, Any]:
        """Return the field's JSON schema."""
        if self.kind == "grade":
            return {"type": ["integer", "null"], "minimum": 0, "maximum": self.high, "description": self.about}
        if self.choices:
            return {"type": "string", "enum": list(self.choices), "description": self.about}
        return {"type": "string", "minLength": 1, "maxLength": self.high, "description": self.about}

    def read(self, value: object) -> Any:
        """Return the value, or refuse it."""
        return self._read_grade(value) if self.kind == "grade" else self._read_text(value)

    def _read_grade(self, value: object) -> int | None:
        if value is None:
            return None
        if isinstance(value, float) and value.is_integer():  # 2.0 is a whole number in JSON
            value = int(value)
        if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value <= self.high:
            raise self._refused(f"a whole number from 0 to {self.high}, or null for 'cannot judge'", value)
        return value

    def _read_text(self, value: object) -> str:
        if not isinstance(value, str) or not 1 <= len(value) <= self.high:
            raise self._refused(f"a text of 1 to {self.high} characters", value)
        try:
            value.encode()
        except UnicodeEncodeError:  # half a character, which no store can keep
            raise self._refused("a text in Unicode", value) from None
        if self.choices and value not in self.choices:
            raise self._refused(f"one of {', '.join(self.choices)}", value)
        return value

    def _refused(self, expected: str, value: object) -> RequestError:
        return RequestError(422, "bad_value", f"{self.name} must be {expected}: got {ascii(value)[:60]}")


def read_values(fields: Sequence[Field], given: Mapping[str, object]) -> dict[str, Any]:
    """Return the value of each field; those left out are None where they may be.

    >>> read_values([Field("query", "The query's id.")], {"query": "q1"})
    {'query': 'q1'}
    """
    values: dict[str, Any] = {}
    for field in fields:
        if field.name in given:
            values[field.name] = field.read(given[field.name])
        elif field.required:
            raise RequestError(422, "missing_value", f"the request must hold {field.name}: {field.about}")
        else:
            values[field.name] = None
    return values


async def read_object(request: Request, fields: Sequence[Field]) -> dict[str, Any]:
    """Return the fields of a JSON body: an object that holds these and nothing else."""
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind != "application/json":
        raise RequestError(415, "not_json", f"expected the content type application/json: got {kind[:60]!a}")
    try:
        found = json.loads(await read_body(request))
    except (ValueError, RecursionError):
        raise RequestError(400, "malformed", "the body is not JSON in UTF-8") from None
    if not isinstance(found, dict):
        raise RequestError(422, "bad_value", "the body must be a JSON object")
    unknown = sorted(set(found) - {field.name for field in fields})
    if unknown:
        raise RequestError(422, "bad_value", f"the body must not hold {ascii(unknown[0])[:60]}")
    return read_values(fields, found)


async def read_body(request: Request) -> bytes:
    """Return the whole body, and stop reading one that is too large."""
    body = bytearray()
    try:
        async with asyncio.timeout(BODY_SECONDS):
            async for chunk in request.stream():
                body += chunk
                if len(body) > MAX_BODY:
                    raise RequestError(413, "too_large", f"the body must be at most {MAX_BODY:,} bytes")
    except TimeoutError:
        raise RequestError(
            408, "too_slow", f"the body did not arrive within {BODY_SECONDS} s", {"Connection": "close"}
        ) from None
    except ClientDisconnect:
        raise RequestError(400, "malformed", "the body ended early") from None
    return bytes(body)


def rater_named(name: str) -> str:
    """Return the rater whom a request names, or refuse the name."""
    try:
        return check_rater(name)
    except DataError as error:
        raise RequestError(422, "bad_rater", str(error)) from None


def token_holder(request: Request) -> str | None:
    """Return the name that the token of a personal link carries; None: it is the token of all, or there is none."""
    holder: str | None = request.scope.get("state", {}).get("token_holder")
    return holder


def known_rater(request: Request) -> str | None:
    """Return whose link it is, the rater of the command line, or the one of the page's cookie if that is a name."""
    holder = token_holder(request)
    if holder is not None:
        return holder
    try:
        return request.app.state.rater or check_rater(unquote(request.cookies.get(COOKIE, "")))
    except DataError:
        return None


def remember_rater(response: Response, name: str) -> None:
    """Keep a rater's name for the next visit."""
    response.set_cookie(COOKIE, quote(name, safe=""), max_age=A_YEAR, httponly=True, samesite="strict", path="/")


def rater_of(request: Request, named: str | None) -> str:
    """Return who is judging: named in the address, by the cookie of the page, or on the command line."""
    rater = named or known_rater(request)
    if rater is None:
        raise RequestError(422, "no_rater", "say who is judging: add ?rater=NAME to the address")
    rater, holder = rater_named(rater), token_holder(request)
    if holder not in (None, rater):
        raise RequestError(
            403, "other_rater", f"this link is {holder!a}'s and cannot judge as {rater!a}: use the link of that rater"
        )
    return rater


def check_store(request: Request) -> None:
    """Refuse what was meant for another label store, such as one that was served at this address before."""
    meant, ours = request.headers.get(STORE_HEADER), request.app.state.store
    if meant not in (None, ours):
        raise RequestError(
            409, "other_store", "this was meant for another label store, which was served here before: nothing changed"
        )


@dataclass(frozen=True, slots=True)
class Endpoint:
    """What is called with which values, and the name of the schema of its answer."""

    method: str
    path: str
    about: str
    call: Callable[..., dict[str, Any]]
    answer: str
    query: tuple[Field, ...] = ()
    body: tuple[Field, ...] | None = None

    async def answer_to(self, request: Request) -> Response:
        """Check the request, do the work in a thread of its own, and answer in JSON."""
        try:
            check_store(request)
            values = read_values(self.query, request.query_params)
            if self.body is not None:
                values |= await read_object(request, self.body)
            if "rater" in values:
                values["rater"] = rater_of(request, values["rater"])
            return JSONResponse(await run_in_threadpool(self.call, **values))
        except StoreError:
            raise
        except RulerankError as error:
            raise RequestError(422, "not_possible", str(error)) from None


def routes_of(endpoints: Sequence[Endpoint]) -> list[Route]:
    """Return one route per path, whatever the number of its methods."""
    routes = []
    for path, group in groupby(endpoints, key=lambda endpoint: endpoint.path):
        by_method = {endpoint.method: endpoint for endpoint in group}

        async def handle(request: Request, by_method: dict[str, Endpoint] = by_method) -> Response:
            method = "GET" if request.method == "HEAD" else request.method
            return await by_method[method].answer_to(request)

        routes.append(Route(path, handle, methods=list(by_method)))
    return routes
