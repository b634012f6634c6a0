import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import rulerank as rr
from plain.by_query import deltas_plainly, score_literally
from rulerank.discretize import EqualFrequency
from rulerank.errors import ModelFileError
from rulerank.rankers.foreign import fresh_for_part
from rulerank.rankers.query_rules import QueryRules
from rulerank.rules.by_query import Labels
from worked_example import X, d10, d11, d12, qid, y

LITERAL = {"literal": True, "discretizer": None}


def literal(**options):
    return QueryRules(**{"max_size": 3} | LITERAL | options).fit(X, y, qid=qid)


def test_the_worked_example_of_the_paper():
    ranker = literal()
    assert ranker.queries_.tolist() == ["q1", "q2", "q3"]
    assert ranker.rank_by_query([d12])[0] == pytest.approx([0.3500, 0.5000, 0.3636], abs=5e-5)
    ranker._labels = Labels.of(range(9), [2, 0, 2, 1, 1, 2, 1, 0, 2])  # the paper's Table IV
    assert ranker.weights([d12])[0] == pytest.approx([0.2561, 0.2134, 0.5305], abs=5e-5)
    # the paper prints 0.27, which does not follow from its own Eq. 11
    assert ranker.predict([d12]) == pytest.approx([0.2561 * 0.35 + 0.2134 * 0.5 + 0.5305 * 0.3636], abs=1e-4)


def test_the_papers_own_labels_are_met_best_when_own_documents_count_and_ties_go_to_another_query():
    printed = [2, 0, 2, 1, 1, 2, 1, 0, 2]  # Table IV

    def n_met(**options):
        found = literal(**options)._labels
        labels = dict(zip(found.rows.tolist(), found.queries.tolist(), strict=True))
        return sum(labels.get(row) == query for row, query in enumerate(printed))

    assert [n_met(leave_one_out=True, ties=ties) for ties in ("first", "other")] == [5, 7]
    assert [n_met(leave_one_out=False, ties=ties) for ties in ("first", "other")] == [6, 8]
    assert [n_met(max_size=size) for size in (1, 2, 3)] == [9, 8, 8]  # all nine with rules of a single item
    assert literal().stood_for() == {"drop_weakest": 0.0, "leave_one_out": False, "ties": "other"}
    assert np.array_equal(literal().weights(X), literal(leave_one_out=False, ties="other").weights(X))


def test_a_query_without_a_rule_abstains_and_the_others_share_its_weight():
    ranker = literal()
    ranks, weights = ranker.rank_by_query([d10, d11, d12]), ranker.weights([d10, d11, d12])
    assert np.isnan(ranks).tolist() == [[False, False, True], [False] * 3, [False] * 3]
    assert weights.sum(axis=1) == pytest.approx([1, 1, 1])
    heard = np.where(np.isnan(ranks), 0, weights)
    expected = (heard * np.nan_to_num(ranks)).sum(axis=1) / heard.sum(axis=1)
    assert ranker.predict([d10, d11, d12]) == pytest.approx(expected)


@settings(max_examples=40)
@given(
    st.integers(0, 10**6),
    st.sampled_from([0.0, 0.2, 0.4]),
    st.booleans(),
    st.sampled_from(["first", "share", "other"]),
    st.integers(1, 2),
)
def test_literal_scores_agree_with_the_plain_way_end_to_end(seed, min_support, leave_one_out, ties, max_size):
    rng = np.random.default_rng(seed)
    n_rows = int(rng.integers(3, 14))
    train, grades = rng.integers(0, 3, (n_rows, 3)), rng.integers(0, 3, n_rows)
    queries = np.sort(rng.integers(0, 4, n_rows))  # in order of appearance, some of one document
    documents = rng.integers(0, 4, (5, 3))
    options = {"max_size": max_size, "min_support": min_support, "leave_one_out": leave_one_out}
    ranker = fresh_for_part(QueryRules(**LITERAL, **options, ties=ties)).fit(train, grades, qid=queries)
    assert ranker.competence_ == pytest.approx(
        np.array(deltas_plainly(train.tolist(), grades, queries, **options)), abs=1e-6, nan_ok=True
    )
    numbers = np.unique(queries, return_inverse=True)[1].tolist()
    plain = [
        score_literally(train.tolist(), grades.tolist(), numbers, d, **options, ties=ties) for d in documents.tolist()
    ]
    assert ranker.predict(documents) == pytest.approx(plain, abs=1e-6)


def small_synthetic(seed=0, n_queries=8, n_rows=160):
    rng = np.random.default_rng(seed)
    train = rng.random((n_rows, 4))
    queries = rng.integers(0, n_queries, n_rows)
    return train, np.digitize(train[:, 0] + 0.2 * rng.random(n_rows), [0.6, 0.9]), queries


def test_the_default_score_is_the_mean_over_the_most_competent_queries():
    train, grades, queries = small_synthetic()
    ranker = QueryRules(n_trusted=3, discretizer=EqualFrequency(4)).fit(train, grades, qid=queries)
    best = np.argsort(-ranker.trust_)[:3]
    new = small_synthetic(1)[0]
    assert ranker.predict(new) == pytest.approx(ranker.rank_by_query(new)[:, best].mean(axis=1))
    weights = ranker.weights(new)
    assert weights.shape == (160, 8)
    assert np.flatnonzero(weights[0]).tolist() == sorted(best)
    assert weights[0].sum() == pytest.approx(1)


@pytest.mark.parametrize("options", [{}, {"literal": True}])
def test_documents_that_no_query_knows_are_scored_by_global_rules(options):
    ranker = QueryRules(discretizer=None, **options).fit([[0], [1], [1]], [0, 1, 2], qid=[7, 7, 8])
    assert ranker.predict([[5], [300]]).tolist() == [1.0, 1.0]  # the mean grade
    assert np.isnan(ranker.rank_by_query([[5]])).all()


def test_where_support_leaves_no_query_a_rule_global_rules_vote():
    rows, grades = [[0], [1], [0], [1]], [0, 1, 1, 1]
    options = {"discretizer": None, "min_support": 0.75}
    ranker = QueryRules(literal=True, **options).fit(rows, grades, qid=[0, 0, 1, 1])
    synthetic = rr.GlobalRules(votes="mean", **options).fit(rows, grades, qid=[0, 0, 1, 1])
    assert ranker.predict(rows).tolist() == synthetic.predict(rows).tolist()
    assert ranker.weights(rows).tolist() == [[0, 0]] * 4


@pytest.mark.parametrize("options", [{}, {"literal": True}])
@pytest.mark.parametrize("queries", [[0, 0, 0], [0, 1, 2], None])
def test_one_query_or_one_document_per_query_is_enough(options, queries):
    ranker = fresh_for_part(QueryRules(discretizer=None, **options)).fit([[0], [1], [1]], [0, 1, 2], qid=queries)
    assert np.isfinite(ranker.predict([[0], [1]])).all()
    assert ranker.competence_.shape == (3, ranker.queries_.size)


@pytest.mark.parametrize("options", [{}, {"literal": True}, {"literal": True, "ties": "share"}])
def test_a_loaded_model_has_everything_of_the_saved_one(options, tmp_path):
    train, grades, queries = small_synthetic()
    ranker = QueryRules(**options).fit(train, grades, qid=[f"q{q}" for q in queries])
    again = QueryRules.from_state(ranker.to_state())
    assert again.queries_.tolist() == ranker.queries_.tolist()
    for show in (QueryRules.predict, QueryRules.rank_by_query, QueryRules.weights):
        assert np.array_equal(show(again, train), show(ranker, train), equal_nan=True)
    assert np.array_equal(again.competence_, ranker.competence_, equal_nan=True)


@pytest.mark.parametrize(
    ("options", "change", "message"),
    [
        ({}, lambda state: state["learned"].update(trust=np.ones(2)), "trust: 2 values for 3 queries"),
        (
            {"literal": True},
            lambda state: state["learned"]["queries"].fill(3),
            "its labels name missing rows or queries",
        ),
        ({}, lambda state: state["training_rows"]["query_ids"].append("q9"), "rows do not match its 4 queries"),
        ({}, lambda state: state["training_rows"]["bins"].fill(0), "rows do not match its bins"),
    ],
)
def test_a_state_that_contradicts_itself_is_refused(options, change, message):
    state = QueryRules(discretizer=None, **options).fit(X, y, qid=qid).to_state()
    change(state["learned"])
    with pytest.raises(ModelFileError, match=message):
        QueryRules.from_state(state)


def test_queries_are_judged_by_so_many_rows_whatever_their_order():
    synthetic = rr.datasets.make_ranking(n_queries=12, docs_per_query=10, seed=0)
    everything, bounded, fewer = (QueryRules(judged_rows=n).fit(synthetic) for n in (10**9, len(synthetic), 60))
    assert np.array_equal(everything.trust_, bounded.trust_)
    assert not np.array_equal(everything.trust_, fewer.trust_)
    again = QueryRules(judged_rows=60).fit(synthetic[np.random.default_rng(0).permutation(len(synthetic))])
    trust = dict(zip(again.queries_.tolist(), again.trust_.tolist(), strict=True))
    assert [trust[query] for query in fewer.queries_.tolist()] == fewer.trust_.tolist()
