"""What only the lead can do: queries, training, links, settings, disputes and agreement; and comparing rankings."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any
from urllib.parse import urlencode

from rulerank.judging.admin import USUAL_ORDER, QueryPage, page_of, page_of_queries
from rulerank.judging.agreement import Alpha, JudgeAgreement, Part, Share
from rulerank.judging.labels import PAGES, PERSON, Decision, Label, Pair, Progress, Settings
from rulerank.judging.web.api import Api, Model, Payload, Task
from rulerank.judging.web.endpoint import JudgingEndpoint, rater_named
from rulerank.web.endpoint import many, record
from rulerank.web.requests import RequestError, whole
from rulerank.web.security import Tokens

if TYPE_CHECKING:
    from rulerank.judging.learning import Comparison

NO_MODEL = "no model was trained yet, or it starts from no ranking of today: train one first, on the overview"
NO_SECRET = "personal links are made from a secret: start the page with --token"
NOT_YET = "what the model makes of a query is shown once you have judged all its documents, never before"
DISPUTES_PER_PAGE = 20
QUERIES_PER_PAGE = 20


class LeadApi:
    """The lead's side of the judging loop: values in, plain values for JSON out."""

    def __init__(self, api: Api, tokens: Tokens | None) -> None:
        self.api, self.judging, self._tokens = api, api.judging, tokens

    def queries(self, search: str = "", order: str = USUAL_ORDER, page: int = 1) -> QueryPage:
        """List queries and their labels, a page at a time."""
        return page_of_queries(self.judging.panel.count_queries(), search, order, page)

    def training(self) -> Payload:
        """Tell which training is under way, or what became of the last."""
        return {"training": self.judging.training}

    def invite(self, name: str) -> Payload:
        """Make a rater's personal link: its holder judges under that name and no other."""
        if self._tokens is None:
            raise RequestError(422, "no_secret", NO_SECRET)
        return {"rater": rater_named(name), "path": "/?" + urlencode({"token": self._tokens.invite(rater_named(name))})}

    @property
    def can_invite(self) -> bool:
        return self._tokens is not None

    def compare(self, query: str) -> Comparison:
        """Put the new ranking of a query beside today's."""
        self.api.check_query(query)
        found = self.judging.learning.compare(query, self.judging.grades())
        if found is None:
            raise RequestError(422, "no_model", NO_MODEL)
        return found

    def reasons(self, query: str, doc: str) -> Payload:
        """Tell why the new ranking has a document where it has it."""
        self.api.check_known(query, doc)
        found = self.judging.learning.reasons(query, doc)
        if found is None:
            raise RequestError(422, "no_model", NO_MODEL)
        return {"reasons": found}

    def own_compare(self, rater: str, query: str) -> Comparison:
        """Put the two rankings side by side for a rater who has judged the whole query and cannot be led."""
        self.api.check_query(query)
        judged = {label.doc for label in self.judging.store.labels(rater) if label.query == query}
        pool = self.judging.pool
        if any(pool.pairs[row][1] not in judged for row in pool.rows_of(query).tolist()):
            raise RequestError(422, "not_judged", NOT_YET)
        return self.compare(query)

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
        return {"kinds": self.kinds()}

    def kinds(self) -> dict[str, str]:
        """Return what every rater is who has given labels or was named."""
        named = self.judging.store.judges()
        return dict.fromkeys(sorted(row.rater for row in self.judging.panel.count_raters()), PERSON) | named

    def disputes(self, state: str = "open", page: int = 1) -> Payload:
        """List disputes, the largest first, or what was decided, the latest first; a page at a time."""
        disputed, decisions = self._stand()
        left = [pair for pair in disputed if pair not in decisions]
        chosen = {"open": left, "decided": [*reversed(decisions)], "all": [*disputed]}[state]
        found = page_of(chosen, page, DISPUTES_PER_PAGE)
        shown = [self._dispute(pair, disputed.get(pair, 0), decisions.get(pair)) for pair in found.rows]
        counts = {"found": found.found, "page": found.page, "pages": found.pages}
        return {"disputes": shown, **counts, "left": len(left), "decided": len(decisions)}

    def decide(
        self, rater: str, query: str, doc: str, grade: int | None, judgement: str | None = None, page: str = "api"
    ) -> Payload:
        """Keep the lead's grade of a document."""
        self.api.check_known(query, doc)
        self.judging.panel.decide(rater, query, doc, grade, judgement=judgement, page=page)
        return self._decided(rater, query, doc, None)

    def undo(self, rater: str, query: str, doc: str, judgement: str | None = None, page: str = "api") -> Payload:
        """Take the decision on a document back."""
        self.api.check_known(query, doc)
        undone = self.judging.panel.undo_decision(rater, query, doc, judgement=judgement, page=page)
        return self._decided(rater, query, doc, undone)

    def agreement(self, page: int = 1) -> Payload:
        """Tell how well raters agree: all, each rater, each query (the worst first, a page at a time), each grade."""
        panel, pool = self.judging.panel, self.judging.pool
        parts = panel.agreement_parts()
        worst = sorted(parts.queries, key=lambda part: (part.share.value, -part.share.n_docs))
        found = page_of(worst, page, QUERIES_PER_PAGE)
        texts = [pool.shown(int(pool.rows_of(part.name)[0])).get("query_text") for part in found.rows]
        queries = [
            {"name": part.name, "share": part.share, "query_text": text}
            for part, text in zip(found.rows, texts, strict=True)
        ]
        return {
            "sentence": panel.counting().sentence(),
            "alpha": panel.alpha(),
            "raters": parts.raters,
            "grades": parts.grades,
            "queries": {"queries": queries, "found": found.found, "page": found.page, "pages": found.pages},
            "judges": panel.judges(),
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
        panel = self.judging.panel
        found, pairs = panel.disputes(), self.judging.pool.pairs
        return {pairs[one.doc]: one.spread for one in found}, {(one.query, one.doc): one for one in panel.decisions()}

    def _dispute(self, pair: Pair, spread: int, decision: Decision | None) -> Payload:
        panel = self.judging.panel
        judges = panel.counting().judges
        labels = panel.labels_of(self.judging.pool.row(*pair))
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


Training = record(
    "Training", method=str, n_labels=int, running=bool, seconds=float, saved=Model | None, problem=str | None
)
ComparedDoc = record("ComparedDoc", doc=str, title=str, new=int, today=int, grade=int | None)
COMPARISON = {"query": str, "query_text": str | None, "method": str, "docs": many(ComparedDoc)}
Voice = record("Voice", rater=str, kind=str, grade=int | None, time=str, where=str | None)
Dispute = record("Dispute", task=Task, spread=int, decision=Decision | None, labels=many(Voice))
QueryAgreement = record("QueryAgreement", name=str, query_text=str | None, share=Share)
PAGED = {"found": int, "page": int, "pages": int}
COUNTS = {"left": int, "decided": int}
DECIDED = {"decision": Decision | None, "undone": Decision | None, "progress": Progress} | COUNTS
AGREEMENT = {
    "sentence": str, "alpha": Alpha, "raters": list[Part], "grades": list[Part], "judges": list[JudgeAgreement],
    "queries": record("QueryAgreements", queries=many(QueryAgreement), **PAGED),
}  # fmt: skip


def lead_endpoints(lead: LeadApi, endpoint: Callable[..., JudgingEndpoint]) -> list[JudgingEndpoint]:
    """Return what the lead's pages ask for; endpoint: makes one."""

    def leads(method: str, path: str, call: Callable[..., Any], answer: Any) -> JudgingEndpoint:
        page = {} if method == "POST" else {"page": whole("Which page, from 1.", 1, 1_000_000)}
        return endpoint(method, path, call, answer, page, lead_only=True)

    return [
        leads("GET", "/api/queries", lead.queries, QueryPage),
        leads("GET", "/api/training", lead.training, {"training": Training | None}),
        leads("POST", "/api/invite", lead.invite, {"rater": str, "path": str}),
        leads("GET", "/api/compare", lead.compare, COMPARISON),
        endpoint("GET", "/api/own-compare", lead.own_compare, COMPARISON),
        leads("GET", "/api/reasons", lead.reasons, {"reasons": list[str]}),
        leads("GET", "/api/settings", lead.settings, {"settings": Settings}),
        leads("POST", "/api/settings", lead.change_settings, {"settings": Settings}),
        leads("POST", "/api/judges", lead.name_judge, {"kinds": dict[str, str]}),
        leads("GET", "/api/disputes", lead.disputes, {"disputes": many(Dispute)} | PAGED | COUNTS),
        leads("POST", "/api/decisions", lead.decide, DECIDED),
        leads("POST", "/api/undo-decision", lead.undo, DECIDED),
        leads("GET", "/api/agreement", lead.agreement, AGREEMENT),
    ]
