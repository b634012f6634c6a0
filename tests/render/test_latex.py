"""The tables of a page as LaTeX compile, and say in bold, daggers and captions what they say elsewhere."""

import re
import shutil
import subprocess

import pytest

from rulerank.render.document import Cell, Page, Section, Sentences, Table, cells, number_cell
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
)
OTHER = Table("Other", ("system", "MAP"), (cells("s", "0.1"),), key="other")
LATEX = render_latex(Page(NASTY, ("First.",), (Section("Results", (SYSTEMS,)), OTHER, Sentences("Words", ("So.",)))))


def test_bold_is_bold_and_arrows_are_daggers_in_cells_and_captions():
    assert r"\textbf{0.5000}\rlap{$\dagger$} & train \\" in LATEX
    assert r"0.2500\rlap{$\ddagger$} & train; l2" in LATEX
    assert r"e & -- & none \\" in LATEX
    assert r"\caption{All systems. Bold: the best. $\dagger$ $\ddagger$: above or below RE-GR.}" in LATEX


def test_every_table_has_a_caption_and_a_label_and_long_words_break():
    assert re.findall(r"\\label\{(.*?)\}", LATEX) == ["tab:means", "tab:other"]
    assert LATEX.count(r"\caption{") == LATEX.count(r"\end{table}") == 2
    wide = r">{\raggedright\arraybackslash}p{4cm}"
    assert re.findall(r"\\begin\{tabular\}\{(.*)\}", LATEX) == [f"{wide}r{wide}", "lr"]


@pytest.mark.skipif(shutil.which("pdflatex") is None, reason="needs a TeX with booktabs: there is no pdflatex")
def test_it_compiles(tmp_path):
    (tmp_path / "page.tex").write_text(LATEX)
    command = ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", "page.tex"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, errors="replace")
    assert done.returncode == 0, done.stdout[-2000:]
