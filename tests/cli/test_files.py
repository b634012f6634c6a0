"""Commands that read and write files: make-data, convert, clicks, fuse, interleave."""

import json
from pathlib import Path

import numpy as np
import pytest

import rulerank as rr
from rulerank.io.formats import read_any


@pytest.mark.parametrize("name", ["w.csv", "w.parquet", "w.txt.gz"])
def test_make_data_writes_what_the_library_makes(run, folder, name):
    done = run("make-data", name, "--queries", "5", "--seed", "4")
    expected, got = rr.datasets.make_ranking(n_queries=5, seed=4), read_any(name)
    assert done == (0, f"{name}: {expected!r}\n", "")
    np.testing.assert_array_equal(got.X, expected.X)
    assert (got.y.tolist(), got.qid.tolist()) == (expected.y.tolist(), expected.qid.tolist())


def test_make_data_writes_folds_and_texts(run, folder):
    assert run("make-data", "folds", "--folds", "4", "--queries", "8").code == 0
    folds = rr.datasets.make_folds(rr.datasets.make_ranking(n_queries=8), 4)
    for got, fold in zip(rr.read_folds("folds"), folds, strict=True):
        assert got.vali.docid.tolist() == fold.vali.docid.tolist()
        np.testing.assert_array_equal(got.test.X, fold.test.X)
    payload = run.json("make-data", "shop", "--texts", "--queries", "8", "--seed", "3")
    assert payload["files"] == ["shop/documents.jsonl", "shop/queries.tsv", "shop/judgements.qrels"]
    assert (payload["products"], payload["queries"]) == (2000, 8)


def test_data_on_stdout_sends_the_report_to_stderr(run, folder):
    done = run("make-data", "-", "--queries", "2")
    assert done.out.startswith("qid,docid,grade,bm25_body,")
    assert done.err.startswith("-: Dataset(")
    done = run("convert", "test.txt", "-", "--to", "qrels", "--json")
    assert done.out.startswith("q1 0 q1-d1 ")
    assert json.loads(done.err)["rows"] == 96
    done = run("clicks", "log.csv", "pool.csv", "-o", "-")
    assert "position:log,impressions:log,clicks:log" in done.out.splitlines()[0]
    assert done.err.startswith("Clicks\n")


def test_convert_takes_named_columns_and_says_what_is_left_out(run, folder):
    done = run("convert", "train.csv", "out.txt", "--qid", "query", "--features", "pagerank, clicks")
    assert done.out == "out.txt: 96 rows, csv to letor; not stored: feature names\n"
    assert read_any("out.txt").X.shape == (96, 2)
    payload = run.json("convert", "test.txt", "out.qrels")
    assert payload == {"rows": 96, "from": "letor", "to": "qrels", "left_out": 0, "note": "features"}
    Path("some.csv").write_text("qid,docid,grade\n1,a,2\n1,b,?\n")
    done = run("convert", "some.csv", "some.qrels")
    assert done == (0, "some.qrels: 1 row, csv to qrels; 1 row without a grade left out\n", "")


def test_logs_of_an_engine_become_a_pool_with_labels(run, folder):
    done = run("convert", "q7.json", "pool.parquet", "--qrels", "judged.qrels")
    assert done.out == "pool.parquet: 2 rows, logs to parquet\n"
    data = read_any("pool.parquet")
    assert data.feature_names == ("title", "new", "engine_rank", "engine_score")
    assert (data.y.tolist(), data.qid.tolist()) == ([2, 0], ["q7", "q7"])
    assert run.json("convert", "answers.jsonl", "pool.txt")["rows"] == 4
    Path("logs7").mkdir()
    for name in ("q7", "q8"):
        Path("logs7", f"{name}.json").write_text(Path("q7.json").read_text().replace('"id"', '"sku"'))
    assert run("convert", "logs7/*.json", "many.csv", "--from", "logs", "--docid", "sku").code == 0
    assert read_any("many.csv").qid.tolist() == ["q7", "q7", "q8", "q8"]


def test_judgements_join_any_documents_with_their_recall_base(run, folder):
    Path("some.qrels").write_text("q1 0 q1-d1 1\nq1 0 q1-d2 0\nq1 0 elsewhere 1\n")
    assert run("convert", "test.csv", "judged.parquet", "--qrels", "some.qrels").code == 0
    data = read_any("judged.parquet")
    assert data.base is not None
    assert sorted(data.y[data.qid == "q1"].tolist())[-2:] == [0, 1]


def test_a_log_joins_a_pool_and_is_summed_up(run, folder):
    done = run("clicks", "log.parquet", "pool.csv", "-o", "clicked.parquet")
    lines = done.out.splitlines()
    assert (done.code, lines[0]) == (0, "Clicks")
    assert lines[2].startswith("4 queries, 24 documents (pairs of query and document), 6 positions; 2,400 impressions")
    assert "position  impressions  clicks        interval  click rate" in lines
    data = rr.read_table("clicked.parquet")
    assert lines[-1] == f"clicked.parquet: {data!r}"
    assert data.impressions.count.sum() == 2400
    found = run.json("clicks", "log.csv", "pool.csv")
    assert (found["impressions"], found["pool"]["docs"]) == (2400, 24)
    assert [one["position"] for one in found["positions"]] == [1, 2, 3, 4, 5, 6]


def test_runs_are_fused(run, folder):
    done = run("fuse", "one.run", "two.run", "--method", "rrf")
    fused = rr.fuse([rr.read_run("one.run"), rr.read_run("two.run")], method="rrf")
    assert done.out.splitlines()[0].split()[2] == fused.docid[0]
    assert done.err == "-: 96 documents of 12 queries from 2 runs by rrf\n"
    done = run("fuse", "one.run", "two.run", "--method", "linear:1,0", "-o", "fused.run", "--json")
    assert json.loads(done.out) == {"rows": 96, "queries": 12, "runs": 2, "method": "linear"}
    assert rr.read_run("fused.run").docid.tolist() == rr.read_run("one.run").docid.tolist()
    assert run("fuse", "one.run", "two.run", "--method", "Comb-SUM", "-o", "f.run").code == 0


def test_mixed_lists_are_written_one_a_line(run, folder):
    Path("sessions.txt").write_text("ann\nbob\n")
    words = ("interleave", "one.run", "two.run", "--sessions", "sessions.txt", "--top", "4")
    assert run(*words, "-o", "mixed.jsonl").out == "mixed.jsonl: 24 lists of 12 queries\n"
    lines = [json.loads(line) for line in Path("mixed.jsonl").read_text().splitlines()]
    assert {name: len(value) for name, value in lines[1].items()} == {"query": 2, "session": 3, "docs": 4, "teams": 4}
    assert [line["session"] for line in lines[:2]] == ["ann", "bob"]
    assert run(*words, "-o", "-").out == Path("mixed.jsonl").read_text()


def test_clicks_say_which_ranking_wins(run, folder):
    assert run.json("interleave", "--clicks", "teams.csv")["won"]
    assert run("interleave", "--clicks", "teams.csv").out.startswith("No clear difference: B won ")
