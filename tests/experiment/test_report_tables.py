"""The papers' tables: trials in bold by a t-test, deviations over folds, and all columns of the sampling paper."""

import shutil
import subprocess

import numpy as np
import pytest
from scipy import stats

import rulerank as rr
from rulerank.experiment.report import write_report
from rulerank.experiment.report.pictures import paper_systems
from rulerank.experiment.report.sampling import sampling_tables
from rulerank.experiment.report.trials import deviations_tables, folds_table
from rulerank.experiment.run import run_experiment
from rulerank.experiment.sampled import AtRandom, FromTheTop
from rulerank.experiment.summary import summarise

FOLDS = rr.make_folds(rr.make_world(n_queries=18, docs_per_query=12, n_features=5), n_folds=3)
NAMES = [
    "RE-GR", "QI", "Regression", "RankBoost", "SSARP", "Random (SSARP)", "BM25 (SSARP)", "RankSVM (SSARP)",
    "RankSVM, random (SSARP)", "RankSVM, top (SSARP)", "RE-SR",
]  # fmt: skip


@pytest.fixture(scope="module")
def experiment():
    return run_experiment(FOLDS, NAMES)


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


def test_the_sampling_papers_tables_have_all_their_columns(summary):
    selections, svm, supervised = sampling_tables(summary)
    found = dict(zip(selections.header, [cell.text for cell in selections.rows[0]], strict=True))
    assert list(found) == [
        "chosen by", "MAP", "LRAR", "LBM25", "Random", "G %", "Sel", "Utot", "Sel %", "Rsel %", "R %", "R25 %",
    ]  # fmt: skip
    chosen = [summary.row("SSARP").cells[number].chosen for number in range(3)]
    sel, utot = np.mean([rows.size for rows in chosen]), np.mean([len(fold.train) for fold in FOLDS])
    assert (found["Sel"], found["Utot"]) == (f"{sel:,.0f}", f"{utot:,.0f}")
    assert found["Sel %"] == f"{100 * sel / utot:.2f}"
    relevant = [(fold.train.y[rows] > 0).mean() for fold, rows in zip(FOLDS, chosen, strict=True)]
    assert found["Rsel %"] == f"{100 * np.mean(relevant):.1f}"
    assert found["R %"] == f"{100 * np.mean([(fold.train.y > 0).mean() for fold in FOLDS]):.1f}"
    assert found["LRAR"] == f"{summary.row('RE-GR').means[0]:.4f}"
    by_rules = [row for row in summary.rows if isinstance(row.system.plan, FromTheTop | AtRandom)]
    others = [row.means[0] for row in by_rules if not row.system.plan.learner.needs_pairs]
    assert len(others) == 2
    gain = summary.row("SSARP").means[0] / max(others)
    assert found["G %"] == f"{100 * (gain - 1):+.2f}"
    assert svm.header == ("SSARP", "SVMS", "SBM25", "Random", "G %")
    assert svm.rows[0][1].text == f"{summary.row('RankSVM (SSARP)').means[0]:.4f}"
    assert supervised.header == ("measure", "SSARP", "RankBoost", "Regression")
    assert [row[0].text for row in supervised.rows] == ["MAP", "NDCG@1", "NDCG@5", "NDCG@10"]


def test_random_has_the_confidence_interval_of_its_draws(summary):
    row = summary.row("Random (SSARP)")
    by_draw = np.mean(
        [
            [rr.evaluate(f.test.y, scores, f.test.qid, "MAP").means["MAP"] for scores in row.cells[number].test]
            for number, f in enumerate(FOLDS)
        ],
        axis=0,
    )
    low, high = stats.t.interval(0.95, 19, by_draw.mean(), stats.sem(by_draw))
    assert sampling_tables(summary)[0].rows[0][4].text == f"{by_draw.mean():.4f} ± {(high - low) / 2:.4f}"


def test_what_was_not_run_is_a_dash(experiment):
    some = [system for system in experiment.systems if system.name in ("SSARP", "QI")]
    cells = {place: scores for place, scores in experiment.cells.items() if place[0] in ("SSARP", "QI")}
    [table] = sampling_tables(summarise(type(experiment)(experiment.folds, tuple(some), cells, {}, "MAP", 0)))
    assert [cell.text for cell in table.rows[0]][2:6] == ["–", "–", "–", "–"]


@pytest.fixture(scope="module")
def written(experiment, tmp_path_factory):
    folder = tmp_path_factory.mktemp("report")
    write_report(experiment, folder, ["latex", "figures"])
    return folder


def test_figures_lie_beside_the_report_and_are_the_same_whenever_they_are_drawn(experiment, written, tmp_path):
    again = [file.name for file in write_report(experiment, tmp_path, ["figures"])]
    assert {"curves.pdf", "curves.svg", "curves-best.svg", "differences.pdf", "differences.svg"} <= set(again)
    for name in again:
        assert (tmp_path / "figures" / name).read_bytes() == (written / "figures" / name).read_bytes(), name


@pytest.mark.skipif(shutil.which("pdflatex") is None, reason="needs a TeX with booktabs: there is no pdflatex")
def test_the_report_compiles(written):
    command = ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", "report.tex"]
    done = subprocess.run(command, cwd=written, capture_output=True, text=True, errors="replace")
    assert done.returncode == 0, done.stdout[-2000:]
    assert "Undefined control sequence" not in done.stdout


def test_the_papers_curves_show_their_rankers_and_the_best_baseline(summary):
    names = paper_systems(summary)
    baselines = {name: summary.row(name).means[0] for name in ("RankBoost", "Regression")}
    assert names == ["RE-GR", "RE-SR", max(baselines, key=baselines.get)]
