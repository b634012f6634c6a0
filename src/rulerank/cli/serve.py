"""rulerank serve: rank over HTTP, with reasons."""

from __future__ import annotations

import gc
import json
import os
import shlex
import socket
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Annotated, Any
from urllib.parse import urlencode

import typer

from rulerank.cli.options import AsJson, TodayFeature
from rulerank.cli.output import print_json

if TYPE_CHECKING:
    from starlette.types import ASGIApp

    from rulerank.serve.web.opening import Opened


def serve(
    model: Annotated[str, typer.Argument(metavar="MODEL", help="A saved ranker, or a saved Reranker with its texts.")],
    texts: Annotated[
        str | None,
        typer.Option(metavar="DOCS", help="Documents to search: what `rulerank features --keep` wrote, or jsonl, csv."),
    ] = None,
    features_only: Annotated[
        bool, typer.Option("--features-only", help="Documents come with their features; there are no texts.")
    ] = False,
    today: TodayFeature = None,
    host: Annotated[str, typer.Option(help="Where to listen; beyond this machine it needs --token.")] = "127.0.0.1",
    port: Annotated[int | None, typer.Option(min=0, max=65535, help="Port, 0 for any [8765, or any].")] = None,
    token: Annotated[
        str | None, typer.Option(envvar="RULERANK_TOKEN", help="A secret that every request must bring.")
    ] = None,
    workers: Annotated[int, typer.Option(min=1, max=64, help="So many processes answer.")] = 1,
    max_docs: Annotated[int, typer.Option(min=1, max=100_000, help="So many documents a request may have.")] = 1000,
    timeout: Annotated[float, typer.Option(min=0.01, max=3600, help="Seconds an answer may take.")] = 10.0,
    id: Annotated[str | None, typer.Option("--id", metavar="FIELD", help="Field of the document id [id].")] = None,
    as_json: AsJson = False,
) -> None:
    """Rank documents over HTTP with a model, and say why.

    POST /rank, POST /explain, GET /search, /healthz, /metrics, /openapi.json, and a page to try queries on. A new file
    at MODEL takes over without a failed request. SIGTERM or Ctrl-C: answers what has begun, then ends.

    Example:
        rulerank serve shop.rulerank --texts text.rulerank
        rulerank serve model.rulerank --features-only --workers 2
        rulerank serve model.rulerank --features-only --host 0.0.0.0 --token "a secret of yours"
    """
    from rulerank.serve.web import check_packages

    check_packages()
    from rulerank.web.server import check_token

    check_token(host, token, "client")
    with collecting_no_garbage():  # a tenth of the time until the first answer
        from rulerank.serve.web.opening import open_model

        opened = open_model(model, texts, features_only=features_only, today=today, id=id)
    with shared_counts(workers):
        code = answer_requests(opened, host, port, token, workers, max_docs, timeout, as_json=as_json)
    if code:
        sys.exit(code)
    if not as_json:
        print("Stopped.")


@contextmanager
def shared_counts(workers: int) -> Iterator[None]:
    """Let the counts of several workers lie in files, which prometheus_client must know before it is loaded."""
    if workers == 1:
        yield
        return
    with TemporaryDirectory(prefix="rulerank-counts-") as folder:
        os.environ["PROMETHEUS_MULTIPROC_DIR"] = folder
        try:
            yield
        finally:
            del os.environ["PROMETHEUS_MULTIPROC_DIR"]


def answer_requests(
    opened: Opened,
    host: str,
    port: int | None,
    token: str | None,
    workers: int,
    max_docs: int,
    timeout: float,
    *,
    as_json: bool,
) -> int:
    """Answer until a signal, and return the exit code."""
    from rulerank.serve.web.api import Limits
    from rulerank.serve.web.app import create_app
    from rulerank.serve.web.metrics import Metrics
    from rulerank.serve.web.workers import run
    from rulerank.web.server import is_loopback, open_socket, url_of

    metrics = Metrics()

    def prepare(number: int) -> ASGIApp:
        metrics.begin(number, opened.reranker.version)
        limits = Limits(max_docs, timeout)
        return create_app(
            opened.reranker, features_only=opened.features_only, limits=limits, token=token, metrics=metrics
        )

    with open_socket(host, port) as listening:
        url = url_of(listening)
        beyond = None if is_loopback(host) else f"http://{socket.gethostname()}:{listening.getsockname()[1]}/"
        hello = partial(print_hello, opened, url, beyond, token, workers, as_json=as_json)
        return run(prepare, listening, workers, timeout + 1, opened.reranker, metrics, hello)


@contextmanager
def collecting_no_garbage() -> Iterator[None]:
    """Let Python not look for garbage while much is made that stays."""
    gc.disable()
    try:
        yield
    finally:
        gc.enable()


def print_hello(
    opened: Opened, url: str, beyond: str | None, token: str | None, workers: int, *, as_json: bool
) -> None:
    secret = "" if token is None else "?" + urlencode({"token": token})
    if as_json:
        features = opened.reranker.features
        print_json(
            {
                "url": url,
                "model": str(opened.reranker.path),
                "version": opened.reranker.version,
                "documents": None if opened.features_only or features is None else int(features.ids_.size),
                "workers": workers,
            }
        )
    else:
        print(opened)
        print(
            f"Listening at {url}" + (f" with {workers} workers" if workers > 1 else "") + f"; try it at {url}{secret}"
        )
        if beyond is not None:
            print(f"On other machines: {beyond}{secret}")
        print(f"    {curl_line(opened, url, token)}")
        print("Ctrl-C or SIGTERM stops it.")
    typer.get_text_stream("stdout").flush()


def curl_line(opened: Opened, url: str, token: str | None) -> str:
    """Return a command that asks the service something it can answer."""
    header = [] if token is None else ["-H", f"Authorization: Bearer {token}"]
    if not opened.features_only:
        return shlex.join(["curl", "-s", *header, f"{url}search?{urlencode({'q': opened.example_query(), 'top': 3})}"])
    names = opened.reranker.feature_names[:50]
    rows: list[dict[str, Any]] = [{"id": "a", "features": dict.fromkeys(names, 0)}]
    rows.append({"id": "b", "features": dict.fromkeys(names, 1)})
    body = json.dumps({"documents": rows})
    return shlex.join(["curl", "-s", *header, f"{url}rank", "-H", "Content-Type: application/json", "-d", body])
