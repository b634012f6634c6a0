"""The report tells all that came out, in any format, without letting data become markup."""

import csv
import io
import re
import shutil
import subprocess
from html.parser import HTMLParser

import numpy as np
import pytest

import rulerank as rr
from failing_rankers import First
from rulerank.errors import DataError, MissingExtraError
from rulerank.experiment.plans import Rank
from rulerank.experiment.report import check_formats, make_report, write_report
from rulerank.experiment.run import run_experiment
from rulerank.experiment.summary import summarise
from rulerank.experiment.systems import System, choose_systems
from rulerank.render import render_html, render_latex, render_markdown

FOLDS = rr.make_folds(rr.make_ranking(n_queries=15, docs_per_query=8, n_features=5), n_folds=5)
NASTY = '<script>alert("1")</script>|&_%'
EMPTY = ("meta", "link", "img", "br", "path", "use", "image")


@pytest.fixture(scope="module")
def experiment():
    mine = System(NASTY, "yours", Rank(First()), "a <b>bold</b> claim")
    systems = [
        *choose_systems(["RE-GR", "RE-QR", "QI", "Best feature", "RE-GR+"]),
        mine,
        System("bad", "yours", Rank(First("badly")), ""),
    ]
    return run_experiment(FOLDS, systems)


@pytest.fixture(scope="module")
def report(experiment):
    return make_report(experiment, title=NASTY)[0]


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
    assert keys == ["results", "folds", "significance", "time", "run"]


def test_the_sentence_names_the_best_system_and_what_was_tested(report):
    assert re.match(r"Over 5 folds and 15 test queries, .* ranks best by MAP \(0\.\d{4}\); ", report.lead[0])
    assert "RE-GR" in report.lead[0]


def test_every_table_says_by_which_rules_it_was_measured(report):
    for section in report.blocks:
        for part in section.parts:
            if hasattr(part, "rows") and section.key in ("results", "folds", "significance"):
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
    assert len(pictures) == 2
    for picture in pictures:
        assert "currentColor" in picture.svg
        assert "#000000" not in picture.svg
        assert "DejaVu" not in picture.svg


def test_a_failed_system_is_told_with_its_reason(page):
    assert "ValueError: no luck today" in page
    assert "1 not finished" in page


def test_the_same_experiment_gives_the_same_page(experiment, page):
    again = make_report(experiment, title=NASTY)[0]
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


@pytest.fixture(scope="module")
def written(experiment, tmp_path_factory):
    folder = tmp_path_factory.mktemp("report")
    write_report(experiment, folder, ["latex", "csv", "figures"], title=NASTY)
    return folder


def rows_of(path):
    return list(csv.DictReader(io.StringIO(path.read_text())))


@pytest.mark.parametrize("render", [render_markdown, render_latex, render_html])
def test_every_text_says_with_which_versions_it_was_made(report, render):
    assert f"numpy {np.__version__}" in render(report)


def test_csv_has_every_figure_with_all_digits(experiment, written):
    rows = rows_of(written / "results.csv")
    assert len(rows) == 7 * 5  # systems, the failed one too, and folds
    row = next(r for r in rows if (r["system"], r["fold"]) == ("QI", "Fold2"))
    test = FOLDS[1].test
    found = rr.evaluate(test.y, experiment.cells["QI", 1].test, test.qid, ["MAP", "NDCG@10"]).means
    assert {name: float(row[name]) for name in found} == found
    assert (row["convention"], row["ties"], row["labels"]) == ("standard", "expected", str(len(FOLDS[1].train)))
    assert rows[-1]["failure"].startswith("ValueError: no luck today")
    assert len(rows_of(written / "differences.csv")) == 5 * 21  # systems but one, measures
    own = [row for row in rows_of(written / "queries.csv") if row["system"] == "QI"]
    assert len(own) == 15
    summary = summarise(experiment)
    by_fold = [np.mean([float(row["MAP"]) for row in own if row["fold"] == fold.name]) for fold in FOLDS]
    assert by_fold == pytest.approx(summary.row("QI").folds[summary.place("MAP")])


def test_the_table_of_folds_has_mean_and_deviation(experiment, report):
    [section] = [section for section in report.blocks if section.key == "folds"]
    row = next(row for row in section.parts[0].rows if row[0].text == "QI")
    values = [
        rr.evaluate(fold.test.y, experiment.cells["QI", n].test, fold.test.qid, "MAP").means["MAP"]
        for n, fold in enumerate(FOLDS)
    ]
    figures = [f"{value:.4f}" for value in (*values, np.mean(values), np.std(values, ddof=1))]
    assert [cell.text for cell in row[1:-1]] == figures


def test_figures_lie_beside_the_report_and_are_the_same_whenever_they_are_drawn(experiment, written, tmp_path):
    again = [file.name for file in write_report(experiment, tmp_path, ["figures"], title=NASTY)]
    assert sorted(again) == ["curves.pdf", "curves.svg", "differences.pdf", "differences.svg"]
    for name in again:
        assert (tmp_path / "figures" / name).read_bytes() == (written / "figures" / name).read_bytes(), name


@pytest.mark.skipif(shutil.which("pdflatex") is None, reason="needs a TeX with booktabs: there is no pdflatex")
def test_the_report_compiles(written):
    command = ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", "report.tex"]
    done = subprocess.run(command, cwd=written, capture_output=True, text=True, errors="replace")
    assert done.returncode == 0, done.stdout[-2000:]
    assert "Undefined control sequence" not in done.stdout


def test_one_fold_and_one_system_are_enough_for_a_report(tmp_path):
    found = run_experiment(FOLDS[:1], ["QI"])
    [page] = write_report(found, tmp_path / "new", ["html"])
    assert "QI ranks best by MAP" in page.read_text()


def test_an_unknown_format_and_a_missing_package_are_told_before_the_work(monkeypatch):
    with pytest.raises(DataError, match="unknown format 'pdf'; choose from html, markdown, latex, csv, figures"):
        check_formats(["pdf"])
    monkeypatch.setitem(__import__("sys").modules, "matplotlib", None)
    with pytest.raises(MissingExtraError, match=r"this needs matplotlib, .* pip install 'rulerank\[figures\]'"):
        check_formats(["html"])
    check_formats(["markdown", "csv"])
