"""What only the lead can do: queries, links, settings, disputes and agreement."""

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
from rulerank.judging.agreement import Coefficient, JudgeAgreement, Part, Share, agreement_parts, judge_agreement
from rulerank.judging.labels import PAGES, PERSON, Decision, Label, Pair, Progress, Settings
from rulerank.judging.web.api import Api, JudgingEndpoint, Payload, Task, rater_named
from rulerank.web.endpoint import many, record
from rulerank.web.requests import RequestError, whole
from rulerank.web.security import Tokens

DISPUTES_PER_PAGE = 20
QUERIES_PER_PAGE = 20


class LeadApi:
    """The lead's side of the judging loop: values in, plain values for JSON out."""

    def __init__(self, api: Api, tokens: Tokens | None) -> None:
        self.api, self.judging, self.tokens = api, api.judging, tokens

    def queries(self, search: str = "", order: str = USUAL_ORDER, page: int = 1) -> Payload:
        """List queries and their labels, a page at a time."""
        with self.judging.current() as current:
            rows = count_queries(self.judging.pool, current)
        found = page_of_queries(rows, search, order, page)
        return {"queries": found.rows, **found.counts()}

    def invite(self, name: str) -> Payload:
        """Make a rater's personal link: its holder judges under that name and no other."""
        if self.tokens is None:
            raise RequestError(422, "no_secret", "personal links are made from a secret: start the page with --token")
        return {"rater": rater_named(name), "path": "/?" + urlencode({"token": self.tokens.invite(rater_named(name))})}

    def settings(self) -> Payload:
        """Tell how labels count."""
        return {"settings": self.judging.store.settings()}

    def change_settings(
        self,
        rater: str,
        combine: str | None = None,
        judgements: int | None = None,
        training_judges: list[str] | None = None,
    ) -> Payload:
        """Change how labels count; what is left out stays."""
        values = {"combine": combine, "judgements": judgements, "training_judges": training_judges}
        for name, value in values.items():
            if value is not None:
                self.judging.store.change_setting(name, value, rater, page="lead")
        return self.settings()

    def name_judge(self, rater: str, judge: str, kind: str) -> Payload:
        """Say what a rater is: a person, or something whose labels count only where the lead says so."""
        self.judging.store.name_judge(rater_named(judge), kind, rater, page="lead")
        return {"kinds": {name: kind for name, kind, _ in self.raters()}}

    def raters(self) -> list[tuple[str, str, RaterCount | None]]:
        """Return everybody who has given labels or was named: the name, what it is, and the counts of labels."""
        with self.judging.current() as current:
            counts = {row.rater: row for row in count_raters(self.judging.pool, self.judging.store, current)}
            judges = current.counting.judges
        return [(name, judges.get(name, PERSON), counts.get(name)) for name in sorted({*counts, *judges})]

    def disputes(self, state: str = "open", page: int = 1) -> Payload:
        """List disputes, the largest first, or what was decided, the latest first; a page at a time."""
        disputed, decisions = self._stand()
        left = [pair for pair in disputed if pair not in decisions]
        chosen = {"open": left, "decided": [*reversed(decisions)], "all": [*disputed]}[state]
        found = page_of(chosen, page, DISPUTES_PER_PAGE)
        shown = [self._dispute(pair, disputed.get(pair, 0), decisions.get(pair)) for pair in found.rows]
        return {"disputes": shown, **found.counts(), "left": len(left), "decided": len(decisions)}

    def decide(
        self, rater: str, query: str, doc: str, grade: int | None, judgement: str | None = None, page: str = "api"
    ) -> Payload:
        """Keep the lead's grade of a document."""
        self.api.check_known(query, doc)
        self.judging.store.decide(query, doc, grade, rater, judgement=judgement, page=page)
        return self._decided(rater, query, doc, None)

    def undo(self, rater: str, query: str, doc: str, judgement: str | None = None, page: str = "api") -> Payload:
        """Take the decision on a document back."""
        self.api.check_known(query, doc)
        undone = self.judging.store.undo_decision(query, doc, rater, judgement=judgement, page=page)
        return self._decided(rater, query, doc, undone)

    def agreement(self, page: int = 1) -> Payload:
        """Tell how well raters agree: all, each rater, each query (the worst first, a page at a time), each grade."""
        pool = self.judging.pool
        with self.judging.current(exact=True) as current:
            counting, alpha = current.counting, alpha_of_people(current)
            parts = agreement_parts(label for by in current.by_row.values() for label in by.values())
            given = current.grades_of(sorted(counting.judges))
            judges = [judge_agreement(judge, grades, current.grades) for judge, grades in given.items()]
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
            "judges": judges,
        }

    def _decided(self, rater: str, query: str, doc: str, undone: Decision | None) -> Payload:
        """Return which decision on a document is in force now, and how many disputes are left."""
        disputed, decisions = self._stand()
        now = decisions.get((query, doc))
        found = {"decision": now and now.to_dict(), "undone": undone and undone.to_dict()}
        left = len(disputed.keys() - decisions.keys())
        return found | {"left": left, "decided": len(decisions)} | self.api.progress(rater)

    def _stand(self) -> tuple[dict[Pair, int], dict[Pair, Decision]]:
        """Return the spread of every dispute, the largest first, and every decision, in the order of time."""
        pool = self.judging.pool
        with self.judging.current() as current:
            found = {pool.pairs[one.doc]: one.spread for one in disputes_of(current)}
        pairs = {(one.query, one.doc): one for one in self.judging.store.decisions()}
        return found, {pair: one for pair, one in pairs.items() if pair in pool.rows}

    def _dispute(self, pair: Pair, spread: int, decision: Decision | None) -> Payload:
        with self.judging.current() as current:
            judges, labels = current.counting.judges, current.labels_of(self.judging.pool.row(*pair))
        return {
            "task": self.api.unjudged(self.judging.task(*pair)),
            "spread": spread,
            "labels": [_said(label) | {"kind": judges.get(label.rater, PERSON)} for label in labels],
            "decision": decision and decision.to_dict(),
        }


def _said(label: Label) -> Payload:
    """Return who said what of a document, when and where."""
    where = None if label.page is None else PAGES.get(label.page, label.page)
    return {"rater": label.rater, "grade": label.grade, "time": label.time.isoformat(), "where": where}


Voice = record("Voice", rater=str, kind=str, grade=int | None, time=str, where=str | None)
Dispute = record("Dispute", task=Task, spread=int, decision=Decision | None, labels=many(Voice))
QueryAgreement = record("QueryAgreement", name=str, query_text=str | None, share=Share)
PAGED = {"found": int, "page": int, "pages": int}
COUNTS = {"left": int, "decided": int}
DECIDED = {"decision": Decision | None, "undone": Decision | None, "progress": Progress} | COUNTS
AGREEMENT = {
    "sentence": str, "alpha": Coefficient, "raters": list[Part], "grades": list[Part], "judges": list[JudgeAgreement],
    "queries": record("QueryAgreements", queries=many(QueryAgreement), **PAGED),
}  # fmt: skip


def lead_endpoints(lead: LeadApi, endpoint: Callable[..., JudgingEndpoint]) -> list[JudgingEndpoint]:
    """Return what the lead's pages ask for; endpoint: makes one."""

    def leads(method: str, path: str, call: Callable[..., Any], answer: Any) -> JudgingEndpoint:
        page = {} if method == "POST" else {"page": whole("Which page, from 1.", 1, 1_000_000)}
        return endpoint(method, path, call, answer, page, lead_only=True)

    return [
        leads("GET", "/api/queries", lead.queries, {"queries": list[QueryCount]} | PAGED),
        leads("POST", "/api/invite", lead.invite, {"rater": str, "path": str}),
        leads("GET", "/api/settings", lead.settings, {"settings": Settings}),
        leads("POST", "/api/settings", lead.change_settings, {"settings": Settings}),
        leads("POST", "/api/judges", lead.name_judge, {"kinds": dict[str, str]}),
        leads("GET", "/api/disputes", lead.disputes, {"disputes": many(Dispute)} | PAGED | COUNTS),
        leads("POST", "/api/decisions", lead.decide, DECIDED),
        leads("POST", "/api/undo-decision", lead.undo, DECIDED),
        leads("GET", "/api/agreement", lead.agreement, AGREEMENT),
    ]
