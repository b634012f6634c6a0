import numpy as np
import pytest

from rulerank.datasets.ranking import make_ranking
from rulerank.errors import ModelFileError
from rulerank.rankers.global_rules import GlobalRules
from rulerank.rankers.stable_rules import StableRules
from worked_example import X, d10, d11, d12, qid, y

FORMS = [{"literal": False}, {"literal": True}]


def literal(**options):
    given = {"max_size": 3, "literal": True, "phi": 0.05, "discretizer": None} | options
    return StableRules(**given).fit(X, y, qid=qid)


def test_the_worked_example_of_the_paper():
    assert literal().predict([d10, d11, d12]).tolist() == [0.0, 1.0, 0.0]


def test_the_stable_rules_of_the_worked_example():
    ranker = literal()
    assert [str(rule) for rule in ranker.rules_for(d11)] == ["f1=3 -> 1 (3 of 3)", "f1=3 & f3=3 -> 1 (1 of 1)"]
    assert len(ranker.rules_for(d12)) == 4


def test_a_document_without_a_stable_rule_is_scored_by_all_rules():
    everything = GlobalRules(max_size=3, votes="mean", discretizer=None).fit(X, y, qid=qid)
    assert np.array_equal(literal(min_queries=4).predict([d10, d11, d12]), everything.predict([d10, d11, d12]))
    evidence = GlobalRules(discretizer=None).fit(X, y, qid=qid)
    ranker = StableRules(min_queries=4, discretizer=None).fit(X, y, qid=qid)
    assert np.array_equal(ranker.predict(X), evidence.predict(X))
    assert ranker.rules_for(d11) == []


@pytest.mark.parametrize("form", FORMS, ids=str)
def test_rows_of_one_query_alone_or_no_useful_feature_can_be_ranked(form):
    assert np.isfinite(StableRules(discretizer=None, **form).fit(X, y).predict(X)).all()
    ranker = StableRules(discretizer=None, **form).fit([[3], [3]], [0, 1], qid=[0, 1])
    assert ranker.predict([[3], [4]]).tolist() == [0.5, 0.5]
    assert ranker.rules_for([3]) == []


def test_rules_are_stable_where_items_were_seen_in_enough_queries():
    ranker = StableRules(discretizer=None, drop_weakest=0).fit(X, y, qid=qid)
    assert [str(rule.items[0]) for rule in ranker.rules_for(d11)] == ["f1=3", "f3=3", "f3=3"]


@pytest.mark.parametrize(
    ("kept", "name", "value", "message"),
    [
        ("rows", "starts", np.array([0, 3, 2, 9]), "its queries do not cover its rows"),
        ("rows", "starts", np.array([0, 3, 99]), "its queries do not cover its rows"),
        (
            "counts",
            "tallies",
            np.zeros((3, 6), dtype=np.int64),
            r"tallies must have the shape \(\d+, 6\): got \(3, 6\)",
        ),
    ],
)
def test_a_crafted_state_is_refused(kept, name, value, message):
    state = StableRules(discretizer=None, memory_budget=0 if kept == "rows" else 1).fit(X, y, qid=qid).to_state()
    state["learned"]["engine"][kept] |= {name: value}
    with pytest.raises(ModelFileError, match=message):
        StableRules.from_state(state)


def test_the_published_form_asks_for_one_query_and_all_features_by_default():
    data = make_ranking(n_queries=8, docs_per_query=15, n_features=6)
    explicit = StableRules(literal=True, min_queries=1, phi=0.1, drop_weakest=0.0).fit(data).predict(data)
    assert np.array_equal(StableRules(literal=True).fit(data).predict(data), explicit)
    assert StableRules(literal=True).stood_for() == {"drop_weakest": 0.0, "min_queries": 1, "phi": 0.1}
    assert StableRules().stood_for() == {"drop_weakest": 0.25, "min_queries": 2, "phi": 0.1}
