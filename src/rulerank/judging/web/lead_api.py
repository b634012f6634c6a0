"""What only the lead can do: queries, training, links, settings, disputes and agreement; and comparing rankings."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode

from rulerank.judging.combine import COMBINATIONS
from rulerank.judging.labels import MAX_RATER, PAGES, Label
from rulerank.judging.overview import ORDERS, USUAL_ORDER, QueryPage, page_of, page_of_queries
from rulerank.judging.team import KINDS, MOST_JUDGEMENTS, PERSON, Decision, Pair
from rulerank.judging.web.api import DOC, JUDGEMENT, PAGE, QUERY, RATER, Api, Payload
from rulerank.judging.web.endpoint import JudgingEndpoint as Endpoint
from rulerank.judging.web.endpoint import rater_named
from rulerank.web.fields import Field
from rulerank.web.refusals import RequestError
from rulerank.web.tokens import Tokens

NO_MODEL = "no model was trained yet, or it starts from no ranking of today: train one first, on the overview"
NO_SECRET = "personal links are made from a secret: start the page with --token"
NOT_YET = "what the model makes of a query is shown once you have judged all its documents, never before"


class LeadApi:
    """The lead's side of the judging loop: values in, plain values for JSON out."""

    def __init__(self, api: Api, tokens: Tokens | None) -> None:
        self.api, self.judging, self._tokens = api, api.judging, tokens

    def find_queries(self, search: str | None = None, order: str | None = None, page: int | None = None) -> QueryPage:
        """Return a page of queries."""
        return page_of_queries(self.judging.panel.count_queries(), search or "", order or USUAL_ORDER, page or 1)

    def queries(self, search: str | None = None, order: str | None = None, page: int | None = None) -> Payload:
        """List queries and their labels, a page at a time."""
        return self.find_queries(search, order, page).to_dict()

    def training(self) -> Payload:
        """Tell which training is under way, or what became of the last."""
        training = self.judging.training
        return {"training": None if training is None else training.to_dict()}

    def invite(self, name: str) -> Payload:
        """Make a rater's personal link: its holder judges under that name and no other."""
        if self._tokens is None:
            raise RequestError(422, "no_secret", NO_SECRET)
        return {"rater": rater_named(name), "path": "/?" + urlencode({"token": self._tokens.invite(rater_named(name))})}

    @property
    def can_invite(self) -> bool:
        return self._tokens is not None

    def compare(self, query: str) -> Payload:
        """Put the new ranking of a query beside today's."""
        self._check_query(query)
        found = self.judging.learning.compare(query, self.judging.grades())
        if found is None:
            raise RequestError(422, "no_model", NO_MODEL)
        return found.to_dict()

    def reasons(self, query: str, doc: str) -> Payload:
        """Tell why the new ranking has a document where it has it."""
        self.api.check_known(query, doc)
        found = self.judging.learning.reasons(query, doc)
        if found is None:
            raise RequestError(422, "no_model", NO_MODEL)
        return {"reasons": list(found)}

    def own_compare(self, rater: str, query: str) -> Payload:
        """The same for a rater who has judged all of it and cannot be led."""
        self._check_query(query)
        judged = {label.doc for label in self.judging.store.labels(rater) if label.query == query}
        pool = self.judging.pool
        if any(pool.pairs[row][1] not in judged for row in pool.rows_of(query).tolist()):
            raise RequestError(422, "not_judged", NOT_YET)
        return self.compare(query)

    def settings(self) -> Payload:
        """Tell how labels count."""
        return {"settings": self.judging.store.settings().to_dict()}

    def change_settings(self, rater: str, **values: Any) -> Payload:
        """Change some of them; what is left out stays."""
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

    def _check_query(self, query: str) -> None:
        if query not in self.judging.pool.queries:
            raise RequestError(422, "bad_value", f"the pool has no query {query!r:.60}", field="query")


@dataclass(frozen=True, slots=True)
class Names:
    """A list of raters' names."""

    name: str
    about: str
    required: bool = False

    def schema(self) -> dict[str, Any]:
        item = {"type": "string", "minLength": 1, "maxLength": MAX_RATER}
        return {"type": "array", "items": item, "maxItems": 1000, "description": self.about}

    def read(self, value: object) -> list[str]:
        field = Field(self.name, self.about, high=MAX_RATER)
        if not isinstance(value, list) or len(value) > 1000:
            raise field.refused("a list of names", value)
        return [field.read(name) for name in value]


def lead_endpoints(lead: LeadApi) -> Sequence[Endpoint]:
    """Return what the lead's pages ask for."""
    search = Field("search", "Words that the query must hold.", required=False, high=200)
    order = Field("order", f"How to sort [{USUAL_ORDER}].", required=False, choices=tuple(ORDERS))
    page = Field("page", "Which page, from 1.", kind="whole", required=False, low=1, high=1_000_000)
    name = Field("name", "The rater's name.", high=MAX_RATER)
    settings = (
        Field("combine", "How labels of several become one.", required=False, choices=tuple(COMBINATIONS)),
        Field("judgements", "People who judge each document.", kind="whole", required=False, low=1,
              high=MOST_JUDGEMENTS),
        Names("training_judges", "Raters who are no people and yet count in training."),
    )  # fmt: skip
    judge = Field("judge", "The rater's name.", high=MAX_RATER)
    kind = Field("kind", "What this rater is.", choices=tuple(KINDS))
    return [
        Endpoint("GET", "/api/queries", "Queries and their labels.", lead.queries, "QueryPage",
                 (search, order, page), lead_only=True),
        Endpoint("GET", "/api/training", "The training under way, or the last.", lead.training, "TrainingOnly",
                 lead_only=True),
        Endpoint("POST", "/api/invite", "Make a personal link.", lead.invite, "Link", (), (name,), lead_only=True),
        Endpoint("GET", "/api/compare", "The new ranking beside today's.", lead.compare, "Comparison", (QUERY,),
                 lead_only=True),
        Endpoint("GET", "/api/own-compare", "The same for whoever has judged the whole query.", lead.own_compare,
                 "Comparison", (RATER, QUERY)),
        Endpoint("GET", "/api/reasons", "Why a document is where it is.", lead.reasons, "Reasons", (QUERY, DOC),
                 lead_only=True),
        Endpoint("GET", "/api/settings", "How labels count.", lead.settings, "SettingsOnly", lead_only=True),
        Endpoint("POST", "/api/settings", "Change how labels count.", lead.change_settings, "SettingsOnly",
                 (RATER,), settings, lead_only=True),
        Endpoint("POST", "/api/judges", "Say what a rater is.", lead.name_judge, "Kinds", (RATER,), (judge, kind),
                 lead_only=True),
    ]  # fmt: skip


STATES = ("open", "decided", "all")
DISPUTES_PER_PAGE = 20
QUERIES_PER_PAGE = 20


class DisputeApi:
    """Disputes and agreement: values in, plain values for JSON out."""

    def __init__(self, api: Api) -> None:
        self.api, self.judging = api, api.judging

    def disputes(self, state: str | None = None, page: int | None = None) -> Payload:
        """List disputes, the largest first, or what was decided, the latest first; a page at a time."""
        disputed, decisions = self._stand()
        left = [pair for pair in disputed if pair not in decisions]
        chosen = {"open": left, "decided": [*reversed(decisions)], "all": [*disputed]}[state or "open"]
        found = page_of(chosen, page or 1, DISPUTES_PER_PAGE)
        shown = [self._dispute(pair, disputed.get(pair, 0), decisions.get(pair)) for pair in found.rows]
        counts = {"found": found.found, "page": found.page, "pages": found.pages}
        return {"disputes": shown, **counts, "left": len(left), "decided": len(decisions)}

    def decide(
        self, rater: str, query: str, doc: str, grade: int | None, judgement: str | None, page: str | None = None
    ) -> Payload:
        """Keep the lead's grade of a document."""
        self.api.check_known(query, doc)
        self.judging.panel.decide(rater, query, doc, grade, judgement=judgement, page=page or "api")
        return self._decided(rater, query, doc, None)

    def undo(self, rater: str, query: str, doc: str, judgement: str | None, page: str | None = None) -> Payload:
        """Take the decision on a document back."""
        self.api.check_known(query, doc)
        undone = self.judging.panel.undo_decision(rater, query, doc, judgement=judgement, page=page or "api")
        return self._decided(rater, query, doc, undone)

    def agreement(self, page: int | None = None) -> Payload:
        """Tell how well raters agree: all, each rater, each query (the worst first, a page at a time), each grade."""
        panel, pool = self.judging.panel, self.judging.pool
        parts = panel.agreement_parts()
        worst = sorted(parts.queries, key=lambda part: (part.share.value, -part.share.n_docs))
        found = page_of(worst, page or 1, QUERIES_PER_PAGE)
        texts = [pool.shown(int(pool.rows_of(part.name)[0])).get("query_text") for part in found.rows]
        queries = [part.to_dict() | {"query_text": text} for part, text in zip(found.rows, texts, strict=True)]
        return {
            "sentence": panel.counting().sentence(),
            "alpha": panel.alpha().to_dict(),
            "raters": [part.to_dict() for part in parts.raters],
            "grades": [part.to_dict() for part in parts.grades],
            "queries": {"queries": queries, "found": found.found, "page": found.page, "pages": found.pages},
            "judges": [judge.to_dict() for judge in panel.judges()],
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


def dispute_endpoints(disputes: DisputeApi) -> Sequence[Endpoint]:
    """Return what the page of disputes asks for."""
    grade = Field("grade", "The grade; null: cannot be judged.", kind="grade", high=disputes.judging.max_grade)
    state = Field("state", "Which of them: without a decision, with one, or all [open].", required=False,
                  choices=STATES)  # fmt: skip
    page = Field("page", "Which page, from 1.", kind="whole", required=False, low=1, high=1_000_000)
    return [
        Endpoint("GET", "/api/disputes", "Documents on which raters differ.", disputes.disputes, "Disputes",
                 (state, page), lead_only=True),
        Endpoint("POST", "/api/decisions", "Decide on a document.", disputes.decide, "Decided", (RATER,),
                 (QUERY, DOC, grade, JUDGEMENT, PAGE), lead_only=True),
        Endpoint("POST", "/api/undo-decision", "Take a decision back.", disputes.undo, "Decided", (RATER,),
                 (QUERY, DOC, JUDGEMENT, PAGE), lead_only=True),
        Endpoint("GET", "/api/agreement", "Where raters agree.", disputes.agreement, "AgreementParts", (page,),
                 lead_only=True),
    ]  # fmt: skip
