"""The lead's own pages: people and files, queries, disputes, two rankings side by side; none is for a personal link."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple
from urllib.parse import quote

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route

from rulerank.errors import DataError, RulerankError
from rulerank.judging.combine import COMBINATIONS
from rulerank.judging.labels import MAX_RATER
from rulerank.judging.overview import ORDERS, USUAL_ORDER
from rulerank.judging.report import label_report
from rulerank.judging.store import LabelStore
from rulerank.judging.team import KINDS, MOST_JUDGEMENTS, PERSON
from rulerank.judging.transfer import export_labels, write_audit
from rulerank.judging.web.api import Api
from rulerank.judging.web.lead_api import DisputeApi, LeadApi
from rulerank.judging.web.pages import JudgingPages
from rulerank.web.refusals import RequestError
from rulerank.web.security import check_lead, is_lead


class Download(NamedTuple):
    """A file: what it is, for the page, its type, and how it is made."""

    name: str
    about: str
    kind: str
    make: Callable[[], bytes]


class Downloads:
    """Everything that can be taken away, by the name of its file."""

    def __init__(self, api: Api) -> None:
        self._api, self._judging = api, api.judging
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
        self.labels = [self._labels(name, about, format) for name, about, format in combined]
        self.per_rater = [self._labels(name, about, None, per_rater=True) for name, about in each]
        self.others = [
            Download(
                "history.csv",
                "who said what, when and on which page: labels, undone ones too, skips, decisions, judges and settings",
                "text/csv",
                self._history,
            ),
            Download("report.html", "the overview as one page, to send around", "text/html", self._report),
        ]
        self.model = Download(
            self._api.model_path.name, "the model that was saved last", "application/octet-stream", self._model
        )

    def named(self, name: str) -> Download | None:
        """Return the download of a name."""
        every = (*self.labels, *self.per_rater, *self.others, self.model)
        return next((download for download in every if download.name == name), None)

    @property
    def has_model(self) -> bool:
        return self._api.model_path.is_file()

    def _labels(self, name: str, about: str, format: str | None, *, per_rater: bool = False) -> Download:
        def make() -> bytes:
            store, pool = self._judging.store, self._judging.pool
            assert isinstance(store, LabelStore)
            how = store.settings().combine
            with tempfile.TemporaryDirectory() as folder:
                path = Path(folder, name)
                export_labels(store, path, None if per_rater else pool, format, per_rater=per_rater, combine_by=how)
                return path.read_bytes()

        kinds = {".csv": "text/csv", ".parquet": "application/vnd.apache.parquet"}
        return Download(name, about, kinds.get(Path(name).suffix, "text/plain"), make)

    def _history(self) -> bytes:
        store = self._judging.store
        assert isinstance(store, LabelStore)
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder, "history.csv")
            write_audit(store, path)
            return path.read_bytes()

    def _report(self) -> bytes:
        how = COMBINATIONS[self._judging.store.settings().combine]
        return label_report(self._judging.overview(), Path(self._judging.pool.name).name, how).encode()

    def _model(self) -> bytes:
        if not self.has_model:
            raise DataError("no model was saved yet: train one first, on the overview")
        return self._api.model_path.read_bytes()


MOST_SHOWN = 100  # documents of a query in each column


class LeadPages:
    """The lead's pages and files."""

    def __init__(self, lead: LeadApi, disputes: DisputeApi, pages: JudgingPages) -> None:
        self._lead, self._disputes, self._pages, self._downloads = lead, disputes, pages, Downloads(lead.api)

    def routes(self) -> list[Route]:
        return [
            Route("/lead", self.lead),
            Route("/queries", self.queries),
            Route("/disputes", self.disputes),
            Route("/compare", self.compare),
            Route("/download/{name}", self.download),
        ]

    def lead(self, request: Request) -> Response:
        """Show raters and their links, downloads and settings."""
        check_lead(request)
        rater = self._pages.rater(request)
        if rater is None:
            return RedirectResponse("/", status_code=303)
        judging, kinds = self._lead.judging, self._lead.kinds()
        counts = {row.rater: row for row in judging.panel.count_raters()}
        return self._pages.page(
            request,
            rater,
            "lead",
            raters=[(name, kind, counts.get(name)) for name, kind in kinds.items()],
            kinds=KINDS,
            others=[name for name, kind in kinds.items() if kind != PERSON],
            can_invite=self._lead.can_invite,
            max_name=MAX_RATER,
            downloads=self._downloads,
            settings=judging.store.settings().to_dict(),
            combinations=COMBINATIONS,
            most_judgements=MOST_JUDGEMENTS,
        )

    def queries(self, request: Request) -> Response:
        """Show how far each query has come."""
        check_lead(request)
        rater = self._pages.rater(request)
        if rater is None:
            return RedirectResponse("/", status_code=303)
        asked = request.query_params
        search, order = asked.get("search", "")[:200], asked.get("order", USUAL_ORDER)
        order = order if order in ORDERS else USUAL_ORDER
        found = self._lead.find_queries(search, order, _number(request))
        return self._pages.page(request, rater, "queries", found=found, search=search, order=order, orders=[*ORDERS])

    def disputes(self, request: Request) -> Response:
        """Show what raters disagree on, one document after the other, and where they agree."""
        check_lead(request)
        rater = self._pages.rater(request)
        if rater is None:
            return RedirectResponse("/", status_code=303)
        return self._pages.page(
            request,
            rater,
            "disputes",
            guidelines=self._pages.guidelines,
            max_grade=self._lead.judging.max_grade,
            kinds=KINDS,
            agreement=self._disputes.agreement(_number(request)),
        )

    def compare(self, request: Request) -> Response:
        """Show two rankings of a query side by side; to a rater only of what that rater has judged."""
        rater = self._pages.rater(request)
        if rater is None:
            return RedirectResponse("/", status_code=303)
        query = request.query_params.get("query", "")
        found, problem = None, ""
        try:
            if query:
                found = self._lead.compare(query) if is_lead(request) else self._lead.own_compare(rater, query)
        except RequestError as refusal:
            problem = refusal.message
        docs = [] if found is None else found["docs"]
        return self._pages.page(
            request,
            rater,
            "compare",
            found=found,
            problem=problem,
            query=query,
            new=docs[:MOST_SHOWN],
            today=sorted(docs, key=lambda doc: doc["today"])[:MOST_SHOWN],
        )

    async def download(self, request: Request) -> Response:
        """Hand out a file."""
        check_lead(request)
        found = self._downloads.named(request.path_params["name"])
        if found is None:
            raise RequestError(404, "not_found", f"there is no download {request.path_params['name']!a:.60}")
        try:
            content = await run_in_threadpool(found.make)
        except RulerankError as error:
            raise RequestError(422, "not_possible", str(error)) from None
        headers = {"Content-Disposition": f"attachment; filename*=UTF-8''{quote(found.name)}"}
        return Response(content, media_type=found.kind, headers=headers)


def _number(request: Request) -> int:
    """Return which page of a table is asked for; the first, unless it is a number."""
    number = request.query_params.get("page", "")
    return int(number) if number.isascii() and number.isdigit() and len(number) < 10 else 1
