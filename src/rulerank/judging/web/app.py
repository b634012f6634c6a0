"""The web application: pages, API and OpenAPI description behind one guard."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from rulerank.errors import DataError
from rulerank.judging.guidelines import Guidelines, default_guidelines
from rulerank.judging.labels import StoreError, check_rater
from rulerank.judging.loop import Judging
from rulerank.judging.web.api import STORE_HEADER, Api, endpoints
from rulerank.judging.web.pages import PAGES, JudgingPages
from rulerank.web.endpoint import REFUSALS, describe, routes_of
from rulerank.web.requests import RequestError
from rulerank.web.security import Guard, Tokens

JUDGING_REFUSALS = REFUSALS | {
    "403": "The request comes from another site, names another host or rater than its token, or is for the admin only.",
    "404": "No such document.",
    "409": "The request is for another label store, or a model is being trained already.",
    "503": "The label store cannot be read or written; try again.",
}
STORE_PARAMETER = {
    "name": STORE_HEADER, "in": "header", "required": False, "schema": {"type": "string"},
    "description": "Identity of the label store, as in every response; another store refuses the request.",
}  # fmt: skip


def create_app(
    judging: Judging,
    *,
    rater: str | None = None,
    guidelines: Guidelines | None = None,
    lists_first: bool = False,
    token: str | None = None,
    model_path: str | Path = "model.rulerank",
    command: Callable[[str], str] = lambda method: f"rulerank train POOL --labels STORE --method {method} -o FILE",
) -> Guard:
    """Return the ASGI application of a judging loop.

    guidelines: the grading scale, with the grades of the loop.
    lists_first: the page starts with lists.
    token: the secret that every request must send, or a personal token made from it (`web/security.py`). None: only
    requests to 127.0.0.1 and localhost are accepted.
    """
    guidelines = guidelines or default_guidelines(judging.max_grade)
    if guidelines.max_grade != judging.max_grade:
        raise DataError(
            f"the guidelines have grades 0 to {guidelines.max_grade}, but the judging loop has 0 to "
            f"{judging.max_grade}: create it with max_grade={guidelines.max_grade}"
        )
    tokens = None if token is None else Tokens(token, check_rater)
    api = Api(judging, model_path, tokens)
    table, pages = endpoints(api), JudgingPages(api, guidelines, command, lists_first)
    description = describe(
        table,
        title="rulerank judge",
        about="Assigns documents to raters, stores their grades, and reports progress.",
        refusals=JUDGING_REFUSALS,
        has_token=token is not None,
        parameters=[STORE_PARAMETER],
    )

    async def openapi(request: Request) -> Response:
        return JSONResponse(description)

    app = Starlette(
        routes=[*pages.routes(), *routes_of(table), Route("/openapi.json", openapi), *PAGES.file_routes()],
        exception_handlers=PAGES.exception_handlers() | {StoreError: on_store_error},
    )
    app.state.rater = rater
    app.state.store = judging.store.identity
    headers = {STORE_HEADER: judging.store.identity}
    return Guard(app, tokens=tokens, refuse=PAGES.refuse, command="judge", headers=headers)


def on_store_error(request: Request, error: Exception) -> Response:
    """Answer with a 503; the page keeps the grade and tries again."""
    return PAGES.refuse(request, RequestError(503, "store_trouble", str(error)))
