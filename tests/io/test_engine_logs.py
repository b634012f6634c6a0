"""Feature logs of OpenSearch, Elasticsearch and Solr: every form they come in, and what is missing."""

import io
import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine_answers import TENTS, doc, elastic, hit, solr
from rulerank.errors import DataError
from rulerank.io.engine_logs import join_labels, read_logs
from rulerank.io.trec import Qrels


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


def test_what_solr_leaves_out_of_the_sparse_form_is_missing(write):
    file = write("q.json", solr(doc("a", 2, "title=9.5"), doc("b", 1, ""), doc("c", 0.5, " is_new=1.0E-4 ")))
    assert values(read_logs(file)) == [[9.5, None, 1, 2], [None, None, 2, 1], [None, np.float32(1e-4), 3, 0.5]]


FORMS = {
    "wrapped": json.dumps({"query_id": "a", "query": "green tent", "response": TENTS}),
    "a list": json.dumps([{"query_id": "a", "response": TENTS}, {"query_id": 7, "response": TENTS}]),
    "lines": "\n".join(json.dumps({"query_id": qid, "response": TENTS}) for qid in ("a", "b")) + "\n\n",
    "the id inside": json.dumps(TENTS | {"query_id": "a"}),
    "solr, the id inside": json.dumps(solr(doc("x", 1, "f=1")) | {"query_id": "a"}),
    "solr, the inner part": json.dumps({"query_id": "a", "response": solr(doc("x", 1, "f=1"))["response"]}),
}


@pytest.mark.parametrize(("form", "queries"), [*zip(FORMS, (["a"], ["a", "7"], ["a", "b"], *[["a"]] * 3), strict=True)])
def test_the_query_is_said_in_the_file(write, form, queries):
    assert list(dict.fromkeys(read_logs(write("answers.json", FORMS[form])).qid)) == queries


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


def test_labels_are_joined_by_qrels(write):
    file = write("q7.json", TENTS)
    qrels = Qrels(["q7", "q7", "q7"], ["t2", "t1", "gone"], [2, -1, 1])
    with pytest.warns(UserWarning, match=r"^1 judged document not in the logs: counted as not retrieved$"):
        data = read_logs(file, qrels=qrels)
    assert (data.y.tolist(), data.base.grades.tolist()) == ([0, 2], ["0:1 1:1 2:1"] * 2)
    assert join_labels(read_logs(file), Qrels(["q7"], ["t2"], [3]), "skip").y.tolist() == [-1, 3]
    with pytest.warns(UserWarning, match="no judgement has grade 0"):
        assert read_logs(file, qrels=Qrels(["q7"], ["t2"], [3])).y.tolist() == [0, 3]
    message = r"no judgement matches a document: the qrels have \('7', 't1'\), the documents \('q7', 't1'\)"
    with pytest.raises(DataError, match=message):
        read_logs(file, qrels=Qrels(["7"], ["t1"], [1]))


@given(
    st.dictionaries(st.text("aé_.()-1", min_size=1, max_size=5), st.floats(width=32, allow_infinity=False), max_size=4)
)
def test_whatever_solr_writes_is_read(features):
    text = ",".join(f"{name}={'NaN' if value != value else repr(value)}" for name, value in features.items())
    data = read_logs(io.StringIO(json.dumps(solr(doc("a", 1, text)) | {"query_id": "q"})))
    expected = {name: None if value != value else value for name, value in features.items()}
    assert dict(zip(data.feature_names, values(data)[0], strict=True)) == expected | {
        "engine_rank": 1,
        "engine_score": 1,
    }
