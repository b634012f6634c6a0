"""A server that goes away, comes back or is another one: what was pressed is kept, shown, and sent once."""

from rulerank.judging.store import LabelStore
from rulerank.judging.transfer import import_labels


def pressed_while_away(serve, visit, key):
    """Return a server that has stopped, and the window in which a key was pressed since."""
    served = serve(rater="ann")
    window = visit(served.url)
    window.wait()
    served.stop()
    window.page.keyboard.press(key)
    window.wait("waiting")
    return served, window


def test_a_grade_given_while_the_server_is_away_is_kept_and_sent_when_it_is_back(serve, visit):
    served, window = pressed_while_away(serve, visit, "2")
    assert "Your judgement is stored on this device" in window.text("#notice")
    window.shoot("server-away")
    assert served.labels() == []
    serve(rater="ann", port=served.port)
    window.page.click("#retry")
    window.wait()
    assert not window.page.is_visible("#notice")
    assert [grade for _, _, grade, _ in served.labels()] == [2]
    window.problems.clear()  # the connection that was refused


def held(window):
    """Return the names of what is kept on the device."""
    return window.page.evaluate("Object.keys(localStorage).filter((name) => name.startsWith('rulerank.outbox.'))")


def test_a_held_grade_never_goes_to_another_pools_store(serve, visit):
    first, window = pressed_while_away(serve, visit, "2")
    other = serve(rater="ann", port=first.port, labels="other.db")
    window.page.click("#retry")
    window.page.wait_for_selector("#notice:has-text('Another label store is served at this address now')")
    window.page.reload()
    window.wait()
    assert other.labels() == []
    assert "1 judgement for another label store: stored on this device" in window.text("#elsewhere")
    window.shoot("kept-for-another-store")
    other.stop()
    again = serve(rater="ann", port=first.port)
    window.page.goto(again.url)
    window.wait()
    assert [grade for _, _, grade, _ in again.labels()] == [2]
    assert held(window) == []
    assert not window.page.is_visible("#elsewhere")
    window.problems.clear()


def test_a_grade_that_the_server_will_never_take_is_shown_and_can_be_copied(serve, visit, tmp_path):
    first = serve(rater="ann", max_grade=4)
    window = visit(first.url)
    doc = window.doc()
    first.stop()
    window.page.keyboard.press("4")
    window.wait("waiting")
    second = serve(rater="ann", port=first.port, max_grade=2)
    window.page.click("#retry")
    window.page.wait_for_selector("#refused:not([hidden])")
    window.page.reload()  # it stays until it is dismissed
    window.wait()
    assert "The server refused 1 judgement" in window.text("#refused")
    assert f"grade 4 for {doc} of q" in window.text("#refused")
    assert "grade must be a whole number at most 2" in window.text("#refused")
    window.shoot("refused")
    (tmp_path / "copied.csv").write_text(window.page.input_value("#refused textarea"))
    with LabelStore(tmp_path / "copy.db") as store:
        assert import_labels(store, tmp_path / "copied.csv", "unknown") == 1
        assert [(label.doc, label.grade, label.rater) for label in store.labels()] == [(doc, 4, "ann")]
    window.page.click("text=Copy as csv")
    window.page.wait_for_selector("#refused button:has-text('Copied')")
    window.page.click("text=Dismiss")
    assert not window.page.is_visible("#refused")
    assert second.labels() == []
    window.problems.clear()


def test_what_a_closed_tab_has_left_is_sent_by_another(serve, visit):
    served = serve(rater="ann")
    window = visit(served.url)
    window.wait()
    second = window.page.context.new_page()
    second.goto(served.url)
    second.wait_for_selector("#judge[data-state=ready]")
    served.stop()
    for tab, key in ((window.page, "1"), (second, "2")):
        tab.bring_to_front()
        tab.keyboard.press(key)
        tab.wait_for_selector("#judge[data-state=waiting]")
    second.close()
    again = serve(rater="ann", port=served.port)
    window.page.click("#retry")
    window.wait()
    assert [grade for _, _, grade, _ in again.labels()] == [1, 2]
    assert held(window) == []
    window.problems.clear()
