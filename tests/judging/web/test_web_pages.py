"""The pages show data as text, know their rater, and stay readable without one."""

import pytest

from rulerank.errors import DataError
from rulerank.judging.guidelines import parse_guidelines
from rulerank.judging.loop import Judging
from rulerank.judging.store import LabelStore
from rulerank.judging.web.app import create_app

NASTY = '"><script>alert(1)</script><svg onload=alert(1)>'


def test_a_first_visit_asks_for_a_name_and_the_next_one_knows_it(serve):
    with serve().client() as client:
        assert "Who is judging?" in client.get("/").text
        assert "Who is judging?" in client.get("/labels", follow_redirects=True).text
        assert 'data-rater="Zoë &amp; 李"' in client.get("/", params={"rater": "Zoë & 李"}).text
        assert 'data-rater="Zoë &amp; 李"' in client.get("/").text
        assert client.get("/api/next").json()["progress"]["rater"] == "Zoë & 李"
        assert "Zoë &amp; 李" in client.get("/?who").text


def test_a_name_that_cannot_be_is_asked_again(serve):
    with serve().client() as client:
        answer = client.get("/", params={"rater": "x" * 51})
    assert answer.status_code == 422
    assert "a rater&#39;s name has 1 to 50 printable characters" in answer.text


@pytest.mark.parametrize("cookie", ["%00", "x" * 51, "%20"])
def test_a_cookie_that_is_no_name_is_as_good_as_none(serve, cookie):
    with serve().client(cookies={"rulerank_rater": cookie}) as client:
        for page in ("/", "/labels", "/overview"):
            answer = client.get(page, follow_redirects=True)
            assert (answer.status_code, "Who is judging?" in answer.text) == (200, True)


def test_the_longest_name_fits_the_store(serve):
    name = "\N{GRINNING FACE}" * 50
    with serve().client() as client:
        assert client.get("/api/next", params={"rater": name}).json()["progress"]["rater"] == name
        assert client.get("/labels", params={"rater": name}).status_code == 200


def test_the_rater_of_the_command_line_needs_no_question(serve):
    with serve(rater="ann").client() as client:
        assert 'data-rater="ann"' in client.get("/").text
        assert ">change<" not in client.get("/").text


def test_names_from_the_address_are_text(serve):
    with serve(rater="ann").client() as client:
        for page in ("/", "/labels", "/overview"):
            text = client.get(page, params={"rater": NASTY, "query": NASTY, "doc": NASTY}).text
            assert "<script>alert" not in text
            assert "<img" not in text


def test_labels_and_guidelines_are_text(serve, make_pool):
    pool = make_pool({name: [NASTY] * 15 for name in ("query_text", "title", "text", "url", "description")})
    served = serve(pool, rater=NASTY, guidelines=parse_guidelines(f"{NASTY}\n0: {NASTY}\n1: b\nexample: {NASTY}\n2: c"))
    for query, doc in pool.pairs:
        served.judging.grade(NASTY, query, doc, 1)
    with served.client() as client:
        for page in ("/", "/labels", "/overview"):
            text = client.get(page).text
            assert "&lt;script&gt;" in text
            assert "<script>alert" not in text
            assert "<img" not in text


def test_an_unknown_page_is_a_page(serve):
    with serve(rater="ann").client(headers={"accept": "text/html"}) as client:
        answer = client.get("/nothing")
    assert answer.status_code == 404
    assert "There is no such page" in answer.text


def test_the_icon_that_browsers_ask_for_is_there(serve):
    with serve().client() as client:
        assert client.get("/favicon.ico").headers["content-type"].startswith("image/svg+xml")


def test_the_guidelines_decide_which_grades_there_are(serve):
    guidelines = parse_guidelines("0: no\n1: yes\n  example: a tent with a roof")
    served = serve(rater="ann", max_grade=1, guidelines=guidelines)
    with served.client() as client:
        page = client.get("/").text
        assert page.count('class="grade-button') == 2
        assert "<kbd>0</kbd> … <kbd>1</kbd>" in page
        assert "a tent with a roof" in page
        query, doc = served.judging.pool.pairs[0]
        refused = client.post("/api/labels", json={"query": query, "doc": doc, "grade": 2})
    assert (refused.status_code, refused.json()["error"]["code"]) == (422, "bad_value")


def test_guidelines_that_contradict_the_loop_are_refused(make_pool, tmp_path):
    with LabelStore(tmp_path / "labels.db") as store:
        judging = Judging(make_pool(), store, max_grade=4)
        with pytest.raises(DataError, match="the guidelines have the grades 0 to 1, and the judging loop takes 0 to 4"):
            create_app(judging, guidelines=parse_guidelines("0: no\n1: yes"))
