"""Documents without ids have a key in files of labels, and people see their rows."""

import json
from pathlib import Path

import pytest

import rulerank as rr
from rulerank.datasets.ranking import make_ranking
from rulerank.io.formats import write_any
from rulerank.judging.loop import Judging
from rulerank.judging.pool import read_pool
from rulerank.judging.store import LabelStore
from sampled_labels import labels_in


def write_nameless():
    """Write twelve documents without ids and return the pool of them."""
    data = make_ranking(n_queries=1, docs_per_query=12, seed=4)
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
    shown = run("sample", "bare.csv", "--sampler", "ssar", "--ask", "-o", "asked.db").err
    assert f"query q1   document row {pool.row(*keys[0]) + 1}   (label 1, " in shown
    with LabelStore("asked.db") as store:
        assert [(label.query, label.doc, label.grade) for label in store.labels()] == [(*keys[0], 1)]


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
