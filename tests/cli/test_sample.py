import io
import json
import os
import pty
import select
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import rulerank as rr
from rulerank.io.convert import read_any, write_any
from rulerank.judging.loop import Judging
from rulerank.judging.pool import read_pool
from rulerank.judging.store import LabelStore
from rulerank.worlds import make_world


@pytest.fixture
def answer(monkeypatch):
    """Type lines into stdin."""

    def answer(*lines):
        monkeypatch.setattr(sys, "stdin", io.StringIO("".join(f"{line}\n" for line in lines)))

    return answer


def chosen_by_ssar(data, **options):
    rows = rr.SSAR(**options).select(data, lambda row: data.y[row])
    return [(data.qid[row], data.docid[row], int(data.y[row])) for row in rows]


def labels_in(file):
    data = read_any(file)
    return list(zip(data.qid.tolist(), data.docid.tolist(), data.y.tolist(), strict=True))


@pytest.mark.parametrize(("options", "args"), [
    ({}, ()),
    ({"max_size": 1}, ("--size", "1")),
    ({"partitions": 5}, ("--partitions", "5")),
    ({"per_query": True}, ("--per-query",)),
])  # fmt: skip
@pytest.mark.parametrize("name", ["labels.csv", "labels.qrels", "labels.txt"])
def test_a_simulation_asks_for_what_ssar_asks_for(run, folder, options, args, name):
    done = run("sample", "train.txt", "--sampler", "ssar", "--own-grades", *args, "-o", name)
    assert done.code == 0
    expected = chosen_by_ssar(read_any("train.txt"), **options)
    assert labels_in(name) == expected
    assert done.out.startswith(f"{name}: {len(expected)} labels, ")
    assert "it has stopped by itself" in done.out


def test_grades_may_come_from_another_file_and_need_not_be_complete(run, folder):
    data = read_any("train.txt")
    write_any(data[: len(data) // 2], "half.qrels")
    done = run("sample", "train.txt", "--sampler", "ssar", "--grades", "half.qrels", "-o", "labels.csv")
    assert labels_in("labels.csv") == chosen_by_ssar(data[: len(data) // 2])
    assert f"{len(data) - len(data) // 2} of {len(data)} documents have no grade and are not chosen from" in done.err


def test_a_simulation_goes_on_where_it_was_left(run, folder):
    run("sample", "train.txt", "--sampler", "ssar", "--own-grades", "--budget", "7", "-o", "first.csv")
    assert len(labels_in("first.csv")) == 7
    done = run("sample", "train.txt", "--sampler", "ssar", "--own-grades", "--resume", "first.csv", "-o", "all.csv")
    assert labels_in("all.csv") == chosen_by_ssar(read_any("train.txt"))
    assert done.code == 0


def test_labels_with_features_can_be_trained_on(run, folder):
    run("sample", "train.txt", "--sampler", "ssar", "--own-grades", "-o", "labels.txt")
    assert run("train", "labels.txt", "-o", "few.rulerank", "--method", "intercepts", "--set", "l2=10", "--set",
               "missing=mean").code == 0  # fmt: skip


def test_the_next_documents_are_listed_in_each_format(run, folder):
    done = run("sample", "train.txt", "--sampler", "ssar", "-n", "3")
    header, *lines = done.out.splitlines()
    assert header == "qid,docid,grade"
    assert len(lines) == 3
    assert all(line.endswith(",") for line in lines)
    assert done.err == "3 documents to judge, of 96; 0 labelled\n"
    pairs = [tuple(line.split(",")[:2]) for line in lines]
    assert run("sample", "train.txt", "--sampler", "ssar", "-n", "3", "--to", "qrels").out.splitlines() == [
        f"{q} 0 {d}" for q, d in pairs
    ]
    quepid = run("sample", "train.txt", "--sampler", "ssar", "-n", "3", "--to", "quepid").out
    assert quepid.splitlines() == ["query,docid,rating", *(f"{q},{d}," for q, d in pairs)]
    run("sample", "train.txt", "--sampler", "ssar", "-n", "3", "-o", "next.txt")
    assert labels_in("next.txt") == [(q, d, -1) for q, d in pairs]


def test_a_list_takes_the_labels_given_so_far_into_account(run, folder):
    expected = chosen_by_ssar(read_any("train.txt"))
    run("sample", "train.txt", "--sampler", "ssar", "--own-grades", "--budget", "4", "-o", "labels.csv")
    done = run("sample", "train.txt", "--sampler", "ssar", "--resume", "labels.csv", "-n", "1", "--json")
    payload = json.loads(done.out)
    assert payload["documents"] == [{"qid": expected[4][0], "docid": expected[4][1], "grade": None}]
    assert (payload["labels"], payload["chosen"], payload["file"]) == (4, 1, None)
    assert 0 < payload["closeness"] < 1


def test_a_list_has_no_document_twice(run, folder):
    payload = json.loads(run("sample", "train.txt", "--sampler", "ssar", "-n", "15", "--json").out)
    assert len({(doc["qid"], doc["docid"]) for doc in payload["documents"]}) == 15


def write_nameless():
    """Write twelve documents without ids and return the pool of them."""
    data = make_world(n_queries=1, docs_per_query=12, seed=4)
    write_any(rr.Dataset(data.X, [0, 1] * 6, data.qid), "bare.csv")
    return read_pool("bare.csv")


def test_labels_name_documents_without_ids_by_a_key_and_people_see_their_rows(run, folder, answer):
    pool = write_nameless()
    run("sample", "bare.csv", "--sampler", "ssar", "--own-grades", "-o", "labels.csv")
    keys = [(qid, docid) for qid, docid, _ in labels_in("labels.csv")]
    assert set(keys) <= set(pool.pairs)
    assert run("sample", "bare.csv", "--sampler", "ssar", "--resume", "labels.csv", "-n", "1").code == 0
    listed = run("sample", "bare.csv", "--sampler", "ssar", "-n", "2").out.splitlines()
    assert listed[0] == "qid,docid,grade,comment"
    assert listed[1:] == [f"q1,{pool.pairs[row][1]},,row {row + 1}" for row in (pool.row(*key) for key in keys[:2])]
    answer("1", "q")
    shown = run("sample", "bare.csv", "--sampler", "ssar", "--ask", "-o", "asked.csv").err
    assert f"query q1   document row {pool.row(*keys[0]) + 1}   (label 1, " in shown
    assert labels_in("asked.csv") == [(*keys[0], 1)]


def test_a_list_that_was_filled_in_by_hand_is_read_again(run, folder):
    write_nameless()
    run("sample", "bare.csv", "--sampler", "ssar", "-n", "2", "-o", "list.csv")
    Path("list.csv").write_text(Path("list.csv").read_text().replace(",,", ",1,"))
    assert (
        json.loads(run("sample", "bare.csv", "--sampler", "ssar", "--resume", "list.csv", "-n", "1", "--json").out)[
            "labels"
        ]
        == 2
    )


@pytest.mark.parametrize("name", ["row {}", "row{}"])  # the second is what the first version wrote
def test_labels_may_name_documents_without_ids_as_people_do(run, folder, name):
    write_nameless()
    Path("labels.csv").write_text(f"qid,docid,grade\nq1,{name.format(3)},1\nq1,{name.format(12)},0\n")
    run("sample", "bare.csv", "--sampler", "ssar", "--grades", "labels.csv", "-o", "chosen.csv")
    pool = read_pool("bare.csv")
    assert {docid for _, docid, _ in labels_in("chosen.csv")} <= {pool.pairs[2][1], pool.pairs[11][1]}
    Path("labels.csv").write_text(f"qid,docid,grade\nq1,{name.format(13)},1\n")
    done = run("sample", "bare.csv", "--sampler", "ssar", "--resume", "labels.csv")
    assert done.err == f"error: labels.csv: document '{name.format(13)}' of query 'q1' is not in bare.csv\n"


@pytest.mark.parametrize("name", ["labels.csv", "labels.qrels", "labels.txt"])
def test_labels_of_documents_without_ids_can_be_imported_for_the_page(run, folder, name):
    pool = write_nameless()
    run("sample", "bare.csv", "--sampler", "ssar", "--own-grades", "-o", name)
    n_labels = len(labels_in(name))
    assert run("labels", "judged2.db", "--import", name, "--rater", "ann").out == f"judged2.db: {n_labels} new labels\n"
    with LabelStore("judged2.db") as store:
        assert Judging(pool, store).overview().labelled == n_labels
        assert Judging(pool, store).overview().elsewhere == 0


def test_what_a_model_makes_of_documents_without_ids_can_be_measured_by_their_labels(run, folder):
    write_nameless()
    run("sample", "bare.csv", "--sampler", "ssar", "--own-grades", "-o", "labels.qrels")
    assert run("train", "bare.csv", "--labels", "labels.qrels", "--today", "f1", "-o", "model.rulerank").code == 0
    assert run("rank", "model.rulerank", "bare.csv", "-o", "model.run").code == 0
    done = run("evaluate", "--qrels", "labels.qrels", "model.run", "-m", "MAP")
    assert (done.code, done.err) == (0, "")


def test_labels_that_were_judged_on_the_page_find_documents_without_ids(run, folder):
    lines = [f"{query},{doc},{n % 2}" for n, (query, doc) in enumerate(write_nameless().pairs[:6])]
    Path("judged.csv").write_text("\n".join(["qid,docid,grade", *lines]))
    assert (
        json.loads(run("sample", "bare.csv", "--sampler", "ssar", "--resume", "judged.csv", "-n", "1", "--json").out)[
            "labels"
        ]
        == 6
    )
    assert run("train", "bare.csv", "--labels", "judged.csv", "--today", "f1", "-o", "model.rulerank").code == 0


@pytest.mark.parametrize("name", ["labels.csv", "labels.qrels", "labels.txt"])
def test_every_answer_is_appended(run, folder, answer, name):
    data = read_any("train.txt")
    expected = chosen_by_ssar(data)
    answer(*(grade for *_, grade in expected[:3]), "q")
    done = run("sample", "train.txt", "--sampler", "ssar", "--ask", "-o", name)
    assert labels_in(name) == expected[:3]
    assert done.out.startswith(f"{name}: 3 labels, 3.12% of 96 documents\nyou have stopped (")
    assert done.out.endswith(f"go on with: rulerank sample train.txt --ask --resume {name} --sampler ssar\n")
    answer(*(grade for *_, grade in expected[3:]))
    done = run("sample", "train.txt", "--sampler", "ssar", "--ask", "--resume", name)
    assert labels_in(name) == expected
    assert "it has stopped by itself" in done.out


def test_an_answer_can_be_taken_back_a_document_skipped_and_looked_at(run, folder, answer):
    expected = chosen_by_ssar(read_any("train.txt"))
    answer("u", "1", "u", "f", "9", "0", "s", "q")
    done = run("sample", "train.txt", "--sampler", "ssar", "--ask", "-o", "labels.csv")
    assert labels_in("labels.csv") == [(*expected[0][:2], 0)]
    assert "there is nothing to undo: no label was given in this session" in done.err
    assert done.err.count(f"query {expected[0][0]}   document {expected[0][1]}   (label 1, 0% of the way") == 3
    assert "of the query's documents" in done.err
    assert done.err.count("Keys: 0 to 4 grade, f features, s skip, u undo, q save and quit.") == 2
    shown = [line.split("   (")[0] for line in done.err.splitlines() if line.startswith("query ")]
    assert len(set(shown)) == 3


def test_bins_and_scale_can_be_chosen(run, folder):
    options = ["--partitions", "5", "--discretizer", "equal-width", "--normalize", "zscore"]
    found = json.loads(run("sample", "train.txt", "--sampler", "ssar", "--own-grades", *options, "--json").out)
    data = read_any("train.txt")
    ssar = rr.SSAR(partitions=5, discretizer="equal_width", normalize="zscore")
    rows = ssar.select(data, ask=lambda row: data.y[row])
    assert [doc["docid"] for doc in found["documents"]] == data.docid[rows].tolist()


def test_asking_ends_at_the_budget_and_when_the_judge_is_gone(run, folder, answer):
    answer("0", "0", "0")
    done = run("sample", "train.txt", "--sampler", "ssar", "--ask", "-o", "labels.csv", "--budget", "2", "--json")
    assert json.loads(done.out)["stop"] == "budget"
    answer("0")
    done = run("sample", "train.txt", "--sampler", "ssar", "--ask", "--resume", "labels.csv", "--json")
    assert (json.loads(done.out)["stop"], json.loads(done.out)["labels"]) == ("quit", 3)


def test_asking_ends_when_all_is_skipped(run, folder, answer):
    answer(*["s"] * 200)
    done = run("sample", "train.txt", "--sampler", "ssar", "--ask", "-o", "labels.csv", "--per-query", "--json")
    assert (json.loads(done.out)["stop"], json.loads(done.out)["labels"]) == ("skipped", 0)
    done = run("sample", "train.txt", "--sampler", "ssar", "--ask", "-o", "labels.csv")
    assert "0 labelled" in done.out or done.code == 0


def test_what_a_document_is_about_is_shown(run, folder, answer):
    Path("pool.txt").write_text("? qid:1 1:1 # a milk, fresh\n? qid:1 1:2 # b bread\n")
    answer("q")
    assert "\n  milk, fresh\n" in run("sample", "pool.txt", "--sampler", "ssar", "--ask", "-o", "labels.csv").err


def test_a_line_written_by_hand_is_not_glued_to_the_next(run, folder, answer):
    first, second, *_ = chosen_by_ssar(read_any("train.txt"))
    Path("labels.csv").write_text(f"qid,docid,grade\n{first[0]},{first[1]},{first[2]}")
    answer(second[2])
    run("sample", "train.txt", "--sampler", "ssar", "--ask", "--resume", "labels.csv")
    assert labels_in("labels.csv") == [first, second]


def test_a_session_that_ended_at_once_can_be_resumed(run, folder, answer):
    answer("q")
    run("sample", "train.txt", "--sampler", "ssar", "--ask", "-o", "labels.csv")
    answer("1")
    assert run("sample", "train.txt", "--sampler", "ssar", "--ask", "--resume", "labels.csv").code == 0
    assert len(labels_in("labels.csv")) == 1


def test_a_file_goes_on_in_the_format_it_has(run, folder, answer):
    answer("1")
    run("sample", "train.txt", "--sampler", "ssar", "--ask", "-o", "labels.txt", "--to", "qrels")
    answer("0")
    run("sample", "train.txt", "--sampler", "ssar", "--ask", "--resume", "labels.txt")
    assert [line.split()[-1] for line in Path("labels.txt").read_text().splitlines()] == ["1", "0"]


def test_one_key_is_an_answer_and_ctrl_c_loses_nothing(folder):
    master, slave = pty.openpty()
    command = [
        sys.executable,
        "-m",
        "rulerank",
        "sample",
        "train.txt",
        "--sampler",
        "ssar",
        "--ask",
        "-o",
        "labels.csv",
    ]
    streams = dict.fromkeys(["stdin", "stdout", "stderr"], slave)
    process = subprocess.Popen(command, **streams)
    os.close(slave)
    seen = b""
    for n_asked, key in enumerate([b"1", b"\x1b[A", b"2", b"\x03"], start=1):  # the second is an arrow, the last Ctrl-C
        while seen.count(b"grade?") < n_asked:
            assert select.select([master], [], [], 60)[0], seen
            seen += os.read(master, 4096)
        os.write(master, key)
    assert process.wait(60) == 0
    os.close(master)
    assert [grade for *_, grade in labels_in("labels.csv")] == [1, 2]


@pytest.mark.parametrize(
    ("args", "message"),
    [
        (("--ask", "--own-grades"), "--ask, --grades and --own-grades are three ways to get grades: choose one"),
        (("--ask",), "--ask keeps every answer in a file: name one, such as -o labels.csv"),
        (("--ask", "-o", "qrels.txt"), "qrels.txt is there already: --resume qrels.txt goes on after its labels"),
        (("--ask", "-o", "nowhere/labels.csv"), "its directory does not exist"),
        (("--ask", "-o", "a.csv", "--resume", "b.csv"), "--ask appends to the file that --resume names, b.csv"),
        (("--ask", "-o", "a.csv", "--max-grade", "0"), "--max-grade must be between 1 and 31: got 0"),
        (("--ask", "-o", "a.csv.gz"), "name a file that is not compressed, unlike a.csv.gz"),
        (("--ask", "--resume", "train.csv"), "with the columns qid,docid,grade: train.csv has query,"),
        (("--ask", "--resume", "latin.csv"), r"with the columns qid,docid,grade: latin.csv has \xe9,docid"),
        (("--ask", "--resume", "a.tsv"), "--ask appends to csv, qrels, quepid, letor: a.tsv is tsv; convert it first"),
        (("--own-grades", "--budget", "0"), "--budget must be a whole number from 1: got 0"),
        (("-n", "0"), "-n must be a whole number from 1: got 0"),
        (("--to", "xml"), "unknown format 'xml'; choose from csv, qrels, quepid, letor"),
        (("--resume", "other.csv"), "other.csv: document 'x' of query 'y' is not in train.txt"),
        (("--resume", "bare.txt"), "bare.txt: expected labels with document ids; there are none"),
        (("--grades", "other.csv"), "no document of train.txt has a grade, so there is nothing to simulate with"),
        (("--size", "0"), "max_size must be a whole number from 1: got 0"),
    ],
)  # fmt: skip
def test_mistakes_end_in_one_line(run, folder, args, message):
    Path("other.csv").write_text("qid,docid,grade\ny,x,1\n")
    Path("bare.txt").write_text("1 qid:q1 1:0.5\n")
    Path("a.tsv").write_text("qid\tdocid\tgrade\n")
    Path("latin.csv").write_bytes(b"\xe9,docid\n")
    done = run("sample", "train.txt", "--sampler", "ssar", *args)
    assert done.code == 2
    assert done.err.startswith("error: ")
    assert message in done.err


def test_a_second_session_cannot_cut_the_labels_of_the_first(run, folder, answer):
    fcntl = pytest.importorskip("fcntl")
    with open("labels.csv", "ab") as other:
        fcntl.flock(other, fcntl.LOCK_EX)
        answer("1", "q")
        done = run("sample", "train.txt", "--sampler", "ssar", "--ask", "-o", "labels.csv")
    assert done.code == 2
    assert done.err == "error: labels.csv: another session of --ask writes to this file; end it, or name another file\n"


def test_a_document_that_is_there_twice_is_named(run, folder):
    data = make_world(n_queries=3, docs_per_query=4)
    write_any(rr.Dataset.concat([data, data[:1]]), "twice.txt")
    done = run("sample", "twice.txt")
    assert "document 'q1-d1' of query 'q1' is there twice, in rows 1 and 13: labels could not tell" in done.err


def test_progress_is_told_while_somebody_looks(run, folder, monkeypatch):
    ticks = iter(np.arange(0, 1000, 0.5))
    monkeypatch.setattr("rulerank.cli.output.time.monotonic", lambda: next(ticks))
    monkeypatch.setattr("rulerank.cli.output.somebody_looks", lambda: True)
    done = run("sample", "train.txt", "--sampler", "ssar", "--own-grades", "-o", "labels.csv")
    assert "\r\x1b[K2 labels" in done.err
    assert done.err.endswith("\r\x1b[K")


def test_documents_come_from_all_over_todays_ranking(run, folder):
    done = run("sample", "train.txt", "--today", "f3", "--own-grades", "--budget", "20", "-o", "labels.csv")
    data = read_any("train.txt")
    rows = rr.Strata(today="f3").select(data, lambda row: data.y[row], budget=20)
    expected = [(str(data.qid[row]), str(data.docid[row]), int(data.y[row])) for row in rows]
    assert labels_in("labels.csv") == expected
    n_queries = len({qid for qid, *_ in expected})
    assert done.out == (
        f"labels.csv: 20 labels of {n_queries} queries; 100 labels are a good start\nthe budget is used up\n"
    )


def test_asking_goes_on_with_the_same_ranking_of_today(run, folder, answer):
    answer("1", "q")
    done = run("sample", "train.txt", "--today", "-f3", "--seed", "4", "--ask", "-o", "labels.csv")
    assert done.out.endswith("go on with: rulerank sample train.txt --ask --resume labels.csv --today -f3 --seed 4\n")
    assert "of the way to the stop" not in done.err


@pytest.mark.parametrize(
    ("args", "message"),
    [
        ([], "which feature ranks the documents now? Say --today FEATURE, one of f1, f2, "),
        (["--sampler", "best"], "unknown sampler 'best'; choose from strata, ssar"),
        (
            ["--today", "f1", "--size", "1"],
            "--size is an option of SSAR, which does without today's ranking: leave out ",
        ),
    ],
)
def test_mistakes_with_samplers_end_in_one_line(run, folder, args, message):
    done = run("sample", "train.txt", *args)
    assert done.code == 2
    assert done.err.startswith(f"error: {message}")


def test_guidelines_say_which_grades_there_are_and_what_they_mean(run, folder, answer):
    Path("grades.txt").write_text("Be strict.\n0: no - Off topic.\n1: yes\n  example: a tent\n")
    answer("2", "1", "q")
    done = run("sample", "train.txt", "--sampler", "ssar", "--ask", "-o", "labels.csv", "--guidelines", "grades.txt")
    assert "Be strict.\n  0 no: Off topic.\n  1 yes\n      for example a tent\n" in done.err
    assert done.err.count("Keys: 0 to 1 grade") == 2  # 2 is no grade
    assert [grade for *_, grade in labels_in("labels.csv")] == [1]
