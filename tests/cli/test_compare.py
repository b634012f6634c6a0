"""rulerank compare runs systems over a directory of folds and writes the report."""

import json

import pytest

from rulerank.dataset import Fold
from rulerank.errors import DataError
from rulerank.experiment.systems import SYSTEMS


@pytest.fixture
def folds(folder):
    """The folder of the examples, which is one fold."""
    assert {"train.txt", "vali.txt", "test.txt"} <= {path.name for path in folder.iterdir()}
    return folder


def test_the_list_names_every_system_and_what_it_learns_from(run):
    done = run("compare", "--list")
    assert done.code == 0
    assert len(done.out.strip().splitlines()) == 1 + len(SYSTEMS)
    assert "RankBoost" in done.out
    assert "rounds chosen on vali" in done.out
    assert [row["system"] for row in json.loads(run("compare", "--list", "--json").out)] == list(SYSTEMS)


def test_it_writes_the_report_and_prints_the_means(run, folds):
    done = run(
        "compare",
        ".",
        "--method",
        "RE-GR",
        "--method",
        "qi",
        "-o",
        "out",
        "--jobs",
        "1",
        "--title",
        "A & B",
        "-m",
        "MAP,P@3",
    )
    assert done.code == 0
    assert done.out.splitlines()[0].split() == ["system", "MAP", "P@3"]
    assert [line.split()[0] for line in done.out.splitlines()[1:3]] == ["RE-GR", "QI"]
    assert "convention standard, ties expected" in done.out
    names = {path.name for path in (folds / "out").iterdir()}
    files = {"report.html", "report.md", "report.tex", "results.csv", "differences.csv", "cells.csv"}
    assert names == files | {"cells", "figures"}
    drawn = {path.name for path in (folds / "out" / "figures").iterdir()}
    assert drawn == {"differences.pdf", "differences.svg", "curves.pdf", "curves.svg"}
    assert "<h1>A &amp; B</h1>" in (folds / "out" / "report.html").read_text()
    assert len(list((folds / "out" / "cells").iterdir())) == 2


def test_a_second_run_gives_the_same_report_byte_for_byte(run, folds):
    args = ("compare", ".", "--method", "RE-GR", "--method", "QI", "-o", "out", "--jobs", "1")
    run(*args)
    before = {path.name: path.read_bytes() for path in (folds / "out").rglob("*.*")}
    run(*args)
    assert {path.name: path.read_bytes() for path in (folds / "out").rglob("*.*")} == before
    assert "curves.pdf" in before


def test_json_has_the_means_the_failures_and_the_files(run, folds):
    done = run(
        "compare", ".", "--method", "QI", "--to", "markdown", "--json", "-o", "out", "--jobs", "1", "--ties", "file"
    )
    found = json.loads(done.out)
    assert set(found["means"]) == {"QI"}
    assert set(found["means"]["QI"]) == {"MAP", "NDCG@1", "NDCG@5", "NDCG@10", "P@1", "P@5", "P@10"}
    assert (found["failures"], found["files"], found["ties"]) == ([], ["out/report.md"], "file")


def test_a_failure_is_told_and_the_exit_code_says_so(run, folds, monkeypatch):
    def fail(self, fold: Fold, used, measure):
        raise ZeroDivisionError("by design")

    monkeypatch.setattr(type(SYSTEMS["Best feature"].plan), "run", fail)
    done = run(
        "compare", ".", "--method", "QI", "--method", "Best feature", "--to", "markdown", "-o", "out", "--jobs", "1"
    )
    assert done.code == 1
    assert "Best feature" in done.err
    assert "failed: ZeroDivisionError: by design" in done.err
    assert "ZeroDivisionError: by design" in (folds / "out" / "report.md").read_text()


def test_the_label_curve_is_part_of_the_report_and_kept(run, folds):
    args = ("compare", ".", "--method", "SSAR", "--to", "markdown", "-o", "out", "--jobs", "1")
    assert run(*args).code == 0
    assert "## Label efficiency" in (folds / "out" / "report.md").read_text()
    [kept] = (folds / "out" / "cells").glob("label-curve-*.json")
    kept.write_text("{")
    assert run(*args).code == 0
    assert len(kept.read_text()) > 100


def test_why_there_is_no_label_curve_is_told(run, folds, monkeypatch):
    def fail(folds, **options):
        raise DataError("too few documents")

    monkeypatch.setattr("rulerank.experiment.label_curve.curve.label_curve", fail)
    done = run("compare", ".", "--method", "SSAR", "--to", "markdown", "-o", "out", "--jobs", "1", "-m", "ndcg@3")
    assert done.code == 0
    assert "the report has no label curve: too few documents\n" in done.err
    assert "## Label efficiency" not in (folds / "out" / "report.md").read_text()


@pytest.mark.parametrize(
    ("args", "message"),
    [
        ((), "error: expected a directory with folds: rulerank compare DIR, or --list for the systems"),
        ((".", "--method", "RE-GG"), "error: unknown system 'RE-GG'; did you mean RE-"),
        ((".", "--to", "pdf"), "error: unknown format 'pdf'; choose from html, markdown, latex, csv, figures"),
        ((".", "-m", "MAPP"), "error: unknown measure 'MAPP'"),
        ((".", "--method", "QI", "--against", "RE-GR"), "error: cannot compare with 'RE-GR', which is not run"),
        (("nowhere",), "error: nowhere: expected a directory with folds, got nothing of that name"),
        ((".", "--reference", "x"), "error: unknown reference 'x'; choose from auto, ohsumed, none"),
        ((".", "--jobs", "0"), "error: n_jobs must be a positive number, or -1 for all cores: got 0"),
        ((".", "--tune-by", "x"), "error: unknown measure 'x'"),
    ],
)
def test_mistakes_are_told_in_a_line(run, folds, args, message):
    done = run("compare", "--quick", *args)
    assert done.code == 2
    assert message in done.err
    assert "Traceback" not in done.err
