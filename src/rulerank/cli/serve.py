"""rulerank serve: rank and explain over HTTP."""

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
from typing import TYPE_CHECKING, Annotated
from urllib.parse import urlencode

import typer

from rulerank._util.words import counted
from rulerank.cli.options import AsJson, Host, Port, Token, argument, baseline_option, flag, option
from rulerank.cli.output import print_json

if TYPE_CHECKING:
    from starlette.types import ASGIApp

    from rulerank.serve.model_watch import WatchedReranker


def serve(
    model: Annotated[str, argument("MODEL", "Model file, or a saved Reranker.")],
    texts: Annotated[str | None, option("FILE", "Index of the documents, from `rulerank features --keep`.")] = None,
    features_only: Annotated[bool, flag("Requests send documents with their features.", "--features-only")] = False,
    baseline: Annotated[
        str | None, baseline_option(", a sum of features or a model file", "that of MODEL, if it has one")
    ] = None,
    host: Host = "127.0.0.1",
    port: Port = None,
    token: Token = None,
    workers: Annotated[int, option("N", "Number of worker processes.", min=1, max=64)] = 1,
    max_docs: Annotated[int, option("N", "Maximum number of documents per request.", min=1, max=100000)] = 1000,
    timeout: Annotated[float, option("SECONDS", "Maximum seconds per request.", min=0.01, max=3600)] = 10.0,
    as_json: AsJson = False,
) -> None:
    """Serve a model over HTTP, with explanations.

    Endpoints: POST /rank, POST /explain, GET /search, /healthz, /metrics, /openapi.json, and a page to try queries.
    When MODEL is replaced, the service loads the new model without failing requests. On SIGTERM or Ctrl-C it finishes
    open requests, then stops.

    Example:
        # search and rank texts
        rulerank serve shop.rulerank --texts text.rulerank
        # requests send features; two processes
        rulerank serve model.rulerank --features-only --workers 2
        # for other machines
        rulerank serve model.rulerank --features-only --host 0.0.0.0 --token "a secret of yours"
    """
    from rulerank.serve.web import check_packages

    check_packages()
    from rulerank.web.server import check_token, is_loopback, open_socket, url_of

    check_token(host, token, "client")
    gc.disable()  # loading creates many long-lived objects: saves a tenth of the start time
    from rulerank.serve.model_watch import open_model

    try:
        reranker = open_model(model, texts, features_only=features_only, baseline=baseline)
    finally:
        gc.enable()
    with shared_counts(workers), open_socket(host, port) as listening:
        from rulerank.serve.web.app import Limits, Metrics, create_app
        from rulerank.serve.web.workers import run

        metrics = Metrics()

        def prepare(number: int) -> ASGIApp:
            metrics.begin(number, reranker.version)
            return create_app(reranker, limits=Limits(max_docs, timeout), token=token, metrics=metrics)

        url = url_of(listening)
        beyond = None if is_loopback(host) else f"http://{socket.gethostname()}:{listening.getsockname()[1]}/"
        hello = partial(print_hello, reranker, url, beyond, token, workers, as_json=as_json)
        code = run(prepare, listening, workers, timeout + 1, reranker, metrics, hello)
    if code:
        sys.exit(code)
    if not as_json:
        print("Stopped.")


@contextmanager
def shared_counts(workers: int) -> Iterator[None]:
    """Share metrics of several workers through files; prometheus_client needs the folder before it is imported."""
    if workers == 1:
        yield
        return
    with TemporaryDirectory(prefix="rulerank-counts-") as folder:
        os.environ["PROMETHEUS_MULTIPROC_DIR"] = folder
        try:
            yield
        finally:
            del os.environ["PROMETHEUS_MULTIPROC_DIR"]


def print_hello(
    reranker: WatchedReranker, url: str, beyond: str | None, token: str | None, workers: int, *, as_json: bool
) -> None:
    secret = "" if token is None else "?" + urlencode({"token": token})
    features = reranker.features
    if as_json:
        documents = None if features is None else int(features.ids_.size)
        about = {"url": url, "model": str(reranker.path), "version": reranker.version, "documents": documents}
        print_json(about | {"workers": workers})
    else:
        ranks = f"documents by {counted(len(reranker.feature_names), 'feature')} sent with the request"
        if features is not None:
            ranks = f"texts, {counted(features.ids_.size, 'document')} in the index"
        print(f"{type(reranker.ranker).__name__} of {reranker.path}, version {reranker.version}: ranks {ranks}")
        print(f"Listening on {url}{f' with {workers} workers' if workers > 1 else ''}; try it at {url}{secret}")
        if beyond is not None:
            print(f"On other machines: {beyond}{secret}")
        print(f"    {curl_line(reranker, url, token)}")
        print("Press Ctrl-C to stop.")
    typer.get_text_stream("stdout").flush()


def curl_line(reranker: WatchedReranker, url: str, token: str | None) -> str:
    """Return a curl command that the service can answer."""
    header = [] if token is None else ["-H", f"Authorization: Bearer {token}"]
    if reranker.features is not None:
        from rulerank.serve.web.app import example_queries

        query = next(iter(example_queries(reranker.features)), "words of a query")
        return shlex.join(["curl", "-s", *header, f"{url}search?{urlencode({'q': query, 'top': 3})}"])
    names = reranker.feature_names[:50]
    body = json.dumps(
        {"documents": [{"id": id, "features": dict.fromkeys(names, x)} for id, x in (("a", 0), ("b", 1))]}
    )
    return shlex.join(["curl", "-s", *header, f"{url}rank", "-H", "Content-Type: application/json", "-d", body])
