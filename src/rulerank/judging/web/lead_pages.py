"""The lead's own pages: people and files, queries, disputes, two rankings side by side; none is for a personal link."""

from __future__ import annotations

from urllib.parse import quote

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route

from rulerank.errors import RulerankError
from rulerank.judging.combine import COMBINATIONS
from rulerank.judging.labels import MAX_RATER
from rulerank.judging.queries import ORDERS, USUAL_ORDER
from rulerank.judging.team import KINDS, MOST_JUDGEMENTS, PERSON
from rulerank.judging.web.dispute_api import DisputeApi
from rulerank.judging.web.downloads import Downloads
from rulerank.judging.web.lead_api import LeadApi
from rulerank.judging.web.pages import JudgingPages
from rulerank.web.refusals import RequestError
from rulerank.web.security import check_lead, is_lead

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
