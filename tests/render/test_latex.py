"""A page as LaTeX compiles, and its tables say in bold, daggers and captions what they say elsewhere."""

import re
import shutil
import subprocess

import pytest

from rulerank.render.document import Cell, Page, Picture, Section, Sentences, Table, cells, number_cell
from rulerank.render.latex import render_latex

NASTY = 'a_b & 50 % of $x^2$ {~} \\ <b> | "q" # 字 ±\n▲'
SYSTEMS = Table(
    "All systems",
    ("system", "MAP", "what it learned from"),
    (
        (Cell(NASTY), number_cell(0.5, strong=True, mark="▲"), "train"),
        (*cells("c_d"), number_cell(0.25, mark="▼"), "train; l2 chosen on vali, and a text that needs several lines"),
        (*cells("e"), number_cell(float("nan")), "none"),
    ),
    note="Bold: the best. ▲ ▼: above or below RE-GR.",
    key="means",
    words=("what it learned from",),
    groups=("rules", "rules", "mine"),
)
LONG = Table("Long", ("system", "MAP"), tuple(cells(f"s{i}", "0.1") for i in range(120)), key="long")


def pdf(suffix):
    from matplotlib.figure import Figure

    from rulerank.render.figures import figure_bytes

    figure = Figure(figsize=(3, 2))
    figure.subplots().plot([1, 2], [0, 1])
    return figure_bytes(figure, suffix)


PAGE = Page(
    NASTY,
    ("First.",),
    (
        Section("Results", (SYSTEMS, SYSTEMS, Picture("Drawn", "<svg/>", "a line, ▲", "line", pdf)), "About.", "r"),
        Section("Drawings", (Picture("No file", "<svg/>", "a dot", "dot"),)),
        LONG,
        Sentences("Words", ("50 % so.",)),
    ),
    facts=(("folds", "5"),),
)


def test_bold_is_bold_and_arrows_are_daggers_in_cells_and_captions():
    latex = render_latex(PAGE)
    assert r"\textbf{0.5000}\rlap{$^{\dagger}$} & train \\" in latex
    assert r"0.2500\rlap{$^{\ddagger}$} & train; l2" in latex
    assert r"e & -- & none \\" in latex
    assert r"\caption[All systems]{All systems. Bold: the best. $\dagger$ $\ddagger$: above or below RE-GR.}" in latex
    assert r"\addlinespace" + "\ne & --" in latex


def test_every_table_stands_in_an_environment_with_a_caption_and_a_label_of_its_own():
    latex = render_latex(PAGE, "figures")
    assert latex.count(r"\begin{table}") == latex.count(r"\end{table}") == 2
    assert latex.count(r"\begin{longtable}") == 1
    labels = re.findall(r"\\label\{(.*?)\}", latex)
    assert labels == ["tab:means", "tab:means-2", "fig:line", "tab:long"]
    assert latex.count(r"\caption[") == len(labels)


def test_words_stand_to_the_left_and_long_ones_break():
    wide = r">{\raggedright\arraybackslash}p{4.2cm}"
    assert rf"\begin{{tabular}}{{@{{}}{wide}r{wide}@{{}}}}" in render_latex(PAGE)
    assert r"\begin{longtable}{@{}lr@{}}" in render_latex(PAGE)


def test_pictures_are_left_out_without_their_files_and_so_are_sections_of_nothing_else():
    assert "includegraphics" not in render_latex(PAGE)
    latex = render_latex(PAGE, "figures")
    assert latex.count("includegraphics") == 1
    assert "{figures/line.pdf}" in latex
    assert "Drawings" not in latex


@pytest.mark.skipif(shutil.which("pdflatex") is None, reason="needs a TeX with booktabs: there is no pdflatex")
def test_it_compiles(tmp_path):
    (tmp_path / "figures").mkdir()
    (tmp_path / "figures" / "line.pdf").write_bytes(pdf(".pdf"))
    (tmp_path / "page.tex").write_text(render_latex(PAGE, "figures"))
    command = ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", "page.tex"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, errors="replace")
    assert done.returncode == 0, done.stdout[-2000:]
    assert (tmp_path / "page.pdf").stat().st_size > 1000
