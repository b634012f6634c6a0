"""Runs are fused over all their documents, and as ranx does where the definitions are the same."""

import numpy as np
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
    fused = rr.fuse_runs([one, two], "rrf")
    assert as_dict(fused) == {
        "q1": pytest.approx({"b": 1 / 62 + 1 / 61, "a": 1 / 61, "c": 1 / 63, "d": 1 / 62}),
        "q2": pytest.approx({"x": 1 / 61, "y": 1 / 62}),
        "q3": pytest.approx({"z": 1 / 61}),
    }
    assert fused.docid.tolist() == ["b", "a", "d", "c", "x", "y", "z"]
    assert set(fused.tag) == {"rrf"}


def test_what_is_no_run_is_named():
    with pytest.raises(
        DataError, match=r"expected runs, such as \[rr.read_run\(one\), rr.read_run\(two\)\]: got \['one"
    ):
        rr.fuse_runs(["one.run"])
    with pytest.raises(DataError, match=r"expected runs, .*: got \[\]"):
        rr.fuse_runs([])


@pytest.mark.parametrize(
    ("method", "theirs"), {"comb_sum": "sum", "comb_mnz": "mnz", "rrf": "rrf", "borda": "bordafuse"}.items()
)
def test_fusions_agree_with_ranx_where_no_scores_are_tied(method, theirs):
    ranx = pytest.importorskip("ranx")
    rankings = random_rankings(n_runs=4, share=0.7)
    norm = "min-max" if method.startswith("comb") else None
    peer = ranx.fuse([ranx.Run(ranking) for ranking in rankings], norm=norm, method=theirs).to_dict()
    ours = as_dict(rr.fuse_runs([run_of(ranking) for ranking in rankings], method))
    assert {qid: pytest.approx(docs) for qid, docs in peer.items()} == ours


def random_rankings(n_runs, share):
    """Rankings of integer document ids without ties, each of a part of the documents."""
    rng = np.random.default_rng(7)
    rankings = []
    for _ in range(n_runs):
        ranking = {}
        for query in range(5):
            found = np.flatnonzero(rng.random(30) < share)
            ranking[str(query)] = {
                str(doc): float(score) for doc, score in zip(found, rng.permutation(found.size), strict=True)
            }
        rankings.append(ranking)
    return rankings
