"""What makes one document stand above another adds up."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import rulerank as rr
from rulerank.errors import DataError
from rulerank.rules.metrics import METRICS
from rulerank.rules.votes import VOTES

OPEN = {"discretizer": None, "drop_weakest": 0.0}


def some_world(seed, m=4, n=12):
    rng = np.random.default_rng(seed)
    train, grades = rng.integers(0, 3, (n, m)), rng.integers(0, 3, n)
    queries = np.unique(np.sort(rng.integers(0, 3, n)), return_inverse=True)[1]
    return train.tolist(), grades.tolist(), queries.tolist(), rng.integers(0, 4, (2, m)).tolist()


RANKERS = {
    **{f"votes={votes}": (lambda votes=votes: rr.GlobalRules(votes=votes, **OPEN)) for votes in VOTES},
    **{metric: (lambda metric=metric: rr.GlobalRules(votes="mean", metric=metric, **OPEN)) for metric in METRICS},
    "stable": lambda: rr.StableRules(**OPEN),
    "stable, literal": lambda: rr.StableRules(literal=True, min_queries=1, **OPEN),
    "query": lambda: rr.QueryRules(**OPEN),
    "query, literal": lambda: rr.QueryRules(literal=True, **OPEN),
    "linear": lambda: rr.QueryIntercepts(l2=1.0),
}


@settings(max_examples=80)
@given(st.integers(0, 10**6), st.sampled_from(sorted(RANKERS)))
def test_differences_add_up_exactly(seed, name):
    train, grades, queries, documents = some_world(seed)
    ranker = RANKERS[name]().fit(train, grades, qid=queries)
    found = ranker.explain(documents[0], versus=documents[1])
    scores = sorted(ranker.predict(documents), reverse=True)
    assert [found.high.score, found.low.score] == pytest.approx(scores, abs=1e-9)
    assert found.difference == pytest.approx(scores[0] - scores[1], abs=1e-9)
    assert found.base_difference + sum(gap.adds for gap in found.features) == pytest.approx(found.difference, abs=1e-9)
    assert found.tied == (found.difference == 0)


def test_tied_documents_are_said_to_be_tied():
    ranker = rr.GlobalRules(**OPEN).fit([[0, 0], [1, 1], [0, 1], [1, 0]], [0, 1, 0, 1], qid=[0, 0, 1, 1])
    found = ranker.explain([0, 1], versus=[0, 1])
    assert found.tied
    assert found.lines()[0] == "a and b both score 0.429: they are tied."
    assert found.page().title == "Why a and b are tied"


def test_rows_of_a_data_set_are_called_by_their_ids_and_of_an_array_by_their_numbers():
    data = rr.make_ranking(n_queries=12, docs_per_query=10, n_features=5, seed=3)
    ranker = rr.GlobalRules().fit(data)
    found = ranker.explain(data, 3, versus=5)
    assert {found.high.document, found.low.document} == {"q1-d4", "q1-d6"}
    found = ranker.explain(data.X, 3, versus=5)
    assert {found.high.document, found.low.document} == {"row 4", "row 6"}
    with pytest.raises(DataError, match="row 4 cannot be compared with itself: row and versus must be two documents"):
        ranker.explain(data.X, 3, versus=3)
    found = ranker.explain(data.X[3], versus=data.X[5])
    assert {found.high.document, found.low.document} == {"a", "b"}
