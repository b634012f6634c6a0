"""rulerank sample: the documents to label next, and simulated labels; documents without ids have keys."""

import re
import sys
from pathlib import Path

import pytest

import rulerank as rr
from rulerank.io.formats import read_any, write_any
from sampled_labels import chosen_by_ssar, labels_in

ALL = ("--own-grades", "-n", "1000")


SCALED = {"partitions": 5, "discretizer": "equal_width", "normalize": "zscore"}
SAMPLERS = [
    ({}, "ssar", "labels.csv"),
    ({"max_size": 1}, "ssar:max_size=1", "labels.qrels"),
    (SCALED, "SSAR:partitions=5,discretizer=equal_width,normalize=zscore", "labels.txt"),
    ({"per_query": True}, "ssar:per_query=true", "labels.csv"),
]


@pytest.mark.parametrize(("options", "sampler", "name"), SAMPLERS)
def test_a_simulation_asks_for_what_ssar_asks_for(run, folder, options, sampler, name):
    done = run("sample", "train.txt", "--sampler", sampler, *ALL, "-o", name)
    expected = chosen_by_ssar(read_any("train.txt"), **options)
    assert labels_in(name) == expected
    assert re.match(f"{name}: {len(expected)} labels, .*the sampler has stopped", done.out)


def test_a_simulation_goes_on_where_it_was_left(run, folder):
    run("sample", "train.txt", "--sampler", "ssar", "--own-grades", "-n", "7", "-o", "first.csv")
    assert len(labels_in("first.csv")) == 7
    run("sample", "train.txt", "--sampler", "ssar", *ALL, "--labels", "first.csv", "-o", "all.csv")
    assert labels_in("all.csv") == chosen_by_ssar(read_any("train.txt"))


def test_the_next_documents_are_listed_in_each_format(run, folder):
    done = run("sample", "train.txt", "--sampler", "ssar", "-n", "3")
    assert re.fullmatch(r"qid,docid,grade\n([^,]+,[^,]+,\n){3}", done.out)
    assert done.err == "3 documents to judge, of 96; 0 labelled\n"
    pairs = [tuple(line.split(",")[:2]) for line in done.out.splitlines()[1:]]
    assert len({*pairs}) == 3
    run("sample", "train.txt", "--sampler", "ssar", "-n", "3", "-o", "next.txt")
    assert labels_in("next.txt") == [(q, d, -1) for q, d in pairs]


def test_a_list_takes_the_labels_given_so_far_into_account(run, folder):
    expected = chosen_by_ssar(read_any("train.txt"))
    run("sample", "train.txt", "--sampler", "ssar", "--own-grades", "-n", "4", "-o", "labels.csv")
    payload = run.json("sample", "train.txt", "--sampler", "ssar", "--labels", "labels.csv", "-n", "1")
    assert payload["documents"] == [{"qid": expected[4][0], "docid": expected[4][1], "grade": None}]
    assert (payload["labels"], payload["chosen"], payload["file"]) == (4, 1, None)
    assert 0 < payload["closeness"] < 1


@pytest.mark.parametrize("seed", [0, 3])
def test_documents_come_from_all_over_the_baseline(run, folder, seed):
    words = ("--baseline", "f3", "--own-grades", "-n", "20", "--sampler", f"strata:seed={seed}", "-o", "labels.csv")
    done = run("sample", "train.txt", *words)
    data = read_any("train.txt")
    rows = rr.StratifiedSampler(baseline="f3", seed=seed).select(data, lambda row: data.y[row], budget=20)
    expected = [(str(data.qid[row]), str(data.docid[row]), int(data.y[row])) for row in rows]
    assert labels_in("labels.csv") == expected
    n_queries = len({qid for qid, *_ in expected})
    assert done.out == f"labels.csv: 20 labels of {n_queries} queries; 100 labels are a good start\n"


def test_the_baseline_may_be_a_model(run, folder):
    data = read_any("train.txt")
    model = rr.QueryIntercepts(l2=10.0, missing="mean").fit(data)
    model.save("now.rulerank")
    run("sample", "train.txt", "--baseline", "now.rulerank", "--own-grades", "-n", "20", "-o", "l.qrels")
    rows = rr.StratifiedSampler(baseline=model.predict(data)).select(data, lambda row: data.y[row], budget=20)
    assert [docid for _, docid, _ in labels_in("l.qrels")] == data.docid[rows].tolist()


@pytest.fixture
def nameless(folder):
    """The pool of twelve documents without ids, in bare.csv."""
    data = rr.datasets.make_ranking(n_queries=1, docs_per_query=12, seed=4)
    write_any(rr.Dataset(data.X, [0, 1] * 6, data.qid), "bare.csv")
    return rr.judging.read_pool("bare.csv")


def test_labels_name_documents_without_ids_by_a_key_and_people_see_their_rows(run, nameless):
    run("sample", "bare.csv", "--sampler", "ssar", *ALL, "-o", "labels.csv")
    keys = [(qid, docid) for qid, docid, _ in labels_in("labels.csv")]
    assert set(keys) <= set(nameless.pairs)
    run("sample", "bare.csv", "--sampler", "ssar", "-n", "2", "-o", "list.csv")
    listed = Path("list.csv").read_text()
    lines = [f"q1,{docid},,row {nameless.row(qid, docid) + 1}" for qid, docid in keys[:2]]
    assert listed.splitlines() == ["qid,docid,grade,comment", *lines]
    Path("list.csv").write_text(listed.replace(",,", ",1,"))  # filled in by hand
    assert run.json("sample", "bare.csv", "--sampler", "ssar", "--labels", "list.csv", "-n", "1")["labels"] == 2


@pytest.mark.parametrize("name", ["row {}", "row{}"])  # the second is what the first version wrote
def test_labels_may_name_documents_without_ids_as_people_do(run, nameless, name):
    Path("labels.csv").write_text(f"qid,docid,grade\nq1,{name.format(3)},1\nq1,{name.format(12)},0\n")
    done = run("train", "bare.csv", "--labels", "labels.csv", "--baseline", "f1", "-o", "model.rulerank")
    assert done.code == 0, done.err
    Path("labels.csv").write_text(f"qid,docid,grade\nq1,{name.format(13)},1\n")
    done = run("sample", "bare.csv", "--sampler", "ssar", "--labels", "labels.csv")
    assert done.err == f"error: labels.csv: document '{name.format(13)}' of query 'q1' is not in bare.csv\n"


def test_labels_of_documents_without_ids_go_to_the_page_and_measure_models(run, nameless):
    run("sample", "bare.csv", "--sampler", "ssar", *ALL, "-o", "labels.qrels")
    n_labels = len(labels_in("labels.qrels"))
    done = run("labels", "judged2.db", "--import", "labels.qrels", "--rater", "ann")
    assert done.out == f"judged2.db: {n_labels} new labels\n"
    with rr.judging.LabelStore("judged2.db") as store:
        assert rr.judging.Judging(nameless, store).overview().labelled == n_labels
    assert run("train", "bare.csv", "--labels", "judged2.db", "--baseline", "f1", "-o", "model.rulerank").code == 0
    assert run("rank", "bare.csv", "model.rulerank", "-o", "model.run").code == 0
    assert run("evaluate", "--qrels", "labels.qrels", "model.run", "-m", "MAP").err == ""


def test_a_terminal_shows_queries_and_titles(run, folder, monkeypatch):
    Path("shop.csv").write_text("qid,docid,query,title,bm25\n1,a,fresh milk,Milk 1 l,2\n1,b,fresh milk,Cheese,1\n")
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    done = run("sample", "shop.csv", "-n", "2")
    assert all(text in done.out for text in ("fresh milk", "Milk 1 l", "Cheese"))
    assert "docid" not in done.out
