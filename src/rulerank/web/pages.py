"""Pages in HTML that show data as text and nothing else, and refusals: as a page to people, in JSON to programs."""

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
TITLES = {401: "The token is missing", 403: "Not from here", 404: "There is no such page"}


class Pages:
    """The templates and static files of one application, beside those that all share.

    Templates of its own `base.html`; static files at /static, the shared ones at /shared.
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
        """Say no: in JSON, or as a page to a person who has followed a link."""
        wants_page = "text/html" in request.headers.get("accept", "") and not request.scope["path"].startswith("/api/")
        if not wants_page:
            return JSONResponse(refusal.payload(), status_code=refusal.status, headers=refusal.headers)
        title = TITLES.get(refusal.status, "This did not work")
        page = self.render("error", refusal.status, title=title, message=refusal.message, link=refusal.status != 401)
        page.headers.update(refusal.headers)
        return page

    def exception_handlers(self) -> dict[Any, Callable[[Request, Any], Response]]:
        """Return what an application answers to a refusal, to an address that is none, and to a mistake of ours."""

        def on_http_exception(request: Request, error: HTTPException) -> Response:
            code = CODES.get(error.status_code, "refused")
            refusal = RequestError(error.status_code, code, error.detail, dict(error.headers or {}))
            return self.refuse(request, refusal)

        def on_mistake_of_ours(request: Request, error: Exception) -> Response:
            message = "a mistake in rulerank: the server's log says more"
            return self.refuse(request, RequestError(500, "internal", message))

        return {RequestError: self.refuse, HTTPException: on_http_exception, Exception: on_mistake_of_ours}

    def file_routes(self) -> list[BaseRoute]:
        """Return the routes of static files."""

        async def icon(request: Request) -> Response:  # which browsers ask for where no page names another
            return FileResponse(SHARED / "static" / "icon.svg")

        return [
            Route("/favicon.ico", icon),
            Mount("/static", StaticFiles(directory=self.folder / "static")),
            Mount("/shared", StaticFiles(directory=SHARED / "static")),
        ]
