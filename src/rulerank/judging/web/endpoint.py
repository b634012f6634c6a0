"""One line per thing the API can do; the routes and their description are both made from it."""

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
from rulerank.judging.labels import StoreError
from rulerank.judging.web.fields import Field, read_object, read_values
from rulerank.judging.web.raters import check_rater, known_rater
from rulerank.judging.web.request_error import RequestError


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


def rater_of(request: Request, named: str | None) -> str:
    """Return who is judging: named in the address, by the cookie of the page, or on the command line."""
    rater = named or known_rater(request)
    if rater is None:
        raise RequestError(422, "no_rater", "say who is judging: add ?rater=NAME to the address")
    return check_rater(rater)


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
