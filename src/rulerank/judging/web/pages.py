"""The pages: the same payloads as the API's, in HTML that shows data as text and nothing else."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import jinja2
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, RedirectResponse, Response
from starlette.routing import Route

from rulerank.judging.web import curve
from rulerank.judging.web.api import Api
from rulerank.judging.web.guidelines import Guidelines
from rulerank.judging.web.raters import MAX_NAME, check_rater, known_rater, remember_rater
from rulerank.judging.web.request_error import RequestError
from rulerank.methods import METHODS

HERE = Path(__file__).parent
MOST_ROWS = 500  # of a table on a page; the JSON twin has them all
TITLES = {401: "The token is missing", 403: "Not from here", 404: "There is no such page"}
ABOUT = {  # what the choice of methods says of those that have a word to say
    "RE-GR": "RE-GR: rules, the default",
    "RE-SR": "RE-SR: rules that hold in every query",
    "RE-QR": "RE-QR: rules of each query",
    "QI": "QI: linear, good with few labels",
}

templates = jinja2.Environment(
    loader=jinja2.FileSystemLoader(HERE / "templates"),
    autoescape=True,  # every value, in every template: data is never markup
    undefined=jinja2.StrictUndefined,
    trim_blocks=True,
    lstrip_blocks=True,
)
templates.globals |= {"rater": None, "page": None, "fixed_rater": False}


def render(name: str, status: int = 200, **values: Any) -> HTMLResponse:
    """Return a page."""
    return HTMLResponse(templates.get_template(f"{name}.html").render(values), status_code=status)


def refuse(request: Request, refusal: RequestError) -> Response:
    """Say no: in JSON, or as a page to a person who has followed a link."""
    wants_page = "text/html" in request.headers.get("accept", "") and not request.scope["path"].startswith("/api/")
    if not wants_page:
        return JSONResponse(refusal.payload(), status_code=refusal.status, headers=refusal.headers)
    title = TITLES.get(refusal.status, "This did not work")
    page = render("error", refusal.status, title=title, message=refusal.message, link=refusal.status != 401)
    page.headers.update(refusal.headers)
    return page


@dataclass(frozen=True)
class Pages:
    """The three pages and the question that comes before them."""

    api: Api
    guidelines: Guidelines
    command: Callable[[str], str]  # what trains a model of a method on the command line

    def routes(self) -> list[Route]:
        return [
            Route("/", self.judge),
            Route("/labels", self.labels),
            Route("/overview", self.overview),
        ]

    def judge(self, request: Request) -> Response:
        """Show the judging page, once it is known who judges."""
        asked = request.query_params
        if "who" in asked:
            return self._welcome(known_rater(request) or "")
        try:
            named = check_rater(asked["rater"]) if "rater" in asked else None
            rater = named or known_rater(request)
        except RequestError as refusal:
            return self._welcome("", refusal.message)
        if rater is None:
            return self._welcome("")
        revise = {"query": asked["query"], "doc": asked["doc"]} if {"query", "doc"} <= asked.keys() else None
        page = self._page(request, rater, "judge", guidelines=self.guidelines, revise=revise,
                          max_grade=self.api.judging.max_grade)  # fmt: skip
        if named:
            remember_rater(page, named)
        return page

    def labels(self, request: Request) -> Response:
        """Show a rater's own labels."""
        rater = self._rater(request)
        if rater is None:
            return RedirectResponse("/", status_code=303)
        labels = self.api.labels(rater)["labels"]
        return self._page(request, rater, "labels", labels=labels[:MOST_ROWS], n_labels=len(labels))

    def overview(self, request: Request) -> Response:
        """Show all labels at a glance."""
        rater = self._rater(request)
        if rater is None:
            return RedirectResponse("/", status_code=303)
        overview = self.api.judging.overview()
        queries = sorted(overview.queries, key=lambda row: -row.labelled)[:MOST_ROWS]
        return self._page(
            request,
            rater,
            "overview",
            overview=overview.to_json(),
            queries=queries,
            drawing=curve.draw(overview.curve),
            size=(curve.WIDTH, curve.HEIGHT),
            frame={"left": curve.LEFT, "right": curve.RIGHT, "bottom": curve.BOTTOM},
            model_path=self.api.model_path,
            methods=[(name, ABOUT.get(name, name), self.command(name)) for name in METHODS],
        )

    def _rater(self, request: Request) -> str | None:
        named = request.query_params.get("rater")
        return check_rater(named) if named else known_rater(request)

    def _page(self, request: Request, rater: str, name: str, **values: Any) -> Response:
        return render(name, rater=rater, page=name, fixed_rater=bool(request.app.state.rater), **values)

    def _welcome(self, suggestion: str, problem: str = "") -> Response:
        status = 422 if problem else 200
        return render("welcome", status, suggestion=suggestion, problem=problem, max_name=MAX_NAME)
