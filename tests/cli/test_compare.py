"""rulerank compare runs systems over a directory of folds and writes the report."""

import polars as pl

from rulerank.experiment.systems import SYSTEMS


def test_it_writes_the_report_and_prints_the_means(run, folder):
    done = run("compare", ".", "--method", "RE-GR", "--method", "qi", "-o", "out", "--jobs", "1", "-m", "MAP,P@3")
    assert done.out.splitlines()[0].split() == ["system", "MAP", "P@3"]
    first, second = (float(line.split()[-2].strip("*~")) for line in done.out.splitlines()[1:3])
    assert first >= second, "sorted by the first measure"
    assert done.out.splitlines()[1].split()[-2].endswith("*"), "the best is marked"
    assert "sorted by MAP; *: the best, ~: not significantly worse" in done.out
    assert "convention standard, ties expected" in done.out
    files = {"report.html", "report.md", "report.tex", "results.csv", "differences.csv", "queries.csv"}
    assert {path.name for path in (folder / "out").iterdir()} == files | {"cells"}
    assert len(list((folder / "out" / "cells").rglob("output.pkl"))) == 2


def test_a_method_may_have_settings_and_the_convention_too(run, folder):
    method = "GlobalRules:votes=mean,drop_weakest=0"
    words = ("compare", ".", "--method", method, "--jobs", "1", "--convention", "letor3:ties=file")
    found = run.json(*words)
    assert set(found["means"]) == {method}
    assert (found["failures"], found["convention"], found["ties"]) == ([], "letor3", "file")


def test_a_failure_is_told_and_the_exit_code_says_so(run, folder, monkeypatch):
    def fail(self, fold, measure):
        raise ZeroDivisionError("by design")

    monkeypatch.setattr(type(SYSTEMS["Best feature"].plan), "run", fail)
    (folder / "bad.run").write_text("z Q0 d 1 0.5 x\n")
    done = run("compare", ".", "--method", "QI", "--method", "Best feature", "--run", "bad=bad.run", "--jobs", "1")
    assert done.code == 1
    assert "Best feature: failed in all folds: ZeroDivisionError: by design" in done.out
    assert "bad: failed in all folds: DataError: no query of " in done.out
    assert "ZeroDivisionError: by design" in (folder / "report" / "report.md").read_text()


def test_one_file_is_split_and_ones_own_systems_stand_in_the_same_table(run, folder):
    (folder / "my_rankers.py").write_text("from sklearn.ensemble import HistGradientBoostingRegressor as Trees\n")
    table = pl.read_csv("test.csv")
    table.with_columns(grade=pl.Series([None, *table["grade"][1:]])).write_csv("some.csv")
    done = run(
        "compare", "some.csv", "--folds", "3", "--method", "RE-GR", "--run", "engine=one.run", "--method",
        "trees=my_rankers:Trees", "--baseline", "engine", "--jobs", "2", "-m", "MAP",
    )  # fmt: skip
    assert done.code == 0, done.err
    values = [line.split()[1].strip("*~") for line in done.out.splitlines()[1:4]]
    assert values == sorted(values, reverse=True)
    assert {line.split()[0] for line in done.out.splitlines()[1:4]} >= {"trees", "engine"}
    assert "minus that of engine" in (folder / "report" / "report.md").read_text()
    how = "--convention standard:unjudged=0 counts them as not relevant"
    said = f"left out: 1 document of {len(table)} without a judgement ({how})\n"
    assert said in done.err
    assert "some.csv: the recall base is not known" in done.err
