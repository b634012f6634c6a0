import json
from pathlib import Path

import pytest

from rulerank.experiment.label_curve.learners import LEARNERS
from rulerank.io.convert import write_any
from rulerank.worlds import make_folds, make_world

QUICK = ("--method", "QI", "--draws", "2", "--sizes", "10,20")


def test_the_table_says_what_was_compared_with_what(run, folder):
    done = run("curve", "train.txt", *QUICK, "--feature", "f1")
    assert done.code == 0
    for name in ("SSAR ", "SSARP ", "SSAR per query ", "top of f1 ", "QI, all labels ", "by f1 "):
        assert f"\n{name}" in done.out
    assert "above 95 % of the random draws: " in done.out
    assert "means over 5 folds; at random: mean of 2 draws and where 95 % of them lie\n" in done.out
    assert "feature: f1; ties count" in done.out


def test_figures_and_csv_are_written(run, folder):
    done = run("curve", "train.txt", *QUICK, "-o", "curve.svg", "-o", "curve.png", "-o", "curve.csv")
    assert done.out.endswith("points\n")
    assert "\ncurve.svg: curve\n" in done.out
    assert Path("curve.png").read_bytes().startswith(b"\x89PNG")
    assert Path("curve.csv").read_text().startswith("ranker,sampler,n_labels,")


def test_json_has_every_point(run, folder):
    done = run("curve", "train.txt", *QUICK, "--json")
    payload = json.loads(done.out)
    assert {point["ranker"] for point in payload["points"]} == {"QI"}
    assert payload["n_draws"] == 2


def test_folds_are_read_and_may_be_thinned(run, folder):
    for fold in make_folds(make_world(n_queries=24, docs_per_query=12, n_features=5), 3):
        for part in ("train", "vali", "test"):
            Path("folds", fold.name).mkdir(parents=True, exist_ok=True)
            write_any(getattr(fold, part), f"folds/{fold.name}/{part}.txt")
    done = run("curve", "folds", *QUICK, "--thin", "4", "--pools", "2")
    assert "means over 6 folds; one relevant document in 4 kept; " in done.out


SPLITS = ("--today", "f1", "--splits", "2", "--sizes", "10,20")


def test_splits_show_what_is_gained_over_todays_ranking(run, folder):
    done = run("curve", "train.txt", *SPLITS, "-o", "gains.png", "-o", "gains.csv")
    assert done.code == 0, done.err
    for ranker in LEARNERS:
        assert f"\n{ranker} " in f"\n{done.out}"
    for sampler in ("strata", "SSAR", "SSARP", "SSAR per query", "random"):
        assert done.out.count(f"\n{sampler}  ") == len(LEARNERS)
    assert "\ntoday, f1: NDCG@10 0." in done.out
    assert (
        "what was gained over it in 2 splits:\nmean/worst, in brackets how many of them lost more than 0.02."
        in done.out
    )
    assert Path("gains.png").read_bytes().startswith(b"\x89PNG")
    assert ",gain,worst_gain,n_losses,n_runs,took_over\n" in Path("gains.csv").read_text()


def test_splits_of_folds_take_their_test_parts_and_may_be_thinned(run, folder):
    world = make_world(n_queries=24, docs_per_query=12, n_features=5)
    write_any(world, "world.csv")
    for fold in make_folds(world, 3):
        for part in ("train", "vali", "test"):
            Path("folds", fold.name).mkdir(parents=True, exist_ok=True)
            write_any(getattr(fold, part), f"folds/{fold.name}/{part}.txt")
    few = ("--method", "anchored", "--sampler", "strata", "--thin", "4", "--json")
    whole = json.loads(run("curve", "world.csv", *SPLITS[2:], *few).out)
    parts = json.loads(run("curve", "folds", *SPLITS, *few).out)
    assert (whole["today"], parts["today"]) == ("bm25_body", "f1")  # the first is found by its name
    assert {point["ranker"] for point in parts["points"]} == {"Anchored"}
    assert parts["n_pool"] == whole["n_pool"] < len(world) / 2
    assert parts["n_splits"] == 2


@pytest.mark.parametrize(
    ("args", "message"),
    [
        (("train.txt", "-o", "curve.gif"), "a curve is written as .png, .svg, .pdf or .csv: got 'curve.gif'"),
        (("train.txt", "-o", "nowhere/curve.csv"), "its directory does not exist"),
        (("train.txt", "--sizes", "ten"), "--sizes takes whole numbers, such as 50,100,200: got 'ten'"),
        (("train.txt", "--method", "best"), "unknown method 'best'; choose from"),
        (("two.csv",), "two.csv: expected graded documents of at least 3 queries to split, got 2"),
        ((".", "--from", "csv"), "folds are LETOR files: leave out --from and the names of columns"),
        ((".", "--qid", "query"), "folds are LETOR files: leave out --from and the names of columns"),
        (("train.txt", "--draws", "1"), "n_draws must be a whole number from 2"),
        (("train.txt", "--measure", "BEST"), "BEST"),
        (("train.txt", "--splits", "3"), "which feature ranks the documents now? Say --today FEATURE, one of f1, "),
        (("train.txt", "--splits", "1", "--today", "f1"), "n_splits must be a whole number from 2"),
        (("train.txt", "--splits", "2", "--today", "m.rulerank"), "--today m.rulerank: a curve is measured on grades "),
        (("train.txt", "--splits", "2", "--today", "f99"), "today: there is no feature 'f99'; the data has f1, "),
        (("train.txt", *SPLITS, "--pools", "2"), "--pools makes several thinned pools of a fold; every split has"),
        (("train.txt", *SPLITS, "--sampler", "best"), "unknown sampler 'best'; choose from strata, SSAR, SSARP"),
        (("train.txt", *SPLITS, "--thin", "500"), "one in 500 of "),
        (("train.txt", *QUICK, "--sampler", "strata"), "strata are those of today's ranking: say which feature it is"),
        (("train.txt", "--method", "from-today"), "from-today starts from today's ranking: say which feature it is"),
        (("two.csv", *SPLITS[2:], "--today", "bm25_body"), "expected graded documents of at least 4 queries to split"),
        (("train.txt", "--thin", "0"), "keep_one_in must be a whole number from 1: got 0"),
    ],
)
def test_mistakes_end_in_one_line(run, folder, args, message):
    write_any(make_world(n_queries=2, docs_per_query=8), "two.csv")
    done = run("curve", *args)
    assert done.code == 2
    assert done.err.startswith("error: ")
    assert message in done.err
