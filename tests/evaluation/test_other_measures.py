"""Measures that are not ours: RBP in closed form, and those of ir_measures by name."""

import itertools
import sys

import ir_measures
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import rulerank as rr
from rulerank.errors import DataError, MissingExtraError

Y, SCORES, QID = [2, 0, 1, 0, 1], [0.9, 0.8, 0.1, 0.4, 0.7], ["a", "a", "a", "b", "b"]


def rbp_plainly(relevant, scores, p, cutoff):
    """The mean over all orders of tied documents, one order after the other."""
    orders = [
        order
        for order in itertools.permutations(range(len(scores)))
        if all(scores[one] >= scores[two] for one, two in itertools.pairwise(order))
    ]
    return np.mean(
        [sum((1 - p) * p**rank * relevant[doc] for rank, doc in enumerate(order[:cutoff])) for order in orders]
    )


@given(st.lists(st.tuples(st.integers(0, 2), st.integers(0, 2)), min_size=1, max_size=5), st.sampled_from([1, 2, 9]))
def test_rbp_is_the_mean_over_all_orders_of_ties(docs, cutoff):
    y, scores = [grade for grade, _ in docs], [score for _, score in docs]
    found = rr.evaluate(y, scores, ["q"] * len(y), f"RBP(p=0.7)@{cutoff}", relevant_from=2, any_grades=True)
    expected = rbp_plainly([grade >= 2 for grade in y], scores, 0.7, cutoff)
    assert found.means[f"RBP(p=0.7)@{cutoff}"] == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("name", ["Success@1", "Rprec", "IPrec@0.1", "Bpref", "P(rel=2)@1", "SetP", "infAP"])
def test_what_ir_measures_computes_is_what_it_says_itself(name):
    qrels = [ir_measures.Qrel(q, f"d{i}", grade) for i, (q, grade) in enumerate(zip(QID, Y, strict=True))]
    run = [ir_measures.ScoredDoc(q, f"d{i}", score) for i, (q, score) in enumerate(zip(QID, SCORES, strict=True))]
    measure = ir_measures.parse_measure(name)
    expected = ir_measures.calc_aggregate([measure], qrels, run)[measure]
    found = rr.evaluate(Y, SCORES, QID, ["MAP", name])
    assert list(found.means) == ["MAP", str(measure)]
    assert found.means[str(measure)] == pytest.approx(expected)
    assert found.means["MAP"] == rr.evaluate(Y, SCORES, QID, "MAP").means["MAP"]


def test_documents_without_a_judgement_are_told_from_those_judged_not_relevant():
    run = rr.Run(["q", "q"], ["seen", "unseen"], [1.0, 2.0], ["me", "me"])
    qrels = rr.Qrels(["q", "q"], ["seen", "other"], [0, 1])
    assert rr.evaluate(run, qrels, measures=["Judged@2", "P@1"]).means == {"Judged@2": 0.5, "P@1": 0.0}


def test_rankings_are_compared_by_them():
    found = rr.compare(Y, {"one": SCORES, "two": [-score for score in SCORES]}, QID, ["RBP(p=0.8)", "Success@1"])
    assert [str(pair.measure) for pair in found.pairs] == ["RBP(p=0.8)", "Success@1"]


@pytest.mark.parametrize(
    ("name", "options", "message"),
    [
        ("Success@1", {"scores": [1.0] * 5}, "Success@1 comes from ir_measures, which cannot average over ties"),
        ("Success@1", {"relevant_from": 2}, r"Success@1 sets its own relevance level: write \(rel=2\)"),
        ("RBP(p=1.5)", {}, r"persistence between 0 and 1 and, if any, a cutoff from 1: got 'RBP\(p=1.5\)'"),
        ("RBP(p=0.8)@0", {}, "RBP needs a persistence"),
        ("Success(p=", {}, r"ir_measures cannot read the measure 'Success\(p='"),
        ("P(loud=2)@5", {}, r"ir_measures cannot read the measure 'P\(loud=2\)@5'"),
        ("NumRet(rel=1)", {}, "counts over all queries: it is not a measure of one ranking"),
        ("alpha_nDCG@10", {}, "ir_measures supports alpha_nDCG@10, but no installed provider computes it"),
        ("Fame(rel=1)", {}, r"^unknown measure 'Fame\(rel=1\)'; choose from MAP"),
        ("Fame@10", {}, "^unknown measure 'Fame@10'; choose from MAP"),
    ],
)
def test_mistakes_are_named(name, options, message):
    values = {"y": Y, "scores": SCORES, "qid": QID} | options
    with pytest.raises(DataError, match=message):
        rr.evaluate(measures=[name], **values)


def test_without_the_package_its_name_is_said(monkeypatch):
    monkeypatch.setitem(sys.modules, "ir_measures", None)
    with pytest.raises(MissingExtraError, match=r"needs ir-measures, .*pip install 'rulerank\[measures\]'"):
        rr.evaluate(Y, SCORES, QID, ["Success@5"])
    assert rr.evaluate(Y, SCORES, QID, ["RBP(p=0.8)", "R@50"]).means["Recall@50"] == 1.0
