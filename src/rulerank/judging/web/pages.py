"""The pages: the same payloads as the API's, in HTML that shows data as text and nothing else, and one picture."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import jinja2
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, RedirectResponse, Response
from starlette.routing import Route

from rulerank.judging.labels import MAX_RATER
from rulerank.judging.overview import CurvePoint
from rulerank.judging.web.api import Api
from rulerank.judging.web.endpoint import (
    RequestError,
    known_rater,
    rater_named,
    rater_of,
    remember_rater,
    token_holder,
)  # fmt: skip
from rulerank.judging.web.guidelines import Guidelines
from rulerank.judging.web.security import is_foreign
from rulerank.methods import METHODS

HERE = Path(__file__).parent
MOST_ROWS = 500  # of a table on a page; the JSON twin has them all
FOREIGN_NAME = "A link from elsewhere has named this rater: check that it is you, or write your own name."
TITLES = {401: "The token is missing", 403: "Not from here", 404: "There is no such page"}
ABOUT = {  # what the choice of methods says of those that have a word to say
    "RE-GR": "RE-GR: rules, the default",
    "RE-SR": "RE-SR: rules that hold in every query",
    "RE-QR": "RE-QR: rules of each query",
    "QI": "QI: linear, good with few labels",
}
WIDTH, HEIGHT = 440, 230  # of the picture of the curve
LEFT, RIGHT, TOP, BOTTOM = 34, 430, 10, 194  # the frame inside

templates = jinja2.Environment(
    loader=jinja2.FileSystemLoader(HERE / "templates"),
    autoescape=True,  # every value, in every template: data is never markup
    undefined=jinja2.StrictUndefined,
    trim_blocks=True,
    lstrip_blocks=True,
)
templates.globals |= {"rater": None, "page": None, "fixed_rater": False, "store": ""}


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
        if "who" in asked and token_holder(request) is None:
            return self._welcome(known_rater(request) or "")
        try:
            named = rater_named(asked["rater"]) if "rater" in asked else None
        except RequestError as refusal:
            return self._welcome("", refusal.message)
        if named and is_foreign(request):
            return self._welcome(named, FOREIGN_NAME)
        rater = rater_of(request, named) if named else known_rater(request)
        if rater is None:
            return self._welcome("")
        revise = {"query": asked["query"], "doc": asked["doc"]} if {"query", "doc"} <= asked.keys() else None
        page = self._page(request, rater, "judge", guidelines=self.guidelines, revise=revise,
                          max_grade=self.api.judging.max_grade)  # fmt: skip
        if named and token_holder(request) is None:
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
            overview=overview.to_dict(),
            queries=queries,
            drawing=draw(overview.curve),
            size=(WIDTH, HEIGHT),
            frame={"left": LEFT, "right": RIGHT, "bottom": BOTTOM},
            model_path=self.api.model_path,
            methods=[(name, ABOUT.get(name, name), self.command(name)) for name in METHODS],
        )

    def _rater(self, request: Request) -> str | None:
        named = request.query_params.get("rater")
        return rater_of(request, named) if named and not is_foreign(request) else known_rater(request)

    def _page(self, request: Request, rater: str, name: str, **values: Any) -> Response:
        fixed = bool(request.app.state.rater or token_holder(request))
        return render(name, rater=rater, page=name, fixed_rater=fixed, store=request.app.state.store, **values)

    def _welcome(self, suggestion: str, problem: str = "") -> Response:
        status = 422 if problem else 200
        return render("welcome", status, suggestion=suggestion, problem=problem, max_name=MAX_RATER)


@dataclass(frozen=True, slots=True)
class Tick:
    """A place along an axis and its text."""

    place: float
    text: str


@dataclass(frozen=True, slots=True)
class Drawing:
    """A curve in pixels: its points as SVG takes them, and its ticks."""

    points: tuple[tuple[float, float, str], ...]  # x, y and what to say of it
    x_ticks: tuple[Tick, ...]
    y_ticks: tuple[Tick, ...]

    @property
    def path(self) -> str:
        return " ".join(f"{x:g},{y:g}" for x, y, _ in self.points)


def draw(curve: Sequence[CurvePoint]) -> Drawing | None:
    """Return the drawing of the points that have a figure; None when there are none yet.

    >>> drawing = draw([CurvePoint(10, 0.4, 3), CurvePoint(20, 0.5, 5)])
    >>> [tick.text for tick in drawing.y_ticks]
    ['0.40', '0.42', '0.44', '0.46', '0.48', '0.50']
    >>> draw([CurvePoint(3, None, 0)]) is None
    True
    """
    known = [(point.n_labels, point.map) for point in curve if point.map is not None]
    if not known:
        return None
    low, high = min(m for _, m in known), max(m for _, m in known)
    if low == high:  # a flat line still needs a height around it
        low, high = max(0.0, low - 0.1), min(1.0, high + 0.1)
    xs, ys = ticks(0, max(n for n, _ in known)), ticks(low, high)

    def x_of(n: float) -> float:
        return round(LEFT + (n - xs[0]) / (xs[-1] - xs[0]) * (RIGHT - LEFT), 1)

    def y_of(figure: float) -> float:
        return round(BOTTOM - (figure - ys[0]) / (ys[-1] - ys[0]) * (BOTTOM - TOP), 1)

    return Drawing(
        tuple((x_of(n), y_of(figure), f"{n:,} labels: MAP {figure:.3f}") for n, figure in known),
        tuple(Tick(x_of(n), f"{n:,.0f}") for n in xs if n == int(n)),
        tuple(Tick(y_of(figure), f"{figure:.2f}") for figure in ys),
    )


def ticks(low: float, high: float, most: int = 6) -> list[float]:
    """Return round numbers from below low to above high.

    >>> ticks(0, 37), ticks(0.4, 0.6)
    ([0.0, 10.0, 20.0, 30.0, 40.0], [0.4, 0.45, 0.5, 0.55, 0.6])
    """
    step = 10.0 ** math.floor(math.log10((high - low) / most))
    step *= next(times for times in (1, 2, 5, 10) if (high - low) / (step * times) <= most)
    first, last = math.floor(low / step + 1e-9), math.ceil(high / step - 1e-9)
    return [round(place * step, 10) for place in range(first, last + 1)]
