"""What a request holds: read with an end to patience, checked by msgspec, and refused in words that name the field."""

from __future__ import annotations

import asyncio
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
BODY_SECONDS = 20  # how long a body may take to arrive
REFS = "#/components/schemas/{name}"
JSON_NAMES = {str: "str", int: "int", float: "float", bool: "bool", type(None): "null", list: "array", dict: "object"}

Schema = dict[str, Any]


class RequestError(Exception):
    """Why a request is turned away; becomes {"error": {"code": ..., "field": ..., "message": ...}}.

    >>> RequestError(404, "unknown_document", "there is no document 'd9' of query 'q1'").payload()
    {'error': {'code': 'unknown_document', 'message': "there is no document 'd9' of query 'q1'"}}
    >>> RequestError(422, "bad_value", "top must be a whole number", field="top").payload()
    {'error': {'code': 'bad_value', 'field': 'top', 'message': 'top must be a whole number'}}
    """

    def __init__(
        self,
        status: int,
        code: str,
        message: str,
        headers: dict[str, str] | None = None,
        *,
        field: str | None = None,  # the one whose value is refused
    ) -> None:
        super().__init__(message)
        self.status = status
        self.code = code
        self.message = message
        self.headers = headers or {}
        self.field = field

    def payload(self) -> dict[str, dict[str, str]]:
        """Return the answer's plain values."""
        where = {} if self.field is None else {"field": self.field}
        return {"error": {"code": self.code} | where | {"message": self.message}}


def bad_value(field: str, expected: str, value: object) -> RequestError:
    """Return the refusal of a value: where it is, what was expected, and what came."""
    return RequestError(422, "bad_value", f"{field} must be {expected}: got {brief(value)}", field=field)


def brief(value: object) -> str:
    """Return the beginning of a value as a message shows it, whatever it is.

    >>> brief("x" * 100)[-5:], brief([1, 2]), brief([0] * 20)
    ('xxxxx', '[1, 2]', 'a list of 20')
    """
    if isinstance(value, list) and len(value) > 9:
        return f"a list of {len(value):,}"
    try:
        return ascii(value)[:60]
    except (RecursionError, ValueError):  # deep, or a whole number of thousands of digits
        return f"a {type(value).__name__}"


def text(about: str, most: int = MAX_TEXT) -> Any:
    """Return the type of a text."""
    return Annotated[str, Meta(min_length=1, max_length=most, description=about)]


def whole(about: str, low: int, high: int) -> Any:
    """Return the type of a whole number."""
    return Annotated[int, Meta(ge=low, le=high, description=about)]


def choice(about: str, names: Iterable[str]) -> Any:
    """Return the type of one of some words."""
    return Annotated[Literal[*names], Meta(description=about)]


def values_struct(
    name: str, call: Callable[..., Any], names: Iterable[str], types: Mapping[str, Any], optional: Iterable[str] = ()
) -> type[Struct]:
    """Return the values that a function takes under these names as a struct; what has a default may be left out."""
    parameters = signature(call).parameters
    needed = [one for one in names if parameters[one].default is Parameter.empty and one not in optional]
    fields = [(one, types[one]) if one in needed else (one, types[one] | UnsetType, UNSET) for one in names]
    return msgspec.defstruct(name, fields, kw_only=True, forbid_unknown_fields=True)


def values_of(found: Struct) -> dict[str, Any]:
    """Return what a request holds, without what it leaves out."""
    return {name: value for name, value in msgspec.structs.asdict(found).items() if value is not UNSET}


async def read_body(request: Request, most: int = MAX_BODY) -> bytes:
    """Return the whole body if it says that it is JSON, and stop reading one that is too large or too slow."""
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
    """Return the values of a JSON body: an object that holds what the struct names and nothing else."""
    try:
        return values_of(parse_json(body, kind))
    except msgspec.ValidationError as error:
        message = str(error)
    try:
        held = parse_json(body, Any)
    except msgspec.ValidationError:  # a number beyond all bounds
        raise refusal(message, None, kind) from None
    if not isinstance(held, dict):
        raise RequestError(422, "bad_value", "the body must be a JSON object")
    wholes = {name: int(held[name]) for name in held if isinstance(held[name], float) and held[name].is_integer()}
    return read_values(held | wholes, kind)  # 2.0 is a whole number in JSON


def parse_json(body: bytes, kind: Any) -> Any:
    try:
        return msgspec.json.decode(body, type=kind)
    except msgspec.ValidationError:
        raise
    except (msgspec.DecodeError, ValueError, RecursionError):
        strange = re.search(rb"NaN|Infinity", body)
        hint = (
            f": {strange[0].decode()} is no value of JSON, and null stands for one that is missing" if strange else ""
        )
        raise RequestError(400, "malformed", f"the body is not JSON in UTF-8{hint}") from None


def read_values(held: Mapping[str, Any], kind: type[Struct]) -> dict[str, Any]:
    """Return plain values, checked."""
    try:
        return values_of(msgspec.convert(held, kind))
    except msgspec.ValidationError as error:
        raise refusal(str(error), held, kind) from None


def read_address(items: Iterable[tuple[str, str]], kind: type[Struct]) -> dict[str, Any]:
    """Return the values of an address, each once and none that is unknown."""
    fields = schema_of(kind)[0]["properties"]
    held: dict[str, Any] = {}
    for name, value in items:
        if name not in fields or name in held:
            what = "must not hold" if name not in fields else "must not hold twice"
            raise RequestError(422, "bad_value", f"the address {what} {brief(name)}", field=brief(name)[1:-1])
        plain = fields[name].get("type") in ("integer", "boolean") and re.fullmatch(r"\d{1,18}|true|false", value)
        held[name] = msgspec.json.decode(value) if plain else value
    return read_values(held, kind)


@cache
def schema_of(kind: type[Struct]) -> tuple[Schema, dict[str, Schema]]:
    """Return the JSON schema of a struct, and those that it refers to by name."""
    (found,), named = msgspec.json.schema_components([kind], ref_template=REFS)
    return resolved(found, named), named


def resolved(schema: Schema, named: Mapping[str, Schema]) -> Schema:
    return named[schema["$ref"].rpartition("/")[2]] if "$ref" in schema else schema


def refusal(message: str, held: Any, kind: type[Struct]) -> RequestError:
    """Return what a message of msgspec becomes: where it is, what was expected, and what came."""
    schema, named = schema_of(kind)
    said, _, path = message.partition(" - at `$")
    steps = re.findall(r"\w+|\.\.\.", path)
    got = re.search(r", got `(\w+)`", said)
    if got is None and "..." in steps:  # which of the values by name it was is not said
        steps = steps[: steps.index("...")]
    where, value = find_value(held, steps, got and got[1])
    if name := re.search(r"required field `(\w+)`", said):
        field = f"{where}.{name[1]}" if where else name[1]
        about = schema_at(schema, [*steps, name[1]], named).get("description")
        message = f"the request must hold {field}" + (f": {about}" if about else "")
        return RequestError(422, "missing_value", message, field=field)
    if "unknown field" in said:
        known = [
            name for one in branches_of(schema_at(schema, steps, named), named) for name in one.get("properties", ())
        ]
        extra = brief(next((one for one in value if one not in known), ""))
        message = f"{where or 'the body'} must not hold {extra}: it may hold {', '.join(known)}"
        return RequestError(422, "bad_value", message, field=where or extra[1:-1])
    return bad_value(where, in_words(schema_at(schema, steps, named), named), value)


def find_value(held: Any, steps: list[str], kind: str | None) -> tuple[str, Any]:
    """Return the place at the end of a path as people write it, and what is there.

    A step of `...` leads to the values by name, of which the first of the kind is meant.

    >>> find_value({"documents": [{"features": {"a": 1, "b": True}}]}, ["documents", "0", "features", "..."], "bool")
    ('documents[0].features.b', True)
    """
    places = [("", held)]
    for step in steps:
        found = []
        for where, value in places:
            if isinstance(value, list):
                found.append((f"{where}[{step}]", value[int(step)]))
            elif isinstance(value, dict):
                names = [*value] if step == "..." else [step]
                found += [(f"{where}.{ascii(name)[1:-1][:60]}".lstrip("."), value.get(name)) for name in names]
        place = f"[{step}]" if step.isdigit() else f".{step}"
        places = found or [((places[0][0] + place).lstrip("."), "something else")]  # where nothing could be read
    return next((one for one in places if JSON_NAMES.get(type(one[1])) == kind), places[0])


def schema_at(schema: Schema, steps: list[str], named: Mapping[str, Schema]) -> Schema:
    """Return the schema of what is at the end of a path."""
    for step in steps:
        inner = [
            one.get("properties", {}).get(step) or one.get("items" if step.isdigit() else "additionalProperties")
            for one in branches_of(schema, named)
        ]
        schema = resolved(next((one for one in inner if one), {}), named)
    return schema


def branches_of(schema: Schema, named: Mapping[str, Schema]) -> list[Schema]:
    """Return the kinds of value that a schema allows."""
    return [resolved(one, named) for one in schema.get("anyOf", [schema])]


def in_words(schema: Schema, named: Mapping[str, Schema]) -> str:
    """Return what a value may be.

    >>> in_words({"anyOf": [{"type": "integer", "minimum": 0, "maximum": 2}, {"type": "null"}]}, {})
    'a whole number from 0 to 2, or null'
    """
    schema = resolved(schema, named)
    if "anyOf" in schema:
        *first, last = (in_words(one, named) for one in schema["anyOf"])
        return f"{', '.join(first)}, or {last}"
    if "enum" in schema:
        return f"one of {', '.join(map(str, schema['enum']))}"
    low, high = (next((schema[f"{end}{of}"] for of in ("Length", "Items", "imum") if f"{end}{of}" in schema), None)
                 for end in ("min", "max"))  # fmt: skip
    bounds = "" if high is None else f"{low or 0:,} to {high:,}"
    match schema.get("type"):
        case "string":
            return f"a text of {bounds} characters" if bounds else "a text"
        case "integer":
            return f"a whole number from {bounds}" if bounds else "a whole number"
        case "array":
            return f"a list of {bounds}, each {in_words(schema['items'], named)}"
        case "object" if "properties" in schema:
            return f"an object with {', '.join(schema['properties'])}"
    plain = {"number": "a number", "boolean": "true or false", "null": "null", "object": "an object of values by name"}
    return plain.get(str(schema.get("type")), "another value")
