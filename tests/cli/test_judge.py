"""rulerank judge and rulerank labels: what they say, what they refuse, and where the labels go."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import httpx
import pytest

import rulerank as rr
from rulerank.judging.pool import read_pool
from rulerank.judging.store import LabelStore
from rulerank.web.security import Tokens


def test_judge_says_where_the_page_is_and_what_to_do_with_the_labels(run, folder):
    done = run("judge", "pool.csv", "--labels", "judged.db", "--port", "0", "--model", "m.rulerank")
    assert done.code == 0
    assert "Judge at http://127.0.0.1:" in done.out
    assert "24 labels in judged.db." in done.out
    command = "rulerank judge pool.csv --labels judged.db --train --model m.rulerank --method Anchored"
    assert command in done.out
    again = run(*command.split()[1:])
    assert again.out.startswith(
        "m.rulerank: Anchored, trained on 24 labels\nRank with it:\n    rulerank rank m.rulerank "
    )
    assert rr.load("m.rulerank").predict(rr.read_table("pool.csv")).shape == (24,)


def test_rules_of_few_labels_are_warned_of_here_too(run, folder):
    run("judge", "pool.csv", "--labels", "judged.db", "--port", "0")
    done = run("judge", "pool.csv", "--labels", "judged.db", "--train", "--method", "RE-GR", "--model", "m.rulerank")
    assert "warning: RE-GR learned from 24 labels is mostly worse than today's ranking (docs/few" in done.err


def test_judge_prints_the_address_as_json(run, folder):
    found = json.loads(run("judge", "pool.csv", "--port", "0", "--no-open", "--json").out)
    assert found["url"].startswith("http://127.0.0.1:")
    assert (found["documents"], found["queries"], found["labels"]) == (24, 4, "labels.db")


@pytest.mark.parametrize(("words", "per_query"), [([], True), (["--whole-pool"], False)])
def test_documents_are_chosen_query_by_query_or_among_all(words, per_query, run, folder, monkeypatch):
    pool, grades, asked = read_pool("pool.csv"), rr.read_table("pool.csv").y, []

    def judge_some(judging, *_, **__):
        for _ in range(6):
            task = judging.next("ann")
            asked.append(pool.row(task.query, task.doc))
            judging.grade("ann", task.query, task.doc, int(grades[asked[-1]]))

    monkeypatch.setattr(sys.modules["rulerank.cli.judge"], "serve", judge_some)
    assert run("judge", "pool.csv", *words).code == 0
    sampler = rr.Strata(today="bm25_body") if per_query else rr.SSAR()
    assert asked == sampler.select(pool.data, lambda row: grades[row], budget=6).tolist()


def test_what_is_trained_ranks_the_documents(run, folder):
    pool = read_pool("pool.csv")
    with LabelStore("labels.db") as store:
        store.add_all((*pair, row % 3, "ann") for row, pair in enumerate(pool.pairs[:40]))
    done = run("judge", "pool.csv", "--train")
    command = done.out.rstrip().rpartition("\n    ")[2]
    assert command == "rulerank rank model.rulerank pool.csv --format csv"
    assert len(run(*command.split()[1:]).out.splitlines()) == 1 + len(pool)
    assert f"Rank with model.rulerank:\n    {command}\n" in run("judge", "pool.csv", "--port", "0").out


def test_the_address_for_others_brings_the_token(run, folder):
    done = run("judge", "pool.csv", "--host", "0.0.0.0", "--port", "0", "--token", "a secret & long")
    assert "/?token=a+secret+%26+long\n" in done.out
    assert "On other machines: http://" in done.out


def test_an_invitation_is_a_link_that_carries_the_name(run, folder):
    secret = "a secret & long"
    served = run("judge", "pool.csv", "--port", "0", "--token", secret, "--invite", "ann", "--invite", "ben")
    links = dict(line.split(": ") for line in served.out.splitlines() if "/?token=" in line and line[:4] == "    ")
    assert [name.strip() for name in links] == ["ann", "ben"]
    assert "That address is yours: it may judge under any name. The raters' links:" in served.out
    found = json.loads(run("judge", "--token", secret, "--invite", "ann", "--json").out)["links"]["ann"]
    assert found.startswith("http://127.0.0.1:8765/?token=")
    assert found.partition("?")[2] == links["    ann"].partition("?")[2]
    assert Tokens(secret).holder(found.partition("token=")[2]).name == "ann"
    others = run("judge", "pool.csv", "--host", "0.0.0.0", "--port", "0", "--token", secret, "--invite", "ann").out
    assert "On other machines" not in others  # the secret stays with whoever serves


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["pool.csv", "--invite", "ann"], "--invite needs --token: the secret from which personal links are made"),
        (["--token", "a secret & long", "--invite", "a\nb"], "--invite: a rater's name has 1 to 50 printable"),
        (["--no-open"], "name the documents to judge; `rulerank world shop --texts` makes some to try the page on"),
        (["pool.csv", "--host", "0.0.0.0"], "--host 0.0.0.0 opens the page to other machines, which needs --token"),
        (["pool.csv", "--token", "short"], "--token must have at least 12 characters: got 5"),
        (["pool.csv", "--today", "m.rulerank"], "--today m.rulerank: the judging page ranks by a feature: give "),
        (["pool.csv", "--overlap", "lots"], "--overlap must be a share such as 10% or 0.1: got 'lots'"),
        (["pool.csv", "--rater", "a\nb"], "--rater: a rater's name has 1 to 50 printable characters"),
        (["pool.csv", "--guidelines", "none.txt"], "none.txt: No such file or directory"),
        (
            ["pool.csv", "--guidelines", "three.txt", "--max-grade", "4"],
            "three.txt:3: the guidelines have the grades 0 to 2, and --max-grade says 0 to 4: leave --max-grade out",
        ),
        (["pool.csv", "--title", "heading"], "there is no column 'heading'"),
        (["pool.csv", "--rater", ""], "--rater: a rater's name has 1 to 50 printable characters"),
        (["pool.csv", "--token", "ein langes Geheimnis: ü"], "--token must be of ASCII characters"),
        (["pool.csv", "--train"], "labels.db: there is no such label store, so there is nothing to learn from: judge"),
        (["pool.csv", "--train", "--labels", "no.db"], "nothing can be learned yet: no document has a grade"),
        (["pool.csv", "--train", "--labels", "judged.db", "--method", "magic"], "unknown method 'magic'"),
    ],
)
def test_a_mistake_is_one_line(words, message, run, folder):
    LabelStore("no.db").close()
    Path("three.txt").write_text("0: no\n1: in part\n2: yes\n")
    done = run("judge", *words)
    assert done.code == 2
    assert message in done.err
    assert "Traceback" not in done.err


def test_a_missing_package_is_named_with_its_extra(run, folder, monkeypatch):
    monkeypatch.setattr("rulerank.web.find_spec", lambda name: None)
    done = run("judge", "pool.csv")
    assert (done.code, done.out) == (2, "")
    assert "this needs starlette, which is not installed; install it with: pip install 'rulerank[judge]'" in done.err
    assert "(in a clone: '.[judge]')" in done.err


def test_labels_go_out_and_come_back(run, folder):
    assert run("labels", "judged.db").out == "judged.db: 24 labels, 24 documents, 1 rater\n"
    counts = json.loads(run("labels", "judged.db", "--json").out)
    assert (counts["labels"], counts["documents"], counts["raters"]) == (24, 24, 1)
    assert (counts["decisions"], counts["judges"], counts["settings"]["combine"]) == (0, {}, "median")
    run("labels", "judged.db", "-o", "judged.txt", "--pool", "pool.csv")
    assert len(rr.read_letor("judged.txt")) == 24
    said = run("labels", "judged.db", "-o", "judged.qrels", "--combine", "majority").out
    assert said == "judged.qrels: 24 rows, as qrels; of several raters what most raters say\n"
    run("labels", "judged.db", "-o", "each.csv", "--per-rater")
    assert run("labels", "copy.db", "--import", "each.csv", "--rater", "ben").out == "copy.db: 24 new labels\n"
    with LabelStore("copy.db") as store:
        assert {label.rater for label in store.labels()} == {"ann"}


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["none.db"], "none.db: there is no such label store"),
        (["judged.db", "--import", "qrels.txt"], "--import takes labels in and needs --rater: whose"),
        (["judged.db", "--import", "qrels.txt", "--rater", "a\nb"], "--rater: a rater's name has 1 to 50 printable"),
        (["judged.db", "-o", "judged.txt"], "LETOR lines hold features, which labels have not"),
    ],
)
def test_a_mistake_with_labels_is_one_line(words, message, run, folder):
    done = run("labels", *words)
    assert done.code == 2
    assert message in done.err


def test_ctrl_c_ends_a_real_session_cleanly(folder):
    command = [sys.executable, "-m", "rulerank", "judge", "pool.csv", "--rater", "ann", "--port", "0", "--no-open"]
    environment = os.environ | {"PYTHONUNBUFFERED": "1"}
    with subprocess.Popen(
        command, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment
    ) as process:
        lines = []
        while not lines or not lines[-1].startswith("Labels go to"):
            lines.append(process.stdout.readline())
            assert lines[-1], process.stderr.read()
        url = next(line.split()[-1] for line in lines if line.startswith("Judge at"))
        task = httpx.get(f"{url}api/next", timeout=60).json()["task"]
        judged = {"query": task["query"], "doc": task["doc"], "grade": 1}
        assert httpx.post(f"{url}api/labels", json=judged, timeout=60).status_code == 200
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=60)
    assert process.returncode == 0
    assert "1 label in labels.db." in out
    assert "rulerank judge pool.csv --train" in out
    assert err == "today's ranking is taken to be bm25_body, by its name; --today says otherwise\n"
