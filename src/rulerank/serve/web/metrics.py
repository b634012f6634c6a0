"""Counts for Prometheus, of all workers together: whichever worker is asked, the answer is the same.

`prometheus_client` counts. Where several processes answer, it keeps the counts of each in a file of the folder that
the variable PROMETHEUS_MULTIPROC_DIR names, which must be set before it is loaded: `cli/serve.py` does so. The counts
of a worker that died stay: they never fall.
"""

from __future__ import annotations

import os
import time

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, disable_created_metrics, generate_latest
from prometheus_client.multiprocess import MultiProcessCollector
from starlette.types import ASGIApp, Message, Receive, Scope, Send

API = ("/rank", "/explain", "/search", "/interleave", "/healthz", "/metrics", "/openapi.json")
BOUNDS = (0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0)  # seconds
disable_created_metrics()  # type: ignore[no-untyped-call]


class Metrics:
    """What has happened, of all workers."""

    def __init__(self) -> None:
        own = self._registry = CollectorRegistry()
        self.worker, self.since, self._version = 0, 0.0, ""
        about = "From a request's head to the end of its answer."
        self.requests = Counter("rulerank_requests", "Requests answered.", ["route", "status"], registry=own)
        self.seconds = Histogram("rulerank_request_seconds", about, ["route"], buckets=BOUNDS, registry=own)
        self.documents = Counter("rulerank_documents_scored", "Documents scored.", registry=own)
        about = "New models taken over, of each worker."
        self.reloads = Counter("rulerank_model_reloads", about, registry=own)
        about = "New model files that could not be used, of each worker."
        self.failed_reloads = Counter("rulerank_model_failed_reloads", about, registry=own)
        about = "Requests that are being answered."
        self.in_work = Gauge("rulerank_requests_in_work", about, registry=own, multiprocess_mode="livesum")
        about = "The model that each worker ranks with."
        self._info = Gauge("rulerank_model_info", about, ["worker", "version"], registry=own,
                           multiprocess_mode="livemostrecent")  # fmt: skip
        about = "When each worker took its model, since 1970."
        self._since = Gauge("rulerank_model_since_seconds", about, ["worker"], registry=own,
                            multiprocess_mode="livemostrecent")  # fmt: skip

    def begin(self, worker: int, version: str) -> None:
        """Count for a worker, with the model it starts with."""
        self.worker = worker
        self.uses(version)

    def uses(self, version: str) -> None:
        """Note the model that the worker ranks with from now on."""
        if self._version:
            self._info.labels(self.worker, self._version).set(0)
        self.since, self._version = time.time(), version
        self._info.labels(self.worker, version).set(1)
        self._since.labels(self.worker).set(self.since)

    def to_text(self) -> str:
        """Return all counts in the text format of Prometheus."""
        registry = self._registry
        if "PROMETHEUS_MULTIPROC_DIR" in os.environ:
            registry = CollectorRegistry()
            MultiProcessCollector(registry)  # type: ignore[no-untyped-call]
        lines = generate_latest(registry).decode().splitlines(keepends=True)
        return "".join(line for line in lines if not line.startswith("rulerank_model_info{") or line.endswith(" 1.0\n"))


class CountedApp:
    """An application whose every answer is counted, refusals too."""

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
