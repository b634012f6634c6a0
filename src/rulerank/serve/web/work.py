"""One thing the service can do, in a few threads: who asks too much is told so at once, who waits too long, then."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

from starlette.requests import Request
from starlette.responses import Response

from rulerank.errors import RulerankError
from rulerank.web.bodies import check_is_json, read_body, read_object
from rulerank.web.endpoint import Endpoint
from rulerank.web.fields import read_values
from rulerank.web.refusals import RequestError

N_THREADS = 4  # at work at once: more would only wait for each other
MOST_WAITING = 200  # requests; the next one is better sent elsewhere


class Work:
    """Threads, and how long an answer may take."""

    def __init__(self, seconds: float, max_body: int) -> None:
        self.seconds = seconds
        self.max_body = max_body
        self.n_waiting = 0
        self._threads: ThreadPoolExecutor | None = None  # made when used: processes that are forked have no threads

    async def do(self, task: Callable[[], bytes]) -> bytes:
        """Do a task in a thread, or refuse it when there are too many or it takes too long."""
        if self.n_waiting >= MOST_WAITING:
            message = f"{MOST_WAITING} requests are waiting already: try again soon"
            raise RequestError(503, "busy", message, {"Retry-After": "1"})
        if self._threads is None:
            self._threads = ThreadPoolExecutor(N_THREADS, "rulerank")
        self.n_waiting += 1
        try:
            async with asyncio.timeout(self.seconds):
                return await asyncio.get_running_loop().run_in_executor(self._threads, task)
        except TimeoutError:
            message = (
                f"the answer took longer than {self.seconds:g} s: ask for fewer documents, or start with --timeout"
            )
            raise RequestError(504, "timed_out", message) from None
        finally:
            self.n_waiting -= 1


@dataclass(frozen=True, slots=True)
class ServiceEndpoint(Endpoint):
    """What is called with which values; reading, calling and writing all happen in a thread."""

    work: Work | None = None

    async def answer_to(self, request: Request) -> Response:
        """Read the whole request, and answer in JSON."""
        assert self.work is not None
        values = self.address_values(request)
        body = None
        if self.body is not None:
            check_is_json(request)
            body = await read_body(request, self.work.max_body)
        answer = await self.work.do(lambda: self.answer_bytes(values, body))
        return Response(answer, media_type="application/json")

    def address_values(self, request: Request) -> dict[str, Any]:
        """Return the values of the address, each once and none that is unknown."""
        given = [name for name, _ in request.query_params.multi_items()]
        known = {field.name for field in self.query}
        for name in given:
            if name not in known or given.count(name) > 1:
                what = "must not hold" if name not in known else "must not hold twice"
                shown = ascii(name)[:60]
                raise RequestError(422, "bad_value", f"the address {what} {shown}", field=shown[1:-1])
        return read_values(self.query, request.query_params)

    def answer_bytes(self, values: dict[str, Any], body: bytes | None) -> bytes:
        """Return the answer to checked values of the address and a body as it came."""
        if body is not None:
            values = values | read_object(body, self.body or ())
        try:
            found = self.call(**values)
        except RulerankError as error:
            raise self.refusal_of(error) from None
        return json.dumps(found, allow_nan=False, separators=(",", ":")).encode()
