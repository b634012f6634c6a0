import json
from pathlib import Path

import pytest

from rulerank.datasets.ranking import make_ranking
from rulerank.experiment.label_curve.curve import SPLIT_RANKERS
from rulerank.io.formats import write_any
from rulerank.splitting import make_folds

QUICK = ("--method", "QI", "--draws", "2", "--sizes", "10,20")


def test_the_table_says_what_was_compared_with_what(run, folder):
    done = run("curve", "train.txt", *QUICK, "--today", "f1")
    assert done.code == 0
    for name in ("strata ", "SSAR ", "SSARP ", "SSAR per query ", "QI, all labels ", "today, f1 "):
        assert f"\n{name}" in done.out
    assert "above 95 % of the random draws: " in done.out
    assert "means over 5 folds; at random: mean of 2 draws and where 95 % of them lie\n" in done.out


def test_figures_csv_and_json_are_written(run, folder):
    done = run("curve", "train.txt", *QUICK, "-o", "curve.svg", "-o", "curve.png", "-o", "curve.csv")
    assert done.out.endswith("points\n")
    assert "\ncurve.svg: curve\n" in done.out
    assert Path("curve.png").read_bytes().startswith(b"\x89PNG")
    assert Path("curve.csv").read_text().startswith("ranker,sampler,n_labels,")
    payload = json.loads(run("curve", "train.txt", *QUICK, "--json").out)
    assert {point["ranker"] for point in payload["points"]} == {"QI"}
    assert payload["n_draws"] == 2


SPLITS = ("--today", "f1", "--splits", "2", "--sizes", "10,20")


def test_splits_show_what_is_gained_over_todays_ranking(run, folder):
    done = run("curve", "train.txt", *SPLITS, "-o", "gains.png", "-o", "gains.csv")
    assert done.code == 0, done.err
    for ranker in SPLIT_RANKERS:
        assert f"\n{ranker} " in f"\n{done.out}"
    for sampler in ("strata", "SSAR", "SSARP", "SSAR per query", "random"):
        assert done.out.count(f"\n{sampler}  ") == len(SPLIT_RANKERS)
    assert "\ntoday, f1: NDCG@10 0." in done.out
    assert (
        "what was gained over it in 2 splits:\nmean/worst, in brackets how many of them lost more than 0.02."
        in done.out
    )
    assert Path("gains.png").read_bytes().startswith(b"\x89PNG")
    assert ",gain,worst_gain,n_losses,n_runs\n" in Path("gains.csv").read_text()


def test_folds_are_read_or_split_anew_and_may_be_thinned(run, folder):
    world = make_ranking(n_queries=24, docs_per_query=12, n_features=5)
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
    done = run("curve", "folds", *QUICK, "--thin", "4")
    assert "means over 3 folds; one relevant document in 4 kept; " in done.out


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
        (("train.txt", "--measure", "BEST"), "BEST"),
        (("train.txt", "--splits", "3"), "which feature ranks the documents now? Say --today FEATURE, one of f1, "),
        (("train.txt", "--splits", "2", "--today", "m.rulerank"), "--today m.rulerank: a curve is measured on grades "),
        (("train.txt", "--method", "from-today"), "from-today starts from today's ranking: say which feature it is"),
    ],
)
def test_mistakes_end_in_one_line(run, folder, args, message):
    write_any(make_ranking(n_queries=2, docs_per_query=8), "two.csv")
    done = run("curve", *args)
    assert done.code == 2
    assert done.err.startswith("error: ")
    assert message in done.err
