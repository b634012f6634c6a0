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

from rulerank.cli.options import AsJson, Baseline, Host, Port, Token, argument, flag, option
from rulerank.cli.output import print_json
from rulerank.core.words import counted

if TYPE_CHECKING:
    from starlette.types import ASGIApp

    from rulerank.serve.model_watch import WatchedReranker


def serve(
    model: Annotated[str, argument("MODEL", "A saved ranker, or a saved Reranker with its texts.")],
    texts: Annotated[str | None, option("FILE", "Documents to search, by `rulerank features --keep`.")] = None,
    features_only: Annotated[bool, flag("Documents come with their features.", "--features-only")] = False,
    baseline: Baseline = None,
    host: Host = "127.0.0.1",
    port: Port = None,
    token: Token = None,
    workers: Annotated[int, flag("So many processes answer.", min=1, max=64)] = 1,
    max_docs: Annotated[int, flag("So many documents a request may have.", min=1, max=100000)] = 1000,
    timeout: Annotated[float, flag("Seconds an answer may take.", min=0.01, max=3600)] = 10.0,
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
    gc.disable()  # much is made that stays: a tenth of the time until the first answer
    from rulerank.serve.model_watch import open_model

    try:
        reranker = open_model(model, texts, features_only=features_only, today=baseline)
    finally:
        gc.enable()
    with shared_counts(workers):
        code = answer_requests(reranker, host, port, token, workers, max_docs, timeout, as_json=as_json)
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
    reranker: WatchedReranker,
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
    from rulerank.serve.web.app import Limits, Metrics, create_app
    from rulerank.serve.web.workers import run
    from rulerank.web.server import is_loopback, open_socket, url_of

    metrics = Metrics()

    def prepare(number: int) -> ASGIApp:
        metrics.begin(number, reranker.version)
        return create_app(reranker, limits=Limits(max_docs, timeout), token=token, metrics=metrics)

    with open_socket(host, port) as listening:
        url = url_of(listening)
        beyond = None if is_loopback(host) else f"http://{socket.gethostname()}:{listening.getsockname()[1]}/"
        hello = partial(print_hello, reranker, url, beyond, token, workers, as_json=as_json)
        return run(prepare, listening, workers, timeout + 1, reranker, metrics, hello)


def print_hello(
    reranker: WatchedReranker, url: str, beyond: str | None, token: str | None, workers: int, *, as_json: bool
) -> None:
    secret = "" if token is None else "?" + urlencode({"token": token})
    features = reranker.features
    if as_json:
        print_json(
            {
                "url": url,
                "model": str(reranker.path),
                "version": reranker.version,
                "documents": None if features is None else int(features.ids_.size),
                "workers": workers,
            }
        )
    else:
        ranks = f"documents by {counted(len(reranker.feature_names), 'feature')} that come along"
        if features is not None:
            ranks = f"texts, {counted(features.ids_.size, 'document')} in the index"
        print(f"{type(reranker.ranker).__name__} of {reranker.path}, version {reranker.version}: ranks {ranks}")
        print(
            f"Listening at {url}" + (f" with {workers} workers" if workers > 1 else "") + f"; try it at {url}{secret}"
        )
        if beyond is not None:
            print(f"On other machines: {beyond}{secret}")
        print(f"    {curl_line(reranker, url, token)}")
        print("Ctrl-C or SIGTERM stops it.")
    typer.get_text_stream("stdout").flush()


def curl_line(reranker: WatchedReranker, url: str, token: str | None) -> str:
    """Return a command that asks the service something it can answer."""
    header = [] if token is None else ["-H", f"Authorization: Bearer {token}"]
    if reranker.features is not None:
        shown = reranker.features.documents_.shown  # words that some document of the index has
        texts: Any = next((shown[role] for role in ("title", "text") if shown.get(role)), [])
        query = " ".join((next(filter(None, texts), None) or "words of a query").split()[:3])
        return shlex.join(["curl", "-s", *header, f"{url}search?{urlencode({'q': query, 'top': 3})}"])
    names = reranker.feature_names[:50]
    rows: list[dict[str, Any]] = [{"id": "a", "features": dict.fromkeys(names, 0)}]
    rows.append({"id": "b", "features": dict.fromkeys(names, 1)})
    body = json.dumps({"documents": rows})
    return shlex.join(["curl", "-s", *header, f"{url}rank", "-H", "Content-Type: application/json", "-d", body])
