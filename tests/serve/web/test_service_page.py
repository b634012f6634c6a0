"""The page to try queries on, in a real browser: side by side, what moved, why; keyboard, phone, dark."""

import json
import re
from decimal import Decimal

import pytest

import rulerank as rr
from rulerank.io.texts import Documents

QUERY = "women rain jacket"
MARKUP = "<img src=x onerror=alert(1)><script>alert(2)</script>"


@pytest.fixture
def page(serve, reranker):
    return serve(reranker)


def ready(window):
    window.page.wait_for_selector("#main[data-state=ready]")
    return window


def ask(window, query=QUERY):
    window.page.fill("#query", query)
    window.page.keyboard.press("Enter")
    window.page.wait_for_selector("#model .result")
    return ready(window)


@pytest.mark.parametrize(("width", "scheme"), [(1280, "light"), (360, "dark")])
def test_two_rankings_stand_side_by_side_on_every_screen(page, visit, width, scheme):
    window = ask(visit(page.url, width=width, height=900, color_scheme=scheme))
    with page.remote() as client:
        answer = client.get("/search", params={"q": QUERY}).json()
    shown = window.page.eval_on_selector_all("#model .result", "all => all.map((one) => one.dataset.id)")
    assert shown == [result["id"] for result in answer["results"]]
    assert window.page.locator("#baseline .result").count() == len(answer["baseline"])
    moved = [result for result in answer["results"] if result["rank"] != result["baseline_rank"]]
    assert window.page.locator("#model .moved:is(.up, .down)").count() == len(moved)
    assert not window.is_too_wide()
    reasons = window.page.locator("#model .reasons li")
    assert {"grams(title)", "price"} & {reasons.nth(place).get_attribute("title") for place in range(reasons.count())}
    if scheme == "light":
        window.shoot("service")  # docs/service.png
    else:  # a phone shows one list at a time
        assert not window.page.is_visible("#baseline")
        window.page.click("#lists button:last-child")
        assert window.page.is_visible("#baseline")
        assert not window.page.is_visible("#model")
        window.page.click("#lists button:first-child")
    size = "wide" if width > 600 else "phone"
    window.shoot(f"service-{size}-{scheme}", full_page=True)
    window.page.click("#model .result")
    window.page.wait_for_selector("#why[open][data-state=ready] table")
    assert window.page.locator("#why-text li").count() == 0  # the table has all reasons
    assert not window.is_too_wide()
    check_sum(window)
    window.shoot(f"service-{size}-{scheme}-why")


def check_sum(window):
    """The numbers of the table add up to the score, or the difference, of the sentence above it."""
    first = window.page.inner_text("#why-text .first")
    total = re.search(r": a difference of (-?\d+\.\d+)", first) or re.search(r" scores (-?\d+\.\d+)", first)
    numbers = window.page.locator("#why-text td.number").all_inner_texts()
    assert sum(Decimal(number.replace("−", "-")) for number in numbers) == Decimal(total[1])


def test_everything_can_be_done_with_the_keyboard(page, visit):
    window = visit(page.url)
    keyboard = window.page.keyboard
    keyboard.type(QUERY)  # the field has the focus
    keyboard.press("Enter")
    window.page.wait_for_selector("#model .result")
    ready(window)
    keyboard.press("ArrowDown")
    keyboard.press("ArrowDown")
    second = window.page.evaluate("document.activeElement.dataset.id")
    assert second == window.page.locator("#model .result").nth(1).get_attribute("data-id")
    keyboard.press("Enter")
    window.page.wait_for_selector("#why[open][data-state=ready]")
    window.page.click("#why-other")
    window.page.wait_for_selector("#why-text .first:has-text('a difference of')")
    check_sum(window)
    window.shoot("service-versus")
    keyboard.press("Escape")
    window.page.wait_for_selector("#why:not([open])", state="attached")
    keyboard.press("/")
    assert window.page.evaluate("document.activeElement.id") == "query"
    window = ready(visit(f"{page.url}?q=zzzz"))  # an address holds the query
    assert window.page.input_value("#query") == "zzzz"
    window.page.wait_for_function("document.getElementById('summary').textContent.includes('No document')")


def test_the_page_starts_with_example_queries(page, visit):
    window = visit(page.url)
    examples = window.page.locator("#examples a")
    assert 1 < examples.count() <= 4
    first = examples.first.inner_text()
    examples.first.click()
    window.page.wait_for_selector("#model .result")
    assert ready(window).page.input_value("#query") == first


def test_texts_are_shown_as_texts_whatever_they_hold(serve, visit):
    texts = Documents(["1", MARKUP], {"title": [f"milk {MARKUP}", "milk"], "price": [1.0, 2.0]})
    features = rr.TextFeatures(features=["bm25(title)", "price"]).fit(texts)
    ranker = rr.QueryIntercepts(l2=1.0).fit([[1.0, 1.0], [0.0, 2.0]], [1, 0], qid=[1, 1])
    ranker.feature_names_ = features.feature_names_
    window = ask(visit(serve(rr.Reranker(ranker, features)).url), f"milk {MARKUP}")
    assert MARKUP in window.text("#model")
    assert window.page.locator("#main img, #main script").count() == 0
    window.page.locator("#model .result").nth(1).click()
    window.page.wait_for_selector("#why[open][data-state=ready]")
    assert window.page.locator("#main img, #main script").count() == 0


def test_ready_features_are_ranked_from_a_text_field(serve, visit, served_synthetic):
    _, (ranker, _), rows = served_synthetic
    window = visit(serve(rr.Reranker(ranker)).url)
    window.page.fill("#body", '{"documents": oops}')
    window.page.click("#ask button")
    window.page.wait_for_selector("#problem:not([hidden])")
    assert "This is not JSON" in window.text("#problem")
    window.page.fill("#body", json.dumps({"documents": rows}))
    window.page.click("#ask button")
    window.page.wait_for_selector("#model .result")
    assert window.page.locator("#model .result").count() == 20
    window.shoot("service-features")
    window.page.click("#model .result")
    window.page.wait_for_selector("#why[open][data-state=ready]")
