"""What only the admin gets: queries, training, links, more documents, settings, files; a personal link gets nothing."""

import threading
from urllib.parse import parse_qs, urlsplit

import pytest

from rulerank.judging import learning
from rulerank.judging.admin import ROWS_PER_PAGE
from rulerank.judging.agreement import TOO_FEW
from rulerank.judging.labels import Decision, Setting
from rulerank.judging.web.admin_api import DISPUTES_PER_PAGE, QUERIES_PER_PAGE
from rulerank.web.security import Tokens

SECRET = "a secret that is long"
ADMIN = {"authorization": f"Bearer {SECRET}"}
RATER = {"authorization": f"Bearer {Tokens(SECRET).invite('ann')}"}
PAGES = ["/admin", "/queries", "/disputes", "/download/labels.csv", "/download/history.csv"]
ASKED = [
    ("GET", "/api/queries", None),
    ("POST", "/api/train", {"method": "QI"}),
    ("POST", "/api/invite", {"name": "ben"}),
    ("GET", "/api/disputes", None),
    ("GET", "/api/agreement", None),
    ("POST", "/api/decisions", {"query": "q1", "doc": "q1-d1", "grade": 1}),
    ("GET", "/api/settings", None),
    ("POST", "/api/settings", {"judgements": 2}),
    ("POST", "/api/raters", {"name": "gpt", "kind": "llm"}),
]
FILES = {  # and how many rows of labels each has in the test
    "labels.csv": 6,
    "labels.txt": 6,
    "labels.qrels": 6,
    "labels-quepid.csv": 6,
    "labels-per-rater.csv": 9,
    "history.csv": 10,
}


def grade_all(judging, rater="ann", n_docs=1000):
    data = judging.pool.data
    for row, (query, doc) in enumerate(judging.pool.pairs[:n_docs]):
        judging.grade(rater, query, doc, int(data.X[row, 0] > data.X[:, 0].mean()) + row % 2)


@pytest.fixture
def admin(serve, make_pool):
    """A server with a secret, and the admin who asks it."""
    served = serve(make_pool(n_queries=4), token=SECRET)
    with served.client(headers=ADMIN, params={"rater": "lea"}) as client:
        yield served, client


def test_a_personal_link_gets_nothing_of_the_admins(serve):
    served = serve(token=SECRET)
    with served.client(headers=RATER) as client:
        for method, path, body in ASKED:
            answer = client.request(method, path, json=body)
            assert (path, answer.status_code) == (path, 403)
            assert answer.json()["error"] == {
                "code": "admin_only",
                "message": "only the admin may do this: personal links are for judging",
            }
    assert served.judging.store.settings().judgements == 1
    assert served.judging.check is None


def test_a_personal_link_sees_none_of_the_leads_pages(serve):
    served = serve(token=SECRET)
    with served.client(headers=RATER | {"accept": "text/html"}) as client:
        for page in PAGES:
            answer = client.get(page)
            assert answer.status_code == 403
            assert "only the admin may do this" in answer.text
        overview = client.get("/overview").text
        assert "Train and save" not in overview
        assert "/admin" not in overview
    with served.client(headers=ADMIN, params={"rater": "lea"}) as client:
        assert "Train and save" in client.get("/overview").text
        assert "Downloads" in client.get("/admin").text


def test_queries_come_a_page_at_a_time_and_are_found_by_their_words(serve, make_pool):
    served = serve(make_pool(n_queries=120, docs_per_query=2))
    grade_all(served.judging, n_docs=3)
    with served.client(params={"rater": "lea"}) as client:
        first = client.get("/api/queries").json()
        assert (first["found"], first["page"], first["pages"]) == (120, 1, 3)
        assert len(first["queries"]) == ROWS_PER_PAGE
        assert [row["labelled"] for row in first["queries"][:3]] == [2, 1, 0]
        last = client.get("/api/queries", params={"page": 99}).json()
        assert (last["page"], len(last["queries"])) == (3, 20)
        found = client.get("/api/queries", params={"search": "WORDS q11"}).json()
        assert [row["query"] for row in found["queries"]] == ["q11", *(f"q11{i}" for i in range(10))]
        fewest = client.get("/api/queries", params={"order": "fewest labels"}).json()
        assert fewest["queries"][0]["labelled"] == 0
        assert client.get("/api/queries", params={"order": "taste"}).status_code == 422
        page = client.get("/queries", params={"search": "q11", "page": "1"}).text
        assert "11 queries with “q11”" in page
        page = client.get("/queries", params={"page": "2", "order": "nonsense"}).text
        assert "120 queries, page 2 of 3." in page
        assert 'rel="prev"' in page
        assert 'rel="next"' in page
        assert client.get("/queries", params={"page": "²"}).status_code == 200
        assert "0 queries with “&lt;b&gt;”." in client.get("/queries", params={"search": "<b>"}).text


def test_a_personal_link_is_made_for_the_admin_and_opens_the_page(admin):
    served, client = admin
    made = client.post("/api/invite", json={"name": " Ann B. "}).json()
    assert made["rater"] == "Ann B."
    token = parse_qs(urlsplit(made["path"]).query)["token"][0]
    with served.client(headers={"authorization": f"Bearer {token}"}) as rater:
        assert rater.get("/api/next").json()["progress"]["rater"] == "Ann B."
    bad = client.post("/api/invite", json={"name": "\n"})
    assert (bad.status_code, bad.json()["error"]["code"]) == (422, "bad_rater")


def test_without_a_secret_there_are_no_links(serve):
    with serve(rater="lea").client() as client:
        answer = client.post("/api/invite", json={"name": "ann"})
        assert answer.status_code == 422
        assert answer.json()["error"]["message"] == ("personal links need a secret: start the page with --token")
        assert "start the page with <code>--token</code>" in client.get("/admin").text


def test_one_training_at_a_time_and_raters_do_not_wait_for_it(admin, monkeypatch):
    served, client = admin
    grade_all(served.judging)
    begun, go_on = threading.Event(), threading.Event()
    train = learning.fit_labels

    def slowly(*args):
        begun.set()
        assert go_on.wait(30)
        return train(*args)

    monkeypatch.setattr(learning, "fit_labels", slowly)
    answers = []
    thread = threading.Thread(target=lambda: answers.append(client.post("/api/train", json={"method": "QI"})))
    thread.start()
    assert begun.wait(30)
    busy = client.post("/api/train", json={"method": "RE-GR"})
    assert (busy.status_code, busy.json()["error"]["code"]) == (409, "busy")
    with served.client(headers=RATER) as rater:
        assert rater.get("/api/next").status_code == 200
    go_on.set()
    thread.join(30)
    assert (answers[0].json()["method"], answers[0].json()["n_labels"]) == ("QI", 20)


def test_settings_change_one_by_one_and_who_did_it_is_kept(admin):
    served, client = admin
    usual = {"combine": "median", "judgements": 1, "training_raters": []}
    assert client.get("/api/settings").json()["settings"] == usual
    assert client.post("/api/settings", json={"judgements": 2}).json()["settings"] == usual | {"judgements": 2}
    changed = client.post("/api/settings", json={"combine": "mean", "training_raters": ["gpt"]})
    assert changed.json()["settings"] == {
        "combine": "mean", "judgements": 2, "training_raters": ["gpt"],
    }  # fmt: skip
    assert {(fact.rater, fact.page) for fact in served.judging.store.history_of(Setting)} == {("lea", "admin")}
    for wrong in ({"judgements": 0}, {"combine": "magic"}, {"training_raters": "gpt"}):
        assert client.post("/api/settings", json=wrong).status_code == 422
    page = client.get("/admin").text
    assert "<option selected>2</option>" in page


def test_a_rater_who_is_no_person_is_named_so(admin):
    served, client = admin
    grade_all(served.judging, "gpt", n_docs=2)
    kinds = client.post("/api/raters", json={"name": "gpt", "kind": "llm"}).json()["kinds"]
    assert kinds == {"gpt": "llm"}
    assert client.post("/api/raters", json={"name": "gpt", "kind": "ghost"}).status_code == 422
    page = client.get("/admin").text
    assert 'value="llm" selected' in page
    assert 'name="training_raters" value="gpt"' in page


def test_labels_are_taken_away_in_every_format(admin):
    served, client = admin
    assert "no labels to export yet" in client.get("/download/labels.csv").text
    grade_all(served.judging, "ann", n_docs=6)
    grade_all(served.judging, "ben", n_docs=3)
    served.judging.grade("ben", *served.judging.pool.pairs[0], 1)  # as before, and yet a label
    for name, n_rows in FILES.items():
        answer = client.get(f"/download/{name}")
        assert answer.headers["content-disposition"] == f"attachment; filename*=UTF-8''{name}"
        assert (name, len(answer.text.splitlines())) == (name, n_rows + name.endswith(".csv"))


def test_the_model_and_the_history_are_taken_away(admin):
    served, client = admin
    missing = client.get("/download/model.rulerank")
    assert missing.status_code == 422
    assert "no model saved yet" in missing.text
    grade_all(served.judging, "=cmd()|' /C calc'!A0")
    client.post("/api/train", json={"method": "QI"})
    assert client.get("/download/model.rulerank").content.startswith(b"RULERANK")
    client.post("/api/settings", json={"judgements": 2})
    served.judging.skip("ann", *served.judging.pool.pairs[0])
    history = client.get("/download/history.csv").text
    assert history.startswith("time,who,what,qid,docid,grade,value,page,id\n")
    assert "'=cmd()" in history  # no formula
    assert ",lea,setting,,,,judgements = 2,admin,1\n" in history
    assert ",ann,skip,q1,q1-d1," in history
    assert client.get("/download/labels.db").status_code == 404
    assert client.get("/download/..%2flabels.db").status_code == 404


SAID = {"q1-d1": (0, 2), "q1-d2": (1, 1), "q1-d3": (1, 2), "q1-d4": (0, 1)}


@pytest.fixture
def disputed(serve):
    """A server on which ann and bob disagree on three documents, and the admin who asks it."""
    served = serve()
    for doc, grades in SAID.items():
        for rater, grade in zip(("ann", "bob"), grades, strict=True):
            served.judging.grade(rater, "q1", doc, grade, page="list")
    with served.client(params={"rater": "lea"}) as client:
        yield served, client


def docs(answer):
    return [one["task"]["doc"] for one in answer.json()["disputes"]]


def decide(client, doc="q1-d1", grade=1, **more):
    return client.post("/api/decisions", json={"query": "q1", "doc": doc, "grade": grade} | more)


def undo(client, doc="q1-d1", **more):
    return client.post("/api/undo-decision", json={"query": "q1", "doc": doc} | more)


def test_disputes_come_largest_first_with_who_said_what_and_where(disputed):
    served, client = disputed
    served.judging.grade("cem", "q1", "q1-d1", None, page="document")
    served.judging.grade("gpt", "q1", "q1-d1", 2, page="somewhere")
    served.judging.store.set_rater_kind("gpt", "llm", "lea")
    found = client.get("/api/disputes").json()
    assert (found["found"], found["left"], found["decided"], found["pages"]) == (3, 3, 0, 1)
    first = found["disputes"][0]
    assert (first["task"]["doc"], first["task"]["title"], first["spread"]) == ("q1-d1", "Title of q1-d1", 2)
    assert first["decision"] is None
    assert [(one["rater"], one["grade"], one["kind"], one["where"]) for one in first["labels"]] == [
        ("ann", 0, "person", "the list of a query"),
        ("bob", 2, "person", "the list of a query"),
        ("cem", None, "person", "one document at a time"),
        ("gpt", 2, "llm", "somewhere"),
    ]
    assert [one["spread"] for one in found["disputes"]] == [2, 1, 1]


def test_what_is_decided_is_left_no_more_and_counts_first(disputed):
    served, client = disputed
    answer = decide(client, page="disputes").json()
    assert [answer["decision"][name] for name in ("grade", "rater", "page")] == [1, "lea", "disputes"]
    assert (answer["left"], answer["decided"]) == (2, 1)
    assert docs(client.get("/api/disputes")) == ["q1-d3", "q1-d4"]
    assert docs(client.get("/api/disputes", params={"state": "decided"})) == ["q1-d1"]
    assert docs(client.get("/api/disputes", params={"state": "all"})) == ["q1-d1", "q1-d3", "q1-d4"]
    assert served.judging.grades()[served.judging.pool.row("q1", "q1-d1")] == 1
    decide(client, "q1-d2", None)  # nobody disputes it: it can be decided all the same
    decided = client.get("/api/disputes", params={"state": "decided"}).json()["disputes"]
    assert [(one["task"]["doc"], one["spread"], one["decision"]["grade"]) for one in decided] == [
        ("q1-d2", 0, None),
        ("q1-d1", 2, 1),
    ]


def test_a_decision_that_is_sent_twice_counts_once(disputed):
    served, client = disputed
    first, second = (decide(client, judgement="key press 1").json() for _ in range(2))
    assert first == second
    assert len(served.judging.store.history_of(Decision)) == 1
    decide(client, grade=2)
    for _ in range(2):
        answer = undo(client, judgement="key press 2").json()
        assert (answer["undone"]["grade"], answer["decision"]["grade"]) == (2, 1)  # the one before is in force again
    answer = undo(client).json()
    assert (answer["decision"], answer["left"]) == (None, 3)
    assert [undo(client, judgement="key press 3").json()["undone"] for _ in range(2)] == [None, None]
    refused = decide(client, "q1-d3", judgement="key press 1")
    assert refused.status_code == 422
    assert "was used for another judgement" in refused.json()["error"]["message"]


@pytest.mark.parametrize(
    ("body", "status", "message"),
    [
        ({"query": "q1", "doc": "q9", "grade": 1}, 404, "the pool has no document 'q9' of query 'q1'"),
        ({"query": "q1", "doc": "q1-d1", "grade": 7}, 422, "grade must be"),
        ({"query": "q1", "doc": "q1-d1", "grade": "1"}, 422, "grade must be"),
        ({"query": "q1", "doc": "q1-d1"}, 422, "grade is missing"),
        ({"query": "q1", "doc": "q1-d1", "grade": 1, "page": "the moon"}, 422, "page must be"),
    ],
)
def test_what_is_no_decision_is_refused_and_nothing_is_kept(disputed, body, status, message):
    served, client = disputed
    answer = client.post("/api/decisions", json=body)
    assert (answer.status_code, answer.json()["error"]["message"][: len(message)]) == (status, message)
    assert served.judging.store.history_of(Decision) == []
    assert client.get("/api/disputes", params={"state": "mine"}).status_code == 422


def test_disputes_and_queries_come_a_page_at_a_time(serve, make_pool):
    served = serve(make_pool(n_queries=25, docs_per_query=2))
    for place, (query, doc) in enumerate(served.judging.pool.pairs):
        served.judging.grade("ann", query, doc, 0)
        served.judging.grade("bob", query, doc, int(place % 2 == 0 or place < 20))
    with served.client(params={"rater": "lea"}) as client:
        first = client.get("/api/disputes").json()
        assert (len(first["disputes"]), first["found"], first["pages"]) == (DISPUTES_PER_PAGE, 35, 2)
        last = client.get("/api/disputes", params={"page": 9}).json()
        assert (len(last["disputes"]), last["page"]) == (15, 2)
        queries = client.get("/api/agreement").json()["queries"]
        assert (len(queries["queries"]), queries["found"], queries["pages"]) == (QUERIES_PER_PAGE, 25, 2)
        assert [row["share"]["value"] for row in queries["queries"]] == [0.0] * 10 + [0.5] * 10  # the worst first
        assert queries["queries"][0]["query_text"] == "words of q1"
        page = client.get("/disputes", params={"page": "2"}).text
        assert "page 2 of 2" in page


def test_agreement_has_intervals_or_says_why_there_is_none(disputed):
    served, client = disputed
    found = client.get("/api/agreement").json()
    assert found["sentence"].startswith("If several raters judged a document, its grade is ")
    assert [part["name"] for part in found["raters"]] == ["ann", "bob"]
    assert found["raters"][0]["share"] == {"value": 0.25, "low": 0.058, "high": 0.644, "n_docs": 4}
    assert [part["name"] for part in found["grades"]] == ["0", "1", "2"]
    assert [found["alpha"][name] for name in ("low", "reason")] == [None, TOO_FEW]
    assert found["other_raters"] == []
    for text in (client.get("/disputes").text, client.get("/overview").text):
        assert found["sentence"] in text
        assert TOO_FEW in text
    served.judging.grade("gpt", "q2", "q2-d1", 1)
    served.judging.store.set_rater_kind("gpt", "llm", "lea")
    assert "no document in common with human raters" in client.get("/disputes").text
