"""The table of what can be asked: from it come the routes and their description."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from rulerank.serve.web.documents import fields_of
from rulerank.serve.web.orders import Order
from rulerank.serve.web.ranking import Service
from rulerank.serve.web.work import ServiceEndpoint, Work
from rulerank.web.fields import Field


@dataclass(frozen=True, slots=True)
class Limits:
    """What a request may ask for."""

    documents: int = 1000
    seconds: float = 10.0
    body: int = 8 * 1024 * 1024  # bytes


def endpoints(service: Service, health: Callable[[], dict[str, Any]], limits: Limits) -> list[ServiceEndpoint]:
    """Return everything the API can do; without an index there is nothing to search."""
    work = Work(limits.seconds, limits.body)
    texts = not service.features_only
    most = limits.documents
    top = Field("top", "How many documents to answer, the best ones [10].", "whole", False, high=most, low=1)
    reasons = Field("reasons", "Say of each document what its score is made of [false].", "yes or no", False)
    features = Field("features", "Answer the features of each document, too [false].", "yes or no", False)
    about = "How many documents of the index are candidates, the best by BM25 [100]."
    candidates = (Field("candidates", about, "whole", False, high=most, low=1),) if texts else ()
    query, *shared = fields_of(most, texts)
    q = Field("q", "The query's words.")
    doc = Field("doc", "The id of the document to explain.")
    versus = Field("versus", "The id of another document to compare it with.", required=False)
    about = "What tells this list from others, such as the session: the same one gives the same list for the query."
    session = Field("session", about)
    orders = [Order(team, f"One of two orders to mix, ids best first: team {team}.", most) for team in ("a", "b")]
    mixed = [replace(one, required=False) if one.name == "documents" else one for one in shared]
    found = [
        ServiceEndpoint(
            "POST", "/rank", "Documents in the model's order.", service.rank, "Ranking",
            body=(query, *shared, top, reasons, features, *candidates), work=work,
        ),
        ServiceEndpoint(
            "POST", "/explain", "Why a document has its score, or why it stands above or below another one.",
            service.explain, "Explained", body=(query, doc, versus, *shared), work=work,
        ),
        ServiceEndpoint(
            "POST", "/interleave", "Today's ranking and the model's, or two orders, mixed into one list.",
            service.interleave, "Interleaved", body=(session, query, *orders, *mixed, top, *candidates), work=work,
        ),
        ServiceEndpoint("GET", "/healthz", "Whether all is well, and with which model.", health, "Health", work=work),
    ]  # fmt: skip
    if texts:
        about = "Today's ranking and the model's of the indexed documents."
        asked = (q, top, reasons, *candidates)
        found.append(ServiceEndpoint("GET", "/search", about, service.search, "Searched", asked, work=work))
    return found
