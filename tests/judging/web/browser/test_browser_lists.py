"""A rater at the list of a query: keys, undo, a server that goes away, the end of a list, on every screen."""

import pytest

from browser_windows import LOOKS
from list_windows import docs, grades, press, ready
from rulerank.judging.guidelines import parse_guidelines
from shop_pool import GUIDELINES, shop_pool

N_DOCS = 4


@pytest.fixture
def served(serve, make_pool):
    return serve(make_pool(n_queries=4, docs_per_query=6), rater="ann", n_listed=N_DOCS)


def current(window):
    return window.page.eval_on_selector("[data-current] [data-part=title]", "one => one.textContent")[9:]


def test_a_list_is_judged_by_keys_alone_and_counts_at_once(served, visit):
    window = visit(f"{served.url}list")
    first, second, third, fourth = docs(window)
    assert current(window) == first
    assert window.page.evaluate("document.activeElement.matches('article[data-current]')")
    press(window, "2")
    assert grades(served) == [(first, 2)]
    assert current(window) == second
    press(window, "j", "ArrowDown", "x")
    assert grades(served)[1:] == [(fourth, None)]
    assert current(window) == second  # the first without a grade, from the top again
    press(window, "ArrowDown", "k", "1", "0")
    assert grades(served)[2:] == [(second, 1), (third, 0)]
    assert window.text("#count") == "4 of 4 judged"
    window.page.wait_for_selector("#finished")
    query = window.text("#query")
    press(window, "n")
    ready(window)
    assert window.text("#query") != query
    assert window.text("#count") == "0 of 4 judged"


def test_undo_takes_back_here_and_in_the_list_before(served, visit):
    window = visit(f"{served.url}list")
    *_, last = docs(window)
    query = window.text("#query")
    press(window, "2", "1", "2", "1", "n")
    ready(window)
    assert window.text("#query") != query
    press(window, "u")
    window.page.wait_for_selector("#said:has-text('Undone')")
    ready(window)
    assert window.text("#query") == query
    assert window.text("#count") == "3 of 4 judged"
    assert current(window) == last
    press(window, "0")
    assert grades(served)[-1] == (last, 0)
    press(window, "1")  # revises where the cursor is
    press(window, "u")
    assert grades(served)[-1] == (last, 0)
    assert window.text("#count") == "4 of 4 judged"


def test_keys_wait_until_an_undo_is_answered(served, visit):
    window = visit(f"{served.url}list")
    first, *_ = docs(window)
    press(window, "1")
    served.go_away("/api/undo")
    for key in ("u", "2"):
        window.page.keyboard.press(key)
    window.page.wait_for_selector("#notice:has-text('stored on this device')")
    assert "Your undo is not done yet" in window.text("#said")
    served.come_back()
    window.page.click("#retry")
    window.page.wait_for_selector("#said:has-text('Undone')")
    assert (current(window), grades(served)) == (first, [])
    window.problems.clear()  # what nobody heard is in red


def test_the_current_document_of_a_list_is_on_the_screen_of_a_phone_above_the_buttons(serve, visit):
    served = serve(shop_pool(), max_grade=3, guidelines=parse_guidelines(GUIDELINES), rater="ann")
    window = visit(f"{served.url}list", **LOOKS["phone"])
    press(window, "2", "3")
    box = window.page.locator("[data-current]").bounding_box()
    assert 0 <= box["y"] < window.page.locator(".bar").bounding_box()["y"]
