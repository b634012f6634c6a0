"""A rater at the page: judging by keyboard, undo, reload, two windows."""

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
    assert window.page.is_visible("#done")
    assert window.text("#done-text").startswith("You have skipped all documents left that the sampler would ask for")
    assert "nothing left for you" in window.text("#progress-text")
    given = [grade for _, _, grade, _ in served.labels()]
    assert given[:9] == [0, 1, 2, 2, 0, 1, 0, None, 2]
    window.shoot("done")
    window.page.click("text=Keep judging the rest")
    window.press("1")
    assert len(served.labels()) == len(given) + 1

    window.page.click("text=Overview")
    window.page.click("#train button")
    window.page.wait_for_selector("#train-result:has-text('trained on')")
    window.shoot("overview", full_page=True)
    assert rr.load(tmp_path / "model.rulerank").predict(served.judging.pool.data).shape == (15,)


# the keys of someone who does not wait: as soon as anything listens, long before the field is read
TYPE_AT_ONCE = """
const listen = document.addEventListener;
document.addEventListener = function (type, ...rest) {
  listen.call(document, type, ...rest);
  if (type !== "DOMContentLoaded") return;
  window.sooner = !document.getElementById("rater");
  for (const key of ["x", "Backspace", "a", "n"])
    document.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true, cancelable: true }));
};
"""


def test_no_letter_of_the_name_is_lost_while_the_page_loads(serve, browser):
    served = serve()
    with browser.new_context() as context:
        page, stalled = context.new_page(), []
        page.route(
            "**/style.css", lambda route: stalled.append(route)
        )  # nothing is drawn, and nothing has the focus, before it
        page.goto(served.url, wait_until="commit")
        page.wait_for_selector("#rater", state="attached")
        page.keyboard.type("An")
        assert page.input_value("#rater") == "An"
        while not stalled:
            page.wait_for_timeout(50)
        stalled[0].continue_()
        page.wait_for_load_state()
        page.keyboard.type("na")
        assert page.input_value("#rater") == "Anna"
        page.unroute("**/style.css")
        page.keyboard.press("Enter")
        page.wait_for_selector(".who:has-text('Anna')")


def test_letters_typed_before_there_is_a_field_wait_for_it(serve, browser):
    served = serve()
    with browser.new_context() as context:
        page = context.new_page()
        page.add_init_script(TYPE_AT_ONCE)
        page.goto(served.url)
        page.keyboard.type("n")
        assert page.input_value("#rater") == "ann"
        assert page.evaluate("window.sooner")


def test_a_suggested_name_is_replaced_by_what_is_typed(serve, browser):
    served = serve()
    with browser.new_context() as context:
        page = context.new_page()
        page.goto(f"{served.url}?rater=ann")
        page.click("text=change")
        page.wait_for_selector("#rater")
        assert page.input_value("#rater") == "ann"
        page.keyboard.type("ben")
        assert page.input_value("#rater") == "ben"


def test_the_estimate_appears_only_after_the_grade_and_with_its_reasons(serve, visit):
    served = serve(rater="ann")
    window = visit(served.url)
    window.wait()
    assert not window.page.is_visible("#result")
    for key in "010101":  # the queries take turns, so that each gets both grades
        window.press(key)
    # both at once: the next estimate may replace one that was just seen
    window.page.wait_for_selector("#result:has-text('The ranker had expected') .rules li", state="attached")
    window.shoot("result")


def test_undo_brings_the_last_document_back(serve, visit):
    served = serve(rater="ann")
    window = visit(served.url)
    first = window.doc()
    window.press("2")
    second = window.doc()
    assert second != first
    window.press("u")
    assert window.doc() == first
    window.press("0")
    assert [label.grade for label in served.judging.store.labels()] == [0]
    assert [grade for _, _, grade, _ in served.labels()] == [2, 0]


def test_reload_in_the_middle_shows_the_same_document_and_keeps_every_label(serve, visit):
    served = serve(rater="ann")
    window = visit(served.url)
    window.press("1")
    doc = window.doc()
    window.page.reload()
    assert window.doc() == doc
    assert len(served.labels()) == 1
    assert window.text("#progress-text").startswith("1 by you")


def test_two_raters_in_two_windows_never_see_the_same_document(serve, visit):
    served = serve()
    windows = [visit(f"{served.url}?rater={name}") for name in ("ann", "ben")]
    for _ in range(4):
        assert windows[0].doc() != windows[1].doc()
        for window in windows:
            window.press("1")
    labels = served.judging.store.labels()
    assert len({(label.query, label.doc) for label in labels}) == len(labels) == 8
    assert {label.rater for label in labels} == {"ann", "ben"}


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
    assert not window.page.is_visible("#help")
    window.page.keyboard.press("2")
    window.page.keyboard.press("Alt+1")
    window.page.wait_for_timeout(300)
    assert served.labels() == []
    window.page.click("[data-grade='1']")
    window.page.wait_for_selector("#result p")
    assert [grade for _, _, grade, _ in served.labels()] == [1]


def test_everything_can_be_reached_with_tab_and_pressed_with_enter(serve, visit):
    served = serve(rater="ann")
    window = visit(served.url)
    window.wait()
    reached = []
    for _ in range(30):
        window.page.keyboard.press("Tab")
        reached.append(window.page.evaluate("document.activeElement.innerText || document.activeElement.tagName"))
    words = " ".join(reached)
    assert all(word in words for word in ("Show features", "highly relevant", "Cannot judge", "Skip", "Undo", "Help"))
    assert reached.count("To the content") > 1  # the focus comes round: no trap
    window.page.focus("[data-grade='2']")
    window.press("Enter")
    assert [grade for _, _, grade, _ in served.labels()] == [2]


def test_a_label_is_revised_from_the_list(serve, visit):
    served = serve(rater="ann")
    window = visit(served.url)
    doc = window.doc()
    window.press("0")
    window.page.click("text=My labels")
    window.shoot("labels")
    window.page.click("td a")
    assert window.doc() == doc
    assert "You have judged this before: grade 0" in window.text("#revising")
    window.press("2")
    assert window.doc() != doc
    assert [label.grade for label in served.judging.store.labels()] == [2]


def test_a_document_that_is_not_there_gives_way_to_the_next_one(serve, visit):
    window = visit(f"{serve(rater='ann').url}?query=q1&doc=none")
    assert window.doc()
    assert "the pool has no document 'none'" in window.text("#notice")
    window.problems.clear()  # the 404


def test_features_are_shown_on_demand_the_most_unusual_first(serve, visit):
    window = visit(serve(rater="ann").url)
    window.wait()
    assert not window.page.is_visible("#features")
    window.page.keyboard.press("f")
    window.page.wait_for_selector("table.features")
    assert "bm25_body" in window.text("#features")
    window.press("1")
    window.page.wait_for_selector("table.features")  # stays open for the next document
    window.page.keyboard.press("f")
    assert not window.page.is_visible("#features")
