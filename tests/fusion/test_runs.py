"""Runs are fused over all their documents."""

import pytest

import rulerank as rr
from rulerank.errors import DataError


def run_of(rankings, tag="one"):
    """A run from {query: {document: score}}."""
    rows = [(qid, docid, score) for qid, docs in rankings.items() for docid, score in docs.items()]
    qid, docid, score = zip(*rows, strict=True)
    return rr.Run(qid, docid, score, [tag] * len(rows))


def as_dict(run):
    return {
        qid: dict(zip(run.docid[run.qid == qid], run.score[run.qid == qid].tolist(), strict=True))
        for qid in dict.fromkeys(run.qid)
    }


def test_documents_and_queries_missing_from_a_run_are_kept():
    one = run_of({"q1": {"a": 3, "b": 2, "c": 1}, "q2": {"x": 1, "y": 0}})
    two = run_of({"q3": {"z": 5}, "q1": {"b": 9, "d": 8}})
    fused = rr.fuse([one, two], method="rrf")
    assert as_dict(fused) == {
        "q1": pytest.approx({"b": 1 / 62 + 1 / 61, "a": 1 / 61, "c": 1 / 63, "d": 1 / 62}),
        "q2": pytest.approx({"x": 1 / 61, "y": 1 / 62}),
        "q3": pytest.approx({"z": 1 / 61}),
    }
    assert fused.docid.tolist() == ["b", "a", "d", "c", "x", "y", "z"]
    assert set(fused.tag) == {"rrf"}


def test_what_is_no_run_is_named():
    one = run_of({"q1": {"a": 3}})
    with pytest.raises(DataError, match=r"expected scores and qid, the query of each row, or runs, .*: got \['one"):
        rr.fuse(["one.run"])
    with pytest.raises(DataError, match=r"expected runs, such as \[rr.read_run\(one\), rr.read_run\(two\)\]: got \["):
        rr.fuse([one, "two.run"])
    with pytest.raises(DataError, match=r"runs include their queries: leave out qid, fuse\(runs, method='rrf'\)"):
        rr.fuse([one, one], "rrf")
