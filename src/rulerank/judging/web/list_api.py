"""Lists of queries as a page sees them: handed out, shown again, and what a model would move once they are judged."""

from __future__ import annotations

from dataclasses import dataclass

from rulerank.judging.lists import MOST, ListChoices, QueryList
from rulerank.judging.web.api import JUDGEMENT, KEEP_GOING, PAGE, QUERY, RATER, Api, Payload
from rulerank.judging.web.endpoint import JudgingEndpoint as Endpoint
from rulerank.web.fields import Field, TextsField
from rulerank.web.refusals import RequestError

MOST_BYTES = 1024 * 1024  # of an order: ids may be long addresses, and every letter of them escaped
DOCS = TextsField("docs", "Ids of documents, the best first, each once.", most=MOST)
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
        return {"list": self._payload(found, rater), "progress": progress | {"done": False, "reason": ""}}

    def moves(self, rater: str, query: str) -> Payload:
        """Tell what a model would move in a list, once the rater has judged it and cannot be led."""
        self.api.check_query(query)
        found = self.api.judging.lists.of(rater, query, self.choices.n_docs)
        if not found.docs or not found.is_judged:
            raise RequestError(422, "not_judged", "what a model would change is shown after the list is judged")
        moves = self.api.judging.lists.moves(query, self.choices.n_docs)
        return {"moves": moves and moves.to_dict()}

    def order(self, rater: str, query: str, docs: list[str], judgement: str | None, page: str | None = None) -> Payload:
        """Keep the order in which a rater prefers documents of a query."""
        order = self.api.judging.lists.order(rater, query, docs, judgement=judgement, page=page or "api")
        return {"order": list(order.docs)} | self.api.progress(rater)

    def preferences(self) -> Payload:
        """Tell how many of the pairs that raters prefer a new ranking and today's get right."""
        found = self.api.judging.lists.preferences()
        return {"preferences": found and found.to_dict() | {"line": found.line()}}

    def _payload(self, found: QueryList, rater: str) -> Payload:
        settings, orders = self.api.judging.store.settings(), self.api.judging.store.orders(rater)
        shows_rank = self.choices.shows_rank
        docs = sorted(found.docs, key=lambda doc: doc.rank) if shows_rank else found.docs
        shown = [
            self.api.unjudged(doc.task)
            | {"judged": doc.judged, "grade": doc.grade, "rank": doc.rank if shows_rank else None}
            for doc in docs
        ]  # fmt: skip
        order = next((list(order.docs) for order in orders if order.query == found.query), None)
        return {
            "query": found.query,
            "docs": shown,
            "n_others": found.n_others,
            "shows_rank": shows_rank,
            "takes_orders": settings.preferences,
            "order": order,
        }


def list_endpoints(lists: ListApi) -> list[Endpoint]:
    """Return what the API can do with lists."""
    going = (RATER, KEEP_GOING, ANY_QUERY)
    return [
        Endpoint("GET", "/api/list", "The list of a query to judge.", lists.next, "Listed", going),
        Endpoint(
            "POST",
            "/api/orders",
            "Put documents in order.",
            lists.order,
            "Ordered",
            (RATER,),
            (QUERY, DOCS, JUDGEMENT, PAGE),
            most_bytes=MOST_BYTES,
        ),
        Endpoint("GET", "/api/preferences", "Rankings by preferred pairs.", lists.preferences, "PreferencesOnly"),
        Endpoint("GET", "/api/moves", "What a model would move in a list.", lists.moves, "Moved", (RATER, QUERY)),
    ]
