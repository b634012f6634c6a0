"""rulerank judge and rulerank labels: what they say, what they refuse, and where the labels go."""

import os
import signal
import subprocess
import sys

import httpx
import polars as pl
import pytest

import rulerank as rr


def test_judge_says_where_the_page_is_and_what_to_do_with_the_labels(run, folder):
    done = run("judge", "pool.csv", "--labels", "judged.db", "--port", "0", "--model", "m.rulerank")
    assert done.code == 0
    assert "Judge at http://127.0.0.1:" in done.out
    assert "24 labels in judged.db." in done.out
    command = "rulerank train pool.csv --labels judged.db --baseline bm25_body --method Anchored -o m.rulerank"
    assert command in done.out
    assert run(*command.split()[1:]).code == 0
    assert rr.load("m.rulerank").predict(rr.read_table("pool.csv")).shape == (24,)
    again = run("judge", "pool.csv", "--port", "0", "--model", "m.rulerank").out
    assert "Rank with m.rulerank:\n    rulerank rank pool.csv m.rulerank\n" in again


def test_judge_prints_the_address_as_json_and_for_others_with_the_token(run, folder):
    found = run.json("judge", "pool.csv", "--port", "0", "--no-open")
    assert found["url"].startswith("http://127.0.0.1:")
    assert (found["documents"], found["queries"], found["labels"]) == (24, 4, "labels.db")
    done = run("judge", "pool.csv", "--host", "0.0.0.0", "--port", "0", "--token", "a secret & long")
    assert "/?token=a+secret+%26+long\n" in done.out
    assert "On other machines: http://" in done.out


@pytest.mark.parametrize("words", [("judge", "pool.csv"), ("serve", "model.rulerank", "--features-only")])
def test_a_missing_package_is_named_with_its_extra(run, folder, monkeypatch, words):
    monkeypatch.setattr("rulerank.web.find_spec", lambda name: None)
    done = run(*words)
    assert (done.code, done.out) == (2, "")
    install = f"install it with: pip install 'rulerank[{words[0]}]'"
    assert f"this needs starlette, which is not installed; {install}" in done.err


def test_ctrl_c_ends_a_real_session_cleanly(folder):
    command = [sys.executable, *["-m", "rulerank", "judge", "pool.csv", "--rater", "ann", "--port", "0", "--no-open"]]
    environment = os.environ | {"PYTHONUNBUFFERED": "1"}
    streams = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    with subprocess.Popen(command, cwd=folder, env=environment, **streams) as process:
        lines = []
        while not lines or not lines[-1].startswith("Labels are saved in"):
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
    assert "rulerank train pool.csv --labels labels.db" in out
    assert err == "Using bm25_body as the baseline ranking (guessed from its name; choose another with --baseline).\n"


def test_labels_go_out_and_come_back(run, folder):
    assert run("labels", "judged.db").out == "judged.db: 24 labels, 24 documents, 1 rater\n"
    counts = run.json("labels", "judged.db")
    assert (counts["labels"], counts["documents"], counts["raters"]) == (24, 24, 1)
    assert (counts["decisions"], counts["other_raters"], counts["settings"]["combine"]) == (0, {}, "median")
    said = run("labels", "judged.db", "-o", "judged.qrels", "--combine", "majority").out
    assert said == "judged.qrels: 24 rows, as qrels; several raters: the majority\n"
    run("labels", "judged.db", "-o", "each.csv", "--combine", "none")
    assert run("labels", "copy.db", "--import", "each.csv", "--rater", "ben").out == "copy.db: 24 new labels\n"
    with rr.judging.LabelStore("copy.db") as store:
        assert {label.rater for label in store.labels()} == {"ann"}


@pytest.fixture
def team(tmp_path, monkeypatch):
    """The labels of two people, who differ on one document; the admin has decided another."""
    monkeypatch.chdir(tmp_path)
    with rr.judging.LabelStore("team.db") as store:
        store.add_all([("q1", f"d{n}", n % 3, rater) for n in range(12) for rater in ("ann", "bob")], page="document")
        store.add("q1", "d0", 2, "bob", page="list")
        store.add("q2", "d1", 1, "ann")
        store.decide("q2", "d1", 2, "lea", page="disputes")
    return tmp_path


def test_the_count_says_how_labels_count(run, team):
    said = run("labels", "team.db").out
    assert said.startswith("team.db: 25 labels, 13 documents, 2 raters, 1 decision\nIf several raters")
    assert "without a grade until the admin decides" not in said
    with rr.judging.LabelStore("team.db") as store:
        store.add("q1", "d1", 2, "bob")  # ann said 1
    assert run("labels", "team.db").out.endswith("\n1 document without a grade until the admin decides (--disputes).\n")
    assert run.json("labels", "team.db")["undecided"] == 1


def test_disputes_are_listed_the_largest_first(run, team):
    assert "q1     d0        ann 0, bob 2" in run("labels", "team.db", "--disputes").out
    (found,) = run.json("labels", "team.db", "--disputes")["disputes"]
    assert (found["doc"], found["spread"], found["decided"]) == ("d0", 2, False)
    given = [(one["rater"], one["grade"], one["page"]) for one in found["labels"]]
    assert given == [("ann", 0, "document"), ("bob", 2, "list")]
    with rr.judging.LabelStore("team.db") as store:
        store.decide("q1", "d0", 1, "lea")
    assert run.json("labels", "team.db", "--disputes")["disputes"][0]["decision"] == 1
    with rr.judging.LabelStore("calm.db") as store:
        store.add("q", "d", 1, "ann")
    said = "calm.db: raters agree on all documents that several have graded\n"
    assert run("labels", "calm.db", "--disputes").out == said
    assert "no document was graded by two raters" in run("labels", "calm.db", "--agreement").out


def test_other_raters_come_in_apart_and_their_agreement_is_told(run, team):
    pl.DataFrame({"qid": ["q1"] * 3, "docid": ["d0", "d1", "d2"], "grade": [1, 1, 0]}).write_csv("llm.csv")
    done = run("labels", "team.db", "--import", "llm.csv", "--rater", "gpt", "--kind", "llm")
    assert done.out.endswith("3 new labels\n")
    said = run("labels", "team.db", "--agreement").out
    for part in ("Krippendorff's alpha of the human raters: 0.", "90 % interval", "gpt, with the human raters"):
        assert part in said
    found = run.json("labels", "team.db", "--agreement")
    assert found["other_raters"][0]["share"]["n_docs"] == 3
    assert "ann" in found["raters"]
    run("labels", "team.db", "-o", "out.qrels")
    assert "q1 0 d0 1" in (team / "out.qrels").read_text()  # the median of the people alone
    run("labels", "team.db", "-o", "each.csv", "--combine", "none")
    run("labels", "copy.db", "--import", "each.csv", "--rater", "nobody")
    with rr.judging.LabelStore("copy.db") as copy:
        assert copy.other_raters() == {"gpt": "llm"}
