"""Rows added and removed after fit: the model is the one that fit makes of the rows that are left, byte for byte."""

from __future__ import annotations

import warnings
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone

import rulerank as rr
from rulerank.errors import DataError, ModelFileError, TooLargeError

KINDS = {
    "evidence": rr.GlobalRules(),
    "half": rr.GlobalRules(drop_weakest=0.5),
    "mean": rr.GlobalRules(votes="mean", metric="yule_q"),
    "size 3": rr.GlobalRules(max_size=3, min_support=0.1),
    "no tables": rr.GlobalRules(memory_budget=0),
    "tables that just fit": rr.GlobalRules(memory_budget=0.005),
    "stable": rr.StableRules(),
    "stable, no tables": rr.StableRules(memory_budget=0),
    "stable, half": rr.StableRules(min_support=0.05, drop_weakest=0.5),
    "stable, literal": rr.StableRules(literal=True, min_queries=1),
}
FOLDER: list[Path] = []


@pytest.fixture(autouse=True, scope="module")
def folder(tmp_path_factory):
    FOLDER.append(tmp_path_factory.mktemp("models"))


def file_of(ranker: rr.GlobalRules) -> bytes:
    ranker._sample = ranker._importances = None  # which are gone once rows were added or removed
    ranker.save(FOLDER[-1] / "model.rulerank")
    return (FOLDER[-1] / "model.rulerank").read_bytes()


def loaded(ranker: rr.GlobalRules) -> rr.GlobalRules:
    file_of(ranker)
    return rr.load(FOLDER[-1] / "model.rulerank")


def refitted(ranker: rr.GlobalRules, data: rr.Dataset) -> rr.GlobalRules:
    """Fit to rows with the bins that a ranker has found: the slow, obvious way."""
    return clone(ranker).fit_prepared(data.X, data.y, data.qid, like=data, discretizer=ranker.discretizer_)


def a_synthetic(seed: int, n_queries: int = 8, n_docs: int = 6) -> rr.Dataset:
    """Few bins, missing values, a feature that hardly varies, queries whose rows lie apart, the highest grade rare."""
    rng = np.random.default_rng(seed)
    n_rows = n_queries * n_docs
    X = rng.integers(0, 4, size=(n_rows, 5)).astype(np.float32)
    X[rng.random(X.shape) < 0.1] = np.nan
    X[:, 4] = rng.random(n_rows) < 0.06
    grades = (np.nan_to_num(X[:, 0]) + rng.random(n_rows) > 2.5).astype(int) + (rng.random(n_rows) < 0.05)
    return rr.Dataset(X, grades, rng.permutation(np.repeat(np.arange(n_queries), n_docs)).astype(str))


@pytest.mark.parametrize("kind", KINDS)
@settings(max_examples=8)
@given(seed=st.integers(0, 2**31), share=st.floats(0.1, 0.9), saved=st.booleans())
def test_rows_added_make_the_model_that_fit_makes_of_all_rows(kind, seed, share, saved):
    synthetic = a_synthetic(seed)
    first = np.random.default_rng(seed).random(len(synthetic)) < share
    first[:4] = True, False, True, False
    ranker = clone(KINDS[kind]).set_params(discretizer=rr.discretize.EqualWidth(n_bins=4)).fit(synthetic[first])
    ranker = loaded(ranker) if saved else ranker
    assert file_of(ranker.partial_fit(synthetic[~first])) == file_of(refitted(ranker, synthetic))


@pytest.mark.parametrize("kind", ["evidence", "mean", "stable", "stable, literal"])
@settings(max_examples=10)
@given(seed=st.integers(0, 2**31), steps=st.lists(st.tuples(st.booleans(), st.integers(0, 47)), max_size=20))
def test_any_walk_of_additions_and_removals_ends_where_a_fit_would(kind, seed, steps):
    synthetic = a_synthetic(seed)
    there = list(range(10))
    ranker = clone(KINDS[kind]).set_params(discretizer=rr.discretize.EqualFrequency(n_bins=3)).fit(synthetic[there])
    for comes, row in steps:
        if comes:
            there.append(row)
            ranker.partial_fit(synthetic[[row]])
        elif row in there and len(there) > 1:
            there.remove(row)
            ranker.unlearn(synthetic[[row]])
    assert file_of(ranker) == file_of(refitted(ranker, synthetic[there]))


def test_rows_in_any_order_make_the_same_file():
    synthetic = a_synthetic(1)
    order = np.random.default_rng(5).permutation(len(synthetic))
    for ranker in KINDS.values():
        assert file_of(clone(ranker).fit(synthetic)) == file_of(clone(ranker).fit(synthetic[order]))


def test_set_params_after_fit_changes_nothing_that_partial_fit_learns():
    synthetic = a_synthetic(4)
    ranker = rr.GlobalRules(max_size=1).fit(synthetic[:40])
    same = rr.GlobalRules(max_size=1).fit(synthetic[:40])
    ranker.set_params(max_size=3, drop_weakest=0.9, min_support=0.5, votes="mean", memory_budget=0)
    assert file_of(ranker.partial_fit(synthetic[40:])) == file_of(same.partial_fit(synthetic[40:]))


def test_a_failed_addition_changes_nothing(monkeypatch):
    synthetic = a_synthetic(4)
    ranker = rr.GlobalRules(discretizer=rr.discretize.EqualWidth(n_bins=4)).fit(synthetic[:40])
    before = file_of(ranker)
    monkeypatch.setattr("rulerank.rules.layout.MAX_SETS", 1)
    with pytest.raises(TooLargeError, match="lower max_size"):
        ranker.partial_fit(a_synthetic(0))
    assert file_of(ranker) == before


def test_only_rows_that_were_learned_from_can_be_removed():
    synthetic = a_synthetic(4)
    ranker = rr.GlobalRules(max_size=1).fit(synthetic)
    before = file_of(ranker)
    for grade, query, message in [
        (9, synthetic.qid[0], r"^1 of the 1 rows to remove are not among the rows of their queries"),
        (0, "never", r"^1 of the 1 rows to remove belong to queries that the ranker has no rows of"),
    ]:
        with pytest.raises(DataError, match=message):
            ranker.unlearn(synthetic.X[:1], [grade], qid=[query])
    with pytest.raises(DataError, match=r"^these are all the rows that the ranker has learned from"):
        ranker.unlearn(synthetic)
    assert file_of(ranker) == before


def test_a_model_without_its_rows_says_what_to_do():
    synthetic = a_synthetic(4)
    ranker = rr.GlobalRules(keep_rows=0).fit(synthetic)
    message = (
        "this GlobalRules has not kept the 48 rows it has learned from, which partial_fit needs: fit it "
        r"again with keep_rows=1 or more \(MiB; they take 0.0\), or on all rows together"
    )
    with pytest.raises(DataError, match=message):
        ranker.partial_fit(synthetic)
    with pytest.raises(DataError, match="which unlearn needs"):
        loaded(ranker).unlearn(synthetic)


def test_rows_beyond_the_limit_are_not_taken():
    synthetic = rr.datasets.make_ranking(n_queries=10, docs_per_query=10, n_features=5, seed=0)
    ranker = rr.GlobalRules(keep_rows=0.0004).fit(synthetic[:80])
    with pytest.raises(TooLargeError, match=r"there are 100, which take 0.0 MiB .* set_params\(keep_rows=1\)"):
        ranker.partial_fit(synthetic[80:])
    assert ranker.set_params(keep_rows=1).partial_fit(synthetic[80:]).params_["keep_rows"] == 1


def test_a_ranker_that_normalises_takes_whole_queries():
    synthetic = rr.datasets.make_ranking(n_queries=12, docs_per_query=8, seed=0)
    known = synthetic.qid != "q3"
    ranker = rr.GlobalRules(normalize="zscore").fit(synthetic[known])
    before = file_of(ranker)
    ranker.partial_fit(synthetic[~known])
    with pytest.raises(DataError, match=r"so new documents change .*: the queries of 2 rows are known"):
        ranker.partial_fit(synthetic[~known][:2])
    with pytest.raises(DataError, match="remove whole queries; it has learned from 8 rows of these queries, and got 2"):
        ranker.unlearn(synthetic[~known][:2])
    assert file_of(ranker.unlearn(synthetic[~known])) == before
    with pytest.raises(DataError, match=r"give the query of each row"):
        ranker.partial_fit(synthetic.X, synthetic.y)


def test_bad_rows_are_named():
    synthetic = a_synthetic(4)
    ranker = rr.GlobalRules().fit(synthetic)
    with pytest.raises(DataError, match=r"^partial_fit expects at least one row: got none"):
        ranker.partial_fit(synthetic[:0])
    with pytest.raises(DataError, match=r"^1 of 2 rows are not labelled"):
        ranker.partial_fit(synthetic.X[:2], [0, -1], qid=["a", "a"])
    with pytest.raises(DataError, match=r"^give one grade per row, unlearn\(X, y, qid=qid\), or a Dataset: y is None"):
        ranker.unlearn(synthetic.X[:2])
    with pytest.raises(DataError, match='two of them, such as 1 and "1", read the same'):
        ranker.partial_fit(synthetic.X[:2], [0, 0], qid=np.array([1, "1"], dtype=object))
    with pytest.warns(UserWarning, match="^partial_fit was given no qid"):
        ranker.partial_fit(synthetic.X[:2], [0, 0])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        rr.GlobalRules(votes="mean").fit(synthetic.X, synthetic.y).partial_fit(synthetic.X[:2], [0, 0])


def test_a_file_whose_rows_are_not_those_it_learned_from_is_refused():
    ranker = rr.GlobalRules().fit(a_synthetic(4))
    state = ranker.to_state()
    kept = state["learned"]["kept_rows"]
    for damage in (
        {"grades": kept["grades"] * 0},
        {"grades": kept["grades"].astype(np.int64)},
        {"bins": kept["bins"] * 0 + 254},
        {"starts": kept["starts"] + 1},
        {"keys": kept["keys"][::-1]},
        {"keys": kept["keys"][1:]},
    ):
        changed = state | {"learned": state["learned"] | {"kept_rows": kept | damage}}
        with pytest.raises(ModelFileError, match=r"rows that it keeps are damaged|rows are not those of its counts"):
            rr.GlobalRules.from_state(changed)
