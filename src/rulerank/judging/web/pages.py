"""The pages: the same payloads as the API's, in HTML that shows data as text and nothing else."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route

from rulerank.judging.guidelines import Guidelines
from rulerank.judging.labels import MAX_RATER
from rulerank.judging.lists import ListChoices
from rulerank.judging.overview import page_of_queries
from rulerank.judging.web.api import Api
from rulerank.judging.web.endpoint import (
    known_rater,
    rater_named,
    rater_of,
    remember_rater,
    token_holder,
)  # fmt: skip
from rulerank.web.pages import Pages
from rulerank.web.refusals import RequestError
from rulerank.web.security import is_foreign, is_lead

HERE = Path(__file__).parent
MOST_ROWS = 500  # of a table on a page; the JSON twin has them all
FOREIGN_NAME = "A link from elsewhere has named this rater: check that it is you, or write your own name."
ABOUT = {  # what the choice of methods says of those that have a word to say
    "Anchored": "Anchored: from today's ranking",
    "AnchoredRules": "AnchoredRules: the same as rules",
    "RE-GR": "RE-GR: rules, for many labels",
    "RE-SR": "RE-SR: rules that hold in every query",
    "RE-QR": "RE-QR: rules of each query",
    "QI": "QI: linear",
}
PAGES = Pages(HERE, "To the judging page", rater=None, page=None, fixed_rater=False, store="", is_lead=False)


@dataclass(frozen=True)
class JudgingPages:
    """The pages and the question that comes before them."""

    api: Api
    guidelines: Guidelines
    lists: ListChoices
    command: Callable[[str], str]  # what trains a model of a method on the command line

    def routes(self) -> list[Route]:
        return [
            Route("/", self.judge),
            Route("/one", self.judge),
            Route("/list", self.judge),
            Route("/labels", self.labels),
            Route("/overview", self.overview),
            Route("/duels", self.duels),
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
        page = self._judging(request, rater)
        if named and token_holder(request) is None:
            remember_rater(page, named)
        return page

    def _judging(self, request: Request, rater: str) -> Response:
        """Show one document at a time or lists: as the address says, else as the lead has chosen."""
        asked, path = request.query_params, request.url.path
        revise = {"query": asked["query"], "doc": asked["doc"]} if {"query", "doc"} <= asked.keys() else None
        grades = {"guidelines": self.guidelines, "max_grade": self.api.judging.max_grade}
        if path == "/list" or (path == "/" and self.lists.come_first and revise is None):
            return self.page(request, rater, "list", **grades)
        return self.page(request, rater, "judge", revise=revise, **grades)

    def labels(self, request: Request) -> Response:
        """Show a rater's own labels."""
        rater = self.rater(request)
        if rater is None:
            return RedirectResponse("/", status_code=303)
        labels = self.api.labels(rater)["labels"]
        return self.page(request, rater, "labels", labels=labels[:MOST_ROWS], n_labels=len(labels))

    def overview(self, request: Request) -> Response:
        """Show all labels at a glance."""
        rater = self.rater(request)
        if rater is None:
            return RedirectResponse("/", status_code=303)
        overview = self.api.judging.overview()
        return self.page(
            request,
            rater,
            "overview",
            overview=overview.to_dict(),
            queries=page_of_queries(overview.queries).to_dict(),
            alpha=self.api.judging.panel.alpha().to_dict(),
            sentence=self.api.judging.panel.counting().sentence(),
            check=self.api.check()["check"],
            model_path=self.api.model_path,
            methods=[(name, ABOUT.get(name, name), self.command(name)) for name in self.api.methods],
        )

    def duels(self, request: Request) -> Response:
        """Show two documents side by side, one by each ranking, unnamed."""
        rater = self.rater(request)
        if rater is None:
            return RedirectResponse("/", status_code=303)
        return self.page(request, rater, "duels", guidelines=self.guidelines, max_grade=self.api.judging.max_grade)

    def rater(self, request: Request) -> str | None:
        """Return who looks at a page; None: that must be asked first."""
        named = request.query_params.get("rater")
        return rater_of(request, named) if named and not is_foreign(request) else known_rater(request)

    def page(self, request: Request, rater: str, name: str, **values: Any) -> Response:
        """Return a page for a rater."""
        fixed = bool(request.app.state.rater or token_holder(request))
        return PAGES.render(name, rater=rater, page=name, fixed_rater=fixed, store=request.app.state.store,
                            is_lead=is_lead(request), **values)  # fmt: skip

    def _welcome(self, suggestion: str, problem: str = "") -> Response:
        status = 422 if problem else 200
        return PAGES.render("welcome", status, suggestion=suggestion, problem=problem, max_name=MAX_RATER)
