import json
from pathlib import Path

import pytest

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


@pytest.mark.parametrize(
    ("args", "message"),
    [
        (("train.txt", "-o", "curve.pdf"), "a curve is written as .png, .svg or .csv: got 'curve.pdf'"),
        (("train.txt", "-o", "nowhere/curve.csv"), "its directory does not exist"),
        (("train.txt", "--sizes", "ten"), "--sizes takes whole numbers, such as 50,100,200: got 'ten'"),
        (("train.txt", "--method", "best"), "unknown method 'best'; choose from"),
        (("two.csv",), "two.csv: expected graded documents of at least 3 queries to split, got 2"),
        ((".", "--from", "csv"), "folds are LETOR files: leave out --from and the names of columns"),
        ((".", "--qid", "query"), "folds are LETOR files: leave out --from and the names of columns"),
        (("train.txt", "--draws", "1"), "n_draws must be a whole number from 2"),
        (("train.txt", "--measure", "BEST"), "BEST"),
        (("train.txt", "--thin", "0"), "keep_one_in must be a whole number from 1: got 0"),
    ],
)
def test_mistakes_end_in_one_line(run, folder, args, message):
    write_any(make_world(n_queries=2, docs_per_query=8), "two.csv")
    done = run("curve", *args)
    assert done.code == 2
    assert done.err.startswith("error: ")
    assert message in done.err


def test_the_demo_shows_what_few_labels_are_worth(run):
    done = run("demo", "--queries", "12")
    assert (
        "\n4. Labels are costly. SSAR says which documents to label, one at a time; query intercepts learn" in done.out
    )
    assert "where it stops by itself" in done.out
    assert "at random (95 % of 10 draws)" in done.out
    payload = json.loads(run("demo", "--queries", "12", "--json").out)
    assert payload["label_curve"]["points"][0]["sampler"] == "SSAR"
