import numpy as np
import pytest

from plain.stability import score_literally, score_stably
from rulerank.datasets.ranking import make_ranking
from rulerank.discretize import EqualFrequency
from rulerank.errors import DataError, ModelFileError
from rulerank.model_file import load
from rulerank.rankers.global_rules import GlobalRules
from rulerank.rankers.stable_rules import StableRules
from worked_example import X, d10, d11, d12, qid, y

FORMS = [{"stability": "agreement"}, {"literal": True}, {"stability": "mean"}]


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


@pytest.mark.parametrize("form", FORMS, ids=str)
def test_a_fitted_ranker_agrees_with_the_plain_way_end_to_end(form):
    rng = np.random.default_rng(3)
    train, grades, queries = rng.random((60, 4)), rng.integers(0, 3, 60), rng.integers(0, 9, 60)
    train[rng.random(train.shape) < 0.1] = np.nan
    test = rng.random((20, 4)) * 2 - 0.5
    ranker = StableRules(**form, discretizer=EqualFrequency(4), drop_weakest=0).fit(train, grades, qid=queries)
    train_bins, test_bins = (ranker.discretizer_.transform(part).tolist() for part in (train, test))
    by_confidence = {"literal": {"phi": "0.1"}, "mean": {"phi": "0.05", "in_the_mean": True}}
    options = by_confidence.get(form.get("stability", "literal"), form)
    plain = score_stably if options is form else score_literally
    expected = [plain(train_bins, grades.tolist(), queries, row, max_size=2, **options) for row in test_bins]
    assert ranker.predict(test) == pytest.approx(expected, abs=1e-6)


def test_rules_are_stable_where_items_were_seen_in_enough_queries():
    ranker = StableRules(discretizer=None, drop_weakest=0).fit(X, y, qid=qid)
    assert [str(rule.items[0]) for rule in ranker.rules_for(d11)] == ["f1=3", "f3=3", "f3=3"]


@pytest.mark.parametrize("form", FORMS, ids=str)
def test_a_loaded_model_gives_the_same_bits(tmp_path, form):
    data = make_ranking(n_queries=6, docs_per_query=12, n_features=8)
    ranker = StableRules(**form).fit(data)
    ranker.save(tmp_path / "model.rulerank")
    again = load(tmp_path / "model.rulerank")
    assert again.get_params() == ranker.get_params()
    assert np.array_equal(again.predict(data), ranker.predict(data))
    assert again.rules_for(data.X[0]) == ranker.rules_for(data.X[0])


def test_a_crafted_state_is_refused():
    state = StableRules(discretizer=None).fit(X, y, qid=qid).to_state()
    state["learned"]["engine"]["counts"] |= {"tallies": np.zeros((3, 6), dtype=np.int64)}
    with pytest.raises(ModelFileError, match=r"tallies must have the shape \(\d+, 6\): got \(3, 6\)"):
        StableRules.from_state(state)


def test_the_readings_of_the_paper_ask_for_one_query_and_all_features_unless_told():
    data = make_ranking(n_queries=8, docs_per_query=15, n_features=6)
    for form, phi in ({"literal": True}, 0.1), ({"stability": "mean"}, 0.05):
        said = StableRules(**form, min_queries=1, phi=phi, drop_weakest=0.0).fit(data).predict(data)
        assert np.array_equal(StableRules(**form).fit(data).predict(data), said)
        assert StableRules(**form).stood_for() == {"drop_weakest": 0.0, "min_queries": 1, "phi": phi}
    assert StableRules().stood_for() == {"drop_weakest": 0.25, "min_queries": 2, "phi": 0.1}


def test_confidences_that_differ_may_agree_in_the_mean():
    rows, grades = [[0], [0], [0], [0], [1]], [1, 1, 0, 0, 0]
    queries = ["a", "a", "b", "b", "b"]
    options = {"discretizer": None, "phi": 0.0}
    assert StableRules(literal=True, **options).fit(rows, grades, qid=queries).rules_for([0]) == []
    by_mean = StableRules(stability="mean", **options).fit(rows, grades, qid=queries)
    assert [str(rule) for rule in by_mean.rules_for([0])] == ["f1=0 -> 0 (2 of 4)", "f1=0 -> 1 (2 of 4)"]


def test_two_readings_of_the_paper_at_once_are_refused():
    with pytest.raises(
        DataError, match=r'literal=True and stability="mean" are two readings .*: leave one of them out'
    ):
        StableRules(literal=True, stability="mean").fit(X, y, qid=qid)
