"""What only the lead gets: queries, training, links, more documents, settings, files; a personal link gets nothing."""

import io
import threading
from urllib.parse import parse_qs, urlsplit

import polars as pl
import pytest

import rulerank as rr
from rulerank.judging import learning
from rulerank.judging.admin import ROWS_PER_PAGE
from rulerank.web.security import Tokens

SECRET = "a secret that is long"
LEAD = {"authorization": f"Bearer {SECRET}"}
RATER = {"authorization": f"Bearer {Tokens(SECRET).invite('ann')}"}
PAGES = ["/lead", "/queries", "/download/labels.csv", "/download/history.csv", "/download/report.html"]
ASKED = [
    ("GET", "/api/queries", None),
    ("GET", "/api/training", None),
    ("POST", "/api/train", {"method": "QI"}),
    ("POST", "/api/invite", {"name": "ben"}),
    ("GET", "/api/compare?query=q1", None),
    ("GET", "/api/reasons?query=q1&doc=q1-d1", None),
    ("GET", "/api/settings", None),
    ("POST", "/api/settings", {"judgements": 2}),
    ("POST", "/api/judges", {"judge": "gpt", "kind": "llm"}),
]
FILES = {  # and how many rows of labels each has in the test
    "labels.csv": 6,
    "labels.parquet": 6,
    "labels.txt": 6,
    "labels.qrels": 6,
    "labels-quepid.csv": 6,
    "labels-per-rater.csv": 9,
    "labels-per-rater.parquet": 9,
    "history.csv": 10,
}
HEAD = "qid,docid,query,title,bm25,price\n"


def grade_all(judging, rater="ann", n_docs=1000):
    data = judging.pool.data
    for row, (query, doc) in enumerate(judging.pool.pairs[:n_docs]):
        judging.grade(rater, query, doc, int(data.X[row, 0] > data.X[:, 0].mean()) + row % 2)


@pytest.fixture
def lead(serve, make_pool):
    """A server with a secret, and the lead who asks it."""
    served = serve(make_pool(n_queries=4), token=SECRET)
    with served.client(headers=LEAD, params={"rater": "lea"}) as client:
        yield served, client


def test_a_personal_link_gets_nothing_of_the_leads(serve):
    served = serve(token=SECRET)
    with served.client(headers=RATER) as client:
        for method, path, body in ASKED:
            answer = client.request(method, path, json=body)
            assert (path, answer.status_code) == (path, 403)
            assert answer.json()["error"] == {
                "code": "lead_only",
                "message": "only the lead may do this: a personal link is for judging",
            }
    assert served.judging.store.settings().judgements == 1
    assert served.judging.training is None


def test_a_personal_link_sees_none_of_the_leads_pages(serve):
    served = serve(token=SECRET)
    with served.client(headers=RATER | {"accept": "text/html"}) as client:
        for page in PAGES:
            answer = client.get(page)
            assert answer.status_code == 403
            assert "only the lead may do this" in answer.text
        overview = client.get("/overview").text
        assert "Train and save" not in overview
        assert "/lead" not in overview
    with served.client(headers=LEAD, params={"rater": "lea"}) as client:
        assert "Train and save" in client.get("/overview").text
        assert "Files to take away" in client.get("/lead").text


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


def test_a_personal_link_is_made_for_the_lead_and_opens_the_page(lead):
    served, client = lead
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
        assert answer.json()["error"]["message"] == (
            "personal links are made from a secret: start the page with --token"
        )
        assert "start the page with <code>--token</code>" in client.get("/lead").text


def test_one_training_at_a_time_and_everybody_sees_how_it_stands(lead, monkeypatch):
    served, client = lead
    grade_all(served.judging)
    assert client.get("/api/training").json() == {"training": None}
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
    running = client.get("/api/training").json()["training"]
    assert (running["method"], running["running"], running["saved"]) == ("QI", True, None)
    busy = client.post("/api/train", json={"method": "RE-GR"})
    assert (busy.status_code, busy.json()["error"]["code"]) == (409, "busy")
    with served.client(headers=RATER) as rater:  # who does not wait for it
        assert rater.get("/api/next").status_code == 200
    go_on.set()
    thread.join(30)
    assert answers[0].json()["method"] == "QI"
    done = client.get("/api/training").json()["training"]
    assert (done["running"], done["saved"]["n_labels"]) == (False, 20)


def test_two_rankings_stand_side_by_side_once_there_is_a_model(lead):
    served, client = lead
    query = served.judging.pool.pairs[0][0]
    nothing = client.get("/api/compare", params={"query": query})
    assert nothing.status_code == 422
    assert nothing.json()["error"]["message"].startswith("no model was trained yet")
    assert "No model was trained yet" in client.get("/compare", params={"query": query}).text
    grade_all(served.judging, n_docs=15)
    client.post("/api/train", json={"method": "Anchored"})
    found = client.get("/api/compare", params={"query": query}).json()
    docs = found["docs"]
    assert [doc["new"] for doc in docs] == [1, 2, 3, 4, 5]
    assert sorted(doc["today"] for doc in docs) == [1, 2, 3, 4, 5]
    pool = served.judging.pool
    rows = pool.rows_of(query)
    by_today = rows[(-pool.data.X[rows, pool.data.feature_names.index("bm25_body")]).argsort(kind="stable")]
    assert [doc["doc"] for doc in sorted(docs, key=lambda doc: doc["today"])] == [
        pool.pairs[row][1] for row in by_today
    ]
    new = rr.load(served.judging.training.saved.path).predict(pool.data[rows])
    by_new = rows[(-new).argsort(kind="stable")]
    assert [doc["doc"] for doc in docs] == [pool.pairs[row][1] for row in by_new]
    assert all(doc["grade"] is not None for doc in docs)
    reasons = client.get("/api/reasons", params={"query": query, "doc": docs[0]["doc"]}).json()["reasons"]
    assert 1 <= len(reasons) <= 6
    page = client.get("/compare", params={"query": query}).text
    assert page.count("<details data-doc") == 5
    assert client.get("/api/compare", params={"query": "no such"}).status_code == 422
    assert client.get("/api/reasons", params={"query": query, "doc": "no such"}).status_code == 404


def test_a_rater_sees_both_rankings_only_of_a_query_judged_to_the_end(lead):
    served, client = lead
    grade_all(served.judging, "ann", n_docs=9)  # all five of the first query, four of the second
    client.post("/api/train", json={"method": "Anchored"})
    (first, _), (second, _) = served.judging.pool.pairs[0], served.judging.pool.pairs[5]
    with served.client(headers=RATER) as rater:
        assert len(rater.get("/api/own-compare", params={"query": first}).json()["docs"]) == 5
        refused = rater.get("/api/own-compare", params={"query": second})
        assert refused.json()["error"]["code"] == "not_judged"
        page = rater.get("/compare", params={"query": first}).text
        assert '<h2 id="new-title">New</h2>' in page
        assert "<details data-doc" not in page
        assert "once you have judged all its documents" in rater.get("/compare", params={"query": second}).text


def test_settings_change_one_by_one_and_who_did_it_is_kept(lead):
    served, client = lead
    usual = {"combine": "median", "judgements": 1, "training_judges": []}
    assert client.get("/api/settings").json()["settings"] == usual
    assert client.post("/api/settings", json={"judgements": 2}).json()["settings"] == usual | {"judgements": 2}
    changed = client.post("/api/settings", json={"combine": "mean", "training_judges": ["gpt"]})
    assert changed.json()["settings"] == {
        "combine": "mean", "judgements": 2, "training_judges": ["gpt"],
    }  # fmt: skip
    assert {(fact.rater, fact.page) for fact in served.judging.store.setting_history()} == {("lea", "lead")}
    for wrong in ({"judgements": 0}, {"combine": "magic"}, {"training_judges": "gpt"}):
        assert client.post("/api/settings", json=wrong).status_code == 422
    page = client.get("/lead").text
    assert "<option selected>2</option>" in page


def test_a_rater_who_is_no_person_is_named_so(lead):
    served, client = lead
    grade_all(served.judging, "gpt", n_docs=2)
    kinds = client.post("/api/judges", json={"judge": "gpt", "kind": "llm"}).json()["kinds"]
    assert kinds == {"gpt": "llm"}
    assert client.post("/api/judges", json={"judge": "gpt", "kind": "ghost"}).status_code == 422
    page = client.get("/lead").text
    assert 'value="llm" selected' in page
    assert 'name="training_judges" value="gpt"' in page


def test_labels_are_taken_away_in_every_format(lead):
    served, client = lead
    assert "there are no labels to export yet" in client.get("/download/labels.csv").text
    grade_all(served.judging, "ann", n_docs=6)
    grade_all(served.judging, "ben", n_docs=3)
    served.judging.grade("ben", *served.judging.pool.pairs[0], 1)  # as before, and yet a label
    for name, n_rows in FILES.items():
        answer = client.get(f"/download/{name}")
        assert answer.headers["content-disposition"] == f"attachment; filename*=UTF-8''{name}"
        if name.endswith(".parquet"):
            assert len(pl.read_parquet(io.BytesIO(answer.content))) == n_rows
        else:
            assert (name, len(answer.text.splitlines())) == (name, n_rows + name.endswith(".csv"))


def test_the_model_the_report_and_the_history_are_taken_away(lead):
    served, client = lead
    missing = client.get("/download/model.rulerank")
    assert missing.status_code == 422
    assert "no model was saved yet" in missing.text
    grade_all(served.judging, "=cmd()|' /C calc'!A0")
    client.post("/api/train", json={"method": "QI"})
    assert client.get("/download/model.rulerank").content.startswith(b"RULERANK")
    report = client.get("/download/report.html")
    assert report.headers["content-type"].startswith("text/html")
    assert "20 of 20" in report.text
    assert "=cmd()|&#x27; /C calc&#x27;!A0" in report.text
    client.post("/api/settings", json={"judgements": 2})
    served.judging.skip("ann", *served.judging.pool.pairs[0])
    history = client.get("/download/history.csv").text
    assert history.startswith("time,who,what,qid,docid,grade,value,page,id\n")
    assert "'=cmd()" in history  # no formula
    assert ",lea,setting,,,,judgements = 2,lead,1\n" in history
    assert ",ann,skip,q1,q1-d1," in history
    assert client.get("/download/labels.db").status_code == 404
    assert client.get("/download/..%2flabels.db").status_code == 404
