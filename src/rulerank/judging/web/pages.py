"""The HTML pages of raters and of the admin; data is shown as text only."""

from __future__ import annotations

import mimetypes
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import quote

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from rulerank.errors import DataError, RulerankError
from rulerank.judging.guidelines import Guidelines
from rulerank.judging.labels import COMBINATIONS, KINDS, MAX_RATER, MOST_JUDGEMENTS, PERSON
from rulerank.judging.transfer import export_labels, write_history
from rulerank.judging.web.api import Api, known_rater, rater_named, rater_of, remember_rater, token_holder
from rulerank.web.pages import Pages
from rulerank.web.requests import RequestError
from rulerank.web.security import check_admin, is_admin, is_foreign

HERE = Path(__file__).parent
MOST_ROWS = 500  # of a table on a page; the JSON has all
MOST_QUERIES = 50  # on the overview
FOREIGN_NAME = "A link from another site has set this name: check that it is yours, or enter your own."
PAGES = Pages(HERE, "To the judging page", rater=None, page=None, fixed_rater=False, store="", is_admin=False)
Values = dict[str, Any]  # of a template


@dataclass(frozen=True)
class JudgingPages:
    """The pages of raters and, without a personal link, of the admin; asks for the rater's name first."""

    api: Api
    guidelines: Guidelines
    command: Callable[[str], str]  # the shell command that trains a method
    lists_first: bool  # on the start page

    def routes(self) -> list[Route]:
        return [
            *(Route(path, self.judge) for path in ("/", "/one", "/list")),
            self._route("labels", self.labels),
            self._route("overview", self.overview),
            self._route("side-by-side", self.side_by_side),
            self._route("admin", self.team, admin_only=True),
            self._route("disputes", self.disputes, admin_only=True),
            Route("/download/{name}", self.download),
        ]

    def _route(self, name: str, values: Callable[[Request, str], Values], *, admin_only: bool = False) -> Route:
        """Return the route of a page."""

        def show(request: Request) -> Response:
            if admin_only:
                check_admin(request)
            return self._for_rater(request, lambda rater: self.page(request, rater, name, **values(request, rater)))

        return Route(f"/{name}", show)

    def judge(self, request: Request) -> Response:
        """Show the judging page."""
        return self._for_rater(request, lambda rater: self._judging(request, rater))

    def _for_rater(self, request: Request, show: Callable[[str], Response]) -> Response:
        """Show a page for the rater of the URL or the cookie; ask for the name first if there is none."""
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
        page = show(rater)
        if named and token_holder(request) is None:
            remember_rater(page, named)
        return page

    def _judging(self, request: Request, rater: str) -> Response:
        """Show one document at a time or a list, by the URL or the default."""
        asked, path = request.query_params, request.url.path
        revise = {"query": asked["query"], "doc": asked["doc"]} if {"query", "doc"} <= asked.keys() else None
        if path == "/list" or (path == "/" and self.lists_first and revise is None):
            return self.page(request, rater, "list", **self.grades)
        return self.page(request, rater, "judge", revise=revise, **self.grades)

    @property
    def grades(self) -> Values:
        """The grading scale."""
        return {"guidelines": self.guidelines, "max_grade": self.api.judging.max_grade}

    def labels(self, request: Request, rater: str) -> Values:
        """Show a rater's own labels."""
        labels = self.api.labels(rater)["labels"]
        return {"labels": labels[:MOST_ROWS], "n_labels": len(labels)}

    def overview(self, request: Request, rater: str) -> Values:
        """Show counts of all labels, and the agreement of raters."""
        overview = self.api.judging.overview()
        with self.api.judging.current() as current:
            sentence = current.counting.sentence()
        return {
            "overview": overview.to_dict(),
            "queries": sorted(overview.queries, key=lambda row: -row.labelled)[:MOST_QUERIES],
            "sentence": sentence,
            "check": self.api.check()["check"],
            "model_path": self.api.model_path,
            "methods": [(name, self.command(name)) for name in self.api.methods],
        }

    def side_by_side(self, request: Request, rater: str) -> Values:
        """Show two documents side by side, one from each ranking, blind."""
        return self.grades

    def team(self, request: Request, rater: str) -> Values:
        """Show raters and their links, downloads and settings."""
        raters = self.api.raters()
        return {
            "raters": raters,
            "kinds": KINDS,
            "others": [name for name, kind, _ in raters if kind != PERSON],
            "can_invite": self.api.tokens is not None,
            "max_name": MAX_RATER,
            "downloads": downloads(self.api),
            "has_model": self.api.model_path.is_file(),
            "settings": self.api.judging.store.settings(),
            "combinations": COMBINATIONS,
            "most_judgements": MOST_JUDGEMENTS,
        }

    def disputes(self, request: Request, rater: str) -> Values:
        """Show disputed documents one by one, and the agreement of raters."""
        return self.grades | {"kinds": KINDS, "agreement": self.api.agreement()}

    async def download(self, request: Request) -> Response:
        """Send a file."""
        check_admin(request)
        name = request.path_params["name"]
        chosen = next((one for one in downloads(self.api) if one.name == name), None)
        if chosen is None:
            raise RequestError(404, "not_found", f"there is no download {name!a:.60}")
        try:
            content = await run_in_threadpool(chosen.content)
        except RulerankError as error:
            raise RequestError(422, "not_possible", str(error)) from None
        kind = mimetypes.guess_type(name)[0] or "application/octet-stream"
        headers = {"Content-Disposition": f"attachment; filename*=UTF-8''{quote(name)}"}
        return Response(content, media_type=kind, headers=headers)

    def page(self, request: Request, rater: str, name: str, **values: Any) -> Response:
        """Return a page for a rater."""
        fixed = bool(request.app.state.rater or token_holder(request))
        return PAGES.render(name, rater=rater, page=name, fixed_rater=fixed, store=request.app.state.store,
                            is_admin=is_admin(request), **values)  # fmt: skip

    def _welcome(self, suggestion: str, problem: str = "") -> Response:
        status = 422 if problem else 200
        return PAGES.render("welcome", status, suggestion=suggestion, problem=problem, max_name=MAX_RATER)


class Download(NamedTuple):
    """A file to download: its name, its description, and the function that writes it."""

    name: str
    about: str
    write: Callable[[Path], object]

    def content(self) -> bytes:
        with tempfile.TemporaryDirectory() as folder:
            self.write(Path(folder, self.name))
            return Path(folder, self.name).read_bytes()


def downloads(api: Api) -> list[Download]:
    """Return the available downloads."""
    store, pool = api.judging.store, api.judging.pool
    history = "every label and decision, also superseded and withdrawn ones, with rater, time and page"

    def model(path: Path) -> None:
        if not api.model_path.is_file():
            raise DataError("no model saved yet: train one on the overview page")
        path.write_bytes(api.model_path.read_bytes())

    return [
        Download(api.model_path.name, "the latest model", model),
        Download("labels.csv", "documents, grades and features", lambda path: export_labels(store, path, pool)),
        Download("labels-per-rater.csv", "one row per label, with rater, time and grade",
                 lambda path: export_labels(store, path, per_rater=True)),
        Download("history.csv", history, lambda path: write_history(store, path)),
    ]  # fmt: skip
