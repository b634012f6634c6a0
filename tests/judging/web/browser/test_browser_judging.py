"""A rater at the page: judging by keyboard, undo, reload, two windows, and the name that is asked for first."""

import rulerank as rr

# made at one moment, so that no load of the machine can come between the presses
PRESS_AT_ONCE = """
const press = () => new KeyboardEvent("keydown", { key: "2", bubbles: true });
const now = [press(), press(), press()];
window.later = [press(), press()];
now.forEach((event) => document.dispatchEvent(event));
"""


def test_a_whole_run_by_keyboard_ends_with_what_to_do_next(serve, visit, tmp_path):
    served = serve()
    window = visit(served.url)
    window.page.keyboard.type("ann")  # the name has the focus; its letters are no commands
    window.page.keyboard.press("Enter")
    keys = iter("0122010x21s" + "0" * 20)
    window.wait()
    while window.page.get_attribute("#judge", "data-state") == "ready":
        window.press(next(keys))
    assert window.text("#done-text").startswith("The sampler has stopped")
    assert "no documents left for you" in window.text("#progress-text")
    given = [grade for _, _, grade, _ in served.labels()]
    assert given[:9] == [0, 1, 2, 2, 0, 1, 0, None, 2]
    window.shoot("done")
    window.page.click("text=Judge the remaining documents")
    window.press("1")
    assert len(served.labels()) == len(given) + 1
    window.page.click("text=Overview")
    window.page.click("#train button")
    window.page.wait_for_selector("#train-result:has-text('trained on')")
    window.shoot("overview", full_page=True)
    assert rr.load(tmp_path / "model.rulerank").predict(served.judging.pool.data).shape == (15,)


def test_undo_reload_and_revising_keep_every_label(serve, visit):
    served = serve(rater="ann")
    window = visit(served.url)
    first = window.doc()
    window.press("2")
    second = window.doc()
    assert second != first
    window.press("u")
    assert window.doc() == first
    window.press("0")
    assert [grade for _, _, grade, _ in served.labels()] == [2, 0]
    window.page.reload()
    assert window.doc() == second
    assert window.text("#progress-text").startswith("1 by you")
    window.page.click("text=My labels")
    window.shoot("labels")
    window.page.click("td a")
    assert window.doc() == first
    assert "Your current label: grade 0" in window.text("#revising")
    window.press("2")
    assert window.doc() == second
    assert [label.grade for label in served.judging.store.labels()] == [2]
    window.page.goto(f"{served.url}?query=q1&doc=none")
    assert window.doc() == second
    assert "the pool has no document 'none'" in window.text("#notice")
    window.problems.clear()  # the 404


def test_a_key_pressed_twice_judges_once(serve, visit):
    served = serve(rater="ann")
    window = visit(served.url)
    window.wait()
    with window.page.expect_response("**/api/labels**"):
        window.page.evaluate(PRESS_AT_ONCE)
    window.wait()
    window.page.evaluate("later.forEach((event) => document.dispatchEvent(event))")  # a busy browser hands them on late
    window.page.wait_for_timeout(100)
    window.wait()
    assert len(served.labels()) == 1


def test_keys_wait_while_the_help_is_open_with_modifiers_or_when_switched_off(serve, visit):
    served = serve(rater="ann")
    window = visit(served.url)
    window.wait()
    window.page.keyboard.press("?")
    assert window.page.is_visible("#help")
    window.page.keyboard.press("2")
    window.shoot("help")
    window.page.uncheck("#keys-on")
    window.page.keyboard.press("Escape")
    window.page.keyboard.press("2")
    window.page.keyboard.press("Alt+1")
    window.page.wait_for_timeout(300)
    assert served.labels() == []
    window.page.focus("[data-grade='1']")
    window.press("Enter")  # what has the focus is pressed all the same
    assert [grade for _, _, grade, _ in served.labels()] == [1]
