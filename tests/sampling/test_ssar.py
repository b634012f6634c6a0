"""SSAR, SSARP and per-query SSAR choose what the method spelt out chooses; wrong input is named."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import chi2_contingency

import rulerank as rr
from plain.sampling import deal_plainly, n_rules_plainly, select_plainly
from rulerank.dataset import query_index
from rulerank.errors import DataError
from rulerank.normalize import normalize_by_query
from rulerank.sampling.ssar import deal_features, dependence

pytestmark = pytest.mark.kernels


@st.composite
def pools(draw):
    """Small pools of few bins: duplicates and ties everywhere."""
    n_rows, n_features = draw(st.integers(1, 9)), draw(st.integers(1, 5))
    cells = st.lists(st.integers(0, draw(st.integers(0, 3))), min_size=n_features, max_size=n_features)
    X = draw(st.lists(cells, min_size=n_rows, max_size=n_rows))
    grades = draw(st.lists(st.integers(0, 2), min_size=n_rows, max_size=n_rows))
    qid = draw(st.lists(st.sampled_from(["b", "a", "c"]), min_size=n_rows, max_size=n_rows))
    return X, grades, qid


methods = st.fixed_dictionaries(
    {"max_size": st.integers(1, 4), "partitions": st.integers(1, 3), "per_query": st.booleans()}
)


def by_hand(X, grades, qid, max_size, partitions, per_query):
    numbers = [list(dict.fromkeys(qid)).index(q) for q in qid]
    return select_plainly(
        X,
        grades.__getitem__,
        max_size=max_size,
        groups=deal_plainly(X, partitions) if partitions > 1 else None,
        queries=numbers if per_query else None,
    )


@st.composite
def binned(draw):
    n_features, n_rows = draw(st.integers(1, 6)), draw(st.integers(1, 12))
    cells = st.lists(st.integers(0, 3), min_size=n_rows, max_size=n_rows)
    return np.array(draw(st.lists(cells, min_size=n_features, max_size=n_features)), dtype=np.uint8)


@given(binned(), st.data())
def test_features_are_dealt_as_by_hand(bins, data):
    partitions = data.draw(st.integers(1, len(bins)))
    groups = deal_features(bins, partitions)
    assert [group.tolist() for group in groups] == deal_plainly(bins.T.tolist(), partitions)


def test_dependence_agrees_with_scipy():
    rng = np.random.default_rng(0)
    one, other = rng.integers(0, 4, size=500), rng.integers(0, 5, size=500)
    other = np.where(rng.random(500) < 0.3, one, other)
    table = np.zeros((4, 5))
    np.add.at(table, (one, other), 1)
    found = dependence(np.array([one, other], dtype=np.uint8))[0, 1]
    assert found * 500 == pytest.approx(chi2_contingency(table, correction=False).statistic)


@settings(max_examples=150)
@given(pools(), methods, st.data())
def test_the_choice_is_that_of_the_method_spelt_out_also_after_a_break(pool, params, data):
    X, grades, qid = pool
    params["partitions"] = min(params["partitions"], len(X[0]))
    ssar = rr.SSAR(**params, discretizer=None)
    order = ssar.select(X, grades.__getitem__, qid).tolist()
    assert order == by_hand(X, grades, qid, **params) == ssar.order_.tolist()
    assert ssar.grades_.tolist() == [grades[row] for row in order]
    assert ssar.stop_ == "natural"

    n_rules = ssar.n_rules_.tolist()
    n_before = data.draw(st.integers(0, len(order)))
    asked = []
    start = {row: grades[row] for row in order[:n_before]}
    again = ssar.select(X, lambda row: asked.append(row) or grades[row], qid, start=start)
    assert again.tolist() == order
    assert asked == order[n_before:]
    assert ssar.n_rules_.tolist() == n_rules

    budget = data.draw(st.integers(0, len(order)))
    assert ssar.select(X, grades.__getitem__, qid, budget=budget).tolist() == order[:budget]
    assert ssar.stop_ == ("natural" if budget == len(order) else "budget")


def test_n_rules_are_those_the_row_had_when_it_was_chosen():
    data = rr.datasets.make_ranking(n_queries=4, docs_per_query=(5, 8), n_features=5, seed=1)
    ssar = rr.SSAR()
    ssar.select(data, data.y.__getitem__)
    pool = rr.discretize.TUBE().fit_transform(data.X).tolist()
    labels = {}
    for row, grade, n_rules in zip(ssar.order_.tolist(), ssar.grades_.tolist(), ssar.n_rules_.tolist(), strict=True):
        assert n_rules == n_rules_plainly(pool, labels, row, 2)
        labels[row] = grade


def test_the_pool_may_be_an_array_a_frame_or_a_data_set():
    data = rr.datasets.make_ranking(n_queries=5, docs_per_query=(6, 9), n_features=6, seed=3)
    ask = data.y.__getitem__
    names = list(data.feature_names)
    for params in ({}, {"per_query": True}, {"partitions": 3}, {"partitions": 2, "per_query": True}):
        ssar = rr.SSAR(**params)
        order = ssar.select(data, ask).tolist()
        assert ssar.select(data.X, ask, data.qid).tolist() == order
        assert ssar.select(data.X.astype(np.float64), ask, data.qid.tolist()).tolist() == order
        assert ssar.select(pd.DataFrame(data.X, columns=names), ask, data.qid).tolist() == order
        assert ssar.select(pl.DataFrame(data.X, schema=names), ask, data.qid).tolist() == order


def test_the_number_of_threads_does_not_change_the_choice(monkeypatch):
    monkeypatch.setattr("rulerank.sampling.rule_counts.ROWS_PER_THREAD", 10)
    data = rr.datasets.make_ranking(n_queries=10, docs_per_query=(10, 20), n_features=8)
    for params in ({}, {"partitions": 2, "per_query": True}):
        orders = [rr.SSAR(**params, n_jobs=n).select(data, data.y.__getitem__, budget=12).tolist() for n in (1, 3)]
        assert orders[0] == orders[1]


def test_per_query_takes_turns_with_two_documents_at_first():
    qid = ["x"] * 4 + ["y"] * 4 + ["z"]
    X = [[i % 4, i] for i in range(9)]
    order = rr.SSAR(max_size=1, per_query=True, discretizer=None).select(X, lambda row: 0, qid)
    assert [qid[row] for row in order[:7]] == ["x", "x", "y", "y", "z", "x", "y"]


def test_what_was_answered_before_an_interruption_stays():
    data = rr.datasets.make_ranking(n_queries=5, docs_per_query=(6, 9), n_features=6)
    ssar = rr.SSAR()
    whole = ssar.select(data, data.y.__getitem__).tolist()

    def tired(row):
        if row == whole[3]:
            raise KeyboardInterrupt
        return data.y[row]

    with pytest.raises(KeyboardInterrupt):
        ssar.select(data, tired)
    assert ssar.order_.tolist() == whole[:3]
    assert ssar.stop_ == "interrupted"
    again = ssar.select(data, data.y.__getitem__, start=dict(zip(ssar.order_, ssar.grades_, strict=True)))
    assert again.tolist() == whole


def test_grades_may_come_as_text_or_floats():
    X, grades = [[0, 1], [1, 0], [2, 2]], ["1", 0.0, np.int8(2)]
    ssar = rr.SSAR(discretizer=None)
    ssar.select(X, grades.__getitem__)
    assert dict(zip(ssar.order_.tolist(), ssar.grades_.tolist(), strict=True)) == {0: 1, 1: 0, 2: 2}


def test_features_may_be_put_on_one_scale_by_query_first():
    data = rr.datasets.make_ranking(n_queries=5, docs_per_query=(6, 9), n_features=6)
    scaled = normalize_by_query(data.X, query_index(data.qid)[0], "zscore")
    params = {"per_query": True, "discretizer": "equal_width"}
    expected = rr.SSAR(**params).select(scaled, data.y.__getitem__, data.qid).tolist()
    assert rr.SSAR(**params, normalize="zscore").select(data, data.y.__getitem__).tolist() == expected
    assert rr.SSAR(**params).select(data, data.y.__getitem__).tolist() != expected


X = [[0.0, 1.0], [1.0, 0.0], [2.0, 5.0]]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"ask": [0, 1, 0]}, r"^ask must be a function that takes a row and returns its grade: got \[0, 1, 0\]$"),
        ({"ask": lambda row: None}, r"^a grade must be an integer from 0 to 31: got None for row \d$"),
        ({"ask": lambda row: 1.5}, r"^a grade must be .*: got 1.5 for row"),
        ({"ask": lambda row: "good"}, r"^a grade must be .*: got 'good' for row"),
        ({"ask": lambda row: 10**400}, r"^a grade must be an integer from 0 to 31: got 1000"),
        ({"partitions": 3}, r"^partitions must be at most the number of features, 2: got 3$"),
        ({"per_query": True}, r"^per_query=True visits the queries in turn: give the query of each row, qid=qid$"),
        ({"normalize": "zscore"}, r"^normalize='zscore' scales features by query: give the query of each row"),
        ({"X": np.empty((0, 2))}, r"^expected documents to choose from: there are none$"),
        ({"budget": -1}, r"^budget must be an integer of at least 0, or None for no limit: got -1$"),
        ({"start": {3: 1}}, r"^a row must be an integer from 0 to 2: got 3$"),
        ({"start": 7}, r"^start must be a dict, {row: grade}: got 7$"),
        ({"qid": ["a"], "per_query": True}, r"^qid must have one entry per row: expected 3, got 1$"),
        ({"X": [[0.0, np.inf], [1.0, 2.0]]}, r"^X contains infinity, the feature 'f2' at row 0"),
        (
            {"X": [[0.0, np.inf]], "normalize": "zscore", "qid": ["a"]},
            r"^X must be finite or NaN \(missing\): row 0, column 1 is infinity$",
        ),
        ({"qid": ["a"] * 3, "normalize": "z"}, r"^unknown normalize 'z'; choose from None, minmax, rank, zscore$"),
        (
            {"X": [[0, np.nan]], "discretizer": None},
            r"^with discretizer=None, X must hold bin numbers .* 1 is nan; name",
        ),
        ({"X": [[255]], "discretizer": None}, r"^with discretizer=None, .* 0 to 254\): row 0, column 0 is 255.0; name"),
    ],
)
def test_wrong_arguments_are_refused(arguments, message):
    names = ("per_query", "discretizer", "normalize", "partitions")
    params = {name: arguments.pop(name) for name in names if name in arguments}
    with pytest.raises(DataError, match=message):
        rr.SSAR(**params).select(**{"X": X, "ask": lambda row: 0} | arguments)
