"""Documents of a list are put in order, where the lead allows it."""

import pytest

from list_windows import docs, grades, press, ready
from rulerank.judging.lists import ListChoices


@pytest.fixture
def served(serve, make_pool):
    return serve(make_pool(n_queries=4, docs_per_query=6), rater="ann", lists=ListChoices(4))


@pytest.fixture
def ordering(served):
    served.judging.store.change_setting("preferences", True, "lead")
    return served


def test_documents_are_put_in_order_by_keys_buttons_and_dragging(ordering, visit):
    window = visit(f"{ordering.url}list")
    one, two, three, four = docs(window)
    press(window, "0", "1", "0", "2")
    window.page.wait_for_selector("#finished")
    press(window, "o")
    assert docs(window) == [four, two, one, three]  # by grade at first
    window.page.locator("#cards article").nth(2).click()
    press(window, "Shift+k", "Shift+ArrowUp")
    assert docs(window) == [one, four, two, three]
    window.page.locator("#cards article").nth(3).locator("[data-move='-1']").click()
    assert docs(window) == [one, four, three, two]
    assert ordering.judging.store.orders() == []
    articles = window.page.locator("#cards > li")
    articles.nth(3).drag_to(articles.nth(0), target_position={"x": 200, "y": 4})
    assert docs(window) == [two, one, four, three]
    assert window.text("#announcer") == f"Title of {two} is now 1 of 4."
    window.shoot("list-ordering")
    press(window, "o")
    window.page.wait_for_selector("#said:has-text('Your order is saved.')")
    (kept,) = ordering.judging.store.orders("ann")
    assert (kept.docs, kept.page) == ((two, one, four, three), "list")
    assert len(grades(ordering)) == 4


def test_an_order_that_is_left_is_not_kept_and_the_last_one_comes_again(ordering, visit):
    window = visit(f"{ordering.url}list")
    shown = docs(window)
    press(window, "1", "o", "Shift+j", "o")
    kept = list(ordering.judging.store.orders("ann")[0].docs)
    press(window, "o", "Shift+j", "Escape")
    assert window.text("#said") == "The order was not kept."
    window.page.reload()
    assert docs(window) == shown
    press(window, "o")
    assert docs(window) == kept
    assert len(ordering.judging.store.orders()) == 1


def test_without_the_leads_leave_there_is_nothing_to_order(served, visit):
    window = visit(f"{served.url}list")
    ready(window)
    assert not window.page.is_visible("[data-action=order]")
    shown = docs(window)
    press(window, "o", "Shift+j")
    assert docs(window) == shown
