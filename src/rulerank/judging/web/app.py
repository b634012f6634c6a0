"""The web application: pages, API and their description behind one guard."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from rulerank.errors import DataError
from rulerank.judging.guidelines import Guidelines, default_guidelines
from rulerank.judging.labels import StoreError, check_rater
from rulerank.judging.lists import ListChoices
from rulerank.judging.loop import Judging
from rulerank.judging.web.api import Api, ListApi, endpoints, list_endpoints
from rulerank.judging.web.endpoint import STORE_HEADER
from rulerank.judging.web.images import ImageHosts
from rulerank.judging.web.lead_api import DisputeApi, LeadApi, dispute_endpoints, lead_endpoints
from rulerank.judging.web.lead_pages import LeadPages
from rulerank.judging.web.openapi import describe_api
from rulerank.judging.web.pages import PAGES, JudgingPages
from rulerank.web.endpoint import routes_of
from rulerank.web.refusals import RequestError, exception_handlers
from rulerank.web.security import Guard
from rulerank.web.tokens import Tokens


def create_app(
    judging: Judging,
    *,
    rater: str | None = None,
    guidelines: Guidelines | None = None,
    images: Sequence[str] = (),
    lists: ListChoices | None = None,
    token: str | None = None,
    model_path: str | Path = "model.rulerank",
    command: Callable[[str], str] = lambda method: f"rulerank judge ... --train --method {method}",
) -> Guard:
    """Return the ASGI application that shows a judging loop to its raters.

    guidelines: what the grades mean; they must be those of the loop.
    lists: how lists of queries are judged.
    images: hosts from which pictures of documents may be shown.
    token: what every request must bring, itself or as one of the personal tokens made from it (`web/tokens.py`); None
    only where nobody else can connect, since the guard then admits requests to 127.0.0.1 and localhost alone.
    """
    guidelines = guidelines or default_guidelines(judging.max_grade)
    if guidelines.max_grade != judging.max_grade:
        raise DataError(
            f"the guidelines have the grades 0 to {guidelines.max_grade}, and the judging loop takes 0 to "
            f"{judging.max_grade}: make it with max_grade={guidelines.max_grade}"
        )
    hosts = ImageHosts(images)
    api = Api(judging, model_path, hosts)
    tokens = None if token is None else Tokens(token, check_rater)
    lead, lists = LeadApi(api, tokens), lists or ListChoices()
    disputes = DisputeApi(api)
    table = [
        *endpoints(api), *list_endpoints(ListApi(api, lists)), *lead_endpoints(lead), *dispute_endpoints(disputes),
    ]  # fmt: skip
    pages = JudgingPages(api, guidelines, lists, command)
    description = describe_api(table, has_token=token is not None)

    async def openapi(request: Request) -> Response:
        return JSONResponse(description)

    app = Starlette(
        routes=[
            *pages.routes(),
            *LeadPages(lead, disputes, pages).routes(),
            *routes_of(table),
            Route("/openapi.json", openapi),
            *PAGES.file_routes(),
        ],
        exception_handlers=exception_handlers(PAGES.refuse) | {StoreError: on_store_error},
    )
    app.state.rater = rater
    app.state.store = judging.store.identity
    headers = {STORE_HEADER: judging.store.identity} | hosts.headers()
    return Guard(app, tokens=tokens, refuse=PAGES.refuse, command="judge", headers=headers)


def on_store_error(request: Request, error: Exception) -> Response:
    """Say so with a 503, after which the page keeps the grade and tries again."""
    return PAGES.refuse(request, RequestError(503, "store_trouble", str(error)))
