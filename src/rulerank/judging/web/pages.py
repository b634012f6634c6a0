"""The pages of raters and of the lead: the API's payloads in HTML that shows data as text and nothing else."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import quote

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route

from rulerank.errors import DataError, RulerankError
from rulerank.judging.admin import ORDERS, USUAL_ORDER, label_report, page_of_queries
from rulerank.judging.guidelines import Guidelines
from rulerank.judging.labels import COMBINATIONS, KINDS, MAX_RATER, MOST_JUDGEMENTS, PERSON
from rulerank.judging.store import LabelStore
from rulerank.judging.transfer import export_labels, write_audit
from rulerank.judging.web.api import Api
from rulerank.judging.web.endpoint import known_rater, rater_named, rater_of, remember_rater, token_holder
from rulerank.judging.web.lead_api import LeadApi
from rulerank.web.pages import Pages
from rulerank.web.requests import RequestError
from rulerank.web.security import check_lead, is_foreign, is_lead

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
MOST_SHOWN = 100  # documents of a query in each column of a comparison
FILE_TYPES = {
    ".csv": "text/csv",
    ".parquet": "application/vnd.apache.parquet",
    ".html": "text/html",
    ".txt": "text/plain",
    ".qrels": "text/plain",
}

Values = dict[str, Any]  # of a template


@dataclass(frozen=True)
class JudgingPages:
    """The pages, the question who judges that comes before them, and the lead's, which no personal link opens."""

    api: Api
    lead: LeadApi
    guidelines: Guidelines
    command: Callable[[str], str]  # what trains a model of a method on the command line

    def routes(self) -> list[Route]:
        return [
            *(Route(path, self.judge) for path in ("/", "/one", "/list")),
            self._route("labels", self.labels),
            self._route("overview", self.overview),
            self._route("duels", self.duels),
            self._route("compare", self.compare),
            self._route("lead", self.team, lead_only=True),
            self._route("queries", self.queries, lead_only=True),
            self._route("disputes", self.disputes, lead_only=True),
            Route("/download/{name}", self.download),
        ]

    def _route(self, name: str, values: Callable[[Request, str], Values], *, lead_only: bool = False) -> Route:
        """Return the route of a page; who has not said a name is asked for it first."""

        def show(request: Request) -> Response:
            if lead_only:
                check_lead(request)
            named = request.query_params.get("rater")
            rater = rater_of(request, named) if named and not is_foreign(request) else known_rater(request)
            if rater is None:
                return RedirectResponse("/", status_code=303)
            return self.page(request, rater, name, **values(request, rater))

        return Route(f"/{name}", show)

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
        if path == "/list" or (path == "/" and self.api.lists.come_first and revise is None):
            return self.page(request, rater, "list", **self.grades)
        return self.page(request, rater, "judge", revise=revise, **self.grades)

    @property
    def grades(self) -> Values:
        """Which grades there are, and what they mean."""
        return {"guidelines": self.guidelines, "max_grade": self.api.judging.max_grade}

    def labels(self, request: Request, rater: str) -> Values:
        """Show a rater's own labels."""
        labels = self.api.labels(rater)["labels"]
        return {"labels": labels[:MOST_ROWS], "n_labels": len(labels)}

    def overview(self, request: Request, rater: str) -> Values:
        """Show all labels at a glance."""
        overview, panel = self.api.judging.overview(), self.api.judging.panel
        return {
            "overview": overview.to_dict(),
            "queries": page_of_queries(overview.queries),
            "alpha": panel.alpha(),
            "sentence": panel.counting().sentence(),
            "check": self.api.check()["check"],
            "model_path": self.api.model_path,
            "methods": [(name, ABOUT.get(name, name), self.command(name)) for name in self.api.methods],
        }

    def duels(self, request: Request, rater: str) -> Values:
        """Show two documents side by side, one by each ranking, unnamed."""
        return self.grades

    def compare(self, request: Request, rater: str) -> Values:
        """Show two rankings of a query side by side; to a rater only of what that rater has judged."""
        query = request.query_params.get("query", "")
        found, problem = None, ""
        try:
            if query:
                found = self.lead.compare(query) if is_lead(request) else self.lead.own_compare(rater, query)
        except RequestError as refusal:
            problem = refusal.message
        docs = () if found is None else found.docs
        today = sorted(docs, key=lambda doc: doc.today)[:MOST_SHOWN]
        return {"found": found, "problem": problem, "query": query, "new": docs[:MOST_SHOWN], "today": today}

    def team(self, request: Request, rater: str) -> Values:
        """Show raters and their links, downloads and settings."""
        judging, kinds = self.api.judging, self.lead.kinds()
        counts = {row.rater: row for row in judging.panel.count_raters()}
        return {
            "raters": [(name, kind, counts.get(name)) for name, kind in kinds.items()],
            "kinds": KINDS,
            "others": [name for name, kind in kinds.items() if kind != PERSON],
            "can_invite": self.lead.can_invite,
            "max_name": MAX_RATER,
            "downloads": Downloads(self.api),
            "settings": judging.store.settings(),
            "combinations": COMBINATIONS,
            "most_judgements": MOST_JUDGEMENTS,
        }

    def queries(self, request: Request, rater: str) -> Values:
        """Show how far each query has come."""
        asked = request.query_params
        search, order = asked.get("search", "")[:200], asked.get("order", USUAL_ORDER)
        order = order if order in ORDERS else USUAL_ORDER
        found = self.lead.queries(search, order, _number(request))
        return {"found": found, "search": search, "order": order, "orders": [*ORDERS]}

    def disputes(self, request: Request, rater: str) -> Values:
        """Show what raters disagree on, one document after the other, and where they agree."""
        return self.grades | {"kinds": KINDS, "agreement": self.lead.agreement(_number(request))}

    async def download(self, request: Request) -> Response:
        """Hand out a file."""
        check_lead(request)
        name = request.path_params["name"]
        make = Downloads(self.api).by_name().get(name)
        if make is None:
            raise RequestError(404, "not_found", f"there is no download {name!a:.60}")
        try:
            content = await run_in_threadpool(make)
        except RulerankError as error:
            raise RequestError(422, "not_possible", str(error)) from None
        kind = FILE_TYPES.get(Path(name).suffix, "application/octet-stream")
        headers = {"Content-Disposition": f"attachment; filename*=UTF-8''{quote(name)}"}
        return Response(content, media_type=kind, headers=headers)

    def page(self, request: Request, rater: str, name: str, **values: Any) -> Response:
        """Return a page for a rater."""
        fixed = bool(request.app.state.rater or token_holder(request))
        return PAGES.render(name, rater=rater, page=name, fixed_rater=fixed, store=request.app.state.store,
                            is_lead=is_lead(request), **values)  # fmt: skip

    def _welcome(self, suggestion: str, problem: str = "") -> Response:
        status = 422 if problem else 200
        return PAGES.render("welcome", status, suggestion=suggestion, problem=problem, max_name=MAX_RATER)


def _number(request: Request) -> int:
    """Return which page of a table is asked for; the first, unless it is a number."""
    number = request.query_params.get("page", "")
    return int(number) if number.isascii() and number.isdigit() and len(number) < 10 else 1


class Download(NamedTuple):
    """A file: what it is, for the page, and how it is made."""

    name: str
    about: str
    make: Callable[[], bytes]


class Downloads:
    """Everything that can be downloaded, by the name of its file."""

    def __init__(self, api: Api) -> None:
        self._api, self._store = api, api.judging.store
        combined = [
            ("labels.csv", "a table of documents, grades and features", None),
            ("labels.parquet", "the same, for programs", None),
            ("labels.txt", "LETOR text with the features", "letor"),
            ("labels.qrels", "TREC qrels", None),
            ("labels-quepid.csv", "for Quepid", "quepid"),
        ]
        each = [
            ("labels-per-rater.csv", "every label by itself: who, when, which grade"),
            ("labels-per-rater.parquet", "the same, for programs"),
        ]
        said = "who said what, when and on which page: labels, undone ones too, skips, decisions, judges and settings"
        self.labels = [Download(name, about, self._written(name, self._export, form)) for name, about, form in combined]
        self.per_rater = [Download(name, about, self._written(name, self._export_each)) for name, about in each]
        self.others = [
            Download("history.csv", said, self._written("history.csv", write_audit)),
            Download("report.html", "the overview as one page, to send around", self._report),
        ]
        self.model = Download(api.model_path.name, "the model that was saved last", self._model)

    def by_name(self) -> dict[str, Callable[[], bytes]]:
        every = (*self.labels, *self.per_rater, *self.others, self.model)
        return {download.name: download.make for download in reversed(every)}

    @property
    def has_model(self) -> bool:
        return self._api.model_path.is_file()

    def _written(self, name: str, write: Callable[..., object], *more: Any) -> Callable[[], bytes]:
        """Return what makes the bytes of a file that a function of the store, a path and more writes."""

        def make() -> bytes:
            with tempfile.TemporaryDirectory() as folder:
                write(self._store, Path(folder, name), *more)
                return Path(folder, name).read_bytes()

        return make

    def _export(self, store: LabelStore, path: Path, format: str | None) -> None:
        export_labels(store, path, self._api.judging.pool, format, combine_by=store.settings().combine)

    def _export_each(self, store: LabelStore, path: Path) -> None:
        export_labels(store, path, per_rater=True)

    def _report(self) -> bytes:
        how = COMBINATIONS[self._store.settings().combine]
        return label_report(self._api.judging.overview(), Path(self._api.judging.pool.name).name, how).encode()

    def _model(self) -> bytes:
        if not self.has_model:
            raise DataError("no model was saved yet: train one first, on the overview")
        return self._api.model_path.read_bytes()
