"""The comparison page in a real browser: grades are kept whatever happens, and two people never see the same query."""

import pytest


@pytest.fixture
def comparing(serve, make_pool):
    """A page whose model was trained on the labels of two queries, so that others can be fought over."""
    served = serve(make_pool(n_queries=12, docs_per_query=8))
    pool = served.judging.pool
    for number, row in enumerate([*pool.rows_of("q1")[:4], *pool.rows_of("q2")[:4]]):
        served.judging.grade("zoe", *pool.pairs[row], number % 3)
    served.judging.save_model(served.judging.store.name + ".rulerank", "RE-GR")
    assert len(served.judging.check.pairs) >= 4
    return served


def ready(window):
    window.page.wait_for_selector("#main[data-state=ready]")


def press(window, key):
    ready(window)
    window.page.wait_for_timeout(400)  # the same key sooner is taken for a bounce
    with window.page.expect_response(lambda answer: answer.request.method == "POST"):
        window.page.keyboard.press(key)
    window.page.wait_for_selector("#main:is([data-state=ready], [data-state=none])")


def query(window):
    ready(window)
    return window.text("#query-id")


def given(served, rater):
    return [(label.query, label.grade) for label in served.judging.store.labels(rater)]


def test_two_grades_are_a_comparison_that_can_be_skipped_taken_back_and_gone_on_with(comparing, visit):
    ann, bob = (visit(f"{comparing.url}side-by-side?rater={name}") for name in ("ann", "bob"))
    first = query(ann)
    assert query(bob) != first
    ann.shoot("side-by-side")
    assert len(ann.page.query_selector_all("[data-place]")) == 2
    assert "new" not in ann.text("[data-place='0']").lower()
    press(ann, "2")
    ann.page.reload()  # half a comparison is there again
    assert query(ann) == first
    assert len(ann.page.query_selector_all("[data-given]")) == 1
    press(ann, "0")
    second = query(ann)
    assert second not in (first, query(bob))
    assert given(comparing, "ann") == [(first, 2), (first, 0)]
    assert comparing.judging.check.comparison().n_queries == 1
    assert ann.text("#line").startswith("Too few comparisons yet (")
    press(ann, "s")
    third = query(ann)
    assert third not in (first, second, query(bob))
    press(ann, "1")
    press(ann, "u")
    assert query(ann) == third
    assert len(given(comparing, "ann")) == 2


def test_without_a_model_the_page_says_what_to_do(serve, visit):
    window = visit(f"{serve().url}side-by-side?rater=ann")
    window.page.wait_for_selector("#main[data-state=none]")
    assert window.text("#none-text") == (
        "Train a model on the overview first, then compare it with the baseline ranking here."
    )
