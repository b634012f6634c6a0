"""rulerank compare runs systems over a directory of folds and writes the report."""

import json

import pytest

from rulerank.dataset import Fold
from rulerank.experiment.systems import SYSTEMS


@pytest.fixture
def folds(folder):
    """The folder of the examples, which is one fold."""
    assert {"train.txt", "vali.txt", "test.txt"} <= {path.name for path in folder.iterdir()}
    return folder


def test_the_list_names_every_system(run):
    done = run("compare", "--list")
    assert done.code == 0
    assert len(done.out.strip().splitlines()) == 1 + len(SYSTEMS)
    assert [row["system"] for row in json.loads(run("compare", "--list", "--json").out)] == list(SYSTEMS)


def test_it_writes_the_report_and_prints_the_means(run, folds):
    args = [".", "--method", "RE-GR", "--method", "qi", "-o", "out", "--jobs", "1", "-m", "MAP,P@3", "--title"]
    done = run("compare", *args, "A & B")
    assert done.code == 0
    assert done.out.splitlines()[0].split() == ["system", "MAP", "P@3"]
    first, second = (
        [name, float(figure.strip("*~"))] for name, figure, _ in map(str.split, done.out.splitlines()[1:3])
    )
    assert {first[0], second[0]} == {"RE-GR", "QI"}
    assert first[1] >= second[1], "sorted by the first measure"
    assert done.out.splitlines()[1].split()[1].endswith("*"), "the best is marked"
    assert "sorted by MAP; *: the best, ~: not significantly worse" in done.out
    assert "convention standard, ties expected" in done.out
    names = {path.name for path in (folds / "out").iterdir()}
    files = {"report.html", "report.md", "report.tex", "results.csv", "differences.csv", "queries.csv"}
    assert names == files | {"cells"}
    assert "<h1>A &amp; B</h1>" in (folds / "out" / "report.html").read_text()
    assert len(list((folds / "out" / "cells").iterdir())) == 2


def test_json_has_the_means_the_failures_and_the_files(run, folds):
    done = run(
        "compare", ".", "--method", "QI", "--to", "markdown", "--json", "-o", "out", "--jobs", "1", "--ties", "file"
    )
    found = json.loads(done.out)
    assert set(found["means"]) == {"QI"}
    assert set(found["means"]["QI"]) == {"MAP", "NDCG@1", "NDCG@5", "NDCG@10", "P@1", "P@5", "P@10"}
    assert (found["failures"], found["files"], found["ties"]) == ([], ["out/report.md"], "file")


def test_a_failure_is_told_and_the_exit_code_says_so(run, folds, monkeypatch):
    def fail(self, fold: Fold, measure):
        raise ZeroDivisionError("by design")

    monkeypatch.setattr(type(SYSTEMS["Best feature"].plan), "run", fail)
    done = run(
        "compare", ".", "--method", "QI", "--method", "Best feature", "--to", "markdown", "-o", "out", "--jobs", "1"
    )
    assert done.code == 1
    assert "Best feature" in done.err
    assert "failed: ZeroDivisionError: by design" in done.err
    assert "ZeroDivisionError: by design" in (folds / "out" / "report.md").read_text()


@pytest.mark.parametrize(
    ("args", "message"),
    [
        (
            ("--jobs", "1"),
            "error: expected folds, or a file to split: rulerank compare DATA, or --list for the systems",
        ),
        ((".", "--method", "RE-GG"), "error: unknown system 'RE-GG'; did you mean RE-"),
        ((".", "--to", "pdf"), "error: unknown format 'pdf'; choose from html, markdown, latex, csv"),
        (
            ("nowhere",),
            "error: nowhere: expected a directory with folds or a file of graded documents, got nothing of that name",
        ),
        ((".", "--jobs", "0"), "error: n_jobs must be a positive number, or -1 for all cores: got 0"),
        ((".", "--tune-by", "x"), "error: unknown measure 'x'"),
        ((".", "--run", "one.run"), "error: --run takes NAME=VALUE, such as --run mine=...: got 'one.run'"),
        (
            (".", "--run", "a=one.run", "--run", "a=two.run"),
            "error: --run 'a' is there twice: give each a name of its own",
        ),
        ((".", "--run", "QI=one.run"), "error: two systems are called 'QI': give each a name of its own"),
        (("test.csv", "--folds", "2"), "error: n_folds must be"),
        (("test.csv", "--run", "a=scores.txt"), "error: scores.txt: "),
    ],
)
def test_mistakes_are_told_in_a_line(run, folds, args, message):
    done = run("compare", *args)
    assert done.code == 2
    assert message in done.err
    assert "Traceback" not in done.err


def test_one_file_is_split_and_ones_own_systems_stand_in_the_same_table(run, folds):
    (folds / "my_rankers.py").write_text("from sklearn.ensemble import HistGradientBoostingRegressor as Trees\n")
    done = run(
        "compare", "test.csv", "--folds", "3", "--method", "RE-GR", "--run", "engine=one.run",
        "--ranker", "trees=my_rankers:Trees", "--against", "engine", "--jobs", "2", "-o", "out",
        "--to", "markdown,csv", "-m", "MAP",
    )  # fmt: skip
    assert done.code == 0, done.err
    values = {line.split()[0]: line.split()[1].strip("*~") for line in done.out.splitlines()[1:4]}
    assert set(values) == {"RE-GR", "trees", "engine"}
    assert list(values.values()) == sorted(values.values(), reverse=True)
    assert "less that of engine" in (folds / "out" / "report.md").read_text()


def test_a_run_that_fits_nothing_is_reported_and_not_dropped(run, folds):
    (folds / "bad.run").write_text("z Q0 d 1 0.5 x\n")
    done = run("compare", ".", "--method", "QI", "--run", "bad=bad.run", "--jobs", "1", "--to", "markdown", "-o", "out")
    assert done.code == 1
    assert "bad" in [line.split()[0] for line in done.out.splitlines()[:4]]
    assert "bad: failed in all folds: DataError: no query of " in done.out
    assert "no query of" in (folds / "out" / "report.md").read_text()


def test_ungraded_documents_of_a_file_are_left_out_and_told(run, folds):
    lines = (folds / "test.csv").read_text().splitlines()
    place = lines[0].split(",").index("grade")
    cells = lines[1].split(",")
    cells[place] = ""
    (folds / "some.csv").write_text("\n".join([lines[0], ",".join(cells), *lines[2:]]) + "\n")
    done = run("compare", "some.csv", "--folds", "3", "--method", "QI", "--jobs", "1", "--to", "markdown", "-o", "out")
    assert done.code == 0
    assert f"left out: 1 document of {len(lines) - 1} without a judgement (--unjudged 0 counts them)\n" in done.err
    assert "some.csv: the recall base is not known" in done.err
