import json
from pathlib import Path

import pytest

from rulerank.datasets.ranking import make_ranking
from rulerank.experiment.label_curve import RANKERS
from rulerank.io.formats import write_any
from rulerank.splitting import make_folds

SPLITS = ("--today", "f1", "--splits", "2", "--sizes", "10,20")


def test_splits_show_what_is_gained_over_todays_ranking(run, folder):
    done = run("curve", "train.txt", *SPLITS, "-o", "gains.png", "-o", "gains.csv")
    assert done.code == 0, done.err
    for ranker in RANKERS:
        assert done.out.count(f"\n{ranker} ") == 5
    for sampler in ("strata", "SSAR", "SSARP", "SSAR per query", "random"):
        assert done.out.count(f"  {sampler}  ") == len(RANKERS)
    assert "\nbaseline f1: NDCG@10 0." in done.out
    assert "in 2 splits:\nmean/worst, in brackets how many of them lost more than 0.02" in done.out
    assert "\ngains.png: curve\n" in done.out
    assert Path("gains.png").read_bytes().startswith(b"\x89PNG")
    assert Path("gains.csv").read_text().startswith("ranker,sampler,n_labels,n_asked,value,gain,worst,n_losses\n")


def test_a_file_and_its_folds_give_the_same_queries(run, folder):
    world = make_ranking(n_queries=24, docs_per_query=12, n_features=5)
    write_any(world, "world.csv")
    for fold in make_folds(world, 3):
        for part in ("train", "vali", "test"):
            Path("folds", fold.name).mkdir(parents=True, exist_ok=True)
            write_any(getattr(fold, part), f"folds/{fold.name}/{part}.txt")
    few = ("--method", "anchored", "--sampler", "strata", "--json")
    whole = json.loads(run("curve", "world.csv", *SPLITS[2:], *few).out)
    parts = json.loads(run("curve", "folds", *SPLITS, *few).out)
    assert (whole["today"], parts["today"]) == ("bm25_body", "f1")  # the first is found by its name
    assert {point["ranker"] for point in parts["points"]} == {"Anchored"}
    assert parts["n_pool"] == whole["n_pool"] == len(world) / 2
    assert parts["n_splits"] == 2


@pytest.mark.parametrize(
    ("args", "message"),
    [
        (("train.txt", "-o", "curve.gif"), "a curve is written as .png, .svg, .pdf or .csv: got 'curve.gif'"),
        (("train.txt", "-o", "nowhere/curve.csv"), "its directory does not exist"),
        (("train.txt", "--sizes", "ten"), "--sizes takes whole numbers, such as 50,100,200: got 'ten'"),
        (("train.txt", "--today", "f1", "--method", "best"), "unknown method 'best'; choose from"),
        (
            ("two.csv", "--today", "bm25_body"),
            "expected graded documents of at least 4 queries to split into halves, got 2",
        ),
        ((".", "--from", "csv"), "folds are LETOR files: leave out --from and the names of columns"),
        ((".", "--qid", "query"), "folds are LETOR files: leave out --from and the names of columns"),
        (("train.txt", "--today", "f1", "--measure", "BEST"), "BEST"),
        (("train.txt",), "which feature ranks the documents now? Say --today FEATURE, one of f1, "),
        (("train.txt", "--today", "m.rulerank"), "--today m.rulerank: a curve is measured on grades "),
    ],
)
def test_mistakes_end_in_one_line(run, folder, args, message):
    write_any(make_ranking(n_queries=2, docs_per_query=8), "two.csv")
    done = run("curve", *args)
    assert done.code == 2
    assert done.err.startswith("error: ")
    assert message in done.err
