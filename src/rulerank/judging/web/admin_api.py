"""Requests of the admin: queries, links, settings, disputes and agreement."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any
from urllib.parse import urlencode

from rulerank.judging.admin import (
    USUAL_ORDER,
    QueryCount,
    RaterCount,
    alpha_of_people,
    count_queries,
    count_raters,
    disputes_of,
    page_of,
    page_of_queries,
)
from rulerank.judging.agreement import Coefficient, Part, RaterAgreement, Share, agreement_parts, rater_agreement
from rulerank.judging.labels import PAGES, PERSON, Decision, Label, Pair, Progress, Settings
from rulerank.judging.web.api import Api, JudgingEndpoint, Payload, Task, rater_named
from rulerank.web.endpoint import many, record
from rulerank.web.requests import RequestError, whole
from rulerank.web.security import Tokens

DISPUTES_PER_PAGE = 20
QUERIES_PER_PAGE = 20


class AdminApi:
    """The judging loop for the admin's pages: takes values, returns plain values for JSON."""

    def __init__(self, api: Api, tokens: Tokens | None) -> None:
        self.api, self.judging, self.tokens = api, api.judging, tokens

    def queries(self, search: str = "", order: str = USUAL_ORDER, page: int = 1) -> Payload:
        """List queries and their labels, by page."""
        with self.judging.current() as current:
            rows = count_queries(self.judging.pool, current)
        found = page_of_queries(rows, search, order, page)
        return {"queries": found.rows, **found.counts()}

    def invite(self, name: str) -> Payload:
        """Create a rater's personal link, which is bound to that name."""
        if self.tokens is None:
            raise RequestError(422, "no_secret", "personal links need a secret: start the page with --token")
        return {"rater": rater_named(name), "path": "/?" + urlencode({"token": self.tokens.invite(rater_named(name))})}

    def settings(self) -> Payload:
        """Return the settings."""
        return {"settings": self.judging.store.settings()}

    def change_settings(
        self,
        rater: str,
        combine: str | None = None,
        judgements: int | None = None,
        training_raters: list[str] | None = None,
    ) -> Payload:
        """Change settings; those left out stay."""
        values = {"combine": combine, "judgements": judgements, "training_raters": training_raters}
        for name, value in values.items():
            if value is not None:
                self.judging.store.change_setting(name, value, rater, page="admin")
        return self.settings()

    def set_rater_kind(self, rater: str, name: str, kind: str) -> Payload:
        """Set the kind of a rater: human, or one whose labels are used only if the admin says so."""
        self.judging.store.set_rater_kind(rater_named(name), kind, rater, page="admin")
        return {"kinds": {name: kind for name, kind, _ in self.raters()}}

    def raters(self) -> list[tuple[str, str, RaterCount | None]]:
        """Return all raters with labels or a kind: name, kind and counts of labels."""
        with self.judging.current() as current:
            counts = {row.rater: row for row in count_raters(self.judging.pool, self.judging.store, current)}
            others = current.counting.other_raters
        return [(name, others.get(name, PERSON), counts.get(name)) for name in sorted({*counts, *others})]

    def disputes(self, state: str = "open", page: int = 1) -> Payload:
        """List disputes, the largest first, or decisions, the latest first; by page."""
        disputed, decisions = self._disputed()
        left = [pair for pair in disputed if pair not in decisions]
        chosen = {"open": left, "decided": [*reversed(decisions)], "all": [*disputed]}[state]
        found = page_of(chosen, page, DISPUTES_PER_PAGE)
        shown = [self._dispute(pair, disputed.get(pair, 0), decisions.get(pair)) for pair in found.rows]
        return {"disputes": shown, **found.counts(), "left": len(left), "decided": len(decisions)}

    def decide(
        self, rater: str, query: str, doc: str, grade: int | None, judgement: str | None = None, page: str = "api"
    ) -> Payload:
        """Store the admin's grade of a document."""
        self.api.check_known(query, doc)
        self.judging.store.decide(query, doc, grade, rater, judgement=judgement, page=page)
        return self._decided(rater, query, doc, None)

    def undo(self, rater: str, query: str, doc: str, judgement: str | None = None, page: str = "api") -> Payload:
        """Withdraw the decision on a document."""
        self.api.check_known(query, doc)
        undone = self.judging.store.undo_decision(query, doc, rater, judgement=judgement, page=page)
        return self._decided(rater, query, doc, undone)

    def agreement(self, page: int = 1) -> Payload:
        """Return the agreement of raters: of all, by rater, by query (the worst first, by page) and by grade."""
        pool = self.judging.pool
        with self.judging.current(exact=True) as current:
            counting, alpha = current.counting, alpha_of_people(current)
            parts = agreement_parts(label for by in current.by_row.values() for label in by.values())
            given = current.grades_of(sorted(counting.other_raters))
            others = [rater_agreement(name, grades, current.grades) for name, grades in given.items()]
        worst = sorted(parts.queries, key=lambda part: (part.share.value, -part.share.n_docs))
        found = page_of(worst, page, QUERIES_PER_PAGE)
        queries = [
            {"name": part.name, "share": part.share, "query_text": pool.query_text(part.name)} for part in found.rows
        ]
        return {
            "sentence": counting.sentence(),
            "alpha": alpha,
            "raters": parts.raters,
            "grades": parts.grades,
            "queries": {"queries": queries, **found.counts()},
            "other_raters": others,
        }

    def _decided(self, rater: str, query: str, doc: str, undone: Decision | None) -> Payload:
        """Return the current decision on a document, and the number of open disputes."""
        disputed, decisions = self._disputed()
        now = decisions.get((query, doc))
        found = {"decision": now and now.to_dict(), "undone": undone and undone.to_dict()}
        left = len(disputed.keys() - decisions.keys())
        return found | {"left": left, "decided": len(decisions)} | self.api.progress(rater)

    def _disputed(self) -> tuple[dict[Pair, int], dict[Pair, Decision]]:
        """Return the spread of every dispute, the largest first, and every decision, oldest first."""
        pool = self.judging.pool
        with self.judging.current() as current:
            found = {pool.pairs[one.doc]: one.spread for one in disputes_of(current)}
        pairs = {(one.query, one.doc): one for one in self.judging.store.decisions()}
        return found, {pair: one for pair, one in pairs.items() if pair in pool.rows}

    def _dispute(self, pair: Pair, spread: int, decision: Decision | None) -> Payload:
        with self.judging.current() as current:
            others, labels = current.counting.other_raters, current.labels_of(self.judging.pool.row(*pair))
        return {
            "task": self.api.unjudged(self.judging.task(*pair)),
            "spread": spread,
            "labels": [_said(label) | {"kind": others.get(label.rater, PERSON)} for label in labels],
            "decision": decision and decision.to_dict(),
        }


def _said(label: Label) -> Payload:
    """Return a label with its rater, time and page."""
    where = None if label.page is None else PAGES.get(label.page, label.page)
    return {"rater": label.rater, "grade": label.grade, "time": label.time.isoformat(), "where": where}


Voice = record("Voice", rater=str, kind=str, grade=int | None, time=str, where=str | None)
Dispute = record("Dispute", task=Task, spread=int, decision=Decision | None, labels=many(Voice))
QueryAgreement = record("QueryAgreement", name=str, query_text=str | None, share=Share)
PAGED = {"found": int, "page": int, "pages": int}
COUNTS = {"left": int, "decided": int}
DECIDED = {"decision": Decision | None, "undone": Decision | None, "progress": Progress} | COUNTS
AGREEMENT = {
    "sentence": str, "alpha": Coefficient, "raters": list[Part], "grades": list[Part],
    "other_raters": list[RaterAgreement],
    "queries": record("QueryAgreements", queries=many(QueryAgreement), **PAGED),
}  # fmt: skip


def admin_endpoints(admin: AdminApi, endpoint: Callable[..., JudgingEndpoint]) -> list[JudgingEndpoint]:
    """Return the endpoints of the admin; endpoint: creates one."""

    def admin_endpoint(method: str, path: str, call: Callable[..., Any], answer: Any) -> JudgingEndpoint:
        page = {} if method == "POST" else {"page": whole("Page number, from 1.", 1, 1_000_000)}
        return endpoint(method, path, call, answer, page, admin_only=True)

    return [
        admin_endpoint("GET", "/api/queries", admin.queries, {"queries": list[QueryCount]} | PAGED),
        admin_endpoint("POST", "/api/invite", admin.invite, {"rater": str, "path": str}),
        admin_endpoint("GET", "/api/settings", admin.settings, {"settings": Settings}),
        admin_endpoint("POST", "/api/settings", admin.change_settings, {"settings": Settings}),
        admin_endpoint("POST", "/api/raters", admin.set_rater_kind, {"kinds": dict[str, str]}),
        admin_endpoint("GET", "/api/disputes", admin.disputes, {"disputes": many(Dispute)} | PAGED | COUNTS),
        admin_endpoint("POST", "/api/decisions", admin.decide, DECIDED),
        admin_endpoint("POST", "/api/undo-decision", admin.undo, DECIDED),
        admin_endpoint("GET", "/api/agreement", admin.agreement, AGREEMENT),
    ]
