"""The service as one application: the API, its description, counts and the page behind one guard."""

from __future__ import annotations

import time
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, Response
from starlette.routing import Route

from rulerank.serve.model_watch import WatchedReranker
from rulerank.serve.reranker import Reranker
from rulerank.serve.web.api import Limits, describe_service, endpoints
from rulerank.serve.web.metrics import API, CountedApp, Metrics
from rulerank.serve.web.ranking import Service
from rulerank.web.endpoint import routes_of
from rulerank.web.pages import Pages
from rulerank.web.security import Guard, Tokens

HERE = Path(__file__).parent
PAGES = Pages(HERE, "To the page")


def create_app(
    reranker: Reranker | WatchedReranker,
    *,
    features_only: bool = False,
    limits: Limits | None = None,
    token: str | None = None,
    metrics: Metrics | None = None,
) -> CountedApp:
    """Return the ASGI application that ranks with a reranker.

    token: what every request must bring; None only where nobody else can connect, since the guard then admits requests
        to 127.0.0.1 and localhost alone.
    """
    if metrics is None:
        metrics = Metrics()
        metrics.begin(0, reranker.version)
    limits = limits or Limits()
    service = Service(reranker, features_only=features_only, scored=metrics.documents.inc)
    began = time.time()

    def health() -> dict[str, Any]:
        """Tell whether all is well, and with which model."""
        return health_of(service, metrics, began)

    table = endpoints(service, health, limits)
    description = describe_service(table, has_token=token is not None)

    async def openapi(request: Request) -> Response:
        return JSONResponse(description)

    async def counts(request: Request) -> Response:
        return PlainTextResponse(
            metrics.to_text(), headers={"Content-Type": "text/plain; version=0.0.4; charset=utf-8"}
        )

    async def page(request: Request) -> Response:
        current = service.reranker.current()
        return PAGES.render(
            "try",
            texts=not service.features_only,
            today=today_of(current, service),
            method=type(current.ranker).__name__,
            n_documents=service.n_documents,
            most=limits.documents,
            example=example_of(current),
        )

    app = Starlette(
        routes=[
            Route("/", page),
            *routes_of(table),
            Route("/openapi.json", openapi),
            Route("/metrics", counts),
            *PAGES.file_routes(),
        ],
        exception_handlers=PAGES.exception_handlers(),
    )
    tokens = None if token is None else Tokens(token)
    return CountedApp(Guard(app, tokens=tokens, refuse=PAGES.refuse, command="serve", api=API), metrics)


def health_of(service: Service, metrics: Metrics, began: float) -> dict[str, Any]:
    """Return whether all is well, and with which model."""
    reranker = service.reranker
    current = reranker.current()
    return {
        "status": "ok",
        "model": {
            "version": current.version,
            "method": type(current.ranker).__name__,
            "file": str(reranker.path) if isinstance(reranker, WatchedReranker) else None,
            "since": moment(metrics.since),
        },
        "problem": reranker.problem,
        "features": list(current.feature_names),
        "today": today_of(current, service),
        "documents": service.n_documents,
        "worker": metrics.worker,
        "started": moment(began),
        "uptime_seconds": round(time.time() - began, 3),
    }


def today_of(model: Reranker, service: Service) -> str:
    """Return in words what today's ranking is."""
    if model.today is not None:
        return str(model.today)
    return "the order in which documents come" if service.features_only else "BM25"


def example_of(model: Reranker) -> dict[str, Any]:
    """Return two made-up documents with features, to begin with on the page."""
    names = model.feature_names[:200]
    rows = [{"id": name, "features": dict.fromkeys(names, value)} for name, value in (("a", 0.0), ("b", 1.0))]
    return {"documents": rows}


def moment(seconds: float) -> str:
    """Return a time as ISO 8601 writes it.

    >>> moment(0)
    '1970-01-01T00:00:00+00:00'
    """
    return datetime.fromtimestamp(seconds, UTC).isoformat(timespec="seconds")
