"""The pages show data as text, know their rater, and stay readable without one."""

import pytest

from rulerank.errors import ReadError
from rulerank.judging.demo import demo_pool
from rulerank.judging.web.guidelines import default_guidelines, parse_guidelines, read_guidelines

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
    served = serve(pool, rater=NASTY, guidelines=parse_guidelines(f"{NASTY}\n1: {NASTY}", 2))
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


def test_guidelines_have_a_text_for_all_and_one_per_grade(tmp_path):
    path = tmp_path / "guidelines.txt"
    path.write_text(
        "Think of the person\nwho asks.\n\n0: useless - Nothing.\n1: so so\n2: All - or nothing - at all\n  and more\n"
    )
    found = read_guidelines(path, 2)
    assert found.intro == "Think of the person\nwho asks."
    assert [(text.name, text.meaning) for text in found.grades] == [
        ("useless", "Nothing."),
        ("so so", ""),
        ("All", "or nothing - at all and more"),
    ]


def test_a_dash_late_in_a_sentence_ends_no_name():
    (_, text) = parse_guidelines("1: The page answers the whole question - and more.", 1).grades
    assert (text.name, text.meaning) == ("relevant", "The page answers the whole question - and more.")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("0: no\n3: yes", "g.txt:2: expected a grade from 0 to 2, got 3"),
        ("1: a\n1: b", "g.txt:2: grade 1 is explained twice"),
    ],
)
def test_a_mistake_in_the_guidelines_is_named_by_its_line(text, message):
    with pytest.raises(ReadError, match=message):
        parse_guidelines(text, 2, "g.txt")


def test_guidelines_that_are_no_text_are_refused(tmp_path):
    (tmp_path / "g.txt").write_bytes(b"\xff\xfe0:\xff")
    with pytest.raises(ReadError, match="the guidelines must be text in UTF-8"):
        read_guidelines(tmp_path / "g.txt", 2)


def test_every_number_of_grades_has_buttons():
    for max_grade in range(1, 10):
        assert [text.grade for text in default_guidelines(max_grade).grades] == list(range(max_grade + 1))


def test_the_demo_tells_its_grades_by_its_texts():
    pool = demo_pool()
    assert {"query_text", "description", "title", "text", "url"} == set(pool.texts)
    assert all(" EUR; " in text and "in the shop since" in text for text in pool.texts["text"])
    assert any("sold out" in text for text in pool.texts["text"])
    assert all(text.startswith("Looking for: ") for text in pool.texts["description"])
    assert set(pool.own_grades.values()) == {0, 1, 2, 3}
