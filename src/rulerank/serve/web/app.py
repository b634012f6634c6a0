"""The service: endpoints, worker threads, metrics and the page, behind one guard.

Metrics for Prometheus sum over all workers. With several processes, `prometheus_client` keeps the metrics of each in a
file of the folder PROMETHEUS_MULTIPROC_DIR, which must be set before it is imported: `cli/serve.py` does so. The counts
of a worker that died are kept.
"""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, Any, Literal

import numpy as np
from msgspec import Meta, UnsetType
from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, disable_created_metrics, generate_latest
from prometheus_client.multiprocess import MultiProcessCollector
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from rulerank.dataset import Array
from rulerank.serve.model_watch import WatchedReranker
from rulerank.serve.reranker import Ranking, Reranker
from rulerank.serve.rows import Reason
from rulerank.serve.web.ranking import Service, value_types
from rulerank.text.text_features import TextFeatures
from rulerank.web.endpoint import REFUSALS, Endpoint, describe, many, record, routes_of
from rulerank.web.pages import Pages
from rulerank.web.requests import RequestError
from rulerank.web.security import Guard, Tokens

API = ("/rank", "/explain", "/search", "/healthz", "/metrics", "/openapi.json")
BOUNDS = (0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0)  # seconds
SCORES = (-10.0, -5.0, -3.0, -2.0, -1.5, -1.0, -0.5, -0.2, 0.0, 0.2, 0.5, 1.0, 1.5, 2.0, 3.0, 5.0, 10.0)
N_THREADS = 4  # more would only wait for each other
MOST_WAITING = 200  # requests; further ones are refused
HERE = Path(__file__).parent
PAGES = Pages(HERE, "To the page")
disable_created_metrics()  # type: ignore[no-untyped-call]

Rank = Annotated[int, Meta(ge=1)]
RESULT = {
    "id": str, "rank": Rank, "score": float, "baseline_rank": Rank | None,
    "features": dict[str, float | str | None] | UnsetType, "reasons": list[Reason] | UnsetType,
}  # fmt: skip
ANSWER = {"query": str | None, "version": str, "n_docs": int}
FOUND = many(record("Found", **RESULT, title=str | None, text=str | None, url=str | None))
WHY = {"version": str, "lines": list[str], "digits": int, "explanation": dict[str, Any]}
HEALTH = {
    "status": Literal["ok"], "model": record("Model", version=str, method=str, file=str | None, since=str),
    "problem": str | None, "features": list[str], "baseline": str, "documents": int | None, "worker": int,
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Limits:
    """Limits per request."""

    documents: int = 1000
    seconds: float = 10.0
    body: int = 8 * 1024 * 1024  # bytes


class WorkThreads:
    """Worker threads; refuses requests if too many wait, and those that take too long."""

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds
        self.n_waiting = 0
        self._threads: ThreadPoolExecutor | None = None  # created on use: forked processes have no threads

    async def do(self, task: Callable[[], bytes]) -> bytes:
        """Run a task in a thread, or refuse it."""
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
            took = f"the request took longer than {self.seconds:g} s: send fewer documents, or increase --timeout"
            raise RequestError(504, "timed_out", took) from None
        finally:
            self.n_waiting -= 1


@dataclass(frozen=True)
class ServiceEndpoint(Endpoint):
    """An endpoint that runs in the worker threads."""

    most_bytes: int = 0
    threads: WorkThreads = field(kw_only=True)

    async def work(self, task: Callable[[], bytes]) -> bytes:
        return await self.threads.do(task)


class Scores(Histogram):
    """A histogram that counts many values at once: one by one, those of 100 documents take a tenth of a request."""

    def observe_all(self, values: Array) -> None:
        counts = np.bincount(np.searchsorted(SCORES, values), minlength=len(SCORES) + 1)
        for place in np.flatnonzero(counts).tolist():
            self._buckets[place].inc(int(counts[place]))


class Metrics:
    """Metrics of all workers."""

    def __init__(self) -> None:
        own = self._registry = CollectorRegistry()
        self.worker, self.since, self._version = 0, 0.0, ""
        about = "Seconds from the start of a request to the end of its response."
        self.requests = Counter("rulerank_requests", "Requests answered.", ["route", "status"], registry=own)
        self.seconds = Histogram("rulerank_request_seconds", about, ["route"], buckets=BOUNDS, registry=own)
        self.documents = Counter("rulerank_documents_scored", "Documents scored.", registry=own)
        about = "Scores of all ranked documents."
        self.scores = Scores("rulerank_score", about, ["version"], buckets=SCORES, registry=own)
        about = "Ranked documents whose value of a feature is missing."
        self.missing = Counter("rulerank_missing_values", about, ["feature"], registry=own)
        self.reloads = Counter("rulerank_model_reloads", "New models loaded, per worker.", registry=own)
        about = "New model files that could not be loaded, per worker."
        self.failed_reloads = Counter("rulerank_model_failed_reloads", about, registry=own)
        about = "Requests in progress."
        self.in_work = Gauge("rulerank_requests_in_work", about, registry=own, multiprocess_mode="livesum")
        about = "The model of each worker."
        self._info = Gauge("rulerank_model_info", about, ["worker", "version"], registry=own,
                           multiprocess_mode="livemostrecent")  # fmt: skip
        about = "Unix time at which each worker loaded its model."
        self._since = Gauge("rulerank_model_since_seconds", about, ["worker"], registry=own,
                            multiprocess_mode="livemostrecent")  # fmt: skip

    def begin(self, worker: int, version: str) -> None:
        """Start a worker with a model."""
        self.worker = worker
        self.uses(version)

    def uses(self, version: str) -> None:
        """Record the model of the worker."""
        if self._version:
            self._info.labels(self.worker, self._version).set(0)
        self.since, self._version = time.time(), version
        self._info.labels(self.worker, version).set(1)
        self._since.labels(self.worker).set(self.since)

    def record(self, ranking: Ranking) -> None:
        """Count the documents of a ranking, their scores and their missing values."""
        self.documents.inc(ranking.n_docs)
        if not ranking:
            return
        rows = ranking[0].rows
        self.scores.labels(ranking.version).observe_all(rows.scores)
        missing = np.isnan(rows.data.X).sum(axis=0)
        for column in np.flatnonzero(missing).tolist():
            if rows.data.feature_names[column] in rows.ranker.feature_names_:
                self.missing.labels(rows.data.feature_names[column]).inc(int(missing[column]))

    def to_text(self) -> str:
        """Return all metrics in the text format of Prometheus."""
        registry = self._registry
        if "PROMETHEUS_MULTIPROC_DIR" in os.environ:
            registry = CollectorRegistry()
            MultiProcessCollector(registry)  # type: ignore[no-untyped-call]
        lines = generate_latest(registry).decode().splitlines(keepends=True)
        return "".join(line for line in lines if not line.startswith("rulerank_model_info{") or line.endswith(" 1.0\n"))


class CountedApp:
    """Counts every response of an application, refusals too."""

    def __init__(self, app: ASGIApp, metrics: Metrics) -> None:
        self.app = app
        self.metrics = metrics

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        started, status = time.perf_counter(), 0

        async def send_counted(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
            await send(message)

        route = scope["path"] if scope["path"] in (*API, "/") else "other"
        with self.metrics.in_work.track_inprogress():
            try:
                await self.app(scope, receive, send_counted)
            finally:
                self.metrics.requests.labels(route, status).inc()
                self.metrics.seconds.labels(route).observe(time.perf_counter() - started)


def endpoints(service: Service, health: Callable[[], dict[str, Any]], limits: Limits) -> list[ServiceEndpoint]:
    """Return the endpoints; /search needs an index."""
    threads, texts = WorkThreads(limits.seconds), service.reranker.features is not None
    types = value_types(limits.documents, texts)
    found: list[tuple[str, str, Callable[..., Any], Any]] = [
        ("POST", "/rank", service.rank, ANSWER | {"results": many(record("Result", **RESULT))}),
        ("POST", "/explain", service.explain, WHY),
        ("GET", "/healthz", health, HEALTH),
    ]  # fmt: skip
    if texts:
        found.append(("GET", "/search", service.search, ANSWER | {"results": FOUND, "baseline": FOUND}))
    return [ServiceEndpoint(*one, types, most_bytes=limits.body, threads=threads) for one in found]


def create_app(
    reranker: Reranker | WatchedReranker,
    *,
    limits: Limits | None = None,
    token: str | None = None,
    metrics: Metrics | None = None,
) -> CountedApp:
    """Return the ASGI application that ranks with a reranker.

    token: the secret that every request must send. None: only requests to 127.0.0.1 and localhost are accepted.
    """
    if metrics is None:
        metrics = Metrics()
        metrics.begin(0, reranker.version)
    limits = limits or Limits()
    service = Service(reranker, metrics.record)

    def health() -> dict[str, Any]:
        """Return the state of the service and its model."""
        model = reranker.current()
        return {
            "status": "ok",
            "model": {
                "version": model.version,
                "method": type(model.ranker).__name__,
                "file": str(reranker.path) if isinstance(reranker, WatchedReranker) else None,
                "since": datetime.fromtimestamp(metrics.since, UTC).isoformat(timespec="seconds"),
            },
            "problem": reranker.problem,
            "features": list(model.feature_names),
            "baseline": baseline_of(model),
            "documents": service.n_documents,
            "worker": metrics.worker,
        }

    table = endpoints(service, health, limits)
    description = describe(
        table,
        title="rulerank serve",
        about="Ranks documents with a model, and explains the ranking. /metrics has metrics for Prometheus.",
        refusals=REFUSALS | {"503": "Too many requests are waiting; try again.", "504": "The request took too long."},
        has_token=token is not None,
    )

    async def openapi(request: Request) -> Response:
        return JSONResponse(description)

    async def counts(request: Request) -> Response:
        return Response(metrics.to_text(), media_type="text/plain; version=0.0.4")

    async def page(request: Request) -> Response:
        model = reranker.current()
        rows = [
            {"id": id, "features": dict.fromkeys(model.feature_names[:200], x)} for id, x in (("a", 0.0), ("b", 1.0))
        ]
        return PAGES.render(
            "try",
            texts=model.features is not None,
            baseline=baseline_of(model),
            method=type(model.ranker).__name__,
            version=model.version,
            n_documents=service.n_documents,
            examples=[] if model.features is None else example_queries(model.features),
            example={"documents": rows},
        )

    routes = [Route("/", page), *routes_of(table), Route("/openapi.json", openapi), Route("/metrics", counts)]
    app = Starlette(routes=[*routes, *PAGES.file_routes()], exception_handlers=PAGES.exception_handlers())
    tokens = None if token is None else Tokens(token)
    return CountedApp(Guard(app, tokens=tokens, refuse=PAGES.refuse, command="serve", api=API), metrics)


def example_queries(features: TextFeatures, n: int = 4) -> list[str]:
    """Return the first words of some documents of the index, from its beginning to its end."""
    texts = next((own for role in ("title", "text") if (own := features.documents_.shown.get(role))), [])
    known = [words for text in texts if (words := " ".join((text or "").split()[:3]))]
    return list(dict.fromkeys(known[place] for place in np.linspace(0, len(known) - 1, min(n, len(known))).astype(int)))


def baseline_of(model: Reranker) -> str:
    """Return the baseline ranking in words."""
    if model.baseline is not None:
        return str(model.baseline)
    return "BM25" if model.features is not None else "the given order"
