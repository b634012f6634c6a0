"""What is shown in the terminal, as Markdown and as a web page."""

import io
import re
from html import escape

import numpy as np
import pytest
from rich.console import Console

import rulerank as rr
from rulerank.explain import Lift
from rulerank.render.document import Table
from rulerank.render.text import render_text


@pytest.fixture(scope="module")
def synthetic():
    return rr.datasets.make_ranking(n_queries=20, docs_per_query=12, n_features=14, seed=1)


@pytest.fixture(scope="module")
def ranker(synthetic):
    return rr.GlobalRules(drop_weakest=0).fit(synthetic)


@pytest.fixture(scope="module")
def shown(ranker, synthetic):
    order = np.argsort(-ranker.predict(synthetic)).tolist()
    return {
        "explanation": ranker.explain(synthetic, order[0]),
        "versus": ranker.explain(synthetic, order[0], versus=order[100]),
        "overview": ranker.overview(synthetic),
        "ranking": ranker.explain_query(synthetic, "q3", baseline="bm25_title", n=5),
        "query rules": rr.QueryRules(n_trusted=15).fit(synthetic).explain(synthetic, 0),
        "mixture": rr.Competence(["confidence", "yule_q"]).fit(synthetic).explain(synthetic, 0, versus=1),
        "linear": rr.QueryIntercepts(l2=1.0, missing="mean").fit(synthetic).explain(synthetic, 0),
    }


KINDS = ["explanation", "versus", "overview", "ranking", "query rules", "mixture", "linear"]


@pytest.mark.parametrize("kind", KINDS)
def test_every_format_says_the_same_and_a_page_needs_nothing_else(shown, kind):
    found = shown[kind]
    page, markdown, html = found.page(), found.to_markdown(), found.to_html()
    text = render_text(page, 1000)  # a narrow terminal breaks words into lines
    assert text.startswith(page.title)
    assert markdown.startswith("# ")
    for table in (block for block in page.blocks if isinstance(block, Table)):
        assert table.rows
        assert all(len(row) == len(table.header) for row in table.rows)
        for cell in (str(cell) for row in table.rows for cell in row if cell):
            assert cell in text
            assert escape(cell.rstrip(" ▲▼")) in html
    assert html.startswith("<!DOCTYPE html>")
    own = re.sub(r'xmlns(:xlink)?="http://www.w3.org/[^"]*"|url\(#', "", html)  # names, and parts of a drawing
    assert not re.search(r"<script|<link|https?:|url\(|@import| on\w+=", own)
    assert "prefers-color-scheme: dark" in html
    if kind != "overview":  # its pictures are drawn once
        assert found._repr_html_().startswith('<div class="rulerank')


@pytest.mark.parametrize("kind", KINDS)
def test_rich_draws_it_in_any_width(shown, kind):
    for width in (40, 120):
        out = io.StringIO()
        Console(file=out, width=width, force_terminal=True).print(shown[kind])
        assert max(len(re.sub(r"\x1b\[[0-9;]*m", "", line)) for line in out.getvalue().splitlines()) <= width


def test_names_are_never_taken_for_markup():
    X, y = np.array([[0.0], [1.0]] * 10), [0, 1] * 10
    data = rr.Dataset(X, y, ["q"] * 20, docid=["<b>d</b>"] * 20, feature_names=("<script>alert(1)</script>[red]_*|",))
    found = rr.GlobalRules().fit(data).explain(data, 1, versus=0)
    assert "<script" not in found.to_html()
    assert "<b>" not in found.to_html()
    assert "&lt;script&gt;alert(1)&lt;/script&gt;[red]_*|" in found.to_html()
    assert "\\<script\\>alert(1)\\</script\\>\\[red\\]\\_\\*\\|" in found.to_markdown()
    out = io.StringIO()
    Console(file=out, width=200).print(found)
    assert "[red]" in out.getvalue()


def test_changes_are_a_table_or_a_sentence(ranker, synthetic):
    scores = ranker.predict(synthetic)
    order = np.argsort(-scores).tolist()
    changes = ranker.what_if(synthetic, order[60], above=scores[order[59]])
    table = Lift("d1", scores[order[59]], changes).block()
    assert table.title.startswith("What would lift d1 above ")
    assert len(table.rows) == min(10, len(changes)) > 0
    none = Lift("d1", 9.0, ()).block()
    assert none.sentences == ("No change of a single feature is enough.",)
