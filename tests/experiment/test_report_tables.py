"""Tables of trials: bold by a t-test, deviations over folds; the report compiles."""

import shutil
import subprocess

import numpy as np
import pytest
from scipy import stats

import rulerank as rr
from rulerank.experiment.report import write_report
from rulerank.experiment.report.trials import deviations_tables, folds_table
from rulerank.experiment.run import run_experiment
from rulerank.experiment.summary import summarise

FOLDS = rr.make_folds(rr.make_world(n_queries=18, docs_per_query=12, n_features=5), n_folds=3)


@pytest.fixture(scope="module")
def experiment():
    return run_experiment(FOLDS, ["RE-GR", "QI", "RE-SR", "Best feature"])


@pytest.fixture(scope="module")
def summary(experiment):
    return summarise(experiment)


def test_bold_figures_of_a_fold_are_those_that_a_t_test_over_its_queries_cannot_tell_from_the_best(summary):
    table = folds_table(summary, "MAP")
    for number, fold in enumerate(FOLDS):
        values = {}
        for row in summary.rows:
            draws = np.atleast_2d(row.cells[number].test)
            found = [rr.evaluate(fold.test.y, scores, fold.test.qid, "MAP").values[0] for scores in draws]
            values[row.name] = np.mean(found, axis=0)
        best = max(values.values(), key=np.mean)
        for row in table.rows:
            own = values[row[0].text]
            same = np.abs(best - own).max() < 1e-12
            expected = same or stats.ttest_rel(best, own).pvalue >= 0.05
            assert row[1 + number].strong == expected, (row[0].text, fold.name)


def test_deviations_are_those_of_the_folds_means(summary):
    ndcg, precision = deviations_tables(summary)
    assert ndcg.header == ("system", "NDCG@2", "NDCG@4", "NDCG@6", "NDCG@8", "NDCG@10", "MAP")
    assert precision.header[1:] == ("P@2", "P@4", "P@6", "P@8", "P@10")
    row = next(row for row in ndcg.rows if row[0].text == "QI")
    by_fold = [
        rr.evaluate(fold.test.y, summary.row("QI").cells[number].test, fold.test.qid, "MAP").means["MAP"]
        for number, fold in enumerate(FOLDS)
    ]
    assert row[-1].text == f"{np.mean(by_fold):.3f} ± {np.std(by_fold, ddof=1):.3f}"


def test_one_fold_has_no_deviation():
    assert deviations_tables(summarise(run_experiment(FOLDS[:1], ["QI"]))) == []


@pytest.fixture(scope="module")
def written(experiment, tmp_path_factory):
    folder = tmp_path_factory.mktemp("report")
    write_report(experiment, folder, ["latex", "figures"])
    return folder


def test_figures_lie_beside_the_report_and_are_the_same_whenever_they_are_drawn(experiment, written, tmp_path):
    again = [file.name for file in write_report(experiment, tmp_path, ["figures"])]
    assert {"curves.pdf", "curves.svg", "differences.pdf", "differences.svg"} <= set(again)
    for name in again:
        assert (tmp_path / "figures" / name).read_bytes() == (written / "figures" / name).read_bytes(), name


@pytest.mark.skipif(shutil.which("pdflatex") is None, reason="needs a TeX with booktabs: there is no pdflatex")
def test_the_report_compiles(written):
    command = ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", "report.tex"]
    done = subprocess.run(command, cwd=written, capture_output=True, text=True, errors="replace")
    assert done.returncode == 0, done.stdout[-2000:]
    assert "Undefined control sequence" not in done.stdout
