"""Lists of queries as a page sees them: handed out, and shown again."""

from __future__ import annotations

from dataclasses import dataclass

from rulerank.judging.lists import ListChoices, QueryList
from rulerank.judging.web.api import KEEP_GOING, RATER, Api, Payload
from rulerank.judging.web.endpoint import JudgingEndpoint as Endpoint
from rulerank.web.fields import Field

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
