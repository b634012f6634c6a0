"""Feature logs of OpenSearch, Elasticsearch and Solr: every form they come in, what is missing, and every message."""

import gzip
import io
import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rulerank.errors import DataError, ReadError
from rulerank.io.convert import read_any, write_any
from rulerank.io.engine_logs import join_labels, read_ids, read_logs
from rulerank.io.trec import Qrels


def hit(docid, score, *features, **more):
    """A document as OpenSearch returns it with ext.ltr_log."""
    logged = [{"name": name} if value is None else {"name": name, "value": value} for name, value in features]
    fields = {"_ltrlog": [{"log_entry1": logged}]}
    return {"_index": "shop", "_id": docid, "_score": score, "fields": fields, "matched_queries": ["logged"]} | more


def elastic(*hits):
    shards = {"total": 1, "successful": 1, "skipped": 0, "failed": 0}
    total = {"value": len(hits), "relation": "eq"}
    found = {"total": total, "max_score": 9.5, "hits": list(hits)}
    return {"took": 2, "timed_out": False, "_shards": shards, "hits": found}


def solr(*docs, start=0, q="green tent"):
    header = {"status": 0, "QTime": 1, "params": {"q": q, "fl": "id,score,[features]"}}
    return {"responseHeader": header, "response": {"numFound": 9, "start": start, "maxScore": 9.5, "docs": list(docs)}}


def doc(docid, score, features, **more):
    return {"id": docid, "score": score, "[features]": features} | more


TENTS = elastic(
    hit("t1", 9.5, ("title", 9.5), ("body", None), ("price", 120.0), _source={"text": "Green tent", "title": "T1"}),
    hit(
        "t2",
        4.25,
        ("title", None),
        ("body", 2.5),
        ("price", 80.0),
        _source={"text": "Old tent", "sku": "7", "stock": 3},
    ),
)


@pytest.fixture
def write(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)

    def write(name, content):
        text = content if isinstance(content, str) else json.dumps(content)
        (tmp_path / name).write_bytes(gzip.compress(text.encode()) if name.endswith(".gz") else text.encode())
        return name

    return write


def values(data):
    return [[None if value != value else value for value in row] for row in data.X.tolist()]


def test_an_answer_of_opensearch_becomes_a_data_set(write):
    data = read_logs(write("q7.json", TENTS))
    assert data.feature_names == ("title", "body", "price", "engine_rank", "engine_score")
    assert values(data) == [[9.5, None, 120.0, 1.0, 9.5], [None, 2.5, 80.0, 2.0, 4.25]]
    assert data.qid.tolist() == ["q7", "q7"]
    assert data.docid.tolist() == ["t1", "t2"]
    assert data.y.tolist() == [-1, -1]
    assert {name: column.tolist() for name, column in data.texts.items()} == {"text": ["Green tent", "Old tent"]}


def test_an_answer_of_solr_becomes_a_data_set(write):
    dense = ("title=9.5,isNew=0.0", "title=NaN,isNew=1.0")
    answer = solr(doc("t1", 9.5, dense[0], url="https://a.example"), doc("t2", 4.25, dense[1]))
    data = read_logs(write("q7.json.gz", answer))
    assert data.feature_names == ("title", "isNew", "engine_rank", "engine_score")
    assert values(data) == [[9.5, 0.0, 1.0, 9.5], [None, 1.0, 2.0, 4.25]]
    assert data.qid.tolist() == ["q7", "q7"]
    assert data.texts["query_text"].tolist() == ["green tent"] * 2
    assert data.texts["url"].tolist() == ["https://a.example", None]


@pytest.mark.parametrize(
    "features",
    ["title=9.5,is_new=1.0E-4", "title:9.5 is_new:1.0E-4", "title:9.5;is_new:1.0E-4", " title=9.5, is_new=1.0E-4 "],
)
def test_solr_features_may_be_written_with_other_delimiters(write, features):
    data = read_logs(write("q.json", solr(doc("a", 2, features))))
    assert data.feature_names[:2] == ("title", "is_new")
    assert data.X[0, :2].tolist() == [9.5, np.float32(1e-4)]


def test_what_solr_leaves_out_of_the_sparse_form_is_missing_unless_asked_otherwise(write):
    file = write("q.json", solr(doc("a", 2, "title:9.5"), doc("b", 1, ""), doc("c", 0.5, "is_new:1.0")))
    assert values(read_logs(file))[:2] == [[9.5, None, 1, 2], [None, None, 2, 1]]
    assert values(read_logs(file, missing_as_zero=True)) == [[9.5, 0, 1, 2], [0, 0, 2, 1], [0, 1, 3, 0.5]]


FORMS = {
    "wrapped": json.dumps({"query_id": "a", "query": "green tent", "response": TENTS}),
    "a list": json.dumps([{"query_id": "a", "response": TENTS}, {"qid": 7, "response": TENTS}]),
    "lines": "\n".join(json.dumps({"query_id": qid, "response": TENTS}) for qid in ("a", "b")) + "\n\n",
    "the id inside": json.dumps(TENTS | {"query_id": "a"}),
    "solr, the id inside": json.dumps(solr(doc("x", 1, "f=1")) | {"query_id": "a"}),
    "solr, the inner part": json.dumps({"query_id": "a", "response": solr(doc("x", 1, "f=1"))["response"]}),
}


@pytest.mark.parametrize(("form", "queries"), [*zip(FORMS, (["a"], ["a", "7"], ["a", "b"], *[["a"]] * 3), strict=True)])
def test_the_query_is_said_in_the_file(write, form, queries):
    assert list(dict.fromkeys(read_logs(write("answers.json", FORMS[form])).qid)) == queries


def test_the_text_of_the_query_comes_along(write):
    assert set(read_logs(write("answers.json", FORMS["wrapped"])).texts["query_text"]) == {"green tent"}


def test_a_multi_search_takes_its_ids_in_order(write):
    data = read_logs(write("all.json", {"took": 3, "responses": [TENTS, elastic(), TENTS]}), ids=["a", "b", "c"])
    assert data.qid.tolist() == ["a", "a", "c", "c"]


def test_several_files_are_put_together_and_features_found_by_name(write):
    one = write("q1.json", elastic(hit("a", 2, ("x", 1.0), ("y", 2.0))))
    two = write("q2.json", elastic(hit("b", 2, ("y", 3.0), ("z", 4.0))))
    data = read_logs([one, two])
    assert data.feature_names[:3] == ("x", "y", "z")
    assert values(data)[1][:3] == [None, 3.0, 4.0]
    assert data.qid.tolist() == ["q1", "q2"]


def test_pages_of_solr_go_on_counting(write):
    page = [
        {"query_id": "q", "response": solr(doc(name, 9 - start, "f=1"), start=start)}
        for name, start in (("a", 0), ("b", 10))
    ]
    data = read_logs(write("pages.json", page))
    assert data.X[:, data.feature_names.index("engine_rank")].tolist() == [1, 11]


def test_equal_scores_of_a_filter_are_no_ranking(write):
    filtered = elastic(hit("a", 0.0, ("x", 1.0)), hit("b", 0.0, ("x", 2.0)))
    assert read_logs(write("q.json", filtered)).feature_names == ("x",)
    data = read_logs([write("q.json", filtered), write("p.json", TENTS)])
    assert values(data)[0][-2:] == [None, None]
    assert values(data)[2][-2:] == [1.0, 9.5]


def test_documents_sorted_without_scores_keep_their_rank(write):
    data = read_logs(write("q.json", elastic(hit("a", None, ("x", 1.0)), hit("b", None, ("x", 2.0)))))
    assert data.feature_names == ("x", "engine_rank")


def test_two_log_entries_name_their_features(write):
    log = [{"live": [{"name": "x", "value": 1.0}], "tried": [{"name": "x", "value": 2.0}]}]
    data = read_logs(write("q.json", elastic({"_id": 1, "_score": 1.0, "fields": {"_ltrlog": log}})))
    assert data.feature_names[:2] == ("live.x", "tried.x")
    assert data.docid.tolist() == ["1"]


def test_numbers_of_extra_logging_are_features_and_texts_are_not(write):
    extra = ("extra_logging", {"boost": 10.0, "note": "by hand"})
    assert read_logs(write("q.json", elastic(hit("a", 1, ("x", 1.0), extra)))).feature_names[:2] == (
        "x",
        "extra_logging.boost",
    )


def test_labels_are_joined_by_qrels(write):
    file = write("q7.json", TENTS)
    qrels = Qrels(["q7", "q7", "q7"], ["t2", "t1", "gone"], [2, -1, 1])
    with pytest.warns(UserWarning, match=r"^1 judgement of documents that are not there left out$"):
        assert read_logs(file, qrels=qrels).y.tolist() == [0, 2]
    assert join_labels(read_logs(file), Qrels(["q7"], ["t2"], [3])).y.tolist() == [-1, 3]
    message = (
        "no judgement is of a document that is there: the qrels have '7' with 't1', the documents are 'q7' with 't1'"
    )
    with pytest.raises(DataError, match=message):
        read_logs(file, qrels=Qrels(["7"], ["t1"], [1]))


def test_the_pool_can_be_written_and_read_again(write):
    data = read_logs(write("q7.json", TENTS))
    write_any(data, "pool.parquet")
    again = read_any("pool.parquet")
    assert values(again) == values(data)
    assert again.feature_names == data.feature_names
    assert again.texts["text"].tolist() == data.texts["text"].tolist()


@given(
    st.dictionaries(st.from_regex(r"[A-Za-z_][\w.()-]{0,8}", fullmatch=True), st.floats(width=32, allow_infinity=False))
)
def test_whatever_solr_writes_is_read(features):
    text = ",".join(f"{name}={'NaN' if value != value else repr(value)}" for name, value in features.items())
    data = read_logs(io.StringIO(json.dumps(solr(doc("a", 1, text)))), ids=["q"])
    expected = {name: None if value != value else value for name, value in features.items()}
    assert dict(zip(data.feature_names, values(data)[0], strict=True)) == expected | {
        "engine_rank": 1,
        "engine_score": 1,
    }


def bare(**more):
    return {"_id": "a", "_score": 1.0} | more


NO_ANSWER = "this is an error of the engine, not an answer"
MISTAKES = {
    "": "f.json: the file is empty: expected answers of a search engine as JSON",
    '{"hits": ': "f.json:1: expected JSON: Expecting value",
    '{"a":\n[1,}': "f.json:2: expected JSON: ",
    '{"query_id": "q", "docs": []}\n{"oops\n': "f.json:2: expected JSON, one answer a line: ",
    "[1]": "f.json: expected an answer of OpenSearch or Elasticsearch ('hits') or Solr ('response'), or one in ",
    '{"error": {"reason": "unknown query [sltr]"}}': f"f.json: {NO_ANSWER}: unknown query [sltr]",
    '{"responseHeader": {}, "error": {"msg": "undefined field"}}': f"f.json: {NO_ANSWER}: undefined field",
    '{"error": "index_not_found"}': f"f.json: {NO_ANSWER}: index_not_found",
    '{"hits": []}': "f.json: expected the documents in 'hits.hits', a list, as OpenSearch and Elasticsearch write it",
    '{"response": []}': "f.json: expected the documents in 'hits.hits' (OpenSearch, Elasticsearch) or 'response.docs'",
    '{"response": {"docs": [], "start": -1}}': "f.json: expected a whole number from 0 as 'response.start', got -1",
    '{"query_id": null, "response": {"docs": []}}': "f.json: expected text or a whole number as the query id, got None",
    '{"response": {"docs": [7]}}': "f.json: document 1: expected an object, got 7",
}
OF_HITS = {
    "expected an object, got 5": 5,
    "expected the document's id in '_id': there is none; its fields are _score": {"_score": 1},
    "expected the document's id in '_id': got ''": {"_id": ""},
    "'a' has no features, 'fields._ltrlog'; log them: an sltr query, and ext.ltr_log that names it": bare(),
    "expected log entries in 'fields._ltrlog', such as {'log_entry1': [...]}, got []": bare(fields={"_ltrlog": []}),
    "expected a list of features in the log entry 'e', got 3": bare(fields={"_ltrlog": [{"e": 3}]}),
    "expected {'name': ..., 'value': ...} in the log entry 'e', got {'value': 1}": bare(
        fields={"_ltrlog": [{"e": [{"value": 1}]}]}
    ),
    "expected a finite number that fits float32 as 'x', got 'much'": hit("a", 1, ("x", "much")),
    "expected a finite number that fits float32 as 'x', got 1e+39": hit("a", 1, ("x", 1e39)),
    "expected a finite number that fits float32 as 'score', got True": hit("a", True, ("x", 1)),
    "feature 'x' is there twice": hit("a", 1, ("x", 1), ("x", 2)),
    "'engine_rank' is what we call the engine's own; give the feature another name": hit("a", 1, ("engine_rank", 1)),
}
OF_DOCS = {
    "expected the document's id in 'id': there is none; its fields are sku, [features]": {"sku": 1, "[features]": ""},
    "'a' has no '[features]'; ask for it with fl=id,score,[features] and give it no other name": {"id": "a"},
    "expected text such as 'a=0.5,b=2.0' in '[features]', got [1]": {"id": "a", "[features]": [1]},
    "expected features as 'a=0.5,b=2.0' or 'a:0.5 b:2.0', got 'a=0.5,b'": {"id": "a", "[features]": "a=0.5,b"},
    "a feature is there twice: 'a=0.5,a=1'": {"id": "a", "[features]": "a=0.5,a=1"},
    "expected a finite number that fits float32 as 'a', got inf": {"id": "a", "[features]": "a=Infinity"},
}
MISTAKES |= {
    json.dumps(elastic(TENTS["hits"]["hits"][0], one)): f"f.json: document 2: {said}" for said, one in OF_HITS.items()
}
MISTAKES |= {json.dumps(solr(one)): f"f.json: document 1: {said}" for said, one in OF_DOCS.items()}


@pytest.mark.parametrize(("content", "message"), MISTAKES.items())
def test_every_mistake_is_named_by_file_and_place(write, content, message):
    with pytest.raises(ReadError) as error:
        read_logs(write("f.json", content))
    assert str(error.value).startswith(message)


def test_a_place_is_the_line_or_the_number_of_the_answer(write):
    wrong = elastic(bare())
    lines = "\n".join(json.dumps({"query_id": qid, "response": TENTS if qid == "a" else wrong}) for qid in "ab")
    with pytest.raises(ReadError, match=r"^f\.jsonl:2: document 1: 'a' has no features"):
        read_logs(write("f.jsonl", lines))
    with pytest.raises(ReadError, match=r"^f\.json: answer 2: document 1: 'a' has no features"):
        read_logs(write("f.json", [TENTS, wrong]), ids=["a", "b"])


def test_an_answer_without_a_query_is_refused(write):
    message = r"answer 1: whose query is this\? Write {\"query_id\": \.\.\., \"response\": \.\.\.}, or name the ids"
    with pytest.raises(ReadError, match=message):
        read_logs(write("f.json", [TENTS, TENTS]))
    with pytest.raises(ReadError, match="whose query is this"):
        read_logs(io.StringIO(json.dumps(TENTS)))


def test_ids_must_be_as_many_as_the_answers(write):
    with pytest.raises(DataError, match=r"^ids must hold one query id per answer: 1 answer, 2 ids$"):
        read_logs(write("f.json", TENTS), ids=["a", "b"])
    with pytest.raises(DataError, match=r"^ids must hold one query id per answer: 1 answer, text$"):
        read_logs(write("f.json", TENTS), ids="a")


def test_a_file_of_ids_has_one_a_line(write):
    assert read_ids(write("ids.txt", "q1\r\n q 2 \n")) == ["q1", "q 2"]
    with pytest.raises(ReadError, match=r"^ids\.txt:2: expected a query id, got an empty line$"):
        read_ids(write("ids.txt", "q1\n\nq2\n"))


def test_a_query_is_answered_once_and_has_a_document_once(write):
    twice = elastic(hit("a", 2, ("x", 1)), hit("a", 1, ("x", 1)))
    message = r"^q\.json, document 2: document 'a' of query 'q' is there twice, first in q\.json, document 1$"
    with pytest.raises(DataError, match=message):
        read_logs(write("q.json", twice))
    both = [{"query_id": "q", "response": elastic(hit(name, 2, ("x", 1)))} for name in "ab"]
    message = (
        r"^f\.json, document 1 of answer 2: query 'q' has two documents at rank 1, the other in f\.json, document 1 of"
    )
    with pytest.raises(DataError, match=message):
        read_logs(write("f.json", both))


def test_answers_without_documents_are_refused(write):
    with pytest.raises(DataError, match=r"^the 1 answer hold no document$"):
        read_logs(write("q.json", elastic()))
