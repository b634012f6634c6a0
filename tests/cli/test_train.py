import json
from pathlib import Path

import numpy as np
import pytest

import rulerank as rr
from rulerank.core.parameters import parameters_of
from rulerank.datasets.ranking import make_ranking
from rulerank.io.formats import read_any, write_any
from rulerank.methods import METHODS, method_named
from rulerank.model_file import load
from rulerank.rankers.global_rules import GlobalRules
from rulerank.rankers.linear.query_intercepts import QueryIntercepts

RULES = ("--method", "global")  # RE-GR by its other name


def test_a_model_is_what_the_library_learns(run, folder):
    data = read_any("train.txt")
    done = run("train", "train.txt", "-o", "model.rulerank", "--method", "RE-GR")
    expected = GlobalRules().fit(data)
    assert (done.code, done.err) == (0, "")
    assert np.array_equal(load("model.rulerank").predict(data), expected.predict(data))
    assert done.out.startswith(f"trained on train.txt: {data!r}\nfeatures: f1, f2, f3, ")
    assert "\nRE-GR: discretizer mdlp, drop_weakest 0.25, max_size 2, " in done.out
    assert "metric" not in done.out
    assert f"\nmodel.rulerank: {len(expected.rules_):,} rules, learned in " in done.out


@pytest.mark.parametrize(
    ("options", "params"),
    [
        (["--max-size", "1", "--min-support", "0.02", "--votes", "mean"], {"max_size": 1, "votes": "mean"}),
        (["--literal"], {"votes": "mean", "drop_weakest": 0.0}),
        (["--discretizer", "equal_width", "--normalize", "rank"], {"discretizer": "equal_width", "normalize": "rank"}),
        (["--normalize", "none", "--drop-weakest", "0"], {"normalize": None, "drop_weakest": 0.0}),
        ([], {"votes": "evidence", "drop_weakest": 0.25}),
        (["--votes", "MEAN", "--discretizer", "Equal-Width"], {"votes": "mean", "discretizer": "equal_width"}),
        (["--discretizer", "MDLP", "--normalize", "MinMax"], {"discretizer": "mdlp", "normalize": "minmax"}),
    ],
)
def test_parameters_reach_the_ranker(run, folder, options, params):
    payload = json.loads(run("train", "train.txt", "-o", "model.rulerank", "--json", *RULES, *options).out)
    assert payload["params"].items() >= params.items()
    assert payload["method"] == "RE-GR"
    assert payload["rows"] == len(read_any("train.txt"))
    assert payload["rules"] == len(load("model.rulerank").rules_)
    assert "tuning" not in payload


def test_a_table_keeps_its_feature_names(run, folder):
    done = run("train", "train.csv", "-o", "model.rulerank", "--qid", "query", "--features", "bm25_body,pagerank")
    assert done.code == 0
    assert load("model.rulerank").feature_names_ == ("bm25_body", "pagerank")
    assert "\nfeatures: bm25_body, pagerank\n" in done.out


def test_an_id_is_left_out_and_it_is_said_once_and_how_to_keep_it(run, folder):
    Path("t.csv").write_text("id,productId,qid,grade,bm25,clicks\n1,7,1,0,0.1,3\n2,8,1,1,0.9,4\n")
    done = run("train", "t.csv", "-o", "new.rulerank")
    assert "\nfeatures: bm25, clicks\n" in done.out
    assert done.err == (
        "warning: columns left out because they look like ids: 'id', 'productId'; "
        "to keep one, name all features (features=..., on the command line --features ...)\n"
    )
    done = run("train", "t.csv", "-o", "kept.rulerank", "--features", "id,bm25", "--json")
    assert json.loads(done.out)["feature_names"] == ["id", "bm25"]
    for model in ("new.rulerank", "kept.rulerank"):  # a model says which features it takes, ids or not
        done = run("rank", model, "t.csv")
        assert (done.code, done.err) == (0, "")
        done = run("explain", model, "t.csv", "--query", "1")
        assert (done.code, done.err) == (0, "")
    done = run("evaluate", "t.csv", "--feature", "id", "--csv")
    assert (done.code, done.err) == (0, "")


def test_of_many_features_only_a_few_are_named(run, folder):
    write_any(make_ranking(n_queries=6, docs_per_query=8, n_features=40), "wide.txt")
    assert "\nfeatures: f1, f2, f3, ... f40\n" in run("train", "wide.txt", "-o", "new.rulerank").out


@pytest.mark.parametrize(
    ("rows", "why"),
    [
        ("1,0,0.5\n1,1,0.5\n2,1,0.5\n", "no feature tells their grades apart"),
        ("1,0,0.5\n1,1,0.5\n" * 600, "no feature tells their grades apart"),
    ],
)
def test_a_model_that_scores_everything_alike_is_said(run, folder, rows, why):
    Path("t.csv").write_text(f"qid,grade,a\n{rows}")
    done = run("train", "t.csv", "-o", "new.rulerank", *RULES)
    assert (done.code, done.err) == (0, f"warning: every document will get the same score: {why}\n")


def test_training_data_are_not_overwritten(run, folder):
    Path("other").symlink_to("train.txt")
    for out, options in [("train.txt", []), ("./train.txt", []), ("other", []), ("vali.txt", ["--vali", "vali.txt"])]:
        before = Path(out).read_bytes()
        done = run("train", "train.txt", "-o", out, *options)
        which = "vali.txt" if options else "train.txt"
        assert (done.code, done.out) == (2, "")
        found = f"{out} is an input" if out == which else f"{out} is the same file as {which}"
        assert done.err == f"error: {found}, which would be lost; write to another file\n"
        assert Path(out).read_bytes() == before
    done = run("train", "train.txt", "-o", "test.csv")
    assert done.err == "error: test.csv exists and is not a model; choose another name or remove it\n"


def test_a_model_and_an_empty_file_are_replaced(run, folder):
    Path("empty").touch()
    assert run("train", "train.txt", "-o", "empty").code == 0
    before = Path("empty").read_bytes()
    assert run("train", "train.txt", "-o", "empty", *RULES, "--max-size", "1").code == 0
    assert Path("empty").read_bytes() != before


def test_literal_is_what_the_paper_of_each_method_says(run, folder):
    done = run("train", "train.txt", "-o", "new.rulerank", "--method", "stable", "--literal", "--json")
    assert json.loads(done.out)["params"]["literal"] is True
    assert json.loads(done.out)["rules"] is None
    done = run("train", "train.txt", "-o", "new.rulerank", "--method", "stable")
    assert done.out.splitlines()[-1].startswith("new.rulerank: learned in ")


def test_given_bins_are_taken_as_they_are(run, folder):
    Path("bins.csv").write_text("qid,grade,a,b\n1,0,0,1\n1,1,1,1\n2,0,0,0\n2,1,1,0\n")
    assert run("train", "bins.csv", "-o", "model.rulerank", *RULES, "--discretizer", "none").code == 0
    assert load("model.rulerank").discretizer_ is None


def test_rows_without_a_grade_are_left_out_and_counted(run, folder):
    lines = Path("train.txt").read_text().splitlines()
    Path("some.txt").write_text("\n".join(["?" + line[1:] if i < 3 else line for i, line in enumerate(lines)]))
    done = run("train", "some.txt", "-o", "model.rulerank", "--json", *RULES)
    expected = f"3 documents of {len(lines)} without a judgement (--unjudged 0 counts them)"
    assert done.err == f"left out: {expected}\n"
    assert json.loads(done.out)["left_out"] == 3
    expected = GlobalRules().fit(read_any("train.txt")[3:])
    data = read_any("test.txt")
    assert np.array_equal(load("model.rulerank").predict(data), expected.predict(data))
    Path("none.txt").write_text("? qid:1 1:0.5\n? qid:1 1:0.25\n")
    done = run("train", "none.txt", "-o", "model.rulerank")
    assert done == (2, "", "error: none.txt: no document has a grade, so there is nothing to learn from\n")


def test_vali_tunes_what_is_not_given_inside_both_files(run, folder):
    fixed = [*RULES, "--max-size", "1", "--discretizer", "mdlp"]
    done = run("train", "train.txt", "--vali", "vali.txt", "-o", "model.rulerank", *fixed)
    assert done.code == 0
    assert "chosen by MAP in cross-validation by query" in done.out
    assert "the best 10 of 32 settings" in done.out
    table = done.out.split("\n\n")[2].splitlines()
    assert table[0].split() == ["votes", "normalize", "min_support", "drop_weakest", "MAP", "behind"]
    assert len(table) == 13  # header, ten settings, how many there are, and the best
    assert max(map(len, done.out.splitlines())) <= 120
    rows = len(read_any("train.txt")) + len(read_any("vali.txt"))
    assert f"trained on train.txt and vali.txt: Dataset({rows} rows, " in done.out
    tuned = run("train", "train.txt", "--vali", "vali.txt", "-o", "again.rulerank", *fixed, "--json", "-m", "NDCG@5")
    payload = json.loads(tuned.out)
    assert payload["tuning"]["measure"] == "NDCG@5"
    table = payload["tuning"]["table"]
    assert len(table) == 32
    assert set(table[0]["params"]) == {"votes", "normalize", "min_support", "drop_weakest"}
    assert payload["params"].items() >= max(table, key=lambda trial: trial["mean"])["params"].items()
    assert payload["params"]["max_size"] == 1
    assert "feature" not in tuned.err


def test_tune_alone_tunes_inside_the_data(run, folder):
    options = [
        *RULES,
        "--max-size",
        "1",
        "--discretizer",
        "mdlp",
        "--normalize",
        "none",
        "--literal",
        "--tune",
        "--json",
    ]
    payload = json.loads(run("train", "train.txt", "-o", "model.rulerank", *options).out)
    assert [trial["params"] for trial in payload["tuning"]["table"]] == [{"min_support": 0.0}, {"min_support": 0.001}]


def test_files_of_different_width_get_the_same_features(run, folder):
    Path("a.txt").write_text("1 qid:1 1:0.5\n0 qid:1 1:0.25\n1 qid:2 1:0.5\n0 qid:2 1:0.75\n1 qid:3 1:1\n")
    Path("b.txt").write_text("1 qid:4 1:0.5 3:1\n0 qid:5 1:0.25\n")
    done = run(
        "train", "a.txt", "--vali", "b.txt", "-o", "model.rulerank", *RULES, "--discretizer", "mdlp", "--literal"
    )
    assert done.code == 0
    assert "warning: a.txt has 1 feature and 3 are needed: the last 2 are taken as 0\n" in done.err
    assert load("model.rulerank").feature_names_ == ("f1", "f2", "f3")
    Path("c.csv").write_text("qid,grade,b,a\n7,1,0.5,0.25\n8,0,0.25,0.5\n")
    Path("d.csv").write_text("qid,grade,a,c\n9,1,0.5,0.25\n")
    done = run("train", "c.csv", "--vali", "d.csv", "-o", "model.rulerank")
    assert (done.code, done.out) == (2, "")
    assert done.err.startswith("error: d.csv: the data lacks 1 of the 2 features ")


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
        (["train.txt", "-o", "m", "--votes", "Loud"], "unknown votes 'Loud'; choose from "),
        (["train.txt", "-o", "m", "--votes", "none"], "unknown votes 'none'; choose from "),
        (
            ["train.txt", "-o", "m", "--discretizer", "mdl"],
            "unknown discretizer 'mdl'; choose from mdlp, tube, equal_width, equal_frequency, none\n",
        ),
        (
            ["train.txt", "-o", "m", "--normalize", "max"],
            "unknown normalize 'max'; choose from none, minmax, rank, zscore\n",
        ),
        (
            ["relevance.csv", "-o", "m"],
            "relevance.csv: there is no column 'grade'; the columns are qid, relevance, a; "
            "name the column of the grade (grade=..., on the command line --grade ...)\n",
        ),
        (["model.rulerank", "-o", "m"], "model.rulerank: this is a rulerank model, not data; use `rulerank rank`"),
        (
            ["train.txt", "-o", "m", *RULES, "--literal", "--votes", "evidence"],
            "--literal means --votes mean --drop-weakest 0",
        ),
        (["pool.csv", "-o", "m", "--labels", "graded.csv", "--tune"], "--labels is for few labels, too few to choose"),
        (["pool.csv", "-o", "m", "--labels", "none.csv"], "none.csv: no document has a grade, so there is nothing to"),
        (["pool.csv", "-o", "m", "--labels", "other.csv"], "other.csv: document 'd9' of query 'q1' is not in pool.csv"),
        (["train.txt", "-o", "m", *RULES, "--max-size", "0"], "max_size must be a whole number from 1, or None: got 0"),
        (
            ["train.txt", "-o", "m", "--max-size", "1"],
            "auto chooses the method, and --max-size is of one of them: name it, such as --method RE-GR --max-size ...",
        ),
        (
            ["train.txt", "-o", "m", "--literal"],
            "auto chooses the method, and --literal is of one of them: name it, su",
        ),
        (
            ["train.txt", "-o", "m", "--set", "l2=1"],
            "auto chooses the method, and --set l2 is of one of them: name it, such",
        ),
    ],
)
def test_mistakes_end_in_one_line_and_leave_no_file(run, folder, args, says):
    Path("none.csv").write_text("qid,docid,grade\n")
    Path("other.csv").write_text("qid,docid,grade\nq1,d9,1\n")
    Path("relevance.csv").write_text("qid,relevance,a\n1,0,0.5\n1,1,0.7\n")
    before = {path.name for path in folder.iterdir()}
    done = run("train", *args)
    assert (done.code, done.out) == (2, "")
    assert done.err.startswith(f"error: {says}")
    assert done.err.count("\n") == 1
    assert {path.name for path in folder.iterdir()} == before


def test_a_parameter_that_a_method_lacks_is_named():
    from rulerank.cli.parameters import make_ranker
    from rulerank.errors import DataError

    with pytest.raises(DataError, match=r"^GlobalRules takes no --min-queries; it takes discretizer, "):
        make_ranker(GlobalRules, {"min_queries": 2})


def test_every_method_is_found_by_both_names_and_loads():
    for method in METHODS.values():
        assert method_named(method.short) is method_named(method.name.lower()) is method
        assert method_named(method.class_name) is method
        assert method.ranker_class().__name__ == method.class_name


@pytest.mark.parametrize(
    ("method", "name"),
    [("stable", "StableRules"), ("RE-QR", "QueryRules"), ("intercepts", "QueryIntercepts")],
)
def test_every_method_is_trained_ranks_and_is_tuned(run, folder, method, name):
    settings = ("--set", "missing=mean", "--set", "l2=1") if method == "intercepts" else ()
    done = run("train", "train.txt", "-o", "other.rulerank", "--method", method, *settings, "--json")
    assert done.code == 0, done.err
    assert type(load("other.rulerank")).__name__ == name
    assert len(run("rank", "other.rulerank", "test.txt").out.splitlines()) == 96


@pytest.mark.parametrize(
    ("setting", "message"),
    [
        ("l2", "--set takes NAME=VALUE, such as l2=100: got 'l2'"),
        ("volume=11", "GlobalRules takes no --volume; it takes "),
        ("max_size=big", "max_size must be a whole number from 1, or None: got 'big'"),
    ],
)
def test_a_setting_that_makes_no_sense_is_refused(run, folder, setting, message):
    done = run("train", "train.txt", "-o", "other.rulerank", *RULES, "--set", setting)
    assert done.code == 2
    assert done.err.startswith(f"error: {message}")


def test_without_a_method_the_best_of_held_out_queries_is_trained_and_a_line_says_why(run, folder):
    data = make_ranking(n_queries=40, docs_per_query=20, seed=5)
    write_any(data, "world.csv")
    data = read_any("world.csv")
    expected = rr.select(data, measure="NDCG@10")
    done = run("train", "world.csv", "-o", "model.rulerank", "-m", "NDCG@10")
    assert (done.code, done.err) == (0, "")
    assert f"\nmethod chosen: {expected.reason}\n" in done.out
    assert np.array_equal(load("model.rulerank").predict(data), expected.ranker.predict(data))
    payload = json.loads(run("train", "world.csv", "-o", "model.rulerank", "-m", "NDCG@10", "--json").out)
    assert payload["chosen"] == json.loads(json.dumps(expected.to_dict()))
    assert payload["method"] == expected.method


def test_few_grades_support_intercepts_and_the_line_says_so(run, folder):
    done = run("train", "train.txt", "-o", "model.rulerank", "--method", "AUTO")
    assert "\nmethod chosen: intercepts on z-scores by query: 96 labels of 12 queries are too few to " in done.out
    done = run("train", "pool.csv", "--labels", "graded.csv", "-o", "few.rulerank")
    assert "\nStarts from today's ranking (bm25_body); 10 labels of " in done.out


def test_the_method_chosen_is_tuned_as_one_that_was_named(run, folder):
    payload = json.loads(run("train", "train.txt", "--tune", "-o", "model.rulerank", "--json").out)
    assert payload["method"] == "QI"
    assert set(payload["tuning"]["table"][0]["params"]) == {"normalize", "l2"}
    assert payload["params"]["missing"] == "mean"


def test_the_parameters_of_a_method_are_printed_from_its_table(run):
    out = run("train", "--parameters", "fitted").out
    lines = out.splitlines()
    assert lines[0].split() == ["parameter", "default", "may", "be", "meaning"]
    names = [line.split()[0] for line in lines[1:]]
    assert names == list(parameters_of(method_named("fitted").ranker_class()))
    assert "a whole number" in out


def test_parameters_of_an_unknown_method_are_refused(run):
    done = run("train", "--parameters", "nobody")
    assert done.code == 2
    assert "unknown method 'nobody'; choose from RE-GR" in done.err


def test_every_query_and_judge_can_have_intercepts_of_their_own(run, folder):
    by_judge = ["--method", "intercepts", "--judge", "judge", "--set", "missing=mean", "--set", "l2=1"]
    done = run("train", "judged.csv", "-o", "judged.rulerank", *by_judge)
    assert (done.code, done.err) == (0, "")
    ranker, data = load("judged.rulerank"), read_any("judged.csv", judge="judge")
    assert "judge" not in data.feature_names
    assert set(ranker.judge_ids_.tolist()) == {"ann", "bob"}
    expected = QueryIntercepts(l2=1, missing="mean").fit(data, judge=data.texts["judge"])
    assert np.array_equal(ranker.coef_, expected.coef_)


def test_judges_are_for_intercepts_and_must_all_be_there(run, folder):
    for more, message in [
        (
            (),
            "error: --judge gives every query and judge intercepts of their own, which only the method intercepts has",
        ),
        (("--method", "RE-GR"), "error: --judge gives every query and judge intercepts of their own"),
        (("--method", "QI", "--tune"), "error: --judge gives every query and judge intercepts of their own"),
    ]:
        done = run("train", "judged.csv", "-o", "judged.rulerank", "--judge", "judge", *more)
        assert done.code == 2
        assert done.err.startswith(message)
    done = run("train", "judged.csv", "-o", "judged.rulerank", "--method", "QI", "--judge", "who")
    assert "there is no column 'who'" in done.err
    assert "name the column of who graded (judge=..., on the command line --judge ...)" in done.err
    text = Path("judged.csv").read_text().replace(",ann\n", ",\n", 1)
    Path("judged.csv").write_text(text)
    done = run("train", "judged.csv", "-o", "judged.rulerank", "--method", "QI", "--judge", "judge")
    assert done.err == "error: column 'judge' must say who graded: graded row 1 has nothing there\n"


def test_the_letter_of_the_command_line_is_that_of_the_papers(run, folder):
    done = run("train", "train.txt", "-o", "stable.rulerank", "--method", "RE-SR", "--literal")
    assert "phi 0.1" in done.out
    assert "min_queries 1" in done.out
    done = run("train", "train.txt", "-o", "query.rulerank", "--method", "RE-QR", "--literal", "--max-size", "1")
    assert "leave_one_out False" in done.out
    assert "ties other" in done.out
    done = run("train", "train.txt", "-o", "mixed.rulerank", "--method", "competence", "--set", "members=RE-GR,RE-SR")
    assert load("mixed.rulerank").names_ == ("RE-GR", "RE-SR")
