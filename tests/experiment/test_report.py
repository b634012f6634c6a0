"""The report tells all that came out, in any format, without letting data become markup."""

import csv
import io
import re
from dataclasses import replace
from html.parser import HTMLParser

import numpy as np
import pytest

import rulerank as rr
from failing_rankers import First
from rulerank.errors import DataError, MissingExtraError
from rulerank.experiment.compare import CURVE_NAMES
from rulerank.experiment.label_curve.curve import label_curve
from rulerank.experiment.plans import Rank
from rulerank.experiment.reference import OHSUMED
from rulerank.experiment.report import check_formats, make_report, write_report
from rulerank.experiment.run import run_experiment
from rulerank.experiment.summary import summarise
from rulerank.experiment.systems import System, choose_systems, with_top_feature
from rulerank.render import render_html, render_latex, render_markdown
from rulerank.render.document import DASH

FOLDS = rr.make_folds(rr.make_world(n_queries=15, docs_per_query=8, n_features=5), n_folds=5)
NASTY = '<script>alert("1")</script>|&_%'
EMPTY = ("meta", "link", "img", "br", "path", "use", "image")


@pytest.fixture(scope="module")
def experiment():
    mine = System(NASTY, "yours", Rank(First()), "a <b>bold</b> claim")
    systems = [
        *choose_systems(["RE-GR", "RE-QR", "DC3A", "RRF", "QI", "SSARP", "RankSVM (SSARP)", "Regression"]),
        mine,
        System("bad", "yours", Rank(First("badly")), ""),
    ]
    return run_experiment(FOLDS, systems)


@pytest.fixture(scope="module")
def curve():
    return label_curve(FOLDS, ["QI"], sizes=[10, 20], n_draws=2)


@pytest.fixture(scope="module")
def report(experiment, curve):
    return make_report(experiment, title=NASTY, collection=OHSUMED[45], curve=curve)[0]


@pytest.fixture(scope="module")
def page(report):
    return render_html(report)


class Tags(HTMLParser):
    """The tags of a page, which must nest."""

    def __init__(self):
        super().__init__()
        self.open, self.seen, self.attributes = [], [], []

    def handle_starttag(self, tag, attrs):
        self.seen.append(tag)
        self.attributes += attrs
        if tag not in EMPTY:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.attributes += attrs

    def handle_endtag(self, tag):
        if tag not in EMPTY:
            assert self.open.pop() == tag


def test_a_report_has_all_its_sections(report):
    keys = [section.key for section in report.blocks]
    assert keys == ["results", "folds", "significance", "published", "time", "competence", "sampling", "labels", "run"]


def test_the_sentence_names_the_best_system_and_what_was_tested(report):
    assert re.match(r"Over 5 folds and 15 test queries, .* ranks best by MAP \(0\.\d{4}\); ", report.lead[0])
    assert "RE-GR" in report.lead[0]


def test_every_table_says_by_which_rules_it_was_measured(report):
    for section in report.blocks:
        for part in section.parts:
            if hasattr(part, "rows") and section.key in ("results", "folds", "significance", "published"):
                assert "convention" in part.note
                assert "ties" in part.note


def test_the_page_nests_and_stands_alone(page):
    tags = Tags()
    tags.feed(page)
    assert not tags.open
    for name, value in tags.attributes:
        if name in ("src", "href", "xlink:href", "srcset", "action"):
            assert value.startswith(("#", "data:image/png;base64,")), value
    assert "@import" not in page
    assert not re.search(r"url\((?!#)", page)


def test_ids_of_the_page_are_there_once(page):
    ids = re.findall(r'\bid="([^"]+)"', page)
    assert len(set(ids)) == len(ids)
    for used in re.findall(r'(?:href="|url\()#([^")]+)', page):
        assert used in ids


def test_data_does_not_become_markup(page):
    assert NASTY not in page
    assert "<b>bold</b>" not in page
    assert "&lt;script&gt;alert" in page
    assert page.count("<script>") == 1, "the page's own, which sorts tables"


def test_pictures_take_the_ink_and_the_font_of_the_page(report):
    pictures = [part for section in report.blocks for part in section.parts if hasattr(part, "svg")]
    assert len(pictures) == 7
    for picture in pictures:
        assert "currentColor" in picture.svg
        assert "#000000" not in picture.svg
        assert "DejaVu" not in picture.svg


def test_a_failed_system_is_told_with_its_reason(page):
    assert "ValueError: no luck today" in page
    assert "1 not finished" in page


def test_the_same_experiment_gives_the_same_page(experiment, curve, page):
    again = make_report(experiment, title=NASTY, collection=OHSUMED[45], curve=curve)[0]
    assert render_html(again) == page


def test_markdown_and_latex_have_every_table(report):
    markdown, latex = render_markdown(report), render_latex(report)
    tables = [part for section in report.blocks for part in section.parts if hasattr(part, "rows")]
    assert markdown.count("\n### ") == len(tables)
    assert latex.count(r"\begin{tabular}") + latex.count(r"\begin{longtable}") == len(tables)
    assert r"\textless{}script" in latex
    assert '\\<script\\>alert("1")\\</script\\>\\|' in markdown  # no markup, and a bar must not end a cell
    rows = [line for line in markdown.splitlines() if line.startswith("|")]
    assert all("\n" not in row for row in rows)


def test_csv_has_every_figure_with_all_digits(experiment, tmp_path):
    files = {path.name: path for path in write_report(experiment, tmp_path, ["csv"])}
    rows = list(csv.DictReader(io.StringIO(files["results.csv"].read_text())))
    assert len(rows) == 16 * 21 * 6  # systems, measures, folds and mean
    row = next(r for r in rows if (r["system"], r["measure"], r["fold"]) == ("QI", "MAP", "Fold2"))
    test = FOLDS[1].test
    expected = rr.evaluate(test.y, experiment.cells["QI", 1].test, test.qid, "MAP").means["MAP"]
    assert float(row["value"]) == expected
    assert (row["convention"], row["ties"]) == ("standard", "expected")
    differences = list(csv.DictReader(io.StringIO(files["differences.csv"].read_text())))
    assert len(differences) == 15 * 21
    assert len(files["cells.csv"].read_text().splitlines()) == 1 + 16 * 5


def test_one_fold_and_one_system_are_enough_for_a_report(tmp_path):
    found = run_experiment(FOLDS[:1], ["QI"])
    [page] = write_report(found, tmp_path / "new", ["html"])
    assert "QI ranks best by MAP" in page.read_text()


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
    report = make_report(some, collection=OHSUMED[45], draw=False, measures=["map"])[0]
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
    report = make_report(experiment, collection="TD2003, LETOR 3.0", draw=False)[0]
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


def test_figures_of_every_query_are_written(experiment, tmp_path):
    write_report(experiment, tmp_path, ["csv"])
    lines = (tmp_path / "queries.csv").read_text().splitlines()
    assert lines[0].startswith("system,fold,query,MAP,NDCG@1,")
    own = [line.split(",") for line in lines[1:] if line.startswith("QI,")]
    assert len(own) == 15
    summary = summarise(experiment)
    by_fold = [np.mean([float(line[3]) for line in own if line[1] == fold.name]) for fold in FOLDS]
    assert by_fold == pytest.approx(summary.row("QI").folds[summary.place("MAP")])


def test_rows_that_go_by_a_feature_are_called_by_it():
    systems = with_top_feature(choose_systems(["BM25 (SSAR)"]), FOLDS[0].train.feature_names[0])
    summary = summarise(run_experiment(FOLDS[:2], systems))
    assert [row.label for row in summary.rows] == ["SSAR", f"{FOLDS[0].train.feature_names[0]} (SSAR)"]


def test_the_label_curve_of_a_report_names_its_rankers_apart(curve):
    renamed = curve.renamed(CURVE_NAMES)
    assert renamed.rankers == ["QI for few labels"]
    assert "QI for few labels, all labels" in [line.name for line in renamed.lines]
    assert len(renamed.table("QI for few labels")[1]) == len(curve.table("QI")[1])


def test_an_unknown_format_and_a_missing_package_are_told_before_the_work(monkeypatch):
    with pytest.raises(DataError, match="unknown format 'pdf'; choose from html, markdown, latex, csv, figures"):
        check_formats(["pdf"])
    monkeypatch.setitem(__import__("sys").modules, "matplotlib", None)
    with pytest.raises(MissingExtraError, match=r"this needs matplotlib, .* pip install 'rulerank\[figures\]'"):
        check_formats(["html"])
    check_formats(["markdown", "csv"])
