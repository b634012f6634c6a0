"""Strata: one document of each stratum of the baseline's rank, query after query, the same for the same seed."""

import numpy as np
import pytest

import rulerank as rr
from rulerank.errors import DataError
from rulerank.sampling.strata import LAST_PLACES, N_STRATA


@pytest.fixture(scope="module")
def data():
    return rr.datasets.make_ranking(n_queries=8, docs_per_query=50, n_features=4, seed=1)


def places(data, column, sign=1):
    found = np.empty(len(data), dtype=int)
    for query in np.unique(data.qid):
        rows = np.flatnonzero(data.qid == query)
        found[rows[np.argsort(-sign * data.X[rows, column], kind="stable")]] = np.arange(1, rows.size + 1)
    return found


@pytest.mark.parametrize(("baseline", "sign"), [("bm25_body", 1), ("-bm25_body", -1), (0, 1)])
def test_each_query_gives_one_document_of_each_stratum(data, baseline, sign):
    order = rr.StratifiedSampler(baseline=baseline).select(data, lambda row: 0, budget=80)
    stratum = np.searchsorted(LAST_PLACES, places(data, 0, sign)[order])
    for turn in range(8):
        block = order[10 * turn : 10 * turn + 10]
        assert len(set(data.qid[block])) == 1
        assert sorted(stratum[10 * turn : 10 * turn + 10].tolist()) == list(range(N_STRATA))
    assert len(set(data.qid[order])) == 8


def test_all_documents_come_in_the_end_and_none_twice(data):
    ranker = rr.StratifiedSampler(baseline=0)
    order = ranker.select(data, lambda row: 0)
    assert sorted(order.tolist()) == list(range(len(data)))
    assert ranker.stop_ == "natural"


def test_queries_come_in_an_order_that_depends_on_the_seed_and_not_on_the_file(data):
    first = rr.StratifiedSampler(baseline=0).select(data, lambda row: 0, budget=80)
    turned = data[np.arange(len(data))[::-1]]
    again = rr.StratifiedSampler(baseline=0).select(turned, lambda row: 0, budget=80)
    other = rr.StratifiedSampler(baseline=0, seed=1).select(data, lambda row: 0, budget=80)
    queries = [list(dict.fromkeys(one.tolist())) for one in (data.qid[first], turned.qid[again], data.qid[other])]
    assert queries[0] == queries[1] != queries[2]
    assert [data.docid[row] for row in first] == [turned.docid[row] for row in again]


def test_it_goes_on_where_it_was_left_and_skips_what_it_is_told_to(data):
    whole = rr.StratifiedSampler(baseline=0).select(data, lambda row: row % 3, budget=30)
    begun = rr.StratifiedSampler(baseline=0).select(data, lambda row: row % 3, budget=12)
    rest = rr.StratifiedSampler(baseline=0).select(
        data, lambda row: row % 3, budget=18, start={row: row % 3 for row in begun}
    )
    assert rest.tolist() == whole.tolist()
    selection = rr.StratifiedSampler(baseline=0).begin(data)
    assert selection.next(skip=whole[:3].tolist()) == whole[3]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({}, "strata are those of the baseline ranking: name its feature, such as baseline='bm25'"),
        ({"baseline": "bm26"}, "baseline ranking: there is no feature 'bm26'; the data has bm25_body"),
        ({"baseline": 0, "seed": -1}, "seed must be an integer of at least 0: got -1"),
    ],
)
def test_mistakes_are_named(data, options, message):
    with pytest.raises(DataError, match=message):
        rr.StratifiedSampler(**options).begin(data)


def test_queries_are_needed_and_documents_too():
    with pytest.raises(DataError, match="queries are visited in turn: give the query of each row, qid=qid"):
        rr.StratifiedSampler(baseline=0).begin([[1.0]])
    with pytest.raises(DataError, match="expected documents to choose from"):
        rr.StratifiedSampler(baseline=0).begin(np.zeros((0, 2)), qid=[])


def test_the_baseline_ranking_may_be_a_score_of_each_row(data):
    named = rr.StratifiedSampler(baseline="bm25_title", seed=3).select(data, lambda row: 0, budget=40)
    column = data.X[:, data.feature_names.index("bm25_title")]
    for scores in (column, column.tolist()):
        assert (
            rr.StratifiedSampler(baseline=scores, seed=3).select(data, lambda row: 0, budget=40).tolist()
            == named.tolist()
        )


@pytest.mark.parametrize(
    ("scores", "message"),
    [
        ([1.0], "baseline must have one entry per row"),
        (["x"] * 400, "baseline: scores must be numbers, one per row: got other values"),
        ([float("nan")] * 400, "the baseline scores must be finite numbers: got nan at row 0"),
    ],
)
def test_scores_that_are_none_are_refused(data, scores, message):
    with pytest.raises(DataError, match=message):
        rr.StratifiedSampler(baseline=scores).select(data, lambda row: 0)
