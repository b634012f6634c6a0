"""A rater at the list of a query: keys, undo, a server that goes away, the end of a list, on every screen."""

import pytest

from browser_windows import LOOKS
from list_windows import docs, grades, press, ready
from rulerank.judging.guidelines import parse_guidelines
from rulerank.judging.offers import ListChoices
from shop_pool import GUIDELINES, shop_pool

N_DOCS = 4


@pytest.fixture
def served(serve, make_pool):
    return serve(make_pool(n_queries=4, docs_per_query=6), rater="ann", lists=ListChoices(N_DOCS))


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


def test_keys_right_behind_an_undo_are_for_the_document_that_it_brings_back(served, visit):
    window = visit(f"{served.url}list")
    first, second, *_ = docs(window)
    for key in ("1", "u", "2", "0", "n"):
        window.page.keyboard.press(key)
    press(window)
    assert grades(served) == [(first, 2), (second, 0)]
    assert window.text("#count") == "2 of 4 judged"
    assert "2 documents have no grade yet" in window.text("#said")
    served.go_away("/api/undo")
    for key in ("u", "1"):
        window.page.keyboard.press(key)
    window.page.wait_for_selector("#notice:has-text('stored on this device')")
    window.page.keyboard.press("2")
    assert "Your undo is waiting for the server" in window.text("#said")
    served.come_back()
    window.page.click("#retry")
    window.page.wait_for_selector("#said:has-text('Undone')")
    assert current(window) == second
    assert grades(served) == [(first, 2)]
    window.problems.clear()  # what nobody heard is in red


def test_grades_pressed_while_the_server_is_away_survive_a_reload_and_are_sent(served, visit):
    window = visit(f"{served.url}list")
    first, second, *_ = docs(window)
    served.go_away("/api/labels")
    for key in "20":
        window.page.keyboard.press(key)
        window.page.wait_for_timeout(360)
    window.page.wait_for_selector("#notice:has-text('stored on this device')")
    assert window.text("#count") == "2 of 4 judged"
    assert grades(served) == []
    served.come_back()
    window.page.reload()
    ready(window)
    assert grades(served) == [(first, 2), (second, 0)]
    assert window.text("#count") == "2 of 4 judged"
    window.problems.clear()  # what nobody heard is in red


def test_the_current_document_of_a_list_is_on_the_screen_of_a_phone_above_the_buttons(serve, visit):
    served = serve(shop_pool(), max_grade=3, guidelines=parse_guidelines(GUIDELINES), rater="ann")
    window = visit(f"{served.url}list", **LOOKS["phone"])
    press(window, "2", "3")
    box = window.page.locator("[data-current]").bounding_box()
    assert 0 <= box["y"] < window.page.locator(".bar").bounding_box()["y"]
