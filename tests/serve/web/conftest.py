"""The service on this machine for as long as a test lasts: in a thread, or as the command line starts it."""

import json
import os
import signal
import subprocess
import sys
import time

import httpx
import pytest
from starlette.testclient import TestClient

import rulerank as rr
from browser_windows import Window, browser, windows_of
from rulerank.serve.web.app import create_app
from served_apps import Served

__all__ = ["browser"]
PATIENCE = 120  # seconds; machines that test are busy


@pytest.fixture
def serve():
    """Serve a reranker from a thread: serve(reranker, token=...) -> Served; it is stopped when the test is over."""
    running = []

    def serve(reranker, **options):
        running.append(Served(create_app(reranker, **options)))
        return running[-1]

    yield serve
    for served in running:
        served.stop()


class Command:
    """`rulerank serve` as a process of its own."""

    def __init__(self, arguments, folder):
        call = [sys.executable, "-m", "rulerank", "serve", *map(str, arguments), "--json"]
        self.errors = (folder / "serve.err").open("w+")
        self.process = subprocess.Popen(
            call, stdout=subprocess.PIPE, stderr=self.errors, text=True, start_new_session=True, env=os.environ
        )
        self.hello = {}

    def ready(self):
        """Wait until it says where it is."""
        lines = []
        for line in self.process.stdout:
            lines.append(line)
            if line.startswith("}"):
                self.hello = json.loads("".join(lines))
                self.url = self.hello["url"]
                self.wait_for_answer()
                return self
        raise AssertionError(f"did not start: {self.stderr()}")

    def wait_for_answer(self):
        patience = time.monotonic() + PATIENCE
        while True:
            try:
                return httpx.get(f"{self.url}healthz", timeout=10).json()
            except httpx.TransportError:
                assert time.monotonic() < patience
                time.sleep(0.02)

    def stderr(self):
        self.errors.seek(0)
        return self.errors.read()

    def end(self, number=signal.SIGTERM):
        """Send a signal and return the exit code."""
        if self.process.poll() is None:
            self.process.send_signal(number)
        return self.process.wait(timeout=PATIENCE)


@pytest.fixture
def command(tmp_path):
    """Start the command: command("model.rulerank", "--features-only") -> Command; killed when the test is over."""
    started = []

    def command(*arguments):
        started.append(Command([*arguments, "--port", "0"] if "--port" not in arguments else arguments, tmp_path))
        return started[-1]

    yield command
    for one in started:
        one.end(signal.SIGKILL)
        one.process.stdout.close()
        one.errors.close()


@pytest.fixture(scope="session")
def served_synthetic():
    """Two rankers of the same features, and the documents of a query."""
    synthetic = rr.datasets.make_ranking(n_queries=30, docs_per_query=30, n_features=5, seed=2)
    rankers = rr.GlobalRules().fit(synthetic), rr.QueryIntercepts(missing="mean").fit(synthetic)
    values = [[None if value != value else value for value in row] for row in synthetic.X[:20].tolist()]
    rows = [
        {"id": f"d{row}", "features": dict(zip(synthetic.feature_names, values[row], strict=True))} for row in range(20)
    ]
    return synthetic, rankers, rows


@pytest.fixture
def visit(browser):
    """Open the page in a window of its own."""
    yield from windows_of(browser, Window)


def client_of(reranker, **options):
    """Ask an application in this process, without a server."""
    return TestClient(create_app(reranker, **options), "http://127.0.0.1")


@pytest.fixture(scope="session")
def of_features(served_synthetic):
    return client_of(rr.Reranker(served_synthetic[1][0]))


@pytest.fixture(scope="session")
def of_texts(reranker):
    return client_of(reranker)


@pytest.fixture(scope="session")
def ask():
    """Make a client of a service: ask(reranker, token=...)."""
    return client_of
