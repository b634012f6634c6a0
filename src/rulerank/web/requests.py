"""Read and validate requests with msgspec; errors name the field."""

from __future__ import annotations

import asyncio
import dataclasses
import re
from collections.abc import Callable, Iterable, Mapping
from functools import cache
from inspect import Parameter, signature
from typing import Annotated, Any, Literal

import msgspec
from msgspec import UNSET, Meta, Struct, UnsetType
from starlette.requests import ClientDisconnect, Request

MAX_TEXT = 1000  # characters of an id
MAX_BODY = 16 * 1024  # bytes; enough for a few ids
BODY_SECONDS = 20  # for a body to arrive
REFS = "#/components/schemas/{name}"
WORDS = {"str": "a text", "int": "a whole number", "float": "a number", "bool": "true or false", "array": "a list",
         "object": "an object"}  # fmt: skip

Schema = dict[str, Any]


@dataclasses.dataclass(eq=False)
class RequestError(Exception):
    """A refusal of a request; becomes {"error": {"code": ..., "field": ..., "message": ...}}.

    >>> RequestError(404, "unknown_document", "there is no document 'd9' of query 'q1'").payload()
    {'error': {'code': 'unknown_document', 'message': "there is no document 'd9' of query 'q1'"}}
    >>> RequestError(422, "bad_value", "top must be a whole number", field="top").payload()
    {'error': {'code': 'bad_value', 'field': 'top', 'message': 'top must be a whole number'}}
    """

    status: int
    code: str
    message: str
    headers: dict[str, str] = dataclasses.field(default_factory=dict)
    field: str | None = None  # with the invalid value

    def __str__(self) -> str:
        return self.message

    def payload(self) -> dict[str, dict[str, str]]:
        """Return the JSON values of the response."""
        where = {} if self.field is None else {"field": self.field}
        return {"error": {"code": self.code} | where | {"message": self.message}}


def brief(value: object) -> str:
    """Return the beginning of a value, for messages.

    >>> brief("x" * 100)[-5:], brief([1, 2]), brief([0] * 20)
    ('xxxxx', '[1, 2]', 'a list of 20')
    """
    if isinstance(value, list) and len(value) > 9:
        return f"a list of {len(value):,}"
    try:
        return ascii(value)[:60]
    except (RecursionError, ValueError):  # nested too deeply, or too many digits
        return f"a {type(value).__name__}"


def text(about: str, most: int = MAX_TEXT) -> Any:
    """Return the type of a text."""
    return Annotated[str, Meta(min_length=1, max_length=most, description=about)]


def whole(about: str, low: int, high: int) -> Any:
    """Return the type of a whole number."""
    return Annotated[int, Meta(ge=low, le=high, description=about)]


def choice(about: str, names: Iterable[str]) -> Any:
    """Return the type of a choice of words."""
    return Annotated[Literal[*names], Meta(description=about)]


def values_struct(
    name: str, call: Callable[..., Any], names: Iterable[str], types: Mapping[str, Any], optional: Iterable[str] = ()
) -> type[Struct]:
    """Return a struct of the parameters of a function; those with a default are optional."""
    parameters = signature(call).parameters
    needed = [one for one in names if parameters[one].default is Parameter.empty and one not in optional]
    fields = [(one, types[one]) if one in needed else (one, types[one] | UnsetType, UNSET) for one in names]
    return msgspec.defstruct(name, fields, kw_only=True, forbid_unknown_fields=True)


async def read_body(request: Request, most: int = MAX_BODY) -> bytes:
    """Read the body of a JSON request; refuses one that is too large or too slow."""
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind != "application/json":
        raise RequestError(415, "not_json", f"expected the content type application/json: got {kind[:60]!a}")
    body = bytearray()
    try:
        async with asyncio.timeout(BODY_SECONDS):
            async for chunk in request.stream():
                body += chunk
                if len(body) > most:
                    raise RequestError(413, "too_large", f"the body must be at most {most:,} bytes")
    except TimeoutError:
        raise RequestError(
            408, "too_slow", f"the body did not arrive within {BODY_SECONDS} s", {"Connection": "close"}
        ) from None
    except ClientDisconnect:
        raise RequestError(400, "malformed", "the body ended early") from None
    return bytes(body)


def read_object(body: bytes, kind: type[Struct]) -> dict[str, Any]:
    """Return the values of a JSON body, validated by a struct."""
    try:
        return _values_of(_parse(body, kind))
    except msgspec.ValidationError as error:
        problem = error
    try:
        held = _parse(body, Any)
    except msgspec.ValidationError:  # a number too large to parse
        raise refusal(problem, None, kind) from None
    if not isinstance(held, dict):
        raise RequestError(422, "bad_value", "the body must be a JSON object")
    wholes = {name: int(held[name]) for name in held if isinstance(held[name], float) and held[name].is_integer()}
    return read_values(held | wholes, kind)  # 2.0 is a whole number in JSON


def _values_of(found: Struct) -> dict[str, Any]:
    """Return the given values."""
    return {name: value for name, value in msgspec.structs.asdict(found).items() if value is not UNSET}


def _parse(body: bytes, kind: Any) -> Any:
    try:
        return msgspec.json.decode(body, type=kind)
    except msgspec.ValidationError:
        raise
    except (msgspec.DecodeError, ValueError, RecursionError):
        strange = re.search(rb"NaN|Infinity", body)
        hint = f": {strange[0].decode()} is not valid JSON, use null for missing values" if strange else ""
        raise RequestError(400, "malformed", f"the body is not JSON in UTF-8{hint}") from None


def read_values(held: Mapping[str, Any], kind: type[Struct]) -> dict[str, Any]:
    """Return validated values."""
    try:
        return _values_of(msgspec.convert(held, kind))
    except msgspec.ValidationError as error:
        raise refusal(error, held, kind) from None


def read_address(items: Iterable[tuple[str, str]], kind: type[Struct]) -> dict[str, Any]:
    """Return the values of a URL, validated; each may be given once."""
    fields = fields_of(kind)
    held: dict[str, Any] = {}
    for name, value in items:
        if name in held:
            raise RequestError(422, "bad_value", f"the URL must not have {name} twice", field=name)
        known = fields.get(name, {}).get("type") in ("integer", "boolean")
        held[name] = msgspec.json.decode(value) if known and re.fullmatch(r"\d{1,18}|true|false", value) else value
    return read_values(held, kind)


@cache
def fields_of(kind: type[Struct]) -> dict[str, Schema]:
    """Return the JSON schemas of a struct's fields."""
    _, named = msgspec.json.schema_components([kind], ref_template=REFS)
    return dict(named[kind.__name__]["properties"])


def refusal(error: msgspec.ValidationError, held: Any, kind: type[Struct]) -> RequestError:
    """Convert an error of msgspec: name the field, what was expected, and what came.

    >>> kind = msgspec.defstruct("Request", [("top", whole("How many.", 1, 10))], forbid_unknown_fields=True)
    >>> str(refusal(msgspec.ValidationError("Expected `int` <= 10 - at `$.top`"), {"top": 12}, kind))
    'top must be a whole number at most 10: got 12'
    """
    said, _, path = str(error).partition(" - at `$")
    where = path.rstrip("`").lstrip(".").replace("[...]", "")
    fields = fields_of(kind)
    if name := re.fullmatch(r"Object (missing required|contains unknown) field `(.*)`", said, re.S):
        field = ascii(f"{where}.{name[2]}".lstrip("."))[1:-1][:60]
        if name[1] == "contains unknown":
            known = f"; choose from {', '.join(fields)}" if not where else ""
            return RequestError(422, "bad_value", f"unknown field {field}{known}", field=field)
        about = f": {fields[field]['description']}" if "description" in fields.get(field, {}) else ""
        return RequestError(422, "missing_value", f"{field} is missing{about}", field=field)
    expected = said.partition(", got")[0].replace(">=", "at least").replace("<=", "at most")
    expected = re.sub(r"`([^`]*)`", lambda found: in_words(found[1]), expected)
    if "enum" in (named := fields.get(where, {})):
        expected = f"Expected one of {', '.join(map(str, named['enum']))}"
    rest = expected.removeprefix("Expected ") if expected.startswith("Expected ") else f"another value ({expected})"
    message = f"{where} must be {rest}: got {brief(value_at(held, where))}"
    return RequestError(422, "bad_value", message, field=where)


def in_words(kinds: str) -> str:
    """Return the types of msgspec in words.

    >>> in_words("float | str | null")
    'a number, a text or null'
    """
    *first, last = (WORDS.get(kind, kind) for kind in kinds.split(" | "))
    return f"{', '.join(first)} or {last}" if first else last


def value_at(held: Any, where: str) -> Any:
    """Return the value at a path such as documents[0].id."""
    for step in re.findall(r"\w+", where):
        held = held[int(step)] if isinstance(held, list) else held.get(step) if isinstance(held, dict) else None
    return held
