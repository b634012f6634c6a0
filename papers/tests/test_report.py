"""The report of the papers: published figures beside ours, the sampling paper's tables, the pictures."""

from dataclasses import replace

import numpy as np
import pytest
from scipy import stats

import rulerank as rr
from papers.reference import OHSUMED
from papers.report import called_by_feature, deviations_tables, paper_systems, papers_report
from papers.run import run_systems
from papers.sampled import AtRandom, FromTheTop
from papers.sampling_tables import sampling_tables
from papers.systems import SYSTEMS, systems_named, with_top_feature
from rulerank.experiment.report import summarise
from rulerank.render.document import DASH
from rulerank.render.text import render_markdown

FOLDS = rr.datasets.make_folds(rr.datasets.make_ranking(n_queries=20, docs_per_query=12, n_features=5), n_folds=5)
NAMES = [
    "RE-GR", "RE-QR", "DC3A", "QI", "Regression", "RankBoost", "Random (SSARP)", "Top feature (SSARP)",
    "RankSVM (SSARP)", "RankSVM, random (SSARP)", "RankSVM, top (SSARP)", "RE-SR",
]  # fmt: skip


@pytest.fixture(scope="module")
def experiment():
    return run_systems(FOLDS, systems_named(NAMES))


@pytest.fixture(scope="module")
def report(experiment):
    return papers_report(experiment, title="all", collection=OHSUMED[45])[0]


@pytest.fixture(scope="module")
def summary(experiment):
    return summarise(experiment)


def test_a_report_has_all_its_sections_and_pictures(report):
    keys = [section.key for section in report.blocks]
    assert keys == ["results", "folds", "significance", "published", "competence", "sampling", "run"]
    drawn = [part.key for section in report.blocks for part in section.parts if hasattr(part, "svg")]
    assert drawn == ["curves-papers", "competence-map", "domains", "scores"]
    times = report.blocks[-1].parts[-1]
    assert times.header[-1] == "in the paper"
    assert {len(row) for row in times.rows} == {len(times.header)}


def test_every_system_of_the_papers_has_a_row():
    papers = (
        "RE-GR, RE-SR, RE-QR, Added Value, Certainty, Confidence, Strength Score, Yule's Q, Yule's Y, "
        "Relative Confidence, DC3A, QC3A, CombMNZ, Borda Count, Condorcet, Linear Combination, QI, SSAR, SSARP, "
        "Random (SSAR), Top feature (SSAR), RankSVM, RankBoost, FRank, AdaRank-MAP, AdaRank-NDCG, ListNet, SVMMAP, "
        "Regression, LambdaMART, RRF, Competence"
    )
    assert set(papers.split(", ")) <= set(SYSTEMS)


def test_parameters_are_chosen_on_vali_and_never_see_a_grade_of_test():
    fold = FOLDS[0]
    hidden = replace(fold, test=replace(fold.test, y=np.zeros_like(fold.test.y)))
    libraries = {
        name for name, system in SYSTEMS.items() if system.group == "libraries"
    }  # slow, and they see no more than others
    systems = [system for name, system in SYSTEMS.items() if name not in libraries]
    seen, blind = (run_systems([one], systems) for one in (fold, hidden))
    assert not seen.failures
    for place, scores in seen.cells.items():
        np.testing.assert_array_equal(blind.cells[place].test, scores.test, err_msg=str(place))
        assert blind.cells[place].params == scores.params


def test_published_figures_are_shown_beside_ours(report):
    [section] = [section for section in report.blocks if section.key == "published"]
    table, folds = section.parts
    row = next(r for r in table.rows if r[0].text == "RE-GR" and r[1].text == "MAP")
    assert row[3].text == "0.456"
    assert "Table V" in row[-1].text
    assert [entry.text for entry in folds.rows[0]][:3] == ["RE-GR", "published", "0.352"]


@pytest.mark.parametrize(("n_folds", "expected"), [(5, ["published", "published-folds"]), (4, ["published"])])
def test_trials_are_set_beside_the_papers_only_where_there_are_five(experiment, n_folds, expected):
    cells = {place: scores for place, scores in experiment.cells.items() if place[1] < n_folds}
    some = replace(experiment, folds=experiment.folds[:n_folds], cells=cells, failures={})
    report = papers_report(some, title="", collection=OHSUMED[45], draw=False)[0]
    [section] = [section for section in report.blocks if section.key == "published"]
    assert [part.key for part in section.parts] == expected
    for table in section.parts:
        assert {len(row) for row in table.rows} == {len(table.header)}


def test_a_difference_is_printed_only_where_the_collection_is_the_same(report):
    [section] = [section for section in report.blocks if section.key == "published"]
    rows = [[cell.text for cell in row] for row in section.parts[0].rows]
    gaps = {row[2]: {other[5] for other in rows if other[2] == row[2]} for row in rows}
    assert gaps["LETOR 2.0"] == {DASH}
    assert DASH not in gaps["LETOR 3.0"]
    assert ("QI", "MAP", "LETOR 2.0", "0.445") in {tuple(row[:4]) for row in rows}


def test_figures_of_a_web_collection_stand_beside_ours(experiment):
    report = papers_report(experiment, title="", collection="TD2003, LETOR 3.0", draw=False)[0]
    [section] = [section for section in report.blocks if section.key == "published"]
    rows = {(row[0].text, row[1].text, row[2].text, row[3].text) for row in section.parts[0].rows}
    assert {("RE-QR", "MAP", "LETOR 3.0", "0.300"), ("DC3A", "MAP", "LETOR 3.0", "0.308")} <= rows
    assert {("QI", "MAP", "LETOR 2.0", "0.248"), ("RE-GR", "MAP", "LETOR 3.0", "0.246")} <= rows  # the other is LRAR's
    folds = [[cell.text for cell in row] for row in section.parts[1].rows]
    assert ["RE-GR", "published", "0.169", "0.293", "0.365", "0.394", "0.219", "0.288"] in folds


def test_what_the_text_says_of_the_papers_figures_is_said_of_global_rules_only(report):
    text = render_markdown(report)
    assert "how the figure of RE-GR came about; it explains none of the gains that they report for RE-SR, RE-QR" in text
    assert "DC3A takes only confidence and strength, and QC3A strength for all documents in eight" in text


def test_deviations_are_those_of_the_folds_means(summary):
    ndcg, precision = deviations_tables(summary)
    assert ndcg.header == ("system", "NDCG@2", "NDCG@4", "NDCG@6", "NDCG@8", "NDCG@10", "MAP")
    assert precision.header[1:] == ("P@2", "P@4", "P@6", "P@8", "P@10")
    row = next(row for row in ndcg.rows if row[0].text == "QI")
    by_fold = summary.row("QI").folds[summary.place("MAP")]
    assert row[-1].text == f"{np.mean(by_fold):.3f} ± {np.std(by_fold, ddof=1):.3f}"
    one = replace(summary, experiment=replace(summary.experiment, folds=FOLDS[:1]))
    assert deviations_tables(one) == []


def test_rows_that_go_by_a_feature_are_called_by_it():
    systems = with_top_feature(systems_named(["Top feature (SSAR)"]), FOLDS[0].train.feature_names[0])
    summary = summarise(called_by_feature(run_systems(FOLDS[:2], systems)))
    assert [row.name for row in summary.rows] == ["SSAR", f"{FOLDS[0].train.feature_names[0]} (SSAR)"]


def test_the_sampling_papers_tables_have_all_their_columns(summary):
    selections, svm, supervised = sampling_tables(summary)
    found = dict(zip(selections.header, [cell.text for cell in selections.rows[0]], strict=True))
    assert list(found) == [
        "chosen by", "MAP", "LRAR", "LBM25", "Random", "G %", "Sel", "Utot", "Sel %", "Rsel %", "R %", "R25 %",
    ]  # fmt: skip
    chosen = [summary.row("SSARP").cells[number].chosen for number in range(5)]
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
    [table] = sampling_tables(summarise(type(experiment)(experiment.folds, tuple(some), cells, {}, "MAP")))
    assert [cell.text for cell in table.rows[0]][2:6] == ["–", "–", "–", "–"]


def test_the_papers_curves_show_their_rankers_and_the_best_baseline(summary):
    names = paper_systems(summary)
    baselines = {name: summary.row(name).means[0] for name in ("RankBoost", "Regression")}
    assert names == ["RE-GR", "RE-QR", "RE-SR", max(baselines, key=baselines.get)]
