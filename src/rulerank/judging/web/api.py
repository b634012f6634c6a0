"""What raters can do: thin calls of the judging loop, each a line in a table, in the name of a rater."""

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
from rulerank.judging.duels import duels_as_dict
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
from rulerank.methods import FROM_TODAY, METHODS
from rulerank.web.endpoint import Endpoint, many, record
from rulerank.web.requests import RequestError, choice, read_address, text, whole
from rulerank.web.security import check_lead

if TYPE_CHECKING:
    from rulerank.judging.learning import SavedModel

Payload = dict[str, Any]
NOT_SAID_HERE = ("lead", "import", "terminal")  # a request cannot say that it came from there
JUDGES_ABOUT = "Raters who are no people and yet count in training."
COOKIE = "rulerank_rater"
A_YEAR = 365 * 24 * 3600
STORE_HEADER = "Rulerank-Store"  # the identity of the label store, in requests of the page and in all answers


def rater_named(name: str) -> str:
    """Return the rater whom a request names, or refuse the name."""
    try:
        return check_rater(name)
    except DataError as error:
        raise RequestError(422, "bad_rater", str(error)) from None


def token_holder(request: Request) -> str | None:
    """Return the name that the token of a personal link carries; None: it is the token of all, or there is none."""
    holder: str | None = request.scope.get("state", {}).get("token_holder")
    return holder


def known_rater(request: Request) -> str | None:
    """Return whose link it is, the rater of the command line, or the one of the page's cookie if that is a name."""
    holder = token_holder(request)
    if holder is not None:
        return holder
    try:
        return request.app.state.rater or check_rater(unquote(request.cookies.get(COOKIE, "")))
    except DataError:
        return None


def remember_rater(response: Response, name: str) -> None:
    """Keep a rater's name for the next visit."""
    response.set_cookie(COOKIE, quote(name, safe=""), max_age=A_YEAR, httponly=True, samesite="strict", path="/")


def rater_of(request: Request, named: str | None) -> str:
    """Return who is judging: named in the address, by the cookie of the page, or on the command line."""
    rater = named or known_rater(request)
    if rater is None:
        raise RequestError(422, "no_rater", "say who is judging: add ?rater=NAME to the address")
    rater, holder = rater_named(rater), token_holder(request)
    if holder not in (None, rater):
        raise RequestError(
            403,
            "other_rater",
            f"this is the link of {holder!a}, and nobody judges as {rater!a} with it: use the link of that rater",
        )
    return rater


def check_store(request: Request) -> None:
    """Refuse what was meant for another label store, such as one that was served at this address before."""
    meant, ours = request.headers.get(STORE_HEADER), request.app.state.store
    if meant not in (None, ours):
        raise RequestError(
            409, "other_store", "this was meant for another label store, which was served here before: nothing changed"
        )


@dataclass(frozen=True)
class JudgingEndpoint(Endpoint):
    """What is called with which values, the rater's name among them where it is asked for."""

    in_address: tuple[str, ...] = ("rater", "keep_going")
    lead_only: bool = False  # a personal link may not

    def address_values(self, request: Request) -> dict[str, Any]:
        check_store(request)
        if self.lead_only:
            check_lead(request)
        known = [item for item in request.query_params.items() if item[0] in self.names[0]]
        values = read_address(known, self.address)
        return values | ({"rater": rater_of(request, values.get("rater"))} if "rater" in self.names[0] else {})

    def refusal_of(self, error: RulerankError) -> Exception:
        if isinstance(error, BusyError):
            return RequestError(409, "busy", str(error))
        return error if isinstance(error, StoreError) else super().refusal_of(error)


class Api:
    """The judging loop as a page sees it: values in, plain values for JSON out."""

    def __init__(self, judging: Judging, model_path: str | Path, lists: ListChoices) -> None:
        self.judging, self.lists, self.model_path = judging, lists, Path(model_path)

    def next(self, rater: str, keep_going: str = "false") -> Payload:
        """Hand a document to a rater."""
        task = self.judging.next(rater, keep_going=keep_going == "true")
        return {"task": task and self.unjudged(task)} | self.progress(rater)

    def document(self, rater: str, query: str, doc: str) -> Payload:
        """Show one document and what the rater has said of it."""
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
        """Keep a grade, and hand out the next document where one is shown at a time."""
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
        """Pass a document over."""
        self.check_known(query, doc)
        self.judging.skip(rater, query, doc, judgement=judgement)
        return self._handed(rater, page, keep_going)

    def _handed(self, rater: str, page: str, keep_going: str) -> Payload:
        """Hand out a document, but not to a page that has its documents already."""
        if page in ("document", "api"):
            return self.next(rater, keep_going)
        return {"task": None} | self.progress(rater)

    def undo(self, rater: str, judgement: str | None = None, page: str = "api") -> Payload:
        """Take the rater's last label back and show its document again."""
        undone = self.judging.undo(rater, judgement=judgement, page=page)
        if undone is None:
            return {"undone": None, "task": None} | self.progress(rater)
        known = (undone.query, undone.doc) in self.judging.pool.rows
        shown = self.document(rater, undone.query, undone.doc)["task"] if known else None
        return {"undone": undone.to_dict(), "task": shown} | self.progress(rater)

    def labels(self, rater: str) -> Payload:
        """List the rater's own labels, the latest first."""
        return {"labels": [self._listed(label) for label in reversed(self.judging.store.labels(rater))]}

    def progress(self, rater: str) -> Payload:
        """Tell how far the rater and all together have come."""
        return {"progress": self.judging.progress(rater)}

    def overview(self) -> Payload:
        """Show all labels at a glance."""
        return {"overview": self.judging.overview()}

    def train(self, method: str) -> SavedModel:
        """Train a ranker on all labels and save it, where the command line said and nowhere else."""
        return self.judging.save_model(self.model_path, method, wait=False)

    @property
    def methods(self) -> list[str]:
        """What can be trained here, the best for few labels first."""
        first = [] if self.judging.today is None else [*FROM_TODAY]
        return first + [name for name in METHODS if name not in FROM_TODAY]

    def duel(self, rater: str) -> Payload:
        """Hand a duel to a rater: two documents of one query, one by each ranking, unnamed."""
        check = self.judging.check
        task = None if check is None else check.next(rater)
        if task is None:
            return {"duel": None} | self.check()
        docs = [self.document(rater, doc.query, doc.doc)["task"] for doc in task.docs]
        return {"duel": {"query": task.query, "docs": docs, "number": task.number}} | self.check()

    def skip_duel(self, rater: str, query: str) -> Payload:
        """Pass a duel over, and hand out the next one."""
        self.check_query(query)
        if self.judging.check is not None:
            self.judging.check.skip(rater, query)
        return self.duel(rater)

    def check(self) -> Payload:
        """Tell how the duels of the new ranking against today's stand."""
        check = self.judging.check
        if check is None:
            return {"check": None}
        found = duels_as_dict(check.comparison())
        return {"check": found | {"line": check.line(), "changed": check.changed}}

    def query_list(self, rater: str, query: str | None = None, keep_going: str = "false") -> Payload:
        """Hand the list of a query to a rater, or show the one of a query that is named."""
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
        """Return what a rater sees of a document, without what anybody has said of it."""
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
    """Return what the values of requests may be, by name."""
    rater = text("The rater's name.", MAX_RATER)
    return {
        "rater": text("Who is judging [the page's cookie, or --rater].", MAX_RATER),
        "query": text("The query's id."),
        "doc": text("The document's id."),
        "grade": whole("The grade; null: cannot be judged.", 0, max_grade) | None,
        "judgement": text(
            "An id of your own for this judgement, new for each: one that is sent again changes nothing and is "
            "answered as the first was. Without it, a grade that is in force already is no new label.",
            100,
        ),
        "page": choice(
            "Where it was said, for the history [api]; a page that has its documents gets no other with the answer.",
            (page for page in PAGES if page not in NOT_SAID_HERE),
        ),
        "keep_going": choice("Hand out more when the sampler has stopped.", ("true", "false")),
        "method": choice("How to learn.", methods),
        "search": text("Words that the query must hold.", 200),
        "order": choice(f"How to sort [{USUAL_ORDER}].", ORDERS),
        "state": choice("Which of them: without a decision, with one, or all [open].", ("open", "decided", "all")),
        "name": rater,
        "judge": rater,
        "kind": choice("What this rater is.", KINDS),
        "combine": choice("How labels of several become one.", COMBINATIONS),
        "judgements": whole("People who judge each document.", 1, MOST_JUDGEMENTS),
        "training_judges": Annotated[many(rater), Meta(max_length=1000, description=JUDGES_ABOUT)],
    }


Task = record("Task", **get_type_hints(JudgingTask), judged=bool, grade=int | None)
List = record("List", query=str, n_others=int, docs=many(Task))
ListedLabel = record("ListedLabel", **get_type_hints(Label), query_text=str | None, title=str | None, in_pool=bool)
Duel = record("Duel", query=str, docs=many(Task), number=int)
Check = record(
    "Check", won=int, lost=int, drawn=int, verdict=str, over=bool, interval=list[float], line=str, changed=float
)
# of modules that are loaded once somebody trains
Model = record("Model", path=str, method=str, n_labels=int, notes=list[str], lines=list[str])
PROGRESS = {"progress": Progress}
HANDED = {"task": Task | None} | PROGRESS
DUEL = {"duel": Duel | None, "check": Check | None}


def endpoints(api: Api, endpoint: Callable[..., JudgingEndpoint]) -> list[JudgingEndpoint]:
    """Return everything that a rater can do, and training; endpoint: makes one."""
    return [
        endpoint("GET", "/api/next", api.next, HANDED),
        endpoint("GET", "/api/document", api.document, HANDED),
        endpoint("GET", "/api/labels", api.labels, {"labels": many(ListedLabel)}),
        endpoint("POST", "/api/labels", api.label, HANDED | {"label": Label}),
        endpoint("POST", "/api/skip", api.skip, HANDED),
        endpoint("POST", "/api/undo", api.undo, HANDED | {"undone": Label | None}),
        endpoint("GET", "/api/progress", api.progress, PROGRESS),
        endpoint("GET", "/api/overview", api.overview, {"overview": LabelOverview}),
        endpoint("GET", "/api/duel", api.duel, DUEL),
        endpoint("POST", "/api/skip-duel", api.skip_duel, DUEL),
        endpoint("GET", "/api/list", api.query_list, {"list": List | None} | PROGRESS),
        endpoint("POST", "/api/train", api.train, Model, lead_only=True),
    ]
