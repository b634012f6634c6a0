"""One thing an API can do: what a request for it may hold, and how it is answered."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from rulerank.errors import RulerankError
from rulerank.web.bodies import MAX_BODY, check_is_json, read_body, read_object
from rulerank.web.fields import Value, read_values
from rulerank.web.refusals import RequestError
from rulerank.web.security import check_lead


@dataclass(frozen=True, slots=True)
class Endpoint:
    """What is called with which values, and the name of the schema of its answer."""

    method: str
    path: str
    about: str
    call: Callable[..., Any]
    answer: str
    query: tuple[Value, ...] = ()
    body: tuple[Value, ...] | None = None
    lead_only: bool = False  # a personal link may not
    most_bytes: int = MAX_BODY  # of its body

    async def answer_to(self, request: Request) -> Response:
        """Check the request, do the work in a thread of its own, and answer in JSON."""
        try:
            values = await self.values_of(request)
            return JSONResponse(await run_in_threadpool(self.call, **values))
        except RulerankError as error:
            raise self.refusal_of(error) from None

    async def values_of(self, request: Request) -> dict[str, Any]:
        """Return what the request holds, checked; who may not ask is refused first."""
        if self.lead_only:
            check_lead(request)
        values = read_values(self.query, request.query_params)
        if self.body is not None:
            check_is_json(request)
            values |= read_object(await read_body(request, self.most_bytes), self.body)
        return values

    def refusal_of(self, error: RulerankError) -> Exception:
        """Return what an error of the library becomes."""
        return RequestError(422, "not_possible", str(error))


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
