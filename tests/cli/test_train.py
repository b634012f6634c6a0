"""rulerank train of graded documents: what is learned, chosen, tuned and said."""

import json
import re
from pathlib import Path

import numpy as np
import pytest

import rulerank as rr
from rulerank.cli.train import count_rules
from rulerank.io.formats import read_any, write_any

RULES = ("--method", "RE-GR")  # GlobalRules by its code


def trained(run, *words):
    return run.json("train", *words, "-o", "new.rulerank")


def test_a_model_is_what_the_library_learns(run, folder):
    data = read_any("train.txt")
    done = run("train", "train.txt", "-o", "model.rulerank", "--method", "GlobalRules")
    expected = rr.GlobalRules().fit(data)
    assert (done.code, done.err) == (0, "")
    assert np.array_equal(rr.load("model.rulerank").predict(data), expected.predict(data))
    assert done.out.startswith(f"trained on train.txt: {data!r}\nfeatures: f1, f2, f3, ")
    assert "\nGlobalRules: discretizer mdlp, drop_weakest 0.25, max_size 2, " in done.out
    assert "metric" not in done.out
    assert f"\nmodel.rulerank: {len(expected.rules_):,} rules, trained in " in done.out


SETTINGS = [
    ("RE-GR max_size=1 votes=mean drop_weakest=0", {"max_size": 1, "votes": "mean", "drop_weakest": 0}),
    ("GlobalRules:normalize=none,drop_weakest=0.5", {"normalize": None, "drop_weakest": 0.5}),
    ("StableRules literal=true", {"literal": True, "phi": 0.1}),
    ("RE-QR literal=true max_size=1", {"leave_one_out": False, "ties": "other"}),
    ("intercepts missing=mean l2=1", {"l2": 1}),
    ("competence members=RE-GR,RE-SR", {"members": "RE-GR,RE-SR"}),
]


@pytest.mark.parametrize(("words", "params"), SETTINGS)
def test_parameters_reach_the_ranker_of_every_method(run, folder, words, params):
    method, *settings = words.split()
    found = trained(run, "train.txt", "--method", method, *(word for one in settings for word in ("--set", one)))
    assert found["params"].items() >= params.items()
    assert found["method"] == type(rr.load("new.rulerank")).__name__
    assert "tuning" not in found
    assert len(run("rank", "test.txt", "new.rulerank").out.splitlines()) == 97


def test_a_table_keeps_its_feature_names_and_leaves_ids_out(run, folder):
    found = trained(run, "train.csv", "--qid", "query", "--features", "bm25_body,pagerank")
    assert found["feature_names"] == ["bm25_body", "pagerank"]
    Path("t.csv").write_text("id,productId,qid,grade,bm25,clicks\n1,7,1,0,0.1,3\n2,8,1,1,0.9,4\n")
    done = run("train", "t.csv", "-o", "new.rulerank")
    assert "\nfeatures: bm25, clicks\n" in done.out
    assert re.fullmatch("warning: columns left out because they look like ids: 'id', 'productId'; .*\n", done.err)
    for command in (("rank", "t.csv", "new.rulerank"), ("explain", "t.csv", "new.rulerank", "--query", "1")):
        assert (run(*command).code, run(*command).err) == (0, "")  # a model says which features it takes


def test_of_many_features_only_a_few_are_named(run, folder):
    write_any(rr.datasets.make_ranking(n_queries=6, docs_per_query=8, n_features=40), "wide.txt")
    assert "\nfeatures: f1, f2, f3, ... f40\n" in run("train", "wide.txt", "-o", "new.rulerank").out


def test_a_model_that_scores_everything_alike_is_said(run, folder):
    Path("t.csv").write_text("qid,grade,a\n1,0,0.5\n1,1,0.5\n2,1,0.5\n")
    said = "warning: all documents get the same score: no feature separates the grades\n"
    assert run("train", "t.csv", "-o", "new.rulerank", *RULES).err == said


def test_a_model_and_an_empty_file_are_replaced(run, folder):
    Path("empty").touch()
    assert run("train", "train.txt", "-o", "empty", *RULES).code == 0
    before = Path("empty").read_bytes()
    assert run("train", "train.txt", "-o", "empty", *RULES, "--set", "max_size=1").code == 0
    assert Path("empty").read_bytes() != before


def test_rows_without_a_grade_are_left_out_and_counted(run, folder):
    lines = Path("train.txt").read_text().splitlines()
    Path("some.txt").write_text("\n".join([*("?" + line[1:] for line in lines[:3]), *lines[3:]]))
    done = run("train", "some.txt", "-o", "model.rulerank", "--json", *RULES)
    said = f"left out: 3 documents of {len(lines)} without a judgement (--unjudged 0 counts them as not relevant)\n"
    assert done.err == said
    assert json.loads(done.out)["left_out"] == 3
    expected, data = rr.GlobalRules().fit(read_any("train.txt")[3:]), read_any("test.txt")
    assert np.array_equal(rr.load("model.rulerank").predict(data), expected.predict(data))


def test_several_files_are_tuned_on_together_in_what_is_not_set(run, folder):
    fixed = [*RULES, "--set", "max_size=1", "--set", "discretizer=mdlp", "--set", "normalize=none"]
    done = run("train", "train.txt", "vali.txt", "--tune", "-o", "model.rulerank", *fixed)
    assert "tuned by MAP in cross-validation by query" in done.out
    table = done.out.split("\n\n")[2].splitlines()
    assert table[0].split() == ["votes", "min_support", "drop_weakest", "MAP", "behind"]
    rows = len(read_any("train.txt")) + len(read_any("vali.txt"))
    assert f"trained on train.txt and vali.txt: Dataset({rows} rows, " in done.out
    found = trained(run, "train.txt", "vali.txt", "--tune", *fixed)
    table = found["tuning"]["table"]
    assert len(table) == 8
    assert found["params"].items() >= max(table, key=lambda trial: trial["mean"])["params"].items()


def test_files_of_different_width_get_the_same_features(run, folder):
    Path("a.txt").write_text("1 qid:1 1:0.5\n0 qid:1 1:0.25\n1 qid:2 1:0.5\n0 qid:2 1:0.75\n1 qid:3 1:1\n")
    Path("b.txt").write_text("1 qid:4 1:0.5 3:1\n0 qid:5 1:0.25\n")
    done = run("train", "a.txt", "b.txt", "-o", "model.rulerank", "--method", "QI")
    assert "warning: a.txt has 1 feature and 3 are needed: the last 2 are taken as 0\n" in done.err
    assert rr.load("model.rulerank").feature_names_ == ("f1", "f2", "f3")
    Path("c.csv").write_text("qid,grade,b,a\n7,1,0.5,0.25\n8,0,0.25,0.5\n")
    Path("d.csv").write_text("qid,grade,a,c\n9,1,0.5,0.25\n")
    done = run("train", "c.csv", "d.csv", "-o", "model.rulerank")
    assert done.err.startswith("error: d.csv: the data lacks 1 of the 2 features ")


def test_few_grades_support_intercepts_which_are_tuned_as_if_named(run, folder):
    done = run("train", "train.txt", "-o", "model.rulerank")
    assert "\nselected method: QueryIntercepts: MAP 0." in done.out
    assert " on 12 held-out queries; 96 labels of 12 queries are too few to choose by" in done.out
    assert "leave_after_click" not in done.out  # a parameter of clicks
    found = trained(run, "train.txt", "--tune")
    assert found["method"] == "QueryIntercepts"
    assert set(found["tuning"]["table"][0]["params"]) == {"normalize", "l2"}
    assert found["params"]["missing"] == "mean"


def test_monotone_match_needs_no_method_and_takes_those_that_have_it(run, folder):
    found = trained(run, "train.csv", "--qid", "query", "--set", "monotone=match")
    assert (found["method"], found["params"]["monotone"]) == ("FittedRules", "match")
    assert found["exportable"] is True


def test_train_says_whether_the_model_can_be_exported_and_exportable_trains_one_that_can(run, folder):
    assert "\ncan be exported\n" in run("train", "train.txt", "-o", "m.rulerank", *RULES).out
    scaled = ("train.txt", "-o", "m.rulerank", "--method", "FittedRules", "--set", "normalize=rank")
    out = run("train", *scaled).out
    assert "\ncannot be exported: it normalises features by query (normalize='rank'), but " in out
    assert "(--exportable avoids this)\n" in out
    done = run("train", *scaled, "--exportable")
    assert (done.code, done.out) == (2, "")
    assert done.err.startswith(
        "error: exportable: this FittedRules cannot be exported: it normalises features by query"
    )
    assert done.err.endswith("; leave out the method and its settings, and one is selected that can be\n")
    assert trained(run, "train.txt", "--exportable", "--tune")["exportable"] is True


def test_query_intercepts_are_not_the_papers_unless_l2_is_set(run, folder):
    assert trained(run, "train.txt", "--method", "QI:missing=mean")["params"]["l2"] == 100
    assert trained(run, "train.txt", "--method", "QI:missing=mean,l2=0")["params"]["l2"] == 0


def test_feature_logs_of_an_engine_are_trained_on_once_they_have_judgements(run, folder):
    assert run("convert", "q7.json", "pool.parquet", "--qrels", "judged.qrels").code == 0
    found = trained(run, "pool.parquet", "--method", "QI", "--set", "l2=1")
    assert found["feature_names"] == ["title", "new", "engine_rank", "engine_score"]


def test_rules_that_are_not_kept_are_not_counted():
    ranker = rr.GlobalRules(discretizer=None, memory_budget=0).fit([[0, 0], [1, 1]], [0, 1], qid=[0, 0])
    assert count_rules(ranker) is None
