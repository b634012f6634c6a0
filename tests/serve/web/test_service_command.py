"""`rulerank serve` as people start it: hello, workers, signals, kills, and models replaced under load."""

import os
import random
import shlex
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections import Counter

import httpx
import pytest

import rulerank as rr
from long_tests import LONG
from prometheus_counts import counts
from rulerank.cli.serve import curl_line
from rulerank.model_file import load_version
from rulerank.serve.model_watch import open_model

N_REPLACED = 100 if LONG else 6
N_CLIENTS = 4


@pytest.fixture
def model(tmp_path, served_synthetic):
    """A file with the first of two rankers."""
    path = tmp_path / "model.rulerank"
    served_synthetic[1][0].save(path)
    return path


def test_the_first_lines_say_what_is_served_and_one_works(model):
    call = [sys.executable, "-m", "rulerank", "serve", str(model), "--features-only", "--port", "0"]
    with subprocess.Popen(call, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        lines = [process.stdout.readline() for _ in range(4)]
        try:
            assert lines[0].startswith(f"GlobalRules of {model}, version ")
            assert lines[0].endswith(": ranks documents by 5 features sent with the request\n")
            assert lines[1].startswith("Listening on http://127.0.0.1:")
            assert lines[3] == "Press Ctrl-C to stop.\n"
            if shutil.which("curl"):
                found = subprocess.run(["sh", "-c", lines[2]], capture_output=True, text=True, check=True)
                assert found.stdout.startswith('{"query":null,"version":"')
        finally:
            process.send_signal(signal.SIGINT)
            rest, errors = process.communicate(timeout=120)
    assert (process.returncode, rest, errors) == (0, "Stopped.\n", "")


def test_models_are_replaced_under_load_no_request_fails_and_a_signal_ends_it_once_what_has_begun_is_answered(
    command, model, served_synthetic
):
    synthetic, rankers, rows = served_synthetic
    saved, scores = [], {}
    for ranker in rankers:
        ranker.save(model)
        saved.append(model.read_bytes())
        scores[load_version(model)[1]] = dict(
            zip([row["id"] for row in rows], ranker.predict(synthetic[:20]), strict=True)
        )
    versions = list(scores)
    served = command(model, "--features-only", "--workers", 2).ready()
    seen, problems, over = Counter(), [], threading.Event()

    def ask():
        try:
            with httpx.Client(base_url=served.url, timeout=60) as client:
                while True:
                    answer = client.post("/rank", json={"documents": rows, "top": 20})
                    assert answer.status_code == 200, answer.text
                    found = answer.json()
                    expected = scores[found["version"]]
                    assert {one["id"]: one["score"] for one in found["results"]} == expected  # of one model
                    seen[found["version"]] += 1
        except (httpx.ConnectError, httpx.ReadError, httpx.RemoteProtocolError) as error:
            if not over.is_set():
                problems.append(error)
        except BaseException as error:
            problems.append(error)

    clients = [threading.Thread(target=ask) for _ in range(N_CLIENTS)]
    for client in clients:
        client.start()
    rng = random.Random(3)
    for number in range(N_REPLACED):
        beside = model.with_suffix(".new")
        beside.write_bytes(saved[number % 2])
        os.replace(beside, model)
        wanted = versions[number % 2]
        if number % 5 == 0:  # now and then wait until it is in use, else replace it under way
            wait_for(lambda wanted=wanted: all_use(served, wanted), problems)
        else:
            time.sleep(rng.uniform(0, 0.3))
    for spoil in (model.unlink, lambda: model.write_bytes(b"garbage")):  # the last good one stays at work
        spoil()
        wait_for(lambda: httpx.get(f"{served.url}healthz", timeout=60).json()["problem"] is not None, problems)
    model.write_bytes(saved[0])
    wait_for(lambda: all_use(served, versions[0]), problems)
    wait_for(lambda: httpx.get(f"{served.url}healthz", timeout=60).json()["problem"] is None, problems)
    found = counts(httpx.get(f"{served.url}metrics", timeout=60).text)
    assert found["rulerank_model_failed_reloads_total",] >= 1  # how many depends on when each worker looks
    assert found["rulerank_model_reloads_total",] >= 2
    over.set()
    assert served.end() == 0
    for client in clients:
        client.join()
    assert problems == []
    assert min(seen[version] for version in versions) > 0
    assert "the new model was not loaded: " in served.stderr()


def all_use(served, version):
    found = counts(httpx.get(f"{served.url}metrics", timeout=60).text)
    return all(("rulerank_model_info", version, str(number)) in found for number in range(2))


def wait_for(condition, problems=()):
    patience = time.monotonic() + 120
    while not condition():
        assert not problems
        assert time.monotonic() < patience
        time.sleep(0.05)


def children(pid):
    found = subprocess.run(["ps", "-o", "pid=", "--ppid", str(pid)], capture_output=True, text=True, check=False)
    return [int(line) for line in found.stdout.split()]


def test_a_killed_worker_is_replaced_its_counts_go_on_and_a_killed_service_leaves_its_port_to_the_next(
    command, model, served_synthetic
):
    *_, rows = served_synthetic
    served = command(model, "--features-only", "--workers", 2).ready()
    for _ in range(4):
        httpx.post(f"{served.url}rank", json={"documents": rows}, timeout=60)
    workers = children(served.process.pid)
    assert len(workers) == 2
    os.kill(workers[0], signal.SIGKILL)
    wait_for(lambda: len({*children(served.process.pid)} - {*workers}) == 1)
    served.wait_for_answer()
    assert counts(httpx.get(f"{served.url}metrics").text)["rulerank_requests_total", "/rank", "200"] == 4
    assert "worker " in served.stderr()
    workers = children(served.process.pid)
    assert served.end(signal.SIGKILL) == -signal.SIGKILL
    port = served.url.rsplit(":", 1)[1].rstrip("/")
    again = command(model, "--features-only", "--workers", 2, "--port", port).ready()
    assert again.url == served.url
    wait_for(lambda: not any(os.path.exists(f"/proc/{worker}/exe") for worker in workers))


DYING = """
import socket, sys
from types import SimpleNamespace
from rulerank.serve.web.workers import Workers

with socket.socket() as listening:
    workers = Workers(lambda number: 1 / 0, listening, 2, 1.0, SimpleNamespace(refresh=int), lambda: None)
    workers.run()
    sys.exit(int(workers.failed))
"""


def test_workers_that_end_as_soon_as_they_start_end_the_service(tmp_path):
    environment = os.environ | {"PROMETHEUS_MULTIPROC_DIR": str(tmp_path)}
    done = subprocess.run(
        [sys.executable, "-c", DYING], env=environment, capture_output=True, text=True, check=False, timeout=120
    )
    assert done.returncode == 1
    assert done.stderr.count("died and is replaced") == 4
    assert "error: 5 workers in a row died at the start" in done.stderr


def test_texts_come_from_a_kept_index_or_with_the_model_or_not_at_all(tmp_path, shop, features, ranker):
    ranker.save(tmp_path / "shop.rulerank")
    features.save(tmp_path / "text.rulerank")
    rr.Reranker(ranker, features).save(tmp_path / "both.rulerank")
    kept = open_model(str(tmp_path / "shop.rulerank"), str(tmp_path / "text.rulerank"))
    both = open_model(str(tmp_path / "both.rulerank"))
    query = shop.queries.texts[0]
    assert both.rank(query).scores == kept.rank(query).scores
    assert shlex.split(curl_line(kept, "http://127.0.0.1/", None))[-1].startswith("http://127.0.0.1/search?q=")
    assert open_model(str(tmp_path / "both.rulerank"), features_only=True).features is None
