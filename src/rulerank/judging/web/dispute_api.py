"""Disputes as the lead sees them: who said what, decisions and their undoing, and where raters agree."""

from __future__ import annotations

from collections.abc import Sequence

from rulerank.judging.counting import Pair
from rulerank.judging.labels import PAGES, Label
from rulerank.judging.paging import page_of
from rulerank.judging.team import PERSON, Decision
from rulerank.judging.web.api import DOC, JUDGEMENT, PAGE, QUERY, RATER, Api, Payload
from rulerank.judging.web.endpoint import JudgingEndpoint as Endpoint
from rulerank.web.fields import Field

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
