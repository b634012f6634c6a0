"""The switch that shows first where other judges differ from people or the model."""

import pytest

from browser_windows import LOOKS


@pytest.fixture
def with_judge(serve):
    """People have judged three documents, a language model two of them otherwise, and ben has judged nothing yet."""
    served = serve()
    pairs = served.judging.pool.pairs
    for row in (3, 7, 11):
        served.judging.grade("ann", *pairs[row], 0)
    for row, grade in ((3, 0), (7, 1), (11, 2)):
        served.judging.grade("gpt", *pairs[row], grade)
    served.judging.store.name_judge("gpt", "llm", "lea")
    return served, [pairs[row][1] for row in (11, 7)]  # the largest gap first


def is_on(window):
    return window.page.get_attribute("#judges-first", "aria-pressed") == "true"


def test_without_another_judge_the_switch_says_why_it_cannot_be_turned(serve, visit):
    window = visit(serve(rater="ann").url)
    before = window.doc()
    assert not window.page.is_visible("#judges-first-why")
    window.page.keyboard.press("d")
    window.page.wait_for_selector("#judges-first-why")
    assert window.text("#judges-first-why").startswith("No other judge has labels here: once the lead has brought")
    assert window.text("#announcer") == window.text("#judges-first-why")
    assert (is_on(window), window.doc()) == (False, before)
    window.shoot("judges-first-none")
    assert window.page.get_attribute("#judges-first", "aria-disabled") == "true"


def test_a_key_shows_first_where_judges_differ_and_again_the_usual_order(with_judge, visit):
    served, (most, less) = with_judge
    window = visit(f"{served.url}one?rater=ben")
    usual = window.doc()
    assert usual not in (most, less)
    with window.page.expect_response(lambda answer: "queue=judges" in answer.url):
        window.page.keyboard.press("d")
    assert (is_on(window), window.doc()) == (True, most)
    window.page.reload()  # the switch stays as it was left
    assert (is_on(window), window.doc()) == (True, most)
    window.press("2")
    assert window.doc() == less  # what a grade is answered with goes by the switch, too
    window.press("s")
    assert window.doc() == usual  # nothing is left in that queue: all others come as ever
    with window.page.expect_response(lambda answer: answer.url.endswith("/api/next") or "queue" not in answer.url):
        window.page.click("#judges-first")
    assert (is_on(window), window.doc()) == (False, usual)


@pytest.mark.parametrize("look", LOOKS)
def test_the_switch_fits_every_screen(look, with_judge, visit):
    served, _ = with_judge
    window = visit(f"{served.url}one?rater=ben", **LOOKS[look])
    window.wait()
    window.page.click("#judges-first")
    window.wait()
    assert is_on(window)
    assert not window.is_too_wide()
    window.shoot(f"judges-first-{look}")
