"""What no reranker can rank is refused in words that name it."""

import math

import numpy as np
import pytest
from scipy.sparse import csr_matrix

import rulerank as rr
from rulerank.errors import DataError


def test_a_feature_that_no_document_has_is_named(rerankers, dicts):
    docs = [{"bm25_titel" if name == "bm25_title" else name: v for name, v in doc.items()} for doc in dicts]
    with pytest.raises(
        DataError, match=r"the documents lack 1 of the 6 features of the model: bm25_title; give null \(None\) for"
    ):
        rerankers("GlobalRules").rank("", docs)
    docs[3]["bm25_title"] = None
    assert rerankers("GlobalRules").rank("", docs, top=None)[0].features["bm25_title"] is None


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ("high", r"document 2: feature 'bm25_body' must be a number, or null if missing: got 'high'"),
        ([1], r"document 2: feature 'bm25_body' must be a number, or null if missing: got \[1\]"),
        (math.inf, r"document 2: feature 'bm25_body' must be finite and fit float32, or null if missing: got inf"),
        (1e39, r"document 2: feature 'bm25_body' must be finite and fit float32, or null if missing: got 1e\+39"),
        (-(10**400), r"document 2: feature 'bm25_body' must be finite and fit float32.*: got -1000"),
        (10**5000, r"document 2: feature 'bm25_body' must be finite .*: got a whole number of thousands of digits"),
    ],
    ids=["text", "list", "inf", "float64", "int", "long int"],
)
def test_a_value_that_is_no_number_is_named(rerankers, dicts, value, message):
    docs = [dict(doc) for doc in dicts]
    docs[2]["bm25_body"] = value
    with pytest.raises(DataError, match=message):
        rerankers("GlobalRules").rank("", docs)


@pytest.mark.parametrize(
    ("docs", "message"),
    [
        (None, "docs is missing: this reranker has no TextFeatures, so there is no index to search"),
        ("d1", "docs must be a list of dicts of features, a data frame, or an array of 6 columns: got one str"),
        ({"bm25_body": 1}, "docs must be a list of dicts .*: got one dict"),
        (["d1", "d2"], "docs must be a list of dicts .*: got a list of str"),
        ([{}, "d2"], "docs must be a list of dicts .*: got a list of dict, str"),
        ([[1.0, 2.0]], r"docs must be a list of dicts .*: got an array of shape \(1, 2\)"),
        ([1.0, 2.0], r"docs must be a list of dicts .*: got an array of shape \(2,\)"),
        ([[1.0], [1.0, 2.0]], "docs must be a list of dicts .*: got a list of list"),
    ],
    ids=str,
)
def test_what_are_no_documents_is_refused(rerankers, docs, message):
    with pytest.raises(DataError, match=message):
        rerankers("GlobalRules").rank("", docs)


def test_wrong_calls_are_refused(rerankers, reranker, dicts, synthetic):
    ready = rerankers("GlobalRules")
    for call, message in [
        (lambda: ready.rank("", dicts, -1), "top must be an integer of at least 0, or None for all documents: got -1"),
        (
            lambda: ready.rank("", dicts, True),
            "top must be an integer of at least 0, or None for all documents: got True",
        ),
        (lambda: ready.rank(7, dicts), "query must be text: got 7"),
        (lambda: reranker.rank(b"tent"), "query must be text: got"),
        (lambda: reranker.rank("tent", candidates=0), "candidates must be an integer of at least 1: got 0"),
        (lambda: ready.rank("", csr_matrix(np.ones((2, 6)))), r"docs must be a list of dicts of .*: got one csr_"),
        (lambda: ready.rank("", synthetic), "docs must be documents of one query: the Dataset has several queries"),
        (lambda: rr.Reranker(rr.GlobalRules()), r"ranker must be a fitted .*: got a GlobalRules that is not fitted"),
        (lambda: rr.Reranker("model.rulerank"), r"ranker must be a fitted ranker, such as .*: got 'model.rulerank'"),
    ]:
        with pytest.raises(DataError, match=message):
            call()


def test_features_that_do_not_fit_are_named(rerankers, features, ranker):
    with pytest.raises(
        DataError,
        match=r"the ranker needs 6 features that these TextFeatures do not compute: bm25_body, .*; they compute gr",
    ):
        rr.Reranker(rerankers("GlobalRules").ranker, features)
    for other in (rr.TextFeatures(), "text.rulerank"):
        with pytest.raises(DataError, match="features must be a fitted TextFeatures, or None: got"):
            rr.Reranker(ranker, other)
