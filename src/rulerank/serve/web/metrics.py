"""Counts of all workers in memory that they share, as Prometheus reads them.

Each worker writes its own row; whichever is asked adds up all rows, so that the answer does not depend on who gives it.
A worker that is started anew goes on with the row of the one before: counts never fall.
"""

from __future__ import annotations

import mmap
import threading
import time
from collections.abc import Iterator

import numpy as np
from starlette.types import ASGIApp, Message, Receive, Scope, Send

ROUTES = ("/rank", "/explain", "/search", "/interleave", "/healthz", "/metrics", "/openapi.json", "/", "other")
STATUSES = (200, 304, 400, 401, 403, 404, 405, 408, 413, 415, 422, 500, 503, 504, 0)  # 0: any other
BOUNDS = (0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0)  # seconds, and then all
LAYOUT = np.dtype(
    [
        ("requests", "<i8", (len(ROUTES), len(STATUSES))),
        ("buckets", "<i8", (len(ROUTES), len(BOUNDS) + 1)),
        ("seconds", "<f8", (len(ROUTES),)),
        ("documents", "<i8"),
        ("reloads", "<i8"),
        ("failed_reloads", "<i8"),
        ("in_work", "<i8"),
        ("since", "<f8"),
        ("version", "S40"),
    ]
)
SUMMED = ("requests", "buckets", "seconds", "documents", "reloads", "failed_reloads", "in_work")


class Metrics:
    """What has happened, of all workers. Made before they are forked."""

    def __init__(self, n_workers: int = 1) -> None:
        shared = mmap.mmap(-1, n_workers * LAYOUT.itemsize)
        self.rows = np.frombuffer(shared, dtype=LAYOUT)
        self.worker = 0
        self._lock = threading.Lock()  # within a worker; rows of others are only read

    def answered(self, path: str, status: int, seconds: float) -> None:
        """Count a request."""
        route = ROUTES.index(path) if path in ROUTES else len(ROUTES) - 1
        code = STATUSES.index(status) if status in STATUSES else len(STATUSES) - 1
        row = self.rows[self.worker]
        with self._lock:
            row["requests"][route, code] += 1
            row["buckets"][route, sum(seconds > bound for bound in BOUNDS)] += 1
            row["seconds"][route] += seconds

    def scored(self, n_docs: int) -> None:
        """Count documents that were scored."""
        with self._lock:
            self.rows[self.worker]["documents"] += n_docs

    def working(self, change: int) -> None:
        """Count requests that are being answered."""
        with self._lock:
            self.rows[self.worker]["in_work"] += change

    def begin(self, worker: int, version: str) -> None:
        """Take a worker's row, with the model it starts with."""
        self.worker = worker
        self.rows[worker]["in_work"] = 0  # of one that was killed
        self.uses(version, again=False)

    def uses(self, version: str, *, again: bool = True) -> None:
        """Note the model that the worker ranks with from now on."""
        row = self.rows[self.worker]
        with self._lock:
            row["version"] = version.encode()
            row["since"] = time.time()
            row["reloads"] += again

    def failed(self) -> None:
        """Count a model file that could not be used."""
        with self._lock:
            self.rows[self.worker]["failed_reloads"] += 1

    @property
    def since(self) -> float:
        """When this worker took its model, in seconds since 1970."""
        return float(self.rows[self.worker]["since"])

    def to_text(self) -> str:
        """Return all counts in the text format of Prometheus."""
        return "".join(f"{line}\n" for line in self._lines())

    def _lines(self) -> Iterator[str]:
        total = {name: self.rows[name].sum(axis=0) for name in SUMMED}
        yield from _head("rulerank_requests_total", "counter", "Requests answered.")
        for r, route in enumerate(ROUTES):
            for s, status in enumerate(STATUSES):
                if total["requests"][r, s]:
                    yield f'rulerank_requests_total{{route="{route}",status="{status}"}} {total["requests"][r, s]}'
        yield from _head("rulerank_request_seconds", "histogram", "From a request's head to the end of its answer.")
        for r, route in enumerate(ROUTES):
            counts = np.cumsum(total["buckets"][r])
            if not counts[-1]:
                continue
            for bound, count in zip((*map(repr, BOUNDS), "+Inf"), counts.tolist(), strict=True):
                yield f'rulerank_request_seconds_bucket{{route="{route}",le="{bound}"}} {count}'
            yield f'rulerank_request_seconds_sum{{route="{route}"}} {total["seconds"][r]:.6f}'
            yield f'rulerank_request_seconds_count{{route="{route}"}} {counts[-1]}'
        for name, kind, about in (
            ("documents", "counter", "Documents scored."),
            ("reloads", "counter", "New models taken over, of each worker."),
            ("failed_reloads", "counter", "New model files that could not be used, of each worker."),
        ):
            full = "rulerank_documents_scored_total" if name == "documents" else f"rulerank_model_{name}_total"
            yield from _head(full, kind, about)
            yield f"{full} {total[name]}"
        yield from _head("rulerank_requests_in_work", "gauge", "Requests that are being answered.")
        yield f"rulerank_requests_in_work {total['in_work']}"
        yield from _head("rulerank_model_info", "gauge", "The model that each worker ranks with.")
        for worker, row in enumerate(self.rows):
            yield f'rulerank_model_info{{worker="{worker}",version="{row["version"].decode()}"}} 1'
        yield from _head("rulerank_model_since_seconds", "gauge", "When each worker took its model, since 1970.")
        for worker, row in enumerate(self.rows):
            yield f'rulerank_model_since_seconds{{worker="{worker}"}} {row["since"]:.3f}'


def _head(name: str, kind: str, about: str) -> tuple[str, str]:
    return f"# HELP {name} {about}", f"# TYPE {name} {kind}"


class Counted:
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

        self.metrics.working(1)
        try:
            await self.app(scope, receive, send_counted)
        finally:
            self.metrics.working(-1)
            self.metrics.answered(scope["path"], status, time.perf_counter() - started)
