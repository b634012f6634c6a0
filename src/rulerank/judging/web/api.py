"""What the pages and the API can do: thin calls of the judging loop, each a line in a table."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rulerank.judging.labels import MAX_RATER, PAGES, JudgingTask, Label
from rulerank.judging.lists import ListChoices, QueryList
from rulerank.judging.loop import Judging
from rulerank.judging.web.endpoint import JudgingEndpoint as Endpoint
from rulerank.judging.web.images import ImageHosts
from rulerank.methods import FROM_TODAY, METHODS
from rulerank.web.fields import Field
from rulerank.web.refusals import RequestError

Payload = dict[str, Any]


class Api:
    """The judging loop as a page sees it: values in, plain values for JSON out."""

    def __init__(self, judging: Judging, model_path: str | Path, images: ImageHosts | None = None) -> None:
        self.judging = judging
        self.images = images or ImageHosts()
        self.model_path = Path(model_path)

    def next(self, rater: str, keep_going: str | None = None) -> Payload:
        """Hand a document to a rater."""
        task = self.judging.next(rater, keep_going=keep_going == "true")
        return {"task": task and self.unjudged(task), "progress": self.judging.progress(rater).to_dict()}

    def document(self, rater: str, query: str, doc: str) -> Payload:
        """Show one document and what the rater has said of it."""
        self.check_known(query, doc)
        task = self.unjudged(self.judging.task(query, doc))
        own = self._own(rater, query, doc)
        if own is not None:
            task |= {"judged": True, "grade": own.grade}
        return {"task": task, "progress": self.judging.progress(rater).to_dict()}

    def features(self, query: str, doc: str) -> Payload:
        """Show the feature values of a document and how many percent of the pool's lie below."""
        self.check_known(query, doc)
        return {"features": [value.to_dict() for value in self.judging.feature_values(query, doc)]}

    def label(
        self,
        rater: str,
        query: str,
        doc: str,
        grade: int | None,
        judgement: str | None,
        page: str | None = None,
        keep_going: str | None = None,
    ) -> Payload:
        """Keep a grade, and hand out the next document where one is shown at a time."""
        self.check_known(query, doc)
        label = self.judging.grade(rater, query, doc, grade, judgement=judgement, once=True, page=page or "api")
        return {"label": label.to_dict()} | self._handed(rater, page, keep_going)

    def estimate(self, rater: str, query: str, doc: str) -> Payload:
        """Tell what the ranker thinks of a document, once the rater has judged it and cannot be led."""
        self.check_known(query, doc)
        if self._own(rater, query, doc) is None:
            raise RequestError(422, "not_judged", "the ranker's estimate is shown after you have judged, never before")
        estimate = self.judging.estimate(query, doc)
        return {"estimate": estimate and estimate.to_dict()}

    def skip(
        self,
        rater: str,
        query: str,
        doc: str,
        judgement: str | None,
        page: str | None = None,
        keep_going: str | None = None,
    ) -> Payload:
        """Pass a document over."""
        self.check_known(query, doc)
        self.judging.skip(rater, query, doc, judgement=judgement)
        return self._handed(rater, page, keep_going)

    def _handed(self, rater: str, page: str | None, keep_going: str | None) -> Payload:
        """Hand out a document, but not to a page that has its documents already."""
        if page in (None, "document", "api"):
            return self.next(rater, keep_going)
        return {"task": None} | self.progress(rater)

    def undo(self, rater: str, judgement: str | None, page: str | None = None) -> Payload:
        """Take the rater's last label back and show its document again."""
        undone = self.judging.undo(rater, judgement=judgement, page=page or "api")
        progress = self.judging.progress(rater).to_dict()
        if undone is None:
            return {"undone": None, "task": None, "progress": progress}
        known = (undone.query, undone.doc) in self.judging.pool.rows
        return {
            "undone": undone.to_dict(),
            "task": self.document(rater, undone.query, undone.doc)["task"] if known else None,
            "progress": progress,
        }

    def labels(self, rater: str) -> Payload:
        """List the rater's own labels, the latest first."""
        return {"labels": [self._listed(label) for label in reversed(self.judging.store.labels(rater))]}

    def progress(self, rater: str) -> Payload:
        """Tell how far the rater and all together have come."""
        return {"progress": self.judging.progress(rater).to_dict()}

    def overview(self) -> Payload:
        """Show all labels at a glance."""
        return {"overview": self.judging.overview().to_dict()}

    def train(self, method: str) -> Payload:
        """Train a ranker on all labels and save it, where the command line said and nowhere else."""
        return self.judging.save_model(self.model_path, method, wait=False).to_dict()

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
        tally = check.tally().to_dict()
        return {"check": tally | {"line": check.line(), "changed": check.changed}}

    def unjudged(self, task: JudgingTask) -> Payload:
        """Return what a rater sees of a document, without what anybody has said of it."""
        return task.to_dict() | {"judged": False, "grade": None, "image": self.images.allowed(task.image)}

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


RATER = Field("rater", "Who is judging [the page's cookie, or --rater].", required=False, high=MAX_RATER)
QUERY = Field("query", "The query's id.")
DOC = Field("doc", "The document's id.")
JUDGEMENT = Field(
    "judgement",
    "An id of your own for this judgement, new for each: one that is sent again changes nothing and is answered as "
    "the first was. Without it, a grade that is in force already is no new label.",
    required=False,
    high=100,
)
NOT_SAID_HERE = ("lead", "import", "terminal")  # a request cannot say that it came from there
PAGE = Field(
    "page",
    "Where it was said, for the history [api]; a page that has its documents gets no other with the answer.",
    required=False,
    choices=tuple(page for page in PAGES if page not in NOT_SAID_HERE),
)
KEEP_GOING = Field(
    "keep_going", "Hand out more when the sampler has stopped.", required=False, choices=("true", "false")
)


def endpoints(api: Api) -> list[Endpoint]:
    """Return everything the API can do."""
    grade = Field("grade", "The grade; null: cannot be judged.", kind="grade", high=api.judging.max_grade)
    method = Field("method", "How to learn.", choices=tuple(api.methods))
    going, given = (RATER, KEEP_GOING), (QUERY, DOC, grade, JUDGEMENT, PAGE)
    return [
        Endpoint("GET", "/api/next", "The document to judge next.", api.next, "Handed", going),
        Endpoint("GET", "/api/document", "One document.", api.document, "Handed", (RATER, QUERY, DOC)),
        Endpoint("GET", "/api/features", "The features of a document.", api.features, "Features", (QUERY, DOC)),
        Endpoint("GET", "/api/estimate", "The ranker's estimate.", api.estimate, "Estimated", (RATER, QUERY, DOC)),
        Endpoint("GET", "/api/labels", "The rater's labels, the latest first.", api.labels, "Labels", (RATER,)),
        Endpoint("POST", "/api/labels", "Give a grade.", api.label, "Labelled", going, given),
        Endpoint(
            "POST", "/api/skip", "Pass a document over.", api.skip, "Handed", going, (QUERY, DOC, JUDGEMENT, PAGE)
        ),
        Endpoint("POST", "/api/undo", "Take the last label back.", api.undo, "Undone", (RATER,), (JUDGEMENT, PAGE)),
        Endpoint("GET", "/api/progress", "How far it has come.", api.progress, "ProgressOnly", (RATER,)),
        Endpoint("GET", "/api/overview", "All labels at a glance.", api.overview, "OverviewOnly"),
        Endpoint("GET", "/api/duel", "Two documents to compare, one by each ranking.", api.duel, "Duelling", (RATER,)),
        Endpoint("POST", "/api/skip-duel", "Pass a duel over.", api.skip_duel, "Duelling", (RATER,), (QUERY,)),
        Endpoint("GET", "/api/check", "How new stands against today.", api.check, "CheckOnly"),
        Endpoint("POST", "/api/train", "Train and save the model.", api.train, "Model", (), (method,), lead_only=True),
    ]


ANY_QUERY = Field("query", "The query's id [the next one to judge].", required=False)


@dataclass(frozen=True)
class ListApi:
    """The lists of the judging loop: values in, plain values for JSON out."""

    api: Api
    choices: ListChoices

    def next(self, rater: str, query: str | None = None, keep_going: str | None = None) -> Payload:
        """Hand the list of a query to a rater, or show the one of a query that is named."""
        lists, n_docs = self.api.judging.lists, self.choices.n_docs
        if query is not None:
            self.api.check_query(query)
            found: QueryList | None = lists.of(rater, query, n_docs)
        else:
            found = lists.next(rater, n_docs, keep_going=keep_going == "true")
        progress = self.api.progress(rater)["progress"]
        if found is None:
            progress |= {"done": True, "reason": lists.why_nothing(rater, n_docs).reason}
            return {"list": None, "progress": progress}
        return {"list": self._payload(found), "progress": progress | {"done": False, "reason": ""}}

    def _payload(self, found: QueryList) -> Payload:
        shows_rank = self.choices.shows_rank
        docs = sorted(found.docs, key=lambda doc: doc.rank) if shows_rank else found.docs
        shown = [
            self.api.unjudged(doc.task)
            | {"judged": doc.judged, "grade": doc.grade, "rank": doc.rank if shows_rank else None}
            for doc in docs
        ]  # fmt: skip
        return {"query": found.query, "docs": shown, "n_others": found.n_others, "shows_rank": shows_rank}


def list_endpoints(lists: ListApi) -> list[Endpoint]:
    """Return what the API can do with lists."""
    going = (RATER, KEEP_GOING, ANY_QUERY)
    return [Endpoint("GET", "/api/list", "The list of a query to judge.", lists.next, "Listed", going)]
