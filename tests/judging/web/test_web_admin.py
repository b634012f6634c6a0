"""What only the admin gets: training, links, settings, disputes, files; a personal link gets nothing."""

import threading
from urllib.parse import parse_qs, urlsplit

import pytest

from rulerank.judging import learning
from rulerank.judging.agreement import TOO_FEW
from rulerank.judging.labels import Decision, Setting
from rulerank.judging.web.api import DISPUTES_PER_PAGE
from rulerank.judging.web.pages import MOST_QUERIES
from rulerank.web.security import Tokens

SECRET = "a secret that is long"
ADMIN = {"authorization": f"Bearer {SECRET}"}
RATER = {"authorization": f"Bearer {Tokens(SECRET).invite('ann')}"}
PAGES = ["/admin", "/disputes", "/download/labels.csv", "/download/history.csv"]
ASKED = [
    ("POST", "/api/train", {"method": "QI"}),
    ("POST", "/api/invite", {"name": "ben"}),
    ("GET", "/api/disputes", None),
    ("GET", "/api/agreement", None),
    ("POST", "/api/decisions", {"query": "q1", "doc": "q1-d1", "grade": 1}),
    ("GET", "/api/settings", None),
    ("POST", "/api/settings", {"judgements": 2}),
    ("POST", "/api/raters", {"name": "gpt", "kind": "llm"}),
]


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


def test_the_overview_lists_the_queries_with_the_most_labels(serve, make_pool):
    served = serve(make_pool(n_queries=MOST_QUERIES + 1, docs_per_query=2))
    served.judging.grade("ann", *served.judging.pool.pairs[-1], 1)
    with served.client(params={"rater": "lea"}) as client:
        page = client.get("/overview").text
    assert page.index(f"words of q{MOST_QUERIES + 1}<") < page.index("words of q1<")
    assert f"words of q{MOST_QUERIES}<" not in page
    assert f"The {MOST_QUERIES} queries with the most labels, of {MOST_QUERIES + 1}" in page


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


def test_settings_and_kinds_of_raters_are_changed_and_who_did_it_is_kept(admin):
    served, client = admin
    grade_all(served.judging, "gpt", n_docs=2)
    assert client.post("/api/raters", json={"name": "gpt", "kind": "llm"}).json()["kinds"] == {"gpt": "llm"}
    client.post("/api/settings", json={"judgements": 2})
    changed = client.post("/api/settings", json={"combine": "mean", "training_raters": ["gpt"]}).json()["settings"]
    assert changed == {"combine": "mean", "judgements": 2, "training_raters": ["gpt"]}
    assert client.get("/api/settings").json()["settings"] == changed
    assert {(fact.rater, fact.page) for fact in served.judging.store.history_of(Setting)} == {("lea", "admin")}
    for wrong in ({"judgements": 0}, {"combine": "magic"}, {"training_raters": "gpt"}):
        assert client.post("/api/settings", json=wrong).status_code == 422
    assert client.post("/api/raters", json={"name": "gpt", "kind": "ghost"}).status_code == 422
    page = client.get("/admin").text
    for shown in ("<option selected>2</option>", 'value="llm" selected', 'name="training_raters" value="gpt"'):
        assert shown in page


def test_labels_the_model_and_the_history_are_downloaded(admin):
    served, client = admin
    assert "no labels to export yet" in client.get("/download/labels.csv").text
    assert "no model saved yet" in client.get("/download/model.rulerank").text
    rater, n_docs = "=cmd()|' /C calc'!A0", len(served.judging.pool)
    grade_all(served.judging, rater)
    grade_all(served.judging, "ben", n_docs=3)
    client.post("/api/train", json={"method": "QI"})
    assert client.get("/download/model.rulerank").content.startswith(b"RULERANK")
    for name, n_rows in (("labels.csv", n_docs), ("labels-per-rater.csv", n_docs + 3)):
        answer = client.get(f"/download/{name}")
        assert answer.headers["content-disposition"] == f"attachment; filename*=UTF-8''{name}"
        assert len(answer.text.splitlines()) == n_rows + 1
    served.judging.undo("ben", page="list")
    decide(client, page="disputes")
    header, *lines = client.get("/download/history.csv").text.splitlines()
    assert header == "what,id,query,doc,grade,rater,time,superseded_by,withdrawn,page,withdrawn_page"
    assert all("'=cmd()" in line for line in lines[:n_docs])  # no formula
    assert lines[-2].endswith(",list")
    assert lines[-1].startswith("decision,1,q1,q1-d1,1,lea,")
    for name in ("labels.db", "..%2flabels.db"):
        assert client.get(f"/download/{name}").status_code == 404


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


def test_disputes_come_largest_first_with_who_said_what(disputed):
    served, client = disputed
    served.judging.grade("cem", "q1", "q1-d1", None, page="document")
    served.judging.grade("gpt", "q1", "q1-d1", 2, page="somewhere")
    served.judging.store.set_rater_kind("gpt", "llm", "lea")
    found = client.get("/api/disputes").json()
    assert (found["found"], found["left"], found["decided"], found["pages"]) == (3, 3, 0, 1)
    first = found["disputes"][0]
    assert (first["task"]["doc"], first["task"]["title"], first["spread"]) == ("q1-d1", "Title of q1-d1", 2)
    assert first["decision"] is None
    assert [(one["rater"], one["grade"], one["kind"]) for one in first["labels"]] == [
        ("ann", 0, "person"),
        ("bob", 2, "person"),
        ("cem", None, "person"),
        ("gpt", 2, "llm"),
    ]
    assert [one["spread"] for one in found["disputes"]] == [2, 1, 1]


def test_what_is_decided_is_left_no_more_and_counts_first(disputed):
    served, client = disputed
    answer = decide(client, page="disputes").json()
    assert [answer["decision"][name] for name in ("grade", "rater", "page")] == [1, "lea", "disputes"]
    assert (answer["left"], answer["decided"]) == (2, 1)
    assert docs(client.get("/api/disputes")) == ["q1-d3", "q1-d4"]
    assert docs(client.get("/api/disputes", params={"state": "decided"})) == ["q1-d1"]
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


def test_disputes_come_a_page_at_a_time(serve, make_pool):
    served = serve(make_pool(n_queries=25, docs_per_query=1))
    for query, doc in served.judging.pool.pairs:
        served.judging.grade("ann", query, doc, 0)
        served.judging.grade("bob", query, doc, 1)
    with served.client(params={"rater": "lea"}) as client:
        first = client.get("/api/disputes").json()
        assert (len(first["disputes"]), first["found"], first["pages"]) == (DISPUTES_PER_PAGE, 25, 2)
        last = client.get("/api/disputes", params={"page": 9}).json()
        assert (len(last["disputes"]), last["page"]) == (5, 2)


def test_agreement_has_intervals_or_says_why_there_is_none(disputed):
    served, client = disputed
    found = client.get("/api/agreement").json()
    assert found["sentence"].startswith("If several raters judged a document, its grade is ")
    assert [*found["raters"]] == ["ann", "bob"]
    assert found["raters"]["ann"] == {"value": 0.25, "low": 0.058, "high": 0.644, "n_docs": 4}
    assert [*found["grades"]] == ["0", "1", "2"]
    assert [found["alpha"][name] for name in ("low", "reason")] == [None, TOO_FEW]
    assert found["other_raters"] == []
    for text in (client.get("/disputes").text, client.get("/overview").text):
        assert found["sentence"] in text
        assert TOO_FEW in text
    served.judging.grade("gpt", "q2", "q2-d1", 1)
    served.judging.store.set_rater_kind("gpt", "llm", "lea")
    assert "no document in common with human raters" in client.get("/disputes").text
