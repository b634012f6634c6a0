"""What a rater does and sees at the list of a query."""


def ready(window):
    window.page.wait_for_selector("#list[data-state=ready]")


def press(window, *keys):
    """Press keys one after the other, each with time to be no bounce, and wait until all are sent."""
    for key in keys:
        ready(window)
        window.page.keyboard.press(key)
        window.page.wait_for_timeout(360)
    while window.page.evaluate("Object.keys(localStorage).some((name) => name.startsWith('rulerank.outbox'))"):
        window.page.wait_for_timeout(30)  # the policy of the page forbids what waits for an expression


def grades(served, rater="ann"):
    return [(label.doc, label.grade) for label in served.judging.store.labels(rater)]


def docs(window):
    ready(window)
    titles = window.page.eval_on_selector_all("#cards [data-part=title]", "all => all.map((one) => one.textContent)")
    return [title.removeprefix("Title of ") for title in titles]
