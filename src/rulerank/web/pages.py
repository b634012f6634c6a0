"""HTML pages, which show data as text only, and errors: a page for people, JSON for programs."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import jinja2
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import FileResponse, HTMLResponse, JSONResponse, Response
from starlette.routing import BaseRoute, Mount, Route
from starlette.staticfiles import StaticFiles

from rulerank.web.requests import RequestError

SHARED = Path(__file__).parent
CODES = {404: "not_found", 405: "wrong_method"}
TITLES = {401: "The token is missing", 403: "Not allowed", 404: "Page not found"}


class Pages:
    """The templates and static files of one application, and the shared ones.

    Static files are at /static, the shared ones at /shared.
    """

    def __init__(self, folder: Path, home: str, **defaults: Any) -> None:
        self.folder = folder
        self.templates = jinja2.Environment(
            loader=jinja2.FileSystemLoader([folder / "templates", SHARED / "templates"]),
            autoescape=True,  # every value, in every template: data is never markup
            undefined=jinja2.StrictUndefined,
            trim_blocks=True,
            lstrip_blocks=True,
        )
        self.templates.globals |= defaults | {"home": home}

    def render(self, name: str, status: int = 200, **values: Any) -> HTMLResponse:
        """Return a page."""
        return HTMLResponse(self.templates.get_template(f"{name}.html").render(values), status_code=status)

    def refuse(self, request: Request, refusal: RequestError) -> Response:
        """Return an error, in JSON or, for browsers, as a page."""
        wants_page = "text/html" in request.headers.get("accept", "") and not request.scope["path"].startswith("/api/")
        if not wants_page:
            return JSONResponse(refusal.payload(), status_code=refusal.status, headers=refusal.headers)
        title = TITLES.get(refusal.status, "Error")
        page = self.render("error", refusal.status, title=title, message=refusal.message, link=refusal.status != 401)
        page.headers.update(refusal.headers)
        return page

    def exception_handlers(self) -> dict[Any, Callable[[Request, Any], Response]]:
        """Return the handlers of refusals, unknown URLs and internal errors."""

        def on_http_exception(request: Request, error: HTTPException) -> Response:
            code = CODES.get(error.status_code, "refused")
            refusal = RequestError(error.status_code, code, error.detail, dict(error.headers or {}))
            return self.refuse(request, refusal)

        def on_internal_error(request: Request, error: Exception) -> Response:
            message = "internal error in rulerank: see the server's log"
            return self.refuse(request, RequestError(500, "internal", message))

        return {RequestError: self.refuse, HTTPException: on_http_exception, Exception: on_internal_error}

    def file_routes(self) -> list[BaseRoute]:
        """Return the routes of static files."""

        async def icon(request: Request) -> Response:  # requested by browsers
            return FileResponse(SHARED / "static" / "icon.svg")

        return [
            Route("/favicon.ico", icon),
            Mount("/static", StaticFiles(directory=self.folder / "static")),
            Mount("/shared", StaticFiles(directory=SHARED / "static")),
        ]
