"""What can be asked of the service: a table of endpoints, the shapes of their answers, and the threads that answer."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Annotated, Any, Literal

from msgspec import Meta, UnsetType

from rulerank.serve.results import Reason
from rulerank.serve.web.documents import document_types
from rulerank.serve.web.ranking import Service
from rulerank.web.endpoint import REFUSALS, Endpoint, describe, many, record
from rulerank.web.requests import RequestError, Schema

N_THREADS = 4  # at work at once: more would only wait for each other
MOST_WAITING = 200  # requests; the next one is better sent elsewhere
SERVICE_REFUSALS = REFUSALS | {
    "503": "Too many requests are waiting; try again.",
    "504": "The answer took too long.",
}

Rank = Annotated[int, Meta(ge=1)]
RESULT = {
    "id": str, "rank": Rank, "score": float, "today": Rank | None,
    "features": dict[str, float | str | None] | UnsetType, "reasons": list[Reason] | UnsetType,
}  # fmt: skip
ANSWER = {"query": str | None, "version": str, "n_docs": int}
Result = record("Result", **RESULT)
Found = record("Found", **RESULT, title=str | None, text=str | None, url=str | None)
Mixed = record("Mixed", id=str, position=Rank, team=Literal["a", "b", None])
Rule = record(
    "Rule", items=list[str], adds=float, weight=float,
    rows_by_grade=list[int] | UnsetType, queries=list[int] | UnsetType,
)  # fmt: skip
Swap = record(
    "Swap", features=list[str] | UnsetType, n_rules=int | UnsetType, first_rules=list[str] | UnsetType,
    proven_smallest=bool,
)  # fmt: skip
FeaturePart = record("FeaturePart", feature=str, text=str, adds=float, effect=float, value=str, standing=str)
Gap = record(
    "Gap", feature=str, of_high=str, of_low=str, adds=float, high_value=str, low_value=str,
    high_standing=str, low_standing=str,
)  # fmt: skip
GapRule = record("GapRule", adds=float, same=bool, of_high=Rule | None, of_low=Rule | None)
Explanation = record(
    "Explanation", "explanation", document=str, method=str, score=float, base=float, base_text=str,
    groups=many(record("RuleGroup", adds=float, n_rules=int, rules=many(Rule))) | UnsetType,
    features=many(FeaturePart) | UnsetType,
    about=record("About", query=str, query_text=str, texts=dict[str, str]),
    n_rules=int, noun=str, baseline=str | UnsetType, sees_values=bool, arithmetic=list[str] | UnsetType,
    grades=many(record("GradePart", grade=int, n_rules=int, mean=float, share=float)) | UnsetType,
    queries=many(record("QueryPart", query=str | float, rank=float, weight=float, adds=float)) | UnsetType,
    members=many(record("MemberPart", name=str, score=float, estimate=float, weight=float, adds=float)) | UnsetType,
    notes=list[str] | UnsetType,
)  # fmt: skip
Versus = record(
    "Versus", "versus", high=Explanation, low=Explanation, difference=float, base_difference=float,
    n_same=int, n_only_high=int, n_only_low=int, adds_same=float, features=many(Gap),
    groups=many(record("GapGroup", adds=float, n_rules=int, rules=many(GapRule))),
    swap_features=Swap | None, swap_rules=Swap | None,
)  # fmt: skip
HEALTH = {
    "status": Literal["ok"], "model": record("Model", version=str, method=str, file=str | None, since=str),
    "problem": str | None, "features": list[str], "today": str, "documents": int | None, "worker": int,
    "started": str, "uptime_seconds": float,
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Limits:
    """What a request may ask for."""

    documents: int = 1000
    seconds: float = 10.0
    body: int = 8 * 1024 * 1024  # bytes


class WorkThreads:
    """Threads that answer: who asks when too many wait is told so at once, who waits too long, then."""

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds
        self.n_waiting = 0
        self._threads: ThreadPoolExecutor | None = None  # made when used: processes that are forked have no threads

    async def do(self, task: Callable[[], bytes]) -> bytes:
        """Do a task in a thread, or refuse it when there are too many or it takes too long."""
        if self.n_waiting >= MOST_WAITING:
            message = f"{MOST_WAITING} requests are waiting already: try again soon"
            raise RequestError(503, "busy", message, {"Retry-After": "1"})
        if self._threads is None:
            self._threads = ThreadPoolExecutor(N_THREADS, "rulerank")
        self.n_waiting += 1
        try:
            async with asyncio.timeout(self.seconds):
                return await asyncio.get_running_loop().run_in_executor(self._threads, task)
        except TimeoutError:
            message = (
                f"the answer took longer than {self.seconds:g} s: ask for fewer documents, or start with --timeout"
            )
            raise RequestError(504, "timed_out", message) from None
        finally:
            self.n_waiting -= 1


@dataclass(frozen=True)
class ServiceEndpoint(Endpoint):
    """What is called with which values, in the threads of the service."""

    most_bytes: int = 0
    threads: WorkThreads = field(kw_only=True)

    async def work(self, task: Callable[[], bytes]) -> bytes:
        return await self.threads.do(task)


def endpoints(service: Service, health: Callable[[], dict[str, Any]], limits: Limits) -> list[ServiceEndpoint]:
    """Return everything the API can do; without an index there is nothing to search."""
    threads, texts = WorkThreads(limits.seconds), not service.features_only
    types = document_types(limits.documents, texts)

    def endpoint(method: str, path: str, call: Callable[..., Any], answer: Any) -> ServiceEndpoint:
        return ServiceEndpoint(method, path, call, answer, types, most_bytes=limits.body, threads=threads)

    why = {"version": str, "lines": list[str], "digits": int, "explanation": Explanation | Versus}
    mixed = {"query": str | None, "session": str, "version": str | None, "results": many(Mixed)}
    found = [
        endpoint("POST", "/rank", service.rank, ANSWER | {"results": many(Result)}),
        endpoint("POST", "/explain", service.explain, why),
        endpoint("POST", "/interleave", service.interleave, mixed),
        endpoint("GET", "/healthz", health, HEALTH),
    ]
    if texts:
        both = {"results": many(Found), "today": many(Found)}
        found.append(endpoint("GET", "/search", service.search, ANSWER | both))
    return found


def describe_service(table: list[ServiceEndpoint], *, has_token: bool) -> Schema:
    """Return the OpenAPI 3.1 description of the service."""
    about = "Ranks documents with a model, and says why."
    found = describe(table, title="rulerank serve", about=about, refusals=SERVICE_REFUSALS, has_token=has_token)
    refused = found["paths"]["/healthz"]["get"]["responses"]
    counts = {"description": "Its text format.", "content": {"text/plain": {"schema": {"type": "string"}}}}
    found["paths"]["/metrics"] = {
        "get": {
            "summary": "Counts for Prometheus, of all workers together.",
            "operationId": "get_metrics",
            "parameters": [],
            "responses": {"200": counts, "401": refused["401"], "403": refused["403"]},
        }
    }
    return found
