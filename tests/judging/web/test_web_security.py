"""Nobody gets in without the token, from another site or by another name; and what is refused changes nothing."""

from itertools import product

import pytest

from rulerank.web.security import Tokens

TOKEN = "a secret that is long"
PATHS = ["/", "/labels", "/overview", "/openapi.json", "/static/judge.js", "/api/next", "/api/overview", "/nothing"]
GRADE = {"query": "q1", "doc": "q1-d1", "grade": 1}


@pytest.fixture
def guarded(serve):
    return serve(rater="ann", token=TOKEN)


def test_without_the_token_nothing_is_served(guarded):
    cookie = f"rulerank_token_{guarded.port}="
    with guarded.client() as client:
        for path in PATHS:
            for answer in (
                client.get(path),
                client.post(path, json=GRADE),
                client.get(path, params={"token": "wrong"}),
                client.get(path, headers={"authorization": "Bearer wrong"}),
                client.get(path, headers={"authorization": f"Basic {TOKEN}"}),
                client.get(path, headers={"cookie": f"{cookie}{TOKEN}"}),
                client.get(path, headers={b"cookie": f"{cookie}\u00e9".encode()}),
            ):
                assert answer.status_code == 401
                assert answer.json()["error"]["code"] == "wrong_token"
                assert answer.json()["error"]["message"].startswith("this page needs its token: open the URL that")
    assert guarded.labels() == []


def test_a_first_visit_with_the_token_sets_a_cookie_and_leaves_the_token_out_of_the_address(guarded):
    with guarded.client() as client:
        answer = client.get("/", params={"token": TOKEN, "rater": "ann & ben"})
        assert answer.headers["refresh"] == "0; url=/?rater=ann+%26+ben"
        cookie = answer.headers["set-cookie"].lower()
        assert "httponly" in cookie
        assert "samesite=strict" in cookie
        assert TOKEN not in cookie
        assert client.get("/").status_code == 200
        assert client.get("/api/next").status_code == 200


def test_the_way_on_never_leads_to_another_host(guarded):
    with guarded.client() as client:
        for path, rest in {
            "/evil.example/": "evil.example/",
            "%5Cevil.example": "evil.example",
            "%0d%0a": "%0D%0A",
        }.items():
            answer = client.get(f"{guarded.url}{path}", params={"token": TOKEN})
            assert answer.headers["refresh"] == f"0; url=/{rest}"


@pytest.mark.parametrize("host", ["evil.example", "evil.example:80", "127.0.0.1.evil.example", "", "[", "192.168.0.1"])
def test_another_name_for_this_machine_is_refused(host, serve):
    served = serve(rater="ann")
    with served.client(headers={"host": host}) as client:
        for path in PATHS:
            answer = client.get(path)
            assert (answer.status_code, answer.json()["error"]["code"]) == (403, "wrong_host")
            assert answer.json()["error"]["message"].startswith(
                "this page is available at 127.0.0.1 and localhost only"
            )
        assert client.post("/api/labels", json=GRADE).status_code == 403
    assert served.labels() == []


FOREIGN = [
    {"origin": "https://evil.example"},
    {"origin": "null"},
    {"origin": "http://127.0.0.1:1"},
    {"origin": "http://["},
    {"sec-fetch-site": "cross-site"},
    {"sec-fetch-site": "same-site"},
]


BODIES = {"labels": GRADE, "train": {"method": "QI"}, "undo": {}, "skip": {"query": "q1", "doc": "q1-d1"}}


def test_a_change_sent_by_another_site_changes_nothing(serve):
    served = serve(rater="ann")
    with served.client() as client:
        client.post("/api/labels", json=GRADE)
        before = served.judging.store.state(), served.judging.store.skipped("ann")
        for headers, name in product(FOREIGN, BODIES):
            answer = client.post(f"/api/{name}", json=BODIES[name], headers=headers)
            assert (answer.status_code, answer.json()["error"]["code"]) == (403, "wrong_origin")
            assert answer.json()["error"]["message"].startswith("only pages of this server may do this: the ")
    assert (served.judging.store.state(), served.judging.store.skipped("ann")) == before


def test_every_answer_forbids_scripts_frames_and_referrers(serve):
    with serve().client() as client:
        for path in [*PATHS, "/?rater=ann"]:
            headers = client.get(path).headers
            policy = headers["content-security-policy"]
            assert "default-src 'none'" in policy
            assert "unsafe" not in policy
            assert "frame-ancestors 'none'" in policy
            assert headers["x-content-type-options"] == "nosniff"
            assert headers["referrer-policy"] == "no-referrer"
            assert headers["cache-control"] == "no-store"


def test_a_personal_link_judges_under_its_own_name_only(serve):
    served = serve(token=TOKEN)
    ann = Tokens(TOKEN).invite("Ann & 李")
    with served.client() as client:
        assert client.get("/", params={"token": ann}).headers["refresh"] == "0; url=/"
        page = client.get("/").text
        assert 'data-rater="Ann &amp; 李"' in page
        assert ">change<" not in page
        assert "Who is judging?" not in client.get("/?who").text
        assert client.post("/api/labels", json=GRADE).json()["label"]["rater"] == "Ann & 李"
        assert client.post("/api/labels", json=GRADE, params={"rater": "Ann & 李"}).status_code == 200
        for path in ("/", "/labels", "/overview", "/api/next", "/api/labels"):
            answer = client.get(path, params={"rater": "ben"})
            assert (answer.status_code, answer.json()["error"]["code"]) == (403, "other_rater")
            assert "not of 'ben': use the link of that rater" in answer.json()["error"]["message"]
        assert client.post("/api/labels", json=GRADE, params={"rater": "ben"}).status_code == 403
        assert client.get("/", headers={"cookie": "rulerank_rater=ben"}).status_code == 401
    assert {rater for *_, rater in served.labels()} == {"Ann & 李"}


def test_a_token_that_was_changed_or_made_from_another_secret_opens_nothing(serve):
    served = serve(token=TOKEN)
    name, _, signature = Tokens(TOKEN).invite("ann").partition(".")
    other = Tokens(TOKEN).invite("ben").partition(".")[0]
    forged = [
        f"{other}.{signature}",
        f"{name}.{signature[:-1]}",
        f"{name}.",
        name,
        Tokens("another secret").invite("ann"),
    ]
    with served.client() as client:
        for token in forged:
            assert client.get("/", params={"token": token}).status_code == 401
            assert client.get("/", headers={"cookie": f"rulerank_token_{served.port}={token}"}).status_code == 401


@pytest.mark.parametrize("site", ["cross-site", "same-site"])
def test_a_link_on_another_site_does_not_set_the_rater(site, serve):
    with serve().client() as client:
        answer = client.get("/", params={"rater": "eve"}, headers={"sec-fetch-site": site})
        assert "set-cookie" not in answer.headers
        assert "data-rater" not in answer.text
        assert "A link from another site has set this name: check that it is yours" in answer.text
        for path in ("/labels", "/overview"):  # from where a click would go on under that name
            answer = client.get(path, params={"rater": "eve"}, headers={"sec-fetch-site": site}, follow_redirects=True)
            assert "data-rater" not in answer.text
        assert "Who is judging?" in client.get("/").text
        assert 'data-rater="ann"' in client.get("/", params={"rater": "ann"}, headers={"sec-fetch-site": "none"}).text
