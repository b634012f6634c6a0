"""Requests of raters: thin calls of the judging loop, one line each in a table."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, get_type_hints
from urllib.parse import quote, unquote

from msgspec import Meta
from starlette.requests import Request
from starlette.responses import Response

from rulerank.errors import DataError, RulerankError
from rulerank.judging.admin import ORDERS, USUAL_ORDER, LabelOverview
from rulerank.judging.labels import (
    COMBINATIONS,
    KINDS,
    MAX_RATER,
    MOST_JUDGEMENTS,
    PAGES,
    BusyError,
    JudgingTask,
    Label,
    Progress,
    StoreError,
    check_rater,
)
from rulerank.judging.loop import Judging
from rulerank.judging.offers import ListChoices, QueryList
from rulerank.judging.side_by_side import side_by_side_as_dict
from rulerank.methods import FROM_BASELINE, METHODS
from rulerank.web.endpoint import Endpoint, many, record
from rulerank.web.requests import RequestError, choice, read_address, text, whole
from rulerank.web.security import check_admin

if TYPE_CHECKING:
    from rulerank.judging.learning import SavedModel

Payload = dict[str, Any]
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

    def __init__(self, judging: Judging, model_path: str | Path, lists: ListChoices) -> None:
        self.judging, self.lists, self.model_path = judging, lists, Path(model_path)

    def next(self, rater: str, keep_going: str = "false") -> Payload:
        """Return the next document for a rater."""
        task = self.judging.next(rater, keep_going=keep_going == "true")
        return {"task": task and self.unjudged(task)} | self.progress(rater)

    def document(self, rater: str, query: str, doc: str) -> Payload:
        """Return a document with the rater's label."""
        self.check_known(query, doc)
        task = self.unjudged(self.judging.task(query, doc))
        own = self._own(rater, query, doc)
        if own is not None:
            task |= {"judged": True, "grade": own.grade}
        return {"task": task} | self.progress(rater)

    def label(
        self,
        rater: str,
        query: str,
        doc: str,
        grade: int | None,
        judgement: str | None = None,
        page: str = "api",
        keep_going: str = "false",
    ) -> Payload:
        """Store a grade, and return the next document if the page shows one at a time."""
        self.check_known(query, doc)
        label = self.judging.grade(rater, query, doc, grade, judgement=judgement, once=True, page=page)
        return {"label": label.to_dict()} | self._handed(rater, page, keep_going)

    def skip(
        self,
        rater: str,
        query: str,
        doc: str,
        judgement: str | None = None,
        page: str = "api",
        keep_going: str = "false",
    ) -> Payload:
        """Skip a document."""
        self.check_known(query, doc)
        self.judging.skip(rater, query, doc, judgement=judgement)
        return self._handed(rater, page, keep_going)

    def _handed(self, rater: str, page: str, keep_going: str) -> Payload:
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
        self.check_query(query)
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

    def query_list(self, rater: str, query: str | None = None, keep_going: str = "false") -> Payload:
        """Return the next list for a rater, or the list of a given query."""
        lists, n_docs = self.judging.lists, self.lists.n_docs
        if query is not None:
            self.check_query(query)
            found: QueryList | None = lists.of(rater, query, n_docs)
        else:
            found = lists.next(rater, n_docs, keep_going=keep_going == "true")
        reason = "" if found is not None else lists.why_nothing(rater, n_docs)
        progress = replace(self.judging.progress(rater), done=found is None, reason=reason)
        return {"list": found and self._listed_docs(found), "progress": progress}

    def _listed_docs(self, found: QueryList) -> Payload:
        docs = [doc.task.to_dict() | {"judged": doc.judged, "grade": doc.grade} for doc in found.docs]
        return {"query": found.query, "docs": docs, "n_others": found.n_others}

    def unjudged(self, task: JudgingTask) -> Payload:
        """Return a document without labels."""
        return task.to_dict() | {"judged": False, "grade": None}

    def check_query(self, query: str) -> None:
        """Refuse a query that is not in the pool."""
        if query not in self.judging.pool.queries:
            raise RequestError(422, "bad_value", f"the pool has no query {query!r:.60}", field="query")

    def check_known(self, query: str, doc: str) -> None:
        """Refuse a document that the pool does not have."""
        if (query, doc) not in self.judging.pool.rows:
            raise RequestError(404, "unknown_document", f"the pool has no document {doc!r:.60} of query {query!r:.60}")

    def _own(self, rater: str, query: str, doc: str) -> Label | None:
        labels = self.judging.store.labels(rater)
        return next((label for label in labels if (label.query, label.doc) == (query, doc)), None)

    def _listed(self, label: Label) -> Payload:
        row = self.judging.pool.rows.get((label.query, label.doc))
        texts = {} if row is None else self.judging.pool.shown(row)
        shown = {name: texts.get(name) for name in ("query_text", "title")}
        return label.to_dict() | shown | {"in_pool": row is not None}


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
            "first answer. Without it, a grade that is current already is not stored again.",
            100,
        ),
        "page": choice(
            "Where it was given, for the history [default: api]; only document and api get a next document.",
            (page for page in PAGES if page not in NOT_SAID_HERE),
        ),
        "keep_going": choice("Continue after the sampler has stopped.", ("true", "false")),
        "method": choice("The training method.", methods),
        "search": text("Words that the query must contain.", 200),
        "order": choice(f"Sort order [default: {USUAL_ORDER}].", ORDERS),
        "state": choice("Disputes without a decision, with one, or all [default: open].", ("open", "decided", "all")),
        "name": rater,
        "kind": choice("The kind of the rater.", KINDS),
        "combine": choice("How to combine the labels of several raters.", COMBINATIONS),
        "judgements": whole("Human raters per document.", 1, MOST_JUDGEMENTS),
        "training_raters": Annotated[many(rater), Meta(max_length=1000, description=RATERS_ABOUT)],
    }


Task = record("Task", **get_type_hints(JudgingTask), judged=bool, grade=int | None)
List = record("List", query=str, n_others=int, docs=many(Task))
ListedLabel = record("ListedLabel", **get_type_hints(Label), query_text=str | None, title=str | None, in_pool=bool)
DocumentPair = record("DocumentPair", query=str, docs=many(Task), number=int)
Check = record(
    "Check", won=int, lost=int, ties=int, verdict=str, over=bool, interval=list[float], line=str, changed=float
)
# defined here, since its module is loaded only for training
Model = record("Model", path=str, method=str, n_labels=int, notes=list[str], lines=list[str])
PROGRESS = {"progress": Progress}
HANDED = {"task": Task | None} | PROGRESS
PAIR = {"pair": DocumentPair | None, "check": Check | None}


def endpoints(api: Api, endpoint: Callable[..., JudgingEndpoint]) -> list[JudgingEndpoint]:
    """Return the endpoints of raters, and training; endpoint: creates one."""
    return [
        endpoint("GET", "/api/next", api.next, HANDED),
        endpoint("GET", "/api/document", api.document, HANDED),
        endpoint("GET", "/api/labels", api.labels, {"labels": many(ListedLabel)}),
        endpoint("POST", "/api/labels", api.label, HANDED | {"label": Label}),
        endpoint("POST", "/api/skip", api.skip, HANDED),
        endpoint("POST", "/api/undo", api.undo, HANDED | {"undone": Label | None}),
        endpoint("GET", "/api/progress", api.progress, PROGRESS),
        endpoint("GET", "/api/overview", api.overview, {"overview": LabelOverview}),
        endpoint("GET", "/api/pair", api.pair, PAIR),
        endpoint("POST", "/api/skip-pair", api.skip_pair, PAIR),
        endpoint("GET", "/api/list", api.query_list, {"list": List | None} | PROGRESS),
        endpoint("POST", "/api/train", api.train, Model, admin_only=True),
    ]
