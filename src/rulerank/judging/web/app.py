"""The web application: pages, API and their description behind one guard."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from rulerank.errors import DataError
from rulerank.judging.guidelines import Guidelines, default_guidelines
from rulerank.judging.labels import StoreError, check_rater
from rulerank.judging.loop import Judging
from rulerank.judging.offers import ListChoices
from rulerank.judging.web.api import STORE_HEADER, Api, JudgingEndpoint, endpoints, value_types
from rulerank.judging.web.lead_api import LeadApi, lead_endpoints
from rulerank.judging.web.pages import PAGES, JudgingPages
from rulerank.web.endpoint import REFUSALS, describe, routes_of
from rulerank.web.requests import RequestError
from rulerank.web.security import Guard, Tokens

JUDGING_REFUSALS = REFUSALS | {
    "403": "The request comes from another site, names another host or another rater than its token, or is the lead's.",
    "404": "There is no such document.",
    "409": "The request was meant for another label store, or a model is being trained already.",
    "503": "The label store cannot be written or read; try again.",
}
STORE_PARAMETER = {
    "name": STORE_HEADER, "in": "header", "required": False, "schema": {"type": "string"},
    "description": "The store that is meant, as every answer names it in this header; another one refuses.",
}  # fmt: skip


def create_app(
    judging: Judging,
    *,
    rater: str | None = None,
    guidelines: Guidelines | None = None,
    lists: ListChoices | None = None,
    token: str | None = None,
    model_path: str | Path = "model.rulerank",
    command: Callable[[str], str] = lambda method: f"rulerank train POOL --labels STORE --method {method} -o FILE",
) -> Guard:
    """Return the ASGI application that shows a judging loop to its raters.

    guidelines: what the grades mean; they must be those of the loop.
    lists: how lists of queries are judged.
    token: what every request must bring, itself or as one of the personal tokens made from it (`web/tokens.py`); None
    only where nobody else can connect, since the guard then admits requests to 127.0.0.1 and localhost alone.
    """
    guidelines = guidelines or default_guidelines(judging.max_grade)
    if guidelines.max_grade != judging.max_grade:
        raise DataError(
            f"the guidelines have the grades 0 to {guidelines.max_grade}, and the judging loop takes 0 to "
            f"{judging.max_grade}: make it with max_grade={guidelines.max_grade}"
        )
    api = Api(judging, model_path, lists or ListChoices())
    tokens = None if token is None else Tokens(token, check_rater)
    lead = LeadApi(api, tokens)
    types = value_types(judging.max_grade, api.methods)

    def endpoint(
        method: str, path: str, call: Any, answer: Any, own: Any = None, lead_only: bool = False
    ) -> JudgingEndpoint:
        return JudgingEndpoint(method, path, call, answer, types | (own or {}), lead_only=lead_only)

    table = [*endpoints(api, endpoint), *lead_endpoints(lead, endpoint)]
    pages = JudgingPages(api, lead, guidelines, command)
    description = describe(
        table,
        title="rulerank judge",
        about="Hands out documents to judge, takes grades, and tells how far the labels have come.",
        refusals=JUDGING_REFUSALS,
        has_token=token is not None,
        parameters=[STORE_PARAMETER],
    )

    async def openapi(request: Request) -> Response:
        return JSONResponse(description)

    app = Starlette(
        routes=[
            *pages.routes(),
            *routes_of(table),
            Route("/openapi.json", openapi),
            *PAGES.file_routes(),
        ],
        exception_handlers=PAGES.exception_handlers() | {StoreError: on_store_error},
    )
    app.state.rater = rater
    app.state.store = judging.store.identity
    headers = {STORE_HEADER: judging.store.identity}
    return Guard(app, tokens=tokens, refuse=PAGES.refuse, command="judge", headers=headers)


def on_store_error(request: Request, error: Exception) -> Response:
    """Say so with a 503, after which the page keeps the grade and tries again."""
    return PAGES.refuse(request, RequestError(503, "store_trouble", str(error)))
