"""Which document is meant, what is said of it, and what cannot be explained."""

import json
import warnings

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.exceptions import NotFittedError

import rulerank as rr
from rulerank.errors import DataError


@pytest.fixture(scope="module")
def synthetic():
    return rr.datasets.make_ranking(n_queries=20, docs_per_query=12, n_features=6, seed=1)


@pytest.fixture(scope="module")
def ranker(synthetic):
    return rr.GlobalRules().fit(synthetic)


def test_the_document_meant_must_be_named(ranker, synthetic):
    with pytest.raises(DataError, match=r"expected one document: got 240; give its row, explain\(X, row=3\)"):
        ranker.explain(synthetic.X)
    with pytest.raises(DataError, match="row must be an integer from 0 to 239: got 240"):
        ranker.explain(synthetic.X, row=240)
    with pytest.raises(DataError, match="row must be an integer from 0 to 0: got 1"):
        ranker.explain(synthetic.X[0], versus=1)
    assert ranker.explain(synthetic.X, 3).score == ranker.explain(synthetic.X[3]).score == ranker.predict(synthetic)[3]
    with pytest.raises(NotFittedError):
        rr.GlobalRules().explain([1.0])


@pytest.mark.parametrize("make", [rr.GlobalRules, rr.StableRules, rr.QueryRules, rr.QueryIntercepts])
def test_a_ranker_that_normalises_needs_all_documents_of_the_query(make, synthetic):
    clean = rr.Dataset(np.nan_to_num(synthetic.X), synthetic.y, synthetic.qid, synthetic.docid, synthetic.feature_names)
    ranker = make(normalize="rank").fit(clean)
    with pytest.raises(DataError, match=r"compares the documents of a query .* explain\(X_of_the_query, row=3\)"):
        ranker.explain(clean.X[0])
    scores = ranker.predict(clean)
    own = np.flatnonzero(clean.qid == "q2")
    assert ranker.explain(clean.X[own], 4).score == pytest.approx(scores[own[4]], abs=1e-12)
    assert ranker.explain(clean, int(own[4])).score == pytest.approx(scores[own[4]], abs=1e-12)
    found = ranker.explain(clean, int(own[4]), versus=int(own[5]))
    assert found.difference == pytest.approx(abs(scores[own[4]] - scores[own[5]]), abs=1e-12)


def test_a_data_set_is_matched_by_feature_name(ranker, synthetic):
    turned = rr.Dataset(
        synthetic.X[:, ::-1], synthetic.y, synthetic.qid, synthetic.docid, synthetic.feature_names[::-1]
    )
    assert ranker.explain(turned, 5) == ranker.explain(synthetic, 5)


@pytest.mark.parametrize("frame", [pl.DataFrame, pd.DataFrame])
def test_a_row_of_a_frame_is_explained_without_a_word(frame, synthetic):
    table = frame(synthetic.X, **({"schema": list(synthetic.feature_names)} if frame is pl.DataFrame else {}))
    if frame is pd.DataFrame:
        table.columns = list(synthetic.feature_names)
    ranker = rr.GlobalRules().fit(table, synthetic.y, qid=synthetic.qid)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert ranker.explain(table, 5).score == ranker.predict(table)[5]


def test_a_document_that_no_rule_covers_gets_the_mean_grade():
    ranker = rr.GlobalRules(discretizer=None, drop_weakest=0).fit([[0, 0], [1, 1]], [0, 1], qid=[1, 1])
    found = ranker.explain([7, 7])
    assert (found.score, found.rules, found.n_rules) == (0.5, (), 0)
    assert found.lines() == ["the document scores 0.500: no rule votes on it, so it gets the mean grade in training."]
    assert "Why the document scores 0.500" in str(found)


def test_lines_are_plain_sentences_with_the_strongest_reason_first(ranker, synthetic):
    best = int(np.argmax(ranker.predict(synthetic)))
    found = ranker.explain(synthetic, best)
    first, *reasons = found.lines(3)
    assert first.startswith(f"{synthetic.docid[best]} scores ")
    assert "the mean grade in training; the " in first
    assert len(reasons) == min(3, len(found.features))
    assert reasons[0].startswith("+")
    assert " like it in training: " in found.rules[0].evidence
    sizes = [abs(share.adds) for share in found.features]
    assert sizes == sorted(sizes, reverse=True)


def test_stable_rules_say_which_rules_are_stable(synthetic):
    ranker = rr.StableRules(literal=True, phi=0.3).fit(synthetic)
    found = ranker.explain(synthetic.X[0])
    assert found.notes[0].endswith("rules that cover it are stable; they alone vote.")
    assert found.rules[0].queries[0] >= 2
    none = rr.StableRules(min_queries=99).fit(synthetic).explain(synthetic.X[0])
    assert none.notes == ("No stable rule covers it, so all rules vote.",)
    assert "up in " in found.rules[0].evidence


def test_query_rules_say_who_is_heard(synthetic):
    found = rr.QueryRules(n_trusted=3).fit(synthetic).explain(synthetic.X[0])
    assert found.notes == ("The 3 most trusted of 20 training queries contribute, with equal weight.",)
    (note,) = rr.QueryRules(literal=True).fit(synthetic).explain(synthetic.X[0]).notes
    assert " of 20 training queries contribute, each with its own estimate, most of all q" in note
    strange = rr.QueryRules(literal=True, discretizer=None).fit([[0], [1], [0]], [0, 1, 1], qid=["a", "a", "b"])
    assert strange.explain([9]).notes == ("No training query covers this document: the rules of all queries vote.",)


def test_json_holds_all_digits_and_plain_values_only(synthetic):
    for ranker in (rr.GlobalRules(votes="mean"), rr.StableRules(), rr.QueryRules(n_trusted=2)):
        found = ranker.fit(synthetic.X, synthetic.y, qid=np.unique(synthetic.qid, return_inverse=True)[1]).explain(
            synthetic.X[0]
        )
        payload = json.loads(found.to_json())
        assert payload["kind"] == "explanation"
        assert payload["score"] == found.score
        assert payload["base"] + sum(s["adds"] for s in payload["features"]) == pytest.approx(found.score, abs=1e-9)
        assert len(found.to_json()) < 20_000
    versus = json.loads(ranker.explain(synthetic.X[0], versus=synthetic.X[1]).to_json())
    assert versus["kind"] == "versus"
    assert versus["high"]["score"] - versus["low"]["score"] == pytest.approx(versus["difference"])


def test_missing_values_of_a_linear_ranker_are_said_to_be_filled_in(synthetic):
    ranker = rr.QueryIntercepts(l2=1.0, missing="mean").fit(synthetic)
    row = int(np.flatnonzero(np.isnan(synthetic.X).any(axis=1))[0])
    assert any("(missing: the training mean)" in share.text for share in ranker.explain(synthetic.X[row]).features)


def test_a_mixture_says_why_its_members_count(synthetic):
    clean = rr.Dataset(np.nan_to_num(synthetic.X), synthetic.y, synthetic.qid, synthetic.docid, synthetic.feature_names)
    ranker = rr.Competence(["confidence", "yule_q"], discretizer="equal_width").fit(clean)
    with pytest.raises(DataError, match="compares the documents of a query with each other"):
        ranker.explain(clean.X[0])
    assert "the same for all documents" in " ".join(ranker.explain(clean, 0).notes)
    gate = ranker._mixture
    gate.coef = np.zeros((7, 2))
    gate.coef[1] = [2.0, -2.0]
    note = ranker.explain(clean, 0).notes[-1]
    assert note.startswith(("confidence counts more than yule_q for its features: bm25_body", "yule_q counts more"))
    literal = rr.Competence(["confidence", "yule_q"], literal=True).fit(clean)
    assert literal.explain(clean.X[0]).notes[-1].startswith("Competence for documents like this one")


def test_tied_documents_are_said_to_be_tied():
    ranker = rr.GlobalRules(discretizer=None, drop_weakest=0).fit(
        [[0, 0], [1, 1], [0, 1], [1, 0]], [0, 1, 0, 1], qid=[0, 0, 1, 1]
    )
    found = ranker.explain([0, 1], versus=[0, 1])
    assert found.tied
    assert found.lines()[0] == "a and b both score 0.429: they are tied."
    assert found.page().title == "Why a and b are tied"


def test_rows_of_a_data_set_are_called_by_their_ids_and_of_an_array_by_their_numbers():
    data = rr.datasets.make_ranking(n_queries=12, docs_per_query=10, n_features=5, seed=3)
    ranker = rr.GlobalRules().fit(data)
    found = ranker.explain(data, 3, versus=5)
    assert {found.high.document, found.low.document} == {"q1-d4", "q1-d6"}
    found = ranker.explain(data.X, 3, versus=5)
    assert {found.high.document, found.low.document} == {"row 4", "row 6"}
    with pytest.raises(DataError, match="row 4 cannot be compared with itself: row and versus must be two documents"):
        ranker.explain(data.X, 3, versus=3)
    found = ranker.explain(data.X[3], versus=data.X[5])
    assert {found.high.document, found.low.document} == {"a", "b"}
