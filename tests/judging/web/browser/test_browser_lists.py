"""A rater at the list of a query: keys, undo, a server that goes away, the end of a list, on every screen."""

import os
from dataclasses import replace
from pathlib import Path

import pytest
from starlette.responses import Response

import rulerank as rr
from browser_windows import LOOKS
from list_windows import docs, grades, press, ready
from rulerank.judging.guidelines import parse_guidelines
from rulerank.judging.offers import ListChoices
from rulerank.judging.pool import Pool
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


def test_a_button_grades_its_own_document_and_another_number_replaces_it(served, visit):
    window = visit(f"{served.url}list")
    third = docs(window)[2]
    card = window.page.locator("#cards article").nth(2)
    card.locator("[data-grade='1']").click()
    window.page.wait_for_selector("#cards li:nth-child(3) .state:has-text('saved')")
    assert grades(served) == [(third, 1)]
    assert card.locator("[data-grade='1']").get_attribute("aria-pressed") == "true"
    card.locator("[data-grade='2']").click()
    window.page.wait_for_selector("#cards li:nth-child(3) [data-grade='2'][aria-pressed=true]")
    press(window)
    assert grades(served) == [(third, 2)]


def test_undo_takes_back_here_and_in_the_list_before(served, visit):
    window = visit(f"{served.url}list")
    *_, last = docs(window)
    query = window.text("#query")
    press(window, "2", "1", "2", "1", "n")
    ready(window)
    assert window.text("#query") != query
    press(window, "u")
    window.page.wait_for_selector("#said:has-text('Taken back')")
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
    window.page.wait_for_selector("#notice:has-text('kept on this device')")
    window.page.keyboard.press("2")
    assert "Your undo waits for the server" in window.text("#said")
    served.come_back()
    window.page.click("#retry")
    window.page.wait_for_selector("#said:has-text('Taken back')")
    assert current(window) == second
    assert grades(served) == [(first, 2)]
    window.problems.clear()  # what nobody heard is in red


def test_to_leave_documents_without_a_grade_takes_two_presses(served, visit):
    window = visit(f"{served.url}list")
    left = docs(window)
    query = window.text("#query")
    press(window, "n")
    assert "4 documents have no grade yet. Press n again" in window.text("#said")
    window.page.evaluate("window.scrollTo(0, document.body.scrollHeight)")
    assert window.page.locator("#said").bounding_box()["y"] >= 0  # it is seen from everywhere in the list
    assert window.text("#query") == query
    press(window, "n")
    ready(window)
    assert window.text("#query") != query
    assert sorted(doc for _, doc in served.judging.store.skipped("ann")) == sorted(left)


def test_a_reload_shows_the_same_list_with_its_grades(served, visit):
    window = visit(f"{served.url}list")
    shown = docs(window)
    press(window, "2", "1")
    window.page.reload()
    assert docs(window) == shown
    assert window.text("#count") == "2 of 4 judged"
    assert current(window) == shown[2]


def test_grades_pressed_while_the_server_is_away_survive_a_reload_and_are_sent(served, visit):
    window = visit(f"{served.url}list")
    first, second, *_ = docs(window)
    served.go_away("/api/labels")
    for key in "20":
        window.page.keyboard.press(key)
        window.page.wait_for_timeout(360)
    window.page.wait_for_selector("#notice:has-text('kept on this device')")
    assert window.text("#count") == "2 of 4 judged"
    assert grades(served) == []
    served.come_back()
    window.page.reload()
    ready(window)
    assert grades(served) == [(first, 2), (second, 0)]
    assert window.text("#count") == "2 of 4 judged"
    window.problems.clear()  # what nobody heard is in red


def test_a_grade_the_server_will_never_take_is_shown_and_not_given(served, visit):
    window = visit(f"{served.url}list")
    ready(window)
    refusal = '{"error": {"code": "unknown_document", "message": "it has left the pool"}}'
    headers = {"Rulerank-Store": served.judging.store.identity}
    served.answers["/api/labels"] = Response(refusal, 404, headers)
    window.page.keyboard.press("2")
    window.page.wait_for_selector("#refused:has-text('it has left the pool')")
    assert window.text("#count") == "0 of 4 judged"
    window.problems.clear()


def test_two_raters_get_two_lists(served, visit):
    windows = [visit(f"{served.url}list?rater={name}") for name in ("ann", "ben")]
    queries = set()
    for window in windows:
        ready(window)
        queries.add(window.text("#query"))
    assert len(queries) == 2


def test_the_switch_changes_the_way_to_judge(served, visit):
    window = visit(f"{served.url}one")
    window.wait()
    window.page.click(".ways >> text=List of a query")
    ready(window)
    assert "/list?" in window.page.url
    window.page.click(".ways >> text=One document")
    window.wait()
    assert "/one?" in window.page.url


def test_the_current_document_of_a_list_is_on_the_screen_of_a_phone_above_the_buttons(serve, visit):
    served = serve(shop_pool(), max_grade=3, guidelines=parse_guidelines(GUIDELINES), rater="ann")
    window = visit(f"{served.url}list", **LOOKS["phone"])
    press(window, "2", "3")
    box = window.page.locator("[data-current]").bounding_box()
    assert 0 <= box["y"] < window.page.locator(".bar").bounding_box()["y"]


@pytest.fixture(scope="module")
def movies():
    """Candidates of some searches among the movies, with what a rater needs to see of them."""
    if not os.environ.get("RULERANK_TEXTS"):
        pytest.skip("needs the movies: RULERANK_TEXTS is not set")
    folder = Path(os.environ["RULERANK_TEXTS"], "movies")
    texts, queries = rr.read_texts(folder / "corpus.jsonl.gz"), rr.read_queries(folder / "judgments.tsv.gz")
    some = type(queries)(queries.ids[:8], queries.texts[:8])
    data = rr.TextFeatures(language="none").fit(texts).dataset(some, top=20)
    place = {one: number for number, one in enumerate(texts.ids)}
    rows = [place[doc] for doc in data.docid]
    fields = {name: [values[row] for row in rows] for name, values in texts.fields.items()}
    longest = max(fields, key=lambda name: sum(len(str(value)) for value in fields[name]))
    shown = {"query_text": list(data.texts["query_text"]), "text": [str(text) for text in fields.pop(longest)]}
    shown |= {"title": fields.pop("title")} if "title" in fields else {}
    return Pool(replace(data, texts={}), shown, fields=fields)


def test_movies_are_judged_in_both_ways(movies, serve, visit):
    served = serve(movies, rater="ann", max_grade=2, lists=ListChoices(5))
    window = visit(f"{served.url}list", **LOOKS["phone-dark"])
    ready(window)
    assert not window.is_too_wide()
    assert window.page.locator("mark").count() > 0
    press(window, "m", "2", "1", "0", "u", "0")
    window.shoot("movies-list")
    window.page.goto(f"{served.url}one")
    window.press("1")
    assert not window.is_too_wide()
    window.shoot("movies-one")
    assert [grade for _, grade in grades(served)] == [2, 1, 0, 1]
