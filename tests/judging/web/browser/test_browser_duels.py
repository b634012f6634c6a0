"""The duel page in a real browser: grades are kept whatever happens, and two people never see the same query."""

import pytest

from rulerank.datasets.ranking import make_ranking
from rulerank.judging.loop import Judging
from rulerank.judging.pool import Pool


@pytest.fixture
def duelling(serve, make_pool):
    """A page whose model was trained on the labels of two queries, so that others can be fought over."""
    served = serve(make_pool(n_queries=12, docs_per_query=8))
    pool = served.judging.pool
    for number, row in enumerate([*pool.rows_of("q1")[:4], *pool.rows_of("q2")[:4]]):
        served.judging.grade("zoe", *pool.pairs[row], number % 3)
    served.judging.save_model(served.judging.store.name + ".rulerank", "RE-GR")
    assert len(served.judging.check.duels) >= 4
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


def test_two_grades_are_a_duel_and_the_next_one_comes(duelling, visit):
    window = visit(f"{duelling.url}duels?rater=ann")
    first = query(window)
    window.shoot("duels")
    assert len(window.page.query_selector_all("[data-place]")) == 2
    assert "new" not in window.text("[data-place='0']").lower()
    press(window, "2")
    assert query(window) == first
    press(window, "0")
    assert query(window) != first
    assert given(duelling, "ann") == [(first, 2), (first, 0)]
    assert duelling.judging.check.comparison().n_queries == 1
    assert window.text("#line").startswith("Not enough to tell yet (")


def test_two_people_never_see_the_same_query(duelling, visit):
    ann, bob = (visit(f"{duelling.url}duels?rater={name}") for name in ("ann", "bob"))
    assert query(ann) != query(bob)
    press(ann, "1")
    assert query(ann) != query(bob)
    press(ann, "1")
    assert query(ann) != query(bob)


def test_a_duel_can_be_skipped_and_a_grade_taken_back(duelling, visit):
    window = visit(f"{duelling.url}duels?rater=ann")
    first = query(window)
    press(window, "s")
    second = query(window)
    assert second != first
    press(window, "1")
    press(window, "u")
    assert query(window) == second
    assert given(duelling, "ann") == []


def test_half_a_duel_is_there_again_after_a_reload(duelling, visit):
    window = visit(f"{duelling.url}duels?rater=ann")
    first = query(window)
    press(window, "2")
    window.page.reload()
    assert query(window) == first
    assert len(window.page.query_selector_all("[data-given]")) == 1
    press(window, "1")
    assert given(duelling, "ann") == [(first, 2), (first, 1)]


def test_a_grade_pressed_while_the_server_is_away_is_sent_later(duelling, visit):
    window = visit(f"{duelling.url}duels?rater=ann")
    first = query(window)
    duelling.go_away("/api/labels")
    window.page.keyboard.press("2")
    window.page.wait_for_selector("#main[data-state=waiting]")
    assert "kept on this device" in window.text("#notice-text")
    duelling.come_back()
    window.page.click("#retry")
    ready(window)
    assert given(duelling, "ann") == [(first, 2)]
    window.problems.clear()  # the request that nobody heard is in red


def test_without_a_model_the_page_says_what_to_do(serve, visit):
    window = visit(f"{serve().url}duels?rater=ann")
    window.page.wait_for_selector("#main[data-state=none]")
    assert window.text("#none-text") == (
        "Train a model on the overview first: then it can be compared with today's ranking."
    )


def test_a_model_without_a_ranking_of_today_has_no_duels(tmp_path):
    from rulerank.judging.store import LabelStore

    data = make_ranking(n_queries=3, docs_per_query=6, n_features=3, seed=0)
    bare = type(data)(data.X, data.y, data.qid, data.docid, ("a", "b", "c"))
    with LabelStore(tmp_path / "labels.db") as store:
        judging = Judging(Pool(bare), store)
        for row in range(6):
            judging.grade("ann", *judging.pool.pairs[row], row % 2)
        judging.save_model(tmp_path / "model.rulerank", "QI")
        assert judging.check is None
        assert judging.overview().standing[0].startswith("Say which feature ranks the documents now (--base")
