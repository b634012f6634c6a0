"""Every page of the judging site for everybody: axe finds nothing, keys reach all, and one sees where one is."""

import re

import pytest

from rulerank.judging.guidelines import parse_guidelines
from shop_pool import GUIDELINES, shop_pool

axe = pytest.importorskip("axe_playwright_python.sync_playwright", reason="axe-playwright-python is not installed")
TAGS = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]
CONTRAST = ["color-contrast"]
ON_A_PHONE = ["color-contrast", "scrollable-region-focusable", "target-size"]
MOST = 60  # tabs that are pressed
FOCUSED = """() => {
  const found = document.activeElement, style = getComputedStyle(found);
  if (found === document.body) return null;
  const name = found.getAttribute("aria-label") || found.innerText || found.title || found.labels?.[0]?.innerText || "";
  return [found.tagName, name.trim(), style.outlineStyle !== "none" && parseFloat(style.outlineWidth) >= 2];
}"""


@pytest.fixture(scope="module")
def pool():
    return shop_pool()


@pytest.fixture
def served(serve, pool):
    """A site on which two raters have judged, a model was trained and can be compared with the baseline."""
    served = serve(pool, max_grade=3, guidelines=parse_guidelines(GUIDELINES), n_listed=3)
    for place, query in enumerate(pool.queries[:6]):
        for row in pool.rows_of(query)[:4]:
            served.judging.grade(("ann", "ben")[place % 2], *pool.pairs[row], pool.own_grades[row])
    for place, row in enumerate(pool.rows_of(pool.queries[0])[:3]):
        served.judging.grade("ben", *pool.pairs[row], 3 - pool.own_grades[row])  # disputes, one of them decided
        if not place:
            served.judging.store.decide(*pool.pairs[row], 1, "lea")
    served.judging.save_model(served.judging.store.name + ".rulerank", "RE-GR")  # in a moment
    return served


def check(window, where):
    """Look at a page in the light with all rules, in the dark and on a phone with those that can differ there.

    It fits its window, and its buttons are large enough for a thumb; pictures are kept for people to look at.
    """
    page, name = window.page, re.sub(r"\W+", "-", where.partition("?")[0])
    assert problems_of(page, TAGS) == [], where
    assert not window.is_too_wide(), where
    window.shoot(f"light-{name}", full_page=True)
    page.emulate_media(color_scheme="dark")
    assert problems_of(page, CONTRAST) == [], f"{where}, dark"
    page.set_viewport_size({"width": 360, "height": 740})
    assert problems_of(page, ON_A_PHONE) == [], f"{where}, phone, dark"
    assert not window.is_too_wide(), f"{where}, phone"
    for button in page.locator(".bar button:visible, [data-current] .grades button").all():
        box = button.bounding_box()
        assert box["height"] >= 40
        assert 0 <= box["x"] <= 360 - box["width"]
    window.shoot(f"phone-dark-{name}", full_page=True)
    page.emulate_media(color_scheme="light")
    page.set_viewport_size({"width": 1280, "height": 800})


def problems_of(page, rules):
    found = axe.Axe().run(page, options={"runOnly": rules})
    return [
        f"{violation['id']}: {node['html'][:160]} {node['failureSummary'][:300]}"
        for violation in found.response["violations"]
        for node in violation["nodes"]
    ]


def test_axe_finds_nothing_on_any_page(served, visit):
    window = visit(served.url)
    page = window.page
    check(window, "welcome")
    page.fill("#rater", "ann")
    page.keyboard.press("Enter")
    window.wait()
    check(window, "one document")
    window.press("2")
    page.wait_for_selector("#result p")
    page.keyboard.press("?")
    check(window, "help")
    page.goto(f"{served.url}list")
    page.wait_for_selector("#list[data-state=ready]")
    for key in "120":
        page.wait_for_timeout(360)
        page.keyboard.press(key)
    page.wait_for_selector("#finished")
    check(window, "list, judged")
    page.goto(f"{served.url}side-by-side")
    page.wait_for_selector("#main[data-state=ready]")
    check(window, "side-by-side")
    page.goto(f"{served.url}disputes")
    page.wait_for_selector("#disputes[data-state=ready]")
    check(window, "disputes")
    for name in ("labels", "overview", "admin", "nothing"):
        answer = page.goto(f"{served.url}{name}")
        check(window, name)
        assert answer.status == (404 if name == "nothing" else 200)
    page.evaluate("document.body.style.color = '#bbb'")
    assert problems_of(page, CONTRAST)  # it would find something
    window.problems.clear()  # the page that is not there is in red


@pytest.mark.parametrize("name", ["one", "list", "side-by-side", "disputes", "labels", "overview"])
def test_every_control_is_reached_by_tab_and_seen(name, served, visit):
    window = visit(f"{served.url}{name}?rater=ann")
    page = window.page
    if name in ("one", "list", "side-by-side", "disputes"):
        page.wait_for_selector("[data-state=ready]")
    page.evaluate("document.querySelector('.skip-link').focus()")
    seen = []
    while len(seen) < MOST and (found := page.evaluate(FOCUSED)) is not None:
        seen.append(tuple(found))
        page.keyboard.press("Tab")
    assert [one for one in seen if not one[2]] == []  # each shows its focus
    assert [one for one in seen if not one[1]] == []  # and has a name
    wanted = page.eval_on_selector_all(
        "button, a[href], input, select, summary",
        "all => all.filter((one) => one.checkVisibility() && one.tabIndex >= 0).length",
    )
    reached = [one for one in seen if one[0] in ("BUTTON", "A", "INPUT", "SELECT", "SUMMARY")]
    assert len(reached) == wanted or len(seen) == MOST
