"""rulerank label-curve: the table and the files."""

from pathlib import Path

from rulerank.experiment.curve import RANKERS

SPLITS = ("--splits", "2", "--sizes", "10,20")


def test_splits_show_what_is_gained_over_the_baseline(run, folder):
    done = run("label-curve", "train.txt", "--baseline", "f1", *SPLITS, "-o", "gains.csv")
    assert done.code == 0, done.err
    for ranker in RANKERS:
        assert done.out.count(f"\n{ranker} ") == 5
    assert "\nbaseline f1: NDCG@10 0." in done.out
    assert "in 2 splits:\nmean/worst, in brackets the number of splits that lost more than 0.02" in done.out
    assert "\ngains.csv: 40 points\n" in done.out
    assert Path("gains.csv").read_text().startswith("ranker,sampler,n_labels,n_asked,value,gain,worst,n_losses\n")


def test_folds_are_read_or_split_anew(run, folder):
    run("make-data", "whole.csv", "--queries", "24")
    run("make-data", "folds", "--queries", "24", "--folds", "3")
    few = (*SPLITS, "--method", "Anchored", "--sampler", "strata")
    whole = run.json("label-curve", "whole.csv", *few)
    parts = run.json("label-curve", "folds", *few, "--baseline", "f1")
    assert (whole["baseline"], parts["baseline"]) == ("bm25_body", "f1")  # the first is found by its name
    assert {point["ranker"] for point in parts["points"]} == {"Anchored"}
    assert (parts["n_pool"], parts["n_splits"]) == (whole["n_pool"], 2)
