"""rulerank convert and rulerank world: commands that write files."""

import json
from pathlib import Path

import numpy as np
import pytest

from rulerank.datasets.ranking import make_ranking
from rulerank.datasets.shop import make_shop
from rulerank.io.folds import read_folds
from rulerank.io.formats import read_any
from rulerank.splitting import make_folds


@pytest.mark.parametrize("name", ["w.csv", "w.tsv", "w.parquet", "w.txt", "w.txt.gz"])
def test_world_writes_the_world_of_the_library(run, folder, name):
    done = run("world", name, "--queries", "5", "--seed", "4", "--features", "16")
    assert done.code == 0
    expected, got = make_ranking(n_queries=5, n_features=16, seed=4), read_any(name)
    assert done.out == f"{name}: {expected!r}\n"
    np.testing.assert_array_equal(got.X, expected.X)
    assert got.y.tolist() == expected.y.tolist()
    assert got.qid.tolist() == expected.qid.tolist()
    assert got.docid.tolist() == expected.docid.tolist()


def test_world_writes_folds_that_read_folds_reads(run, folder):
    assert run("world", "worlds", "--folds", "4", "--queries", "8").code == 0
    expected = make_folds(make_ranking(n_queries=8), 4)
    for got, fold in zip(read_folds("worlds"), expected, strict=True):
        assert got.name == fold.name
        assert got.vali.docid.tolist() == fold.vali.docid.tolist()
        np.testing.assert_array_equal(got.test.X, fold.test.X)


def test_data_on_stdout_sends_the_report_to_stderr(run, folder):
    done = run("world", "-", "--to", "csv", "--queries", "2")
    assert done.out.startswith("qid,docid,grade,bm25_body,")
    assert done.err.startswith("-: Dataset(")
    done = run("convert", "test.txt", "-", "--to", "qrels", "--json")
    assert done.out.startswith("q1 0 q1-d1 ")
    assert json.loads(done.err)["rows"] == 96


def test_reports_can_be_json(run, folder):
    assert json.loads(run("world", "w.csv", "--queries", "3", "--json").out)["files"] == ["w.csv"]
    payload = json.loads(run("convert", "test.txt", "out.qrels", "--json").out)
    assert payload == {"rows": 96, "from": "letor", "to": "qrels", "left_out": 0, "note": "features"}


def test_convert_takes_named_columns(run, folder):
    done = run("convert", "train.csv", "out.txt", "--qid", "query", "--features", "pagerank, clicks")
    assert done.out == "out.txt: 96 rows, csv to letor; not carried: feature names\n"
    assert read_any("out.txt").X.shape == (96, 2)


def test_convert_says_what_is_left_out(run, folder):
    Path("some.csv").write_text("qid,docid,grade\n1,a,2\n1,b,?\n")
    done = run("convert", "some.csv", "some.qrels")
    assert done == (0, "some.qrels: 1 row, csv to qrels; 1 row without a grade left out\n", "")


@pytest.mark.parametrize(
    ("args", "message"),
    [
        ("world w.xyz", "cannot tell the format to write from the name 'w.xyz'; name one: letor,"),
        ("world -", "cannot tell the format to write from the name '-'; name one: letor,"),
        ("world w.txt --to word", "unknown format 'word'; choose from letor,"),
        ("world w.txt --queries 0", "n_queries must be at least 1: got 0"),
        ("world w.txt --features 0", "n_features must be at least 1: got 0"),
        ("world w.txt --seed -1", "seed must be at least 0: got -1"),
        ("world w --folds 2", "n_folds must be at least 3: got 2"),
        ("world - --folds 3", "folds need a folder to be written to: got -"),
        ("world nowhere/w.txt", "cannot write nowhere/w.txt: No such file or directory"),
        ("convert nothere.txt out.csv", "nothere.txt: there is no such file"),
        ("convert . out.csv", ".: expected a file, got a directory"),
        ("convert train.csv out.txt", "train.csv: there is no column 'qid'; the columns are query,"),
        ("convert test.txt out.csv --qid q", "test.txt: only tables have named columns (qid): this is letor"),
        (
            "convert test.txt out.run",
            "test.txt: a run needs scores, and letor files hold none; rank the documents first",
        ),
        (
            "convert test.csv out.run --grade grade",
            "a run holds scores, and neither grades nor features: leave out grade=",
        ),
        ("convert test.txt out.csv --from csv", "test.txt"),
        ("train docs.jsonl -o new.rulerank", "docs.jsonl: this is JSON, which holds no features: make them from"),
        (
            "features queries.tsv ./queries.tsv -o out.csv",
            "documents and queries are the same file, queries.tsv: name one file of each",
        ),
    ],
)
def test_a_mistake_is_one_line_on_stderr_and_writes_nothing(run, folder, args, message):
    before = sorted(folder.iterdir())
    done = run(*args.split())
    assert (done.code, done.out) == (2, "")
    assert done.err.startswith(f"error: {message}")
    assert done.err.count("\n") == 1
    assert sorted(folder.iterdir()) == before


def test_a_number_that_is_none_is_named(run):
    done = run("world", "w.txt", "--queries", "many")
    assert done.code == 2
    assert "--queries" in done.err


def test_world_writes_a_shop_with_texts(run, folder):
    done = run("world", "shop", "--texts", "--queries", "8", "--products", "150", "--seed", "3")
    assert done == (0, f"shop: {make_shop(150, 8, 3)!r}\n", "")
    assert sorted(path.name for path in Path("shop").iterdir()) == [
        "documents.jsonl",
        "judgements.qrels",
        "queries.tsv",
    ]
    payload = json.loads(run("world", "shop", "--texts", "--queries", "8", "--products", "150", "--json").out)
    assert payload["files"] == ["shop/documents.jsonl", "shop/queries.tsv", "shop/judgements.qrels"]
    assert (payload["products"], payload["queries"]) == (150, 8)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["-", "--texts"], "texts need a folder to be written to: got -"),
        (["shop", "--texts", "--folds", "5"], "--folds is about data with features: leave it out with --texts"),
        (["shop", "--texts", "--features", "5"], "--features is about data with features: leave it out with --texts"),
        (["shop", "--texts", "--to", "csv"], "--to is about data with features: leave it out with --texts"),
        (["w.csv", "--products", "500"], "--products is about the shop: add --texts"),
    ],
)
def test_options_of_the_other_world_are_refused(run, folder, options, message):
    assert run("world", *options) == (2, "", f"error: {message}\n")


def test_the_shop_goes_from_texts_to_a_model(run, folder):
    assert run("world", "shop", "--texts", "--queries", "20", "--products", "400").code == 0
    files = ("shop/documents.jsonl", "shop/queries.tsv", "--qrels", "shop/judgements.qrels")
    done = run("features", *files, "--language", "none", "-o", "shop.parquet")
    assert done.code == 0
    assert done.err.startswith("left out of training and evaluation: ")
    category = next(line for line in done.out.splitlines() if line.startswith("category") and "100%" in line)
    assert category.split()[:2] == ["category", "category"]
    assert [line.split() for line in done.out.splitlines() if line.startswith("brand")][1] == ["brand", "100%"]
    assert run("train", "shop.parquet", "-o", "shop.rulerank").code == 0
