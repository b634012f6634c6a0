"""The admin's disputes in a real browser: one key decides, nothing is lost, and what was decided can be changed."""

import pytest

from rulerank.judging.guidelines import parse_guidelines
from shop_pool import GUIDELINES, shop_pool


@pytest.fixture(scope="module")
def pool():
    return shop_pool()


@pytest.fixture
def served(serve, pool):
    """Two raters who differ by 3, 2 and 1 grades on three products of the shop, and agree on a fourth."""
    served = serve(pool, max_grade=3, guidelines=parse_guidelines(GUIDELINES))
    for place, grades in enumerate([(0, 1), (0, 3), (2, 2), (1, 3)]):
        for rater, grade in zip(("ann", "ben"), grades, strict=True):
            served.judging.grade(rater, *pool.pairs[place], grade, page="list")
    return served


@pytest.fixture
def window(served, visit):
    window = visit(f"{served.url}disputes?rater=lea")
    wait(window)
    return window


def wait(window, state="ready"):
    window.page.wait_for_selector(f"#disputes[data-state={state}]")


def press(window, key):
    """Press a key that decides or takes back, and wait until the server has it."""
    window.page.wait_for_timeout(400)  # sooner it is taken for one that was meant for the document before
    with window.page.expect_response(lambda answer: answer.request.method == "POST"):
        window.page.keyboard.press(key)
    window.page.wait_for_selector("#disputes:is([data-state=ready], [data-state=done])")


def doc(window):
    wait(window)
    return window.text("#doc-id")


def decided(served):
    return {(one.query, one.doc): (one.grade, one.rater, one.page) for one in served.judging.store.decisions()}


def test_one_key_decides_and_the_next_dispute_comes(served, window, pool):
    assert doc(window) == pool.pairs[1][1]  # the largest
    assert window.text("#progress-text") == "3 disputes left · 0 decided"
    assert window.text("#votes tr:first-child").split()[:3] == ["ann", "0", "no"]
    press(window, "2")
    assert doc(window) == pool.pairs[3][1]
    assert window.text("#progress-text") == "2 disputes left · 1 decided"
    press(window, "x")
    press(window, "0")
    wait(window, "done")
    assert window.text("#done-text") == "All disputes are decided."
    assert decided(served) == {
        pool.pairs[1]: (2, "lea", "disputes"),
        pool.pairs[3]: (None, "lea", "disputes"),
        pool.pairs[0]: (0, "lea", "disputes"),
    }
    assert served.judging.grades() == {1: 2, 0: 0, 2: 2}


def test_after_a_reload_what_is_decided_is_listed_and_can_be_changed(served, window, pool):
    press(window, "2")
    window.page.reload()
    assert doc(window) == pool.pairs[3][1]
    assert window.text("#decided .grade") == "2"
    window.page.click("#decided button")
    assert doc(window) == pool.pairs[1][1]
    assert window.text("#decision").startswith("Decided by lea: grade 2.")
    press(window, "3")
    assert decided(served)[pool.pairs[1]][0] == 3
    assert window.text("#decided .grade") == "3"
    window.page.click("#decided button")
    press(window, "u")  # the decision before it is in force again
    assert decided(served)[pool.pairs[1]][0] == 2
    assert window.text("#said").endswith("has its previous decision again.")
    press(window, "u")
    assert decided(served) == {}
    assert window.text("#progress-text") == "3 disputes left · 0 decided"
