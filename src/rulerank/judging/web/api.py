"""Requests of raters and of the admin: thin calls of the judging loop, one line each in a table."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, get_type_hints
from urllib.parse import quote, unquote, urlencode

from msgspec import Meta
from starlette.requests import Request
from starlette.responses import Response

from rulerank.errors import DataError, RulerankError
from rulerank.judging.admin import LabelOverview, RaterCount, alpha_of_people, count_raters, disputes_of
from rulerank.judging.agreement import Coefficient, RaterAgreement, Share, agreement_parts, rater_agreement
from rulerank.judging.labels import (
    COMBINATIONS,
    KINDS,
    MAX_RATER,
    MOST_JUDGEMENTS,
    PAGES,
    PERSON,
    BusyError,
    Decision,
    JudgingTask,
    Label,
    Pair,
    Progress,
    Settings,
    StoreError,
    check_rater,
)
from rulerank.judging.loop import Judging
from rulerank.judging.offers import QueryList
from rulerank.judging.side_by_side import side_by_side_as_dict
from rulerank.methods import FROM_BASELINE, METHODS
from rulerank.web.endpoint import Endpoint, many, record
from rulerank.web.requests import RequestError, choice, read_address, text, whole
from rulerank.web.security import Tokens, check_admin

if TYPE_CHECKING:
    from rulerank.judging.learning import SavedModel

Payload = dict[str, Any]
DISPUTES_PER_PAGE = 20
NOT_SAID_HERE = ("admin", "import", "terminal")  # pages that a request cannot claim to come from
RATERS_ABOUT = "Non-human raters that training uses."
COOKIE = "rulerank_rater"
A_YEAR = 365 * 24 * 3600
STORE_HEADER = "Rulerank-Store"  # the identity of the label store, in requests of the page and in all responses


def rater_named(name: str) -> str:
    """Return the rater of a request, if the name is valid."""
    try:
        return check_rater(name)
    except DataError as error:
        raise RequestError(422, "bad_rater", str(error)) from None


def token_holder(request: Request) -> str | None:
    """Return the rater of a personal link; None for the shared token, or without a token."""
    holder: str | None = request.scope.get("state", {}).get("token_holder")
    return holder


def known_rater(request: Request) -> str | None:
    """Return the rater of the personal link, of the command line, or of the cookie, if any."""
    holder = token_holder(request)
    if holder is not None:
        return holder
    try:
        return request.app.state.rater or check_rater(unquote(request.cookies.get(COOKIE, "")))
    except DataError:
        return None


def remember_rater(response: Response, name: str) -> None:
    """Store a rater's name in a cookie."""
    response.set_cookie(COOKIE, quote(name, safe=""), max_age=A_YEAR, httponly=True, samesite="strict", path="/")


def rater_of(request: Request, named: str | None) -> str:
    """Return the rater: from the URL, the cookie, or the command line."""
    rater = named or known_rater(request)
    if rater is None:
        raise RequestError(422, "no_rater", "no rater: add ?rater=NAME to the URL")
    rater, holder = rater_named(rater), token_holder(request)
    if holder not in (None, rater):
        raise RequestError(
            403, "other_rater", f"this is the personal link of {holder!a}, not of {rater!a}: use the link of that rater"
        )
    return rater


def check_store(request: Request) -> None:
    """Refuse a request for another label store, such as one that was served at this URL before."""
    meant, ours = request.headers.get(STORE_HEADER), request.app.state.store
    if meant not in (None, ours):
        raise RequestError(
            409, "other_store", "this request is for another label store, which was served here before: nothing changed"
        )


@dataclass(frozen=True)
class JudgingEndpoint(Endpoint):
    """An endpoint of the judging page; adds the rater's name where the call takes one."""

    in_address: tuple[str, ...] = ("rater", "keep_going")
    admin_only: bool = False  # not for personal links

    def address_values(self, request: Request) -> dict[str, Any]:
        check_store(request)
        if self.admin_only:
            check_admin(request)
        known = [item for item in request.query_params.items() if item[0] in self.names[0]]
        values = read_address(known, self.address)
        return values | ({"rater": rater_of(request, values.get("rater"))} if "rater" in self.names[0] else {})

    def refusal_of(self, error: RulerankError) -> Exception:
        if isinstance(error, BusyError):
            return RequestError(409, "busy", str(error))
        return error if isinstance(error, StoreError) else super().refusal_of(error)


class Api:
    """The judging loop for the page: takes values, returns plain values for JSON."""

    def __init__(self, judging: Judging, model_path: str | Path, tokens: Tokens | None) -> None:
        self.judging, self.tokens, self.model_path = judging, tokens, Path(model_path)

    def next(self, rater: str, keep_going: bool = False) -> Payload:
        """Return the next document for a rater."""
        task = self.judging.next(rater, keep_going=keep_going)
        return {"task": task} | self.progress(rater)

    def document(self, rater: str, query: str, doc: str) -> Payload:
        """Return a document with the rater's label."""
        self.check_known(query, doc)
        task, labels = self.judging.task(query, doc), self.judging.store.labels(rater)
        own = next((label for label in labels if (label.query, label.doc) == (query, doc)), None)
        return {"task": task if own is None else task.judged_as(own.grade)} | self.progress(rater)

    def label(
        self,
        rater: str,
        query: str,
        doc: str,
        grade: int | None,
        judgement: str | None = None,
        page: str = "api",
        keep_going: bool = False,
    ) -> Payload:
        """Store a grade, and return the next document if the page shows one at a time."""
        self.check_known(query, doc)
        label = self.judging.grade(rater, query, doc, grade, judgement=judgement, page=page)
        return {"label": label.to_dict()} | self._handed(rater, page, keep_going)

    def skip(
        self,
        rater: str,
        query: str,
        doc: str,
        judgement: str | None = None,
        page: str = "api",
        keep_going: bool = False,
    ) -> Payload:
        """Skip a document."""
        self.check_known(query, doc)
        self.judging.skip(rater, query, doc, judgement=judgement)
        return self._handed(rater, page, keep_going)

    def _handed(self, rater: str, page: str, keep_going: bool) -> Payload:
        """Return the next document, unless the page has its documents already."""
        if page in ("document", "api"):
            return self.next(rater, keep_going)
        return {"task": None} | self.progress(rater)

    def undo(self, rater: str, judgement: str | None = None, page: str = "api") -> Payload:
        """Withdraw the rater's last label and return its document."""
        undone = self.judging.undo(rater, judgement=judgement, page=page)
        if undone is None:
            return {"undone": None, "task": None} | self.progress(rater)
        known = (undone.query, undone.doc) in self.judging.pool.rows
        shown = self.document(rater, undone.query, undone.doc)["task"] if known else None
        return {"undone": undone.to_dict(), "task": shown} | self.progress(rater)

    def labels(self, rater: str) -> Payload:
        """List the rater's own labels, latest first."""
        return {"labels": [self._listed(label) for label in reversed(self.judging.store.labels(rater))]}

    def progress(self, rater: str) -> Payload:
        """Return the progress of the rater and of all together."""
        return {"progress": self.judging.progress(rater)}

    def overview(self) -> Payload:
        """Return counts of all labels, and the agreement of raters."""
        return {"overview": self.judging.overview()}

    def train(self, method: str) -> SavedModel:
        """Train a ranker on all labels and save it to the file given on the command line."""
        return self.judging.save_model(self.model_path, method, wait=False)

    @property
    def methods(self) -> list[str]:
        """The methods that can be trained, the best for few labels first."""
        first = [] if self.judging.baseline is None else [*FROM_BASELINE]
        return first + [name for name in METHODS if name not in FROM_BASELINE]

    def pair(self, rater: str) -> Payload:
        """Return a pair for a rater: two documents of one query, one from each ranking, blind."""
        check = self.judging.check
        task = None if check is None else check.next(rater)
        if task is None:
            return {"pair": None} | self.check()
        docs = [self.document(rater, doc.query, doc.doc)["task"] for doc in task.docs]
        return {"pair": {"query": task.query, "docs": docs, "number": task.number}} | self.check()

    def skip_pair(self, rater: str, query: str) -> Payload:
        """Skip a pair, and return the next one."""
        if self.judging.check is not None:
            self.judging.check.skip(rater, query)
        return self.pair(rater)

    def check(self) -> Payload:
        """Return the comparison of the new ranking with the baseline so far."""
        check = self.judging.check
        if check is None:
            return {"check": None}
        found = side_by_side_as_dict(check.comparison())
        return {"check": found | {"line": check.line(), "changed": check.changed}}

    def query_list(self, rater: str, query: str | None = None, keep_going: bool = False) -> Payload:
        """Return the next list for a rater, or the list of a given query."""
        lists = self.judging.lists
        if query is not None:
            found: QueryList | None = lists.of(rater, query)
        else:
            found = lists.next(rater, keep_going=keep_going)
        reason = "" if found is not None else lists.why_nothing(rater)
        progress = replace(self.judging.progress(rater), done=found is None, reason=reason)
        return {"list": found, "progress": progress}

    def check_known(self, query: str, doc: str) -> None:
        """Refuse a document that the pool does not have."""
        if (query, doc) not in self.judging.pool.rows:
            raise RequestError(404, "unknown_document", f"the pool has no document {doc!r:.60} of query {query!r:.60}")

    def _listed(self, label: Label) -> Payload:
        row = self.judging.pool.rows.get((label.query, label.doc))
        texts = {} if row is None else self.judging.pool.shown(row)
        shown = {name: texts.get(name) for name in ("query_text", "title")}
        return label.to_dict() | shown | {"in_pool": row is not None}

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
        chosen = left if state == "open" else [*reversed(decisions)]
        pages = max(1, -(-len(chosen) // DISPUTES_PER_PAGE))
        page = min(page, pages)
        rows = chosen[(page - 1) * DISPUTES_PER_PAGE : page * DISPUTES_PER_PAGE]
        shown = [self._dispute(pair, disputed.get(pair, 0), decisions.get(pair)) for pair in rows]
        paged = {"found": len(chosen), "page": page, "pages": pages}
        return {"disputes": shown, **paged, "left": len(left), "decided": len(decisions)}

    def decide(
        self, rater: str, query: str, doc: str, grade: int | None, judgement: str | None = None, page: str = "api"
    ) -> Payload:
        """Store the admin's grade of a document."""
        self.check_known(query, doc)
        self.judging.store.decide(query, doc, grade, rater, judgement=judgement, page=page)
        return self._decided(rater, query, doc, None)

    def undo_decision(
        self, rater: str, query: str, doc: str, judgement: str | None = None, page: str = "api"
    ) -> Payload:
        """Withdraw the decision on a document."""
        self.check_known(query, doc)
        undone = self.judging.store.undo_decision(query, doc, rater, judgement=judgement, page=page)
        return self._decided(rater, query, doc, undone)

    def agreement(self) -> Payload:
        """Return the agreement of raters: of all, by rater and by grade; and of non-human raters with them."""
        with self.judging.current(exact=True) as current:
            raters, grades = agreement_parts(label for by in current.by_row.values() for label in by.values())
            given = current.grades_of(sorted(current.counting.other_raters))
            return {
                "sentence": current.counting.sentence(),
                "alpha": alpha_of_people(current),
                "raters": raters,
                "grades": grades,
                "other_raters": [rater_agreement(name, own, current.grades) for name, own in given.items()],
            }

    def _decided(self, rater: str, query: str, doc: str, undone: Decision | None) -> Payload:
        """Return the current decision on a document, and the number of open disputes."""
        disputed, decisions = self._disputed()
        now = decisions.get((query, doc))
        found = {"decision": now and now.to_dict(), "undone": undone and undone.to_dict()}
        left = len(disputed.keys() - decisions.keys())
        return found | {"left": left, "decided": len(decisions)} | self.progress(rater)

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
            "task": self.judging.task(*pair),
            "spread": spread,
            "labels": [
                {"rater": one.rater, "kind": others.get(one.rater, PERSON), "grade": one.grade, "time": one.time}
                for one in labels
            ],
            "decision": decision and decision.to_dict(),
        }


def value_types(max_grade: int, methods: list[str]) -> dict[str, Any]:
    """Return the types of request values, by name."""
    rater = text("The rater's name.", MAX_RATER)
    return {
        "rater": text("The rater [default: the page's cookie, or --rater].", MAX_RATER),
        "query": text("The query's id."),
        "doc": text("The document's id."),
        "grade": whole("The grade; null: cannot be judged.", 0, max_grade) | None,
        "judgement": text(
            "Your own unique id for this judgement: a repeated request with the same id changes nothing and gets the "
            "first answer.",
            100,
        ),
        "page": choice(
            "Where it was given, for the history [default: api]; only document and api get a next document.",
            (page for page in PAGES if page not in NOT_SAID_HERE),
        ),
        "keep_going": Annotated[bool, Meta(description="Continue after the sampler has stopped.")],
        "method": choice("The training method.", methods),
        "state": choice("Disputes without a decision, or decisions [default: open].", ("open", "decided")),
        "name": rater,
        "kind": choice("The kind of the rater.", KINDS),
        "combine": choice("How to combine the labels of several raters.", COMBINATIONS),
        "judgements": whole("Human raters per document.", 1, MOST_JUDGEMENTS),
        "training_raters": Annotated[many(rater), Meta(max_length=1000, description=RATERS_ABOUT)],
    }


ListedLabel = record("ListedLabel", **get_type_hints(Label), query_text=str | None, title=str | None, in_pool=bool)
DocumentPair = record("DocumentPair", query=str, docs=list[JudgingTask], number=int)
Check = record(
    "Check", won=int, lost=int, ties=int, verdict=str, over=bool, interval=list[float], line=str, changed=float
)
# defined here, since its module is loaded only for training
Model = record("Model", path=str, method=str, n_labels=int, notes=list[str], lines=list[str])
Voice = record("Voice", rater=str, kind=str, grade=int | None, time=datetime)
Dispute = record("Dispute", task=JudgingTask, spread=int, decision=Decision | None, labels=many(Voice))
PROGRESS = {"progress": Progress}
HANDED = {"task": JudgingTask | None} | PROGRESS
PAIR = {"pair": DocumentPair | None, "check": Check | None}
COUNTS = {"left": int, "decided": int}
DECIDED = {"decision": Decision | None, "undone": Decision | None} | PROGRESS | COUNTS
DISPUTES = {"disputes": many(Dispute), "found": int, "page": int, "pages": int} | COUNTS
AGREEMENT = {
    "sentence": str, "alpha": Coefficient, "raters": dict[str, Share], "grades": dict[str, Share],
    "other_raters": list[RaterAgreement],
}  # fmt: skip


def endpoints(api: Api) -> list[JudgingEndpoint]:
    """Return the endpoints of raters, and those of the admin."""
    types = value_types(api.judging.max_grade, api.methods)
    by_method = {"POST": types, "GET": types | {"page": whole("Page number, from 1.", 1, 1_000_000)}}
    for_raters: list[tuple[str, str, Callable[..., Any], Any]] = [
        ("GET", "/api/next", api.next, HANDED),
        ("GET", "/api/document", api.document, HANDED),
        ("GET", "/api/labels", api.labels, {"labels": many(ListedLabel)}),
        ("POST", "/api/labels", api.label, HANDED | {"label": Label}),
        ("POST", "/api/skip", api.skip, HANDED),
        ("POST", "/api/undo", api.undo, HANDED | {"undone": Label | None}),
        ("GET", "/api/overview", api.overview, {"overview": LabelOverview}),
        ("GET", "/api/pair", api.pair, PAIR),
        ("POST", "/api/skip-pair", api.skip_pair, PAIR),
        ("GET", "/api/list", api.query_list, {"list": QueryList | None} | PROGRESS),
    ]
    for_admin: list[tuple[str, str, Callable[..., Any], Any]] = [
        ("POST", "/api/train", api.train, Model),
        ("POST", "/api/invite", api.invite, {"rater": str, "path": str}),
        ("GET", "/api/settings", api.settings, {"settings": Settings}),
        ("POST", "/api/settings", api.change_settings, {"settings": Settings}),
        ("POST", "/api/raters", api.set_rater_kind, {"kinds": dict[str, str]}),
        ("GET", "/api/disputes", api.disputes, DISPUTES),
        ("POST", "/api/decisions", api.decide, DECIDED),
        ("POST", "/api/undo-decision", api.undo_decision, DECIDED),
        ("GET", "/api/agreement", api.agreement, AGREEMENT),
    ]
    return [
        JudgingEndpoint(method, path, call, answer, by_method[method], admin_only=table is for_admin)
        for table in (for_raters, for_admin)
        for method, path, call, answer in table
    ]
