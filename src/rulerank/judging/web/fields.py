"""What a request may hold: each field is declared once, checked on the way in and described in /openapi.json."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from starlette.requests import ClientDisconnect, Request

from rulerank.judging.web.request_error import RequestError

MAX_BODY = 16 * 1024  # bytes; the longest honest request holds two ids
MAX_TEXT = 1000  # characters of an id


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
        async for chunk in request.stream():
            body += chunk
            if len(body) > MAX_BODY:
                raise RequestError(413, "too_large", f"the body must be at most {MAX_BODY:,} bytes")
    except ClientDisconnect:
        raise RequestError(400, "malformed", "the body ended early") from None
    return bytes(body)
