"""The report tells all that came out, in any format; its figures are those of evaluate, its tests those of compare."""

import csv
import re
from dataclasses import replace

import numpy as np
import pytest

import rulerank as rr
from failing_rankers import First
from rulerank.errors import DataError
from rulerank.evaluation import compare_results, evaluate
from rulerank.experiment.report import check_formats, check_rules, make_report, mark, summarise, write_report
from rulerank.experiment.run import run_experiment
from rulerank.experiment.systems import Rank, System, choose_systems
from rulerank.render.html import render_html
from rulerank.render.latex import render_latex
from rulerank.render.text import render_markdown

FOLDS = rr.datasets.make_folds(rr.datasets.make_ranking(n_queries=15, docs_per_query=8, n_features=5), n_folds=5)
NASTY = '<script>alert("1")</script>|&_%'


@pytest.fixture(scope="module")
def experiment():
    mine = System(NASTY, "yours", Rank(First()), "a <b>bold</b> claim")
    own = {"up": First(), "down": First(sign=-1.0), "up again": First(sign=2.0), "bad": First("badly")}
    return run_experiment(
        FOLDS, [*choose_systems(["GlobalRules", "QueryIntercepts", "GlobalRules, literal"]), mine, own]
    )


@pytest.fixture(scope="module")
def report(experiment):
    return make_report(experiment, title=NASTY)[0]


@pytest.fixture(scope="module")
def summary(experiment):
    return summarise(experiment, ["ERR@5"], against="up")


@pytest.fixture(scope="module")
def written(experiment, tmp_path_factory):
    folder = tmp_path_factory.mktemp("report")
    write_report(experiment, folder, ["latex", "csv"], title=NASTY)
    return folder


def results(experiment, name):
    tests = [(fold.test, experiment.cells[name, number].test) for number, fold in enumerate(FOLDS)]
    return [evaluate(test.y, scores, test.qid, ["MAP", "NDCG@10"]) for test, scores in tests]


def test_figures_are_those_of_each_fold_and_their_mean(experiment, summary):
    expected = [result.means["MAP"] for result in results(experiment, "up")]
    row = summary.row("up")
    np.testing.assert_array_equal(row.folds[summary.place("MAP")], expected)
    assert row.means[summary.place("MAP")] == pytest.approx(np.mean(expected))
    assert {str(measure) for measure in summary.measures} > {"MAP", "NDCG@1", "NDCG@10", "P@10", "ERR@5"}
    assert row.n_tied == sum(result.n_tied for result in results(experiment, "up"))
    assert summary.place("ndcg@10") == summary.place("NDCG@10") == summary.place(summary.measures[10])


def test_differences_agree_with_those_of_compare(experiment, summary):
    whole = rr.Dataset.concat([fold.test for fold in FOLDS])
    scores = {name: np.concatenate([experiment.cells[name, n].test for n in range(5)]) for name in ("up", "down")}
    pair = compare_results({name: evaluate(whole.y, scores[name], whole.qid, "MAP") for name in scores}).pairs[0]
    found = next(d for d in summary.differences("MAP") if d.a == "down")
    assert (found.b, found.measure) == ("up", "MAP")
    assert found.difference == pytest.approx(-pair.difference)
    assert (found.low, found.high) == (pytest.approx(-pair.high), pytest.approx(-pair.low))
    for test in ("t", "randomisation"):
        assert found.p[test] == pytest.approx(pair.p[test])
        assert found.p_holm[test] >= found.p[test]
    assert (found.wins, found.losses) == (pair.losses, pair.wins)


def test_a_system_that_ranks_alike_does_not_differ(summary):
    same = next(d for d in summary.differences("MAP") if d.a == "up again")
    assert (same.difference, set(same.p.values()), set(same.p_holm.values()), mark(same)) == (0, {1}, {1}, "")
    assert summary.ranked("MAP")[0] in summary.ties_with_best("MAP")


def test_draws_are_averaged_query_by_query(experiment, summary):
    both = np.array([experiment.cells["up", 0].test, experiment.cells["down", 0].test])
    cells = experiment.cells | {("up", 0): replace(experiment.cells["up", 0], test=both)}
    mixed = summarise(replace(experiment, cells=cells))
    expected = (summary.row("up").folds[0, 0] + summary.row("down").folds[0, 0]) / 2
    assert mixed.row("up").folds[0, 0] == pytest.approx(expected)


def test_the_system_compared_with_is_re_gr_unless_another_is_named(experiment, summary):
    assert summarise(experiment).against == "GlobalRules"
    assert summary.against == "up"
    with pytest.raises(DataError, match="cannot compare with 'RRF', which has no scores; choose from GlobalRules, "):
        summarise(experiment, against="RRF")


def test_an_experiment_in_which_nothing_finished_says_why_and_still_shows():
    failed = run_experiment(FOLDS[:1], {"bad": First("badly")})
    with pytest.raises(DataError, match="no system finished on all folds; bad: ValueError: no luck today"):
        summarise(failed)
    assert "failed in all folds: ValueError" in repr(failed)


@pytest.mark.parametrize(
    ("measures", "convention", "ties", "against", "message"),
    [
        (["MAPP"], "standard", None, None, "unknown measure 'MAPP'"),
        (["MAP"], "letor9", None, None, "unknown convention 'letor9'"),
        (["MAP"], "standard", "lucky", None, "unknown tie rule 'lucky'"),
        (["MAP"], "standard", "docid", None, "ties='docid' needs the document ids"),
        (["MAP"], "standard", None, "GlobalRules", "cannot compare with 'GlobalRules', which was not run; cho"),
    ],
)
def test_rules_are_checked_before_the_work(measures, convention, ties, against, message):
    folds = [replace(fold, test=replace(fold.test, docid=None)) for fold in FOLDS]
    with pytest.raises(DataError, match=message):
        check_rules(folds, choose_systems(["QueryIntercepts"]), measures, against, convention=convention, ties=ties)


def test_an_unknown_format_is_told_before_the_work():
    with pytest.raises(DataError, match="unknown format 'pdf'; choose from html, markdown, latex, csv"):
        check_formats(["pdf"])


def test_an_experiment_shows_as_a_table_without_arrays(experiment):
    assert repr(experiment).splitlines()[0].split() == ["system", "MAP", "NDCG@10", "P@1", "P@10", "not", "finished"]
    assert "array" not in repr(experiment)
    assert "&lt;script&gt;" in experiment._repr_html_()


def test_a_report_has_all_its_sections_and_says_by_which_rules(report):
    assert [section.key for section in report.blocks] == ["results", "folds", "significance", "run"]
    assert re.match(
        r"Over 5 folds and 15 test queries, .* ranks best by MAP \(0\.\d{4}\)\. Against GlobalRules", report.lead[0]
    )
    for section in report.blocks[:-1]:
        assert all("convention standard, ties expected" in part.note for part in section.parts)


def test_every_format_has_every_table_and_data_does_not_become_markup(report):
    page, markdown, latex = render_html(report), render_markdown(report), render_latex(report)
    tables = [part for section in report.blocks for part in section.parts if hasattr(part, "rows")]
    assert page.count("<table>") == len(tables)
    assert latex.count(r"\begin{tabular}") == len(tables)
    assert NASTY not in page
    assert "<b>bold</b>" not in page
    assert page.count("<script>") == 1, "the page's own, which sorts tables"
    assert r"\textless{}script" in latex
    assert '\\<script\\>alert("1")\\</script\\>\\|' in markdown  # no markup, and a bar must not end a cell
    for text in (page, markdown):
        assert f"numpy {np.__version__}" in text
        assert "bad: failed in all folds: ValueError: no luck today" in text


def rows_of(path):
    with path.open() as file:
        return list(csv.DictReader(file))


def test_csv_has_every_figure_with_all_digits(experiment, summary, written):
    rows = rows_of(written / "results.csv")
    assert len(rows) == 8 * 5  # systems, the failed one too, and folds
    row = next(r for r in rows if (r["system"], r["fold"]) == ("QueryIntercepts", "Fold2"))
    assert {name: float(row[name]) for name in ("MAP", "NDCG@10")} == results(experiment, "QueryIntercepts")[1].means
    assert (row["convention"], row["ties"], row["labels"]) == ("standard", "expected", str(len(FOLDS[1].train)))
    assert rows[-1]["failure"].startswith("ValueError: no luck today")
    assert len(rows_of(written / "differences.csv")) == 6 * 21  # systems but one, measures
    own = [row for row in rows_of(written / "queries.csv") if row["system"] == "QueryIntercepts"]
    assert len(own) == 15
    by_fold = [np.mean([float(row["MAP"]) for row in own if row["fold"] == fold.name]) for fold in FOLDS]
    assert by_fold == pytest.approx(summary.row("QueryIntercepts").folds[summary.place("MAP")])


def test_the_table_of_folds_has_mean_and_deviation(experiment, report):
    row = next(row for row in report.blocks[1].parts[0].rows if row[0].text == "QueryIntercepts")
    values = [result.means["MAP"] for result in results(experiment, "QueryIntercepts")]
    figures = [f"{value:.4f}" for value in (*values, np.mean(values), np.std(values, ddof=1))]
    assert [cell.text for cell in row[1:]] == figures


def test_one_fold_and_one_system_are_enough_for_a_report(tmp_path):
    found = run_experiment(FOLDS[:1], ["QueryIntercepts"])
    page, _, differences, _ = write_report(found, tmp_path / "new", ["html", "csv"])
    assert "QueryIntercepts ranks best by MAP" in page.read_text()
    assert differences.read_text().startswith("system,against,measure,difference,")
