"""The body of a request: read with an end to patience, and parsed as one JSON object with known names."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Sequence
from contextlib import suppress
from typing import Any, NoReturn

from starlette.requests import ClientDisconnect, Request

from rulerank.web.fields import Value, read_values
from rulerank.web.refusals import RequestError

try:  # four times as fast, which is most of the time of a large request
    import orjson
except ImportError:
    orjson = None  # type: ignore[assignment]

MAX_BODY = 16 * 1024  # bytes; enough for a few ids
BODY_SECONDS = 20  # how long a body may take to arrive


def check_is_json(request: Request) -> None:
    """Refuse a body of another content type."""
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind != "application/json":
        raise RequestError(415, "not_json", f"expected the content type application/json: got {kind[:60]!a}")


async def read_body(request: Request, most: int = MAX_BODY) -> bytes:
    """Return the whole body, and stop reading one that is too large."""
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


def read_object(body: bytes, fields: Sequence[Value]) -> dict[str, Any]:
    """Return the fields of a JSON body: an object that holds these and nothing else."""
    try:
        found = parse_json(body)
    except (ValueError, RecursionError):
        raise RequestError(400, "malformed", "the body is not JSON in UTF-8") from None
    if not isinstance(found, dict):
        raise RequestError(422, "bad_value", "the body must be a JSON object")
    unknown = sorted(set(found) - {field.name for field in fields})
    if unknown:
        name = ascii(unknown[0])[:60]
        raise RequestError(422, "bad_value", f"the body must not hold {name}", field=name[1:-1])
    return read_values(fields, found)


def parse_json(body: bytes) -> Any:
    """Return what a body holds; a ValueError, a RecursionError or a refusal if it is not JSON in UTF-8.

    >>> parse_json(b'{"top": 3}')
    {'top': 3}
    """
    if orjson is not None:
        with suppress(ValueError):  # what it does not take is looked at once more: that names what is wrong
            return orjson.loads(body)
    return json.loads(body.decode(), parse_constant=_not_json)  # of bytes it would take UTF-16, too


def _not_json(constant: str) -> NoReturn:
    raise RequestError(400, "malformed", f"{constant} is not JSON; null stands for a value that is missing")
