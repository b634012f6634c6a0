"""The web application: pages, API and their description behind one guard."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import FileResponse, JSONResponse, Response
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles

from rulerank.judging.labels import StoreError
from rulerank.judging.loop import Judging
from rulerank.judging.web.api import Api, endpoints
from rulerank.judging.web.endpoint import STORE_HEADER, RequestError, routes_of
from rulerank.judging.web.guidelines import Guidelines, default_guidelines
from rulerank.judging.web.openapi import describe
from rulerank.judging.web.pages import HERE, Pages, refuse
from rulerank.judging.web.security import Guard

CODES = {404: "not_found", 405: "wrong_method"}


def create_app(
    judging: Judging,
    *,
    rater: str | None = None,
    guidelines: Guidelines | None = None,
    token: str | None = None,
    model_path: str | Path = "model.rulerank",
    command: Callable[[str], str] = lambda method: f"rulerank judge ... --train --method {method}",
) -> Guard:
    """Return the ASGI application that shows a judging loop to its raters.

    token: what every request must bring, itself or as one of the personal tokens made from it (`tokens.Tokens`); None
    only where nobody else can connect, since the guard then admits requests to 127.0.0.1 and localhost alone.
    """
    api = Api(judging, model_path)
    table = endpoints(api)
    pages = Pages(api, guidelines or default_guidelines(judging.max_grade), command)
    description = describe(table, has_token=token is not None)

    async def openapi(request: Request) -> Response:
        return JSONResponse(description)

    async def icon(request: Request) -> Response:  # which browsers ask for where no page names another
        return FileResponse(HERE / "static" / "icon.svg")

    app = Starlette(
        routes=[
            *pages.routes(),
            *routes_of(table),
            Route("/openapi.json", openapi),
            Route("/favicon.ico", icon),
            Mount("/static", StaticFiles(directory=HERE / "static")),
        ],
        exception_handlers={
            RequestError: on_refusal,
            HTTPException: on_http_exception,
            StoreError: on_store_error,
            Exception: on_mistake_of_ours,
        },
    )
    app.state.rater = rater
    app.state.store = judging.store.identity
    return Guard(app, token=token, refuse=refuse, headers={STORE_HEADER: judging.store.identity})


def on_refusal(request: Request, error: Exception) -> Response:
    assert isinstance(error, RequestError)
    return refuse(request, error)


def on_http_exception(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    code = CODES.get(error.status_code, "refused")
    return refuse(request, RequestError(error.status_code, code, error.detail, dict(error.headers or {})))


def on_store_error(request: Request, error: Exception) -> Response:
    """Say so with a 503, after which the page keeps the grade and tries again."""
    return refuse(request, RequestError(503, "store_trouble", str(error)))


def on_mistake_of_ours(request: Request, error: Exception) -> Response:
    return refuse(request, RequestError(500, "internal", "a mistake in rulerank: the server's log says more"))
