import json
from pathlib import Path

import numpy as np
import pytest

import rulerank as rr
from rulerank.datasets.ranking import make_ranking
from rulerank.io.formats import read_any, write_any
from sampled_labels import chosen_by_ssar, labels_in


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
    assert done.err == "left out: 6 queries without any judgement\n"


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


def test_bins_and_scale_can_be_chosen(run, folder):
    options = ["--partitions", "5", "--discretizer", "equal-width", "--normalize", "zscore"]
    found = json.loads(run("sample", "train.txt", "--sampler", "ssar", "--own-grades", *options, "--json").out)
    data = read_any("train.txt")
    ssar = rr.SSAR(partitions=5, discretizer="equal_width", normalize="zscore")
    rows = ssar.select(data, ask=lambda row: data.y[row])
    assert [doc["docid"] for doc in found["documents"]] == data.docid[rows].tolist()


@pytest.mark.parametrize(
    ("args", "message"),
    [
        (("--ask", "--own-grades"), "--ask, --grades and --own-grades are three ways to get grades: choose one"),
        (("--ask",), "--ask keeps every answer in a label store, and goes on where that is: name it, -o labels.db"),
        (("--ask", "-o", "labels.csv"), "--ask keeps every answer in a label store"),
        (("--ask", "-o", "nowhere/labels.db"), "the folder must exist and be writable"),
        (("--ask", "-o", "a.db", "--max-grade", "0"), "max_grade must be a whole number from 1 to 31: got 0"),
        (("--own-grades", "--budget", "0"), "--budget must be a whole number from 1: got 0"),
        (("-n", "0"), "-n must be a whole number from 1: got 0"),
        (("--to", "xml"), "unknown format 'xml'; choose from csv, qrels, quepid, letor"),
        (("--resume", "other.csv"), "other.csv: document 'x' of query 'y' is not in train.txt"),
        (("--resume", "bare.txt"), "bare.txt: expected labels with document ids; there are none"),
        (("--grades", "other.csv"), "no document of train.txt has a grade, so there is nothing to simulate with"),
        (("--size", "0"), "max_size must be a whole number between 1 and 2: got 0"),
    ],
)  # fmt: skip
def test_mistakes_end_in_one_line(run, folder, args, message):
    Path("other.csv").write_text("qid,docid,grade\ny,x,1\n")
    Path("bare.txt").write_text("1 qid:q1 1:0.5\n")
    done = run("sample", "train.txt", "--sampler", "ssar", *args)
    assert done.code == 2
    assert done.err.startswith("error: ")
    assert message in done.err


def test_a_document_that_is_there_twice_is_named(run, folder):
    data = make_ranking(n_queries=3, docs_per_query=4)
    write_any(rr.Dataset.concat([data, data[:1]]), "twice.txt")
    done = run("sample", "twice.txt")
    assert "document 'q1-d1' of query 'q1' is there twice, first in line 1: keep one of them" in done.err


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


def test_todays_ranking_may_be_a_model(run, folder, answer):
    data = rr.read_letor(folder / "train.txt")
    model = rr.QueryIntercepts(l2=10.0, missing="mean").fit(data)
    model.save(folder / "now.rulerank")
    done = run("sample", "train.txt", "--today", "now.rulerank", "--own-grades", "--budget", "20", "-o", "l.qrels")
    assert done.code == 0, done.err
    rows = rr.Strata(today=model.predict(data)).select(data, lambda row: data.y[row], budget=20)
    asked = [line.split()[2] for line in (folder / "l.qrels").read_text().splitlines()]
    assert asked == [str(data.docid[row]) for row in rows]
    answer("1", "q")
    done = run("sample", "train.txt", "--today", "now.rulerank", "--ask", "-o", "labels.db")
    assert done.out.endswith("--ask -o labels.db --today now.rulerank\n")
    assert run("sample", "train.txt", "--today", "none.rulerank").err.endswith("there is no such file\n")
    rr.QueryIntercepts(l2=10.0).fit(rr.make_ranking(n_queries=5, n_features=3)).save(folder / "other.rulerank")
    err = run("sample", "train.txt", "--today", "other.rulerank").err
    assert "today: this QueryIntercepts reads bm25_body, bm25_title, " in err
