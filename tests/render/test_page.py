"""One page, whatever it is about, in every format."""

import io
import re
from html.parser import HTMLParser

import pytest
from rich.console import Console

from rulerank.render.document import Bar, Cell, Page, Picture, Section, Sentences, Table, bars, cells, number_cell
from rulerank.render.html import render_fragment, render_html
from rulerank.render.text import render_markdown, render_text, rich_page

SYSTEMS = Table(
    "All",
    ("system", "MAP", "source"),
    (
        (Cell("a<b>", about='says "a"'), number_cell(0.5, strong=True, mark="▲"), "the paper"),
        (*cells("c_d"), number_cell(float("nan")), "ours"),
    ),
    note="p < 0.05",
    words=("source",),
)
PAGE = Page(
    "Two & more",
    ("First.", "Second."),
    (
        Section("Results", (SYSTEMS, Picture("Drawn", "<svg><path/></svg>", "a line")), "All of them.", "results"),
        Section("Drawings", (Picture("Only", "<svg></svg>", "a dot"),), key="drawings"),
        Table("Parts", ("feature", "adds"), (("bm25", Bar(-0.5, 1.0)), ("age", bars([1.0])[0]))),
        Sentences("Words", ("Some.",)),
    ),
    facts=(("folds", "5"),),
    footer="The end.",
    sortable=True,
)


class Nested(HTMLParser):
    def __init__(self):
        super().__init__()
        self.open = []

    def handle_starttag(self, tag, attrs):
        if tag != "meta":
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag


def test_html_has_all_of_it_and_nests():
    html = render_html(PAGE)
    parser = Nested()
    parser.feed(html)
    assert not parser.open
    assert [re.sub("<.*?>", "", title) for title in re.findall("<h[123]>.*?</h[123]>", html)] == [
        "Two &amp; more", "Results", "All", "Drawn", "Drawings", "Only", "Parts", "Words",
    ]  # fmt: skip
    assert '<section id="results">' in html
    assert '<a href="#drawings">Drawings</a>' in html
    assert "<dt>folds</dt><dd>5</dd>" in html
    assert "<svg><path/></svg>" in html
    assert "<footer>The end.</footer>" in html


def test_html_cells_carry_what_they_know():
    html = render_html(PAGE)
    first, second = re.findall(r"<tr[^>]*><td.*?</tr>", html)[:2]
    assert 'title="says &quot;a&quot;">a&lt;b&gt;' in first
    assert 'class="n strong" data-name="MAP" data-v="0.5"><span>0.5000<span class="mark up">▲</span></span>' in first
    assert '<td class="word" data-name="source">the paper</td>' in first
    assert '<span class="mark"></span>' in second, "every cell of a column with marks leaves room for one"
    drawn = '<span class="bar both"><i style="margin-left:25.0%;width:25.0%"></i></span>'
    assert f'<span class="down">-0.50{drawn}</span>' in html, "bars go both ways from zero"


@pytest.mark.parametrize(("sortable", "n"), [(True, 1), (False, 0)])
def test_only_a_page_that_sorts_has_a_script(sortable, n):
    page = Page("t", (), (Table("All", ("a",), (("1",),)),), sortable=sortable)
    assert render_html(page).count("<script>") == render_html(page).count('<button type="button">') == n
    assert "<script" not in render_fragment(page), "a notebook would not run it"


def test_formats_without_pictures_leave_them_out_and_sections_of_nothing_else():
    assert render_markdown(PAGE) == (
        "# Two & more\n\nFirst.\n\nSecond.\n\n- folds: 5\n\n## Results\n\nAll of them.\n\n### All\n\n"
        "| system | MAP | source |\n| --- | ---: | --- |\n| a\\<b\\> | **0.5000** ▲ | the paper |\n"
        "| c\\_d | – | ours |\n\np \\< 0.05\n\n"
        "## Parts\n\n| feature | adds |\n| --- | ---: |\n| bm25 | -0.50 |\n| age | +1.00 |\n\n## Words\n\n- Some.\n"
    )
    text = render_text(PAGE)
    assert text.startswith("Two & more\n\nFirst.\nSecond.\n\nfolds: 5\n\nResults\nAll of them.\n\nAll\nsystem")
    assert "Draw" not in text
    out = io.StringIO()
    Console(file=out, width=80).print(rich_page(PAGE))
    assert "0.5000 ▲" in out.getvalue()
    assert "Draw" not in out.getvalue()
