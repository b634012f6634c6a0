"""`rulerank serve` as people start it: hello, workers, signals, kills, and models replaced under load."""

import json
import os
import random
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections import Counter

import httpx
import pytest

from long_tests import LONG
from prometheus_counts import counts
from rulerank.cli import main
from rulerank.model_file import load_version
from rulerank.serve.web.opening import open_model

N_REPLACED = 100 if LONG else 6
N_CLIENTS = 4


@pytest.fixture
def model(tmp_path, served_world):
    """A file with the first of two rankers."""
    path = tmp_path / "model.rulerank"
    served_world[1][0].save(path)
    return path


def test_the_first_lines_say_what_is_served_and_one_works(model):
    call = [sys.executable, "-m", "rulerank", "serve", str(model), "--features-only", "--port", "0"]
    with subprocess.Popen(call, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        lines = [process.stdout.readline() for _ in range(4)]
        try:
            assert lines[0].startswith(f"GlobalRules of {model}, version ")
            assert lines[0].endswith(": ranks documents by 5 features that come along\n")
            assert lines[1].startswith("Listening at http://127.0.0.1:")
            assert lines[3] == "Ctrl-C or SIGTERM stops it.\n"
            if shutil.which("curl"):
                found = subprocess.run(["sh", "-c", lines[2]], capture_output=True, text=True, check=True)
                assert found.stdout.startswith('{"query":null,"version":"')
        finally:
            process.send_signal(signal.SIGINT)
            rest, errors = process.communicate(timeout=120)
    assert (process.returncode, rest, errors) == (0, "Stopped.\n", "")


@pytest.mark.parametrize("workers", [1, 2])
def test_a_signal_to_stop_ends_it_with_success_once_what_has_begun_is_answered(workers, command, model, served_world):
    *_, rows = served_world
    served = command(model, "--features-only", "--workers", workers).ready()
    answers = []

    def ask():
        with httpx.Client(base_url=served.url, timeout=60) as client:
            while True:
                try:
                    answers.append(client.post("/rank", json={"documents": rows, "reasons": True}).status_code)
                except (httpx.ConnectError, httpx.ReadError, httpx.RemoteProtocolError) as error:
                    answers.append(type(error).__name__)
                    return

    clients = [threading.Thread(target=ask) for _ in range(N_CLIENTS)]
    for client in clients:
        client.start()
    while answers.count(200) < 20:
        time.sleep(0.01)
    assert served.end() == 0
    for client in clients:
        client.join()
    assert {answer for answer in answers if isinstance(answer, int)} == {200}
    assert served.stderr() == ""


@pytest.mark.parametrize("workers", [1, 2])
def test_a_model_replaced_under_load_fails_no_request_and_every_answer_is_of_one_model(
    workers, command, model, served_world
):
    world, rankers, rows = served_world
    saved, scores = [], {}
    for ranker in rankers:
        ranker.save(model)
        saved.append(model.read_bytes())
        scores[load_version(model)[1]] = dict(zip([row["id"] for row in rows], ranker.predict(world[:20]), strict=True))
    versions = list(scores)
    served = command(model, "--features-only", "--workers", workers).ready()
    seen, problems, over = Counter(), [], threading.Event()

    def ask():
        try:
            with httpx.Client(base_url=served.url, timeout=60) as client:
                while not over.is_set():
                    answer = client.post("/rank", json={"documents": rows, "top": 20})
                    assert answer.status_code == 200, answer.text
                    found = answer.json()
                    expected = scores[found["version"]]
                    assert {one["id"]: one["score"] for one in found["results"]} == expected
                    seen[found["version"]] += 1
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
            wait_for(lambda wanted=wanted: all_use(served, wanted, workers), problems)
        else:
            time.sleep(rng.uniform(0, 0.3))
    over.set()
    for client in clients:
        client.join()
    assert problems == []
    assert min(seen[version] for version in versions) > 0


def all_use(served, version, workers):
    found = counts(httpx.get(f"{served.url}metrics", timeout=60).text)
    return all(("rulerank_model_info", version, str(number)) in found for number in range(workers))


def wait_for(condition, problems=()):
    patience = time.monotonic() + 120
    while not condition():
        assert not problems
        assert time.monotonic() < patience
        time.sleep(0.05)


def test_a_model_that_is_deleted_or_garbage_leaves_the_last_good_one_at_work(command, model, served_world):
    _, rankers, rows = served_world
    served = command(model, "--features-only", "--workers", 2).ready()
    body = {"documents": rows}
    before = httpx.post(f"{served.url}rank", json=body, timeout=60).json()
    good = model.read_bytes()
    for spoil in (model.unlink, lambda: model.write_bytes(b"garbage"), lambda: model.write_bytes(good[:-7])):
        spoil()
        wait_for(lambda: httpx.get(f"{served.url}healthz", timeout=60).json()["problem"] is not None)
        assert httpx.post(f"{served.url}rank", json=body, timeout=60).json() == before
    rankers[1].save(model)
    wait_for(lambda: all_use(served, load_version(model)[1], 2))
    wait_for(lambda: httpx.get(f"{served.url}healthz", timeout=60).json()["problem"] is None)
    found = counts(httpx.get(f"{served.url}metrics", timeout=60).text)
    assert found["rulerank_model_failed_reloads_total",] >= 1  # how many depends on when each worker looks
    assert found["rulerank_model_reloads_total",] == 2
    assert "the new model is not used: " in served.stderr()


def children(pid):
    found = subprocess.run(["ps", "-o", "pid=", "--ppid", str(pid)], capture_output=True, text=True, check=False)
    return [int(line) for line in found.stdout.split()]


def test_a_worker_that_is_killed_is_replaced_and_its_counts_go_on(command, model, served_world):
    *_, rows = served_world
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
    assert served.end() == 0


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
    assert done.stderr.count("has died and is replaced") == 4
    assert "error: workers end as soon as they start, 5 in a row" in done.stderr


def test_a_service_that_is_killed_leaves_its_port_to_the_next(command, model):
    served = command(model, "--features-only", "--workers", 2).ready()
    port = served.url.rsplit(":", 1)[1].rstrip("/")
    workers = children(served.process.pid)
    assert served.end(signal.SIGKILL) == -signal.SIGKILL
    again = command(model, "--features-only", "--workers", 2, "--port", port).ready()
    assert again.url == served.url
    wait_for(lambda: not any(os.path.exists(f"/proc/{worker}/exe") for worker in workers))


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["model.rulerank"], "model.rulerank holds a ranker without texts: say --texts DOCS"),
        (["model.rulerank", "--texts", "x", "--features-only"], "--texts and --features-only exclude each other"),
        (["none.rulerank", "--features-only"], "none.rulerank: there is no such file"),
        (["model.rulerank", "--texts", "model.rulerank"], "model.rulerank: expected documents, or what `rulerank feat"),
        (["model.rulerank", "--features-only", "--host", "0.0.0.0"], "--host 0.0.0.0 opens the page to other machines"),
    ],
)
def test_what_cannot_be_served_is_said_in_a_line(arguments, message, model, monkeypatch, capsys):
    monkeypatch.chdir(model.parent)
    monkeypatch.setattr(sys, "argv", ["rulerank", "serve", *arguments])
    with pytest.raises(SystemExit) as ended:
        main()
    assert ended.value.code == 2
    assert message in capsys.readouterr().err


def test_a_missing_package_is_named_with_its_extra(model, monkeypatch, capsys):
    monkeypatch.setattr("rulerank.web.find_spec", lambda name: None)
    monkeypatch.setattr(sys, "argv", ["rulerank", "serve", str(model), "--features-only"])
    with pytest.raises(SystemExit):
        main()
    assert "this needs starlette, which is not installed; install it with: pip install 'rulerank[serve]'" in (
        capsys.readouterr().err
    )


def test_documents_can_be_indexed_at_the_start_or_come_from_a_kept_index(tmp_path, shop, features, ranker):
    ranker.save(tmp_path / "shop.rulerank")
    features.save(tmp_path / "text.rulerank")
    docs = tmp_path / "docs.jsonl"
    names = list(shop.texts.fields)
    docs.write_text(
        "".join(
            json.dumps({"id": one} | {name: shop.texts.fields[name][row] for name in names}, default=str) + "\n"
            for row, one in enumerate(shop.texts.ids)
        )
    )
    kept = open_model(str(tmp_path / "shop.rulerank"), str(tmp_path / "text.rulerank"))
    made = open_model(str(tmp_path / "shop.rulerank"), str(docs))
    query = kept.example_query()
    assert len(kept.reranker.rank(query)) > 0
    assert made.reranker.rank(query).scores == kept.reranker.rank(query).scores
    assert str(kept).endswith("ranks texts, 200 documents in the index")
