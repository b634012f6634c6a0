"""What is wrong with the answers of an engine is named by file and place."""

import io
import json

import pytest

from engine_answers import TENTS, elastic, hit, solr
from rulerank.errors import DataError, ReadError
from rulerank.io.engine_logs import read_ids, read_logs


def bare(**more):
    return {"_id": "a", "_score": 1.0} | more


NO_LIST = (
    "f.json: response 1: expected a list of documents in 'hits.hits' (OpenSearch, Elasticsearch) or 'response.docs'"
)
NO_ANSWER = "response 1: this is an error of the engine"

MISTAKES = {
    "": "f.json: the file is empty: expected responses of a search engine as JSON",
    '{"hits": ': "f.json:1: expected JSON: Expecting value",
    '{"a":\n[1,}': "f.json:2: expected JSON: ",
    '{"query_id": "q", "docs": []}\n{"oops\n': "f.json:2: expected JSON, one response per line: ",
    "[1]": "f.json: response 1: expected a response of OpenSearch or Elasticsearch ('hits') or Solr",
    '{"error": {"reason": "unknown query [sltr]"}}': f"f.json: {NO_ANSWER}: unknown query [sltr]",
    '{"responseHeader": {}, "error": {"msg": "undefined field"}}': f"f.json: {NO_ANSWER}: undefined field",
    '{"error": "index_not_found"}': f"f.json: {NO_ANSWER}: index_not_found",
    '{"hits": []}': NO_LIST,
    '{"response": []}': NO_LIST,
    '{"response": {"docs": [], "start": "x"}}': NO_LIST,
    '{"query_id": null, "response": {"docs": []}}': "f.json: expected text or a whole number as the query id, got None",
    '{"response": {"docs": [7]}}': NO_LIST,
}

OF_HITS = {
    "expected the document's id in '_id': got None; its fields are _score": {"_score": 1},
    "expected the document's id in '_id': got ''": {"_id": ""},
    "'a' has no features, 'fields._ltrlog'; log them: an sltr query, and ext.ltr_log that names it": bare(),
    "expected a list of {'name': ..., 'value': ...} in the log entry 'e', got 3": bare(fields={"_ltrlog": [{"e": 3}]}),
    "expected a list of {'name': ..., 'value': ...} in the log entry 'e', got {'value': 1}": bare(
        fields={"_ltrlog": [{"e": [{"value": 1}]}]}
    ),
    "expected a finite number that fits float32 as 'x', got 'much'": hit("a", 1, ("x", "much")),
    "expected a finite number that fits float32 as 'x', got 1e+39": hit("a", 1, ("x", 1e39)),
    "expected a finite number that fits float32 as 'score', got True": hit("a", True, ("x", 1)),
    "feature 'x' appears twice": hit("a", 1, ("x", 1), ("x", 2)),
    "'engine_rank' is the name of the engine's own rank or score; rename the feature": hit("a", 1, ("engine_rank", 1)),
}

OF_DOCS = {
    "expected the document's id in 'id': got None; its fields are sku, [features]": {"sku": 1, "[features]": ""},
    "'a' has no '[features]' such as 'a=0.5,b=2.0'; ask for it with fl=id,score,[features]": {"id": "a"},
    "'a' has no '[features]' such as 'a=0.5,b=2.0'; ask for it": {"id": "a", "[features]": [1]},
    "expected features as 'a=0.5,b=2.0', each once, got 'a=0.5,b'": {"id": "a", "[features]": "a=0.5,b"},
    "expected features as 'a=0.5,b=2.0', each once, got 'a=0.5,a=1'": {"id": "a", "[features]": "a=0.5,a=1"},
    "expected a finite number that fits float32 as 'a', got inf": {"id": "a", "[features]": "a=Infinity"},
}
MISTAKES |= {
    json.dumps(elastic(TENTS["hits"]["hits"][0], one)): f"f.json: response 1: document 2: {said}"
    for said, one in OF_HITS.items()
}
MISTAKES |= {json.dumps(solr(one)): f"f.json: response 1: document 1: {said}" for said, one in OF_DOCS.items()}


@pytest.mark.parametrize(("content", "message"), MISTAKES.items())
def test_every_mistake_is_named_by_file_and_place(write, content, message):
    with pytest.raises(ReadError) as error:
        read_logs(write("f.json", content))
    assert str(error.value).startswith(message)


def test_a_place_is_the_line_or_the_number_of_the_answer(write):
    wrong = elastic(bare())
    lines = "\n".join(json.dumps({"query_id": qid, "response": TENTS if qid == "a" else wrong}) for qid in "ab")
    with pytest.raises(ReadError, match=r"^f\.jsonl:2: response 2: document 1: 'a' has no features"):
        read_logs(write("f.jsonl", lines))
    with pytest.raises(ReadError, match=r"^f\.json: response 2: document 1: 'a' has no features"):
        read_logs(write("f.json", f"[{lines.replace(chr(10), ',')}]"))


def test_an_answer_without_a_query_is_refused(write):
    message = r"no query id for this response: wrap it as {\"query_id\": \.\.\., \"response\": \.\.\.}$"
    with pytest.raises(ReadError, match=message):
        read_logs(write("f.json", [TENTS, TENTS]))
    with pytest.raises(ReadError, match="no query id for this response"):
        read_logs(io.StringIO(json.dumps(TENTS)))


def test_a_file_of_ids_has_one_a_line(write):
    assert read_ids(write("ids.txt", "q1\r\n q 2 \n")) == ["q1", "q 2"]
    with pytest.raises(ReadError, match=r"^ids\.txt:2: expected a query id, got an empty line$"):
        read_ids(write("ids.txt", "q1\n\nq2\n"))


def test_a_query_has_a_document_once(write):
    twice = elastic(hit("a", 2, ("x", 1)), hit("a", 1, ("x", 1)))
    message = r"^q\.json, document 2 of response 1: document 'a' of query 'q' appears twice, first in q\.json"
    with pytest.raises(DataError, match=message):
        read_logs(write("q.json", twice))


def test_answers_without_documents_are_refused(write):
    with pytest.raises(DataError, match=r"^no document in 1 response$"):
        read_logs(write("q.json", elastic()))
