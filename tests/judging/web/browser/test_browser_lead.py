"""The lead at work in a real browser: links, files, settings, training, two rankings side by side."""

import gzip
import json
import os
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from rulerank.judging.pool import read_pool
from rulerank.web.security import Tokens
from shop_pool import shop_pool

SECRET = "a secret that is long"
LOOKS = {
    "light": {},
    "dark": {"color_scheme": "dark"},
    "phone": {"width": 360, "height": 740, "has_touch": True},
}


def shop():
    """Return the shop of the demo."""
    return shop_pool()


def movies():
    """Return the movies' documents of 30 queries with two plain features."""
    texts = os.environ.get("RULERANK_TEXTS")
    if not texts or not Path(texts, "movies", "corpus.jsonl.gz").exists():
        pytest.skip("RULERANK_TEXTS names no folder with the movies")
    with gzip.open(Path(texts, "movies", "corpus.jsonl.gz"), "rt") as lines:
        docs = [json.loads(line) for line in lines]
    rows = {name: [] for name in ("qid", "docid", "query", "title", "text", "bm25", "length")}
    for number in range(30):
        for doc in docs[number * 320 : number * 320 + 320]:
            text = " ".join(str(value) for value in doc.values())
            values = (f"q{number}", f"{doc.get('id', doc.get('_id'))}", f"film {number}", f"{doc.get('title')}", text)
            for name, value in zip(rows, (*values, len(set(text.split())) / 10, len(text)), strict=True):
                rows[name].append(value)
    return read_pool(pl.DataFrame(rows))


@pytest.fixture(params=[shop, movies], ids=lambda make: make.__name__)
def leading(request, serve, visit):
    """A server with a secret and some labels, and a window of the lead's."""
    served = serve(request.param(), max_grade=3, token=SECRET, rater="lea")
    judging, pool = served.judging, served.judging.pool
    best = np.argsort(-pool.data.X[:, 1])
    for place, row in enumerate([*best[:40], *best[-40:]]):
        grade = 3 if place < 40 else int(place % 5 == 0)
        judging.grade("ann" if place % 2 else "ben", *pool.pairs[row], grade)
    window = visit(f"{served.url}?token={SECRET}")
    window.wait()
    return served, window


def open_page(window, served, path):
    window.page.goto(f"{served.url}{path}")
    assert not window.is_too_wide()


def test_the_lead_invites_sets_trains_and_compares(leading):
    served, window = leading
    page = window.page
    open_page(window, served, "lead")

    page.fill("#name", "Cem")
    page.keyboard.press("Enter")
    page.wait_for_selector("#link:not([hidden])")
    link = page.input_value("#link-text")
    assert link == f"{served.url}?token={Tokens(SECRET).invite('Cem')}"
    page.click("button.invite[data-name=ann]")
    page.wait_for_selector("#link-name:text('ann')")

    page.select_option("select.kind[data-judge=ben]", "llm")
    page.wait_for_selector("input[name=training_judges][value=ben]")
    page.select_option("#judgements", "2")
    page.click("#settings button")
    page.wait_for_selector("#settings-result:text('Saved')")
    settings = served.judging.store.settings()
    assert (settings.judgements, settings.training_judges) == (2, ())
    assert served.judging.store.judges() == {"ben": "llm"}

    with page.expect_download() as taken:
        page.click("a:text('labels-per-rater.csv')")
    assert len(Path(taken.value.path()).read_text().splitlines()) == 81

    open_page(window, served, "overview")
    page.click("#train button")
    page.wait_for_selector("#train-next:not([hidden])", timeout=120_000)
    assert "Saved" in window.text("#train-result")
    page.reload()  # what became of it is still known
    page.wait_for_selector("#train-next:not([hidden])")

    open_page(window, served, "queries")
    query = served.judging.pool.pairs[0][0]
    page.fill("#search", query)
    page.keyboard.press("Enter")
    page.wait_for_selector(f"text=with “{query}”")
    page.click("a:text('Compare') >> nth=0")
    page.wait_for_selector("#new-title")
    assert page.locator(".ranking").count() == 2
    page.click("summary:text('Why') >> nth=0")
    page.wait_for_selector(".reasons li:not(.quiet)")
    assert not window.is_too_wide()


def test_a_rater_with_a_personal_link_finds_no_way_to_the_leads_pages(serve, visit):
    served = serve(token=SECRET)
    window = visit(f"{served.url}?token={Tokens(SECRET).invite('ann')}")
    window.wait()
    assert not {"Queries", "Lead"} & {*window.page.locator("nav a").all_inner_texts()}
    window.page.goto(f"{served.url}overview")
    assert window.page.locator("#train").count() == 0
    answer = window.page.goto(f"{served.url}lead")
    assert answer.status == 403
    assert "only the lead may do this" in window.text("main")
    window.problems.clear()  # the 403
