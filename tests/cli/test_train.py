import json
from pathlib import Path

import numpy as np
import pytest

from rulerank.io.convert import read_any, write_any
from rulerank.methods import METHODS, method_named
from rulerank.model_file import load
from rulerank.rankers.global_rules import GlobalRules
from rulerank.worlds import make_world


def test_a_model_is_what_the_library_learns(run, folder):
    data = read_any("train.txt")
    done = run("train", "train.txt", "-o", "model.rulerank")
    expected = GlobalRules().fit(data)
    assert (done.code, done.err) == (0, "")
    assert np.array_equal(load("model.rulerank").predict(data), expected.predict(data))
    assert done.out.startswith(f"trained on train.txt: {data!r}\nRE-GR: ")
    assert "max_size 2" in done.out
    assert f"\nmodel.rulerank: {len(expected.rules_):,} rules, learned in " in done.out


@pytest.mark.parametrize(
    ("options", "params"),
    [
        (["--max-size", "1", "--min-support", "0.02", "--votes", "residual"], {"max_size": 1, "votes": "residual"}),
        (["--literal"], {"votes": "mean", "drop_weakest": 0.0}),
        (["--discretizer", "equal_width", "--normalize", "rank"], {"discretizer": "equal_width", "normalize": "rank"}),
        (["--normalize", "none", "--drop-weakest", "0"], {"normalize": None, "drop_weakest": 0.0}),
        (["--method", "global"], {"votes": "evidence"}),
    ],
)
def test_parameters_reach_the_ranker(run, folder, options, params):
    payload = json.loads(run("train", "train.txt", "-o", "model.rulerank", "--json", *options).out)
    assert payload["params"].items() >= params.items()
    assert payload["method"] == "RE-GR"
    assert payload["rows"] == len(read_any("train.txt"))
    assert payload["rules"] == len(load("model.rulerank").rules_)
    assert "tuning" not in payload


def test_a_table_keeps_its_feature_names(run, folder):
    done = run("train", "train.csv", "-o", "model.rulerank", "--qid", "query", "--features", "bm25_body,pagerank")
    assert done.code == 0
    assert load("model.rulerank").feature_names_ == ("bm25_body", "pagerank")


def test_given_bins_are_taken_as_they_are(run, folder):
    Path("bins.csv").write_text("qid,grade,a,b\n1,0,0,1\n1,1,1,1\n2,0,0,0\n2,1,1,0\n")
    assert run("train", "bins.csv", "-o", "model.rulerank", "--discretizer", "none").code == 0
    assert load("model.rulerank").discretizer_ is None


def test_rows_without_a_grade_are_left_out_and_counted(run, folder):
    lines = Path("train.txt").read_text().splitlines()
    Path("some.txt").write_text("\n".join(["?" + line[1:] if i < 3 else line for i, line in enumerate(lines)]))
    done = run("train", "some.txt", "-o", "model.rulerank", "--json")
    assert done.err == f"3 of {len(lines)} rows have no grade and are left out\n"
    assert json.loads(done.out)["left_out"] == 3
    expected = GlobalRules().fit(read_any("train.txt")[3:])
    data = read_any("test.txt")
    assert np.array_equal(load("model.rulerank").predict(data), expected.predict(data))
    Path("none.txt").write_text("? qid:1 1:0.5\n? qid:1 1:0.25\n")
    done = run("train", "none.txt", "-o", "model.rulerank")
    assert done == (2, "", "error: none.txt: no document has a grade, so there is nothing to learn from\n")


def test_vali_tunes_what_is_not_given_inside_both_files(run, folder):
    write_any(make_world(n_queries=6, docs_per_query=8, seed=2), "vali.txt")
    fixed = ["--max-size", "1", "--discretizer", "mdlp"]
    done = run("train", "train.txt", "--vali", "vali.txt", "-o", "model.rulerank", *fixed)
    assert done.code == 0
    assert "chosen by MAP in cross-validation by query" in done.out
    assert "the best 10 of 48 settings; --json prints all" in done.out
    rows = len(read_any("train.txt")) + len(read_any("vali.txt"))
    assert f"trained on train.txt and vali.txt: Dataset({rows} rows, " in done.out
    tuned = run("train", "train.txt", "--vali", "vali.txt", "-o", "again.rulerank", *fixed, "--json", "-m", "NDCG@5")
    payload = json.loads(tuned.out)
    assert payload["tuning"]["measure"] == "NDCG@5"
    table = payload["tuning"]["table"]
    assert len(table) == 48
    assert set(table[0]["params"]) == {"votes", "normalize", "min_support", "drop_weakest"}
    assert payload["params"].items() >= max(table, key=lambda trial: trial["mean"])["params"].items()
    assert payload["params"]["max_size"] == 1
    assert "feature" not in tuned.err


def test_tune_alone_tunes_inside_the_data(run, folder):
    options = ["--max-size", "1", "--discretizer", "mdlp", "--normalize", "none", "--literal", "--tune", "--json"]
    payload = json.loads(run("train", "train.txt", "-o", "model.rulerank", *options).out)
    assert [trial["params"] for trial in payload["tuning"]["table"]] == [{"min_support": 0.0}, {"min_support": 0.001}]


def test_files_of_different_width_get_the_same_features(run, folder):
    Path("a.txt").write_text("1 qid:1 1:0.5\n0 qid:1 1:0.25\n1 qid:2 1:0.5\n0 qid:2 1:0.75\n1 qid:3 1:1\n")
    Path("b.txt").write_text("1 qid:4 1:0.5 3:1\n0 qid:5 1:0.25\n")
    done = run("train", "a.txt", "--vali", "b.txt", "-o", "model.rulerank", "--discretizer", "mdlp", "--literal")
    assert done.code == 0
    assert load("model.rulerank").feature_names_ == ("f1", "f2", "f3")
    Path("c.csv").write_text("qid,grade,b,a\n7,1,0.5,0.25\n8,0,0.25,0.5\n")
    Path("d.csv").write_text("qid,grade,a,c\n9,1,0.5,0.25\n")
    done = run("train", "c.csv", "--vali", "d.csv", "-o", "model.rulerank")
    assert done == (2, "", "error: d.csv lacks 1 of the 2 features needed: b\n")


@pytest.mark.parametrize(
    ("args", "says"),
    [
        (["train.txt", "-o", "-"], "a model is written to a file: name one, such as -o model.rulerank"),
        (["train.txt", "-o", "model.gz"], "a model file is not compressed: name it model.rulerank, not model.gz"),
        (["train.txt", "-o", "no/model"], "cannot write no/model: there is no directory no"),
        (["train.txt", "-o", "."], "cannot write .: it is a directory"),
        (["-", "--vali", "-", "-o", "m"], "only one file can be stdin: - is there twice"),
        (["nothing.txt", "-o", "m"], "nothing.txt: there is no such file"),
        (["qrels.txt", "-o", "m"], "qrels.txt has no features: expected LETOR text, or a table with columns of nu"),
        (["train.txt", "-o", "m", "--method", "RE-XX"], "unknown method 'RE-XX'; choose from RE-GR (global)"),
        (["train.txt", "-o", "m", "--votes", "loud"], "unknown votes 'loud'; choose from "),
        (["train.txt", "-o", "m", "--literal", "--votes", "evidence"], "--literal means --votes mean --drop-weakest 0"),
        (["train.txt", "-o", "m", "--max-size", "0"], "max_size must be a whole number from 1: got 0"),
    ],
)
def test_mistakes_end_in_one_line_and_leave_no_file(run, folder, args, says):
    before = {path.name for path in folder.iterdir()}
    done = run("train", *args)
    assert (done.code, done.out) == (2, "")
    assert done.err.startswith(f"error: {says}")
    assert done.err.count("\n") == 1
    assert {path.name for path in folder.iterdir()} == before


def test_a_parameter_that_a_method_lacks_is_named():
    from rulerank.cli.train import make_ranker
    from rulerank.errors import DataError

    with pytest.raises(DataError, match=r"^GlobalRules takes no --min-queries; it takes discretizer, "):
        make_ranker(GlobalRules, {"min_queries": 2})


def test_every_method_is_found_by_both_names_and_loads():
    for method in METHODS.values():
        assert method_named(method.short) is method_named(method.name.lower()) is method
        assert method.ranker_class().__name__ == method.class_name


def test_rules_that_are_not_kept_are_not_counted():
    from rulerank.cli.train import count_rules

    ranker = GlobalRules(discretizer=None, memory_budget=0).fit([[0, 0], [1, 1]], [0, 1])
    assert count_rules(ranker) is None
