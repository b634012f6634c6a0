"""evaluate: the loops against the definitions, its promises, and its messages."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from plain.measures import expected_measure, measure_ranking
from rulerank.dataset import query_index
from rulerank.errors import DataError
from rulerank.evaluation import CONVENTIONS, Measure, compare, evaluate

pytestmark = pytest.mark.kernels

ALL = ["MAP", "MAP@3", "P@1", "P@4", "P@20", "NDCG", "NDCG@1", "NDCG@3", "NDCG@9", "MeanNDCG"]
ALL += ["MRR", "MRR@2", "ERR", "ERR@1", "ERR@3", "Recall", "Recall@2"]


@st.composite
def runs(draw, max_docs=6, n_queries=3):
    """Documents of a few queries, mixed, with many ties and some not retrieved."""
    n = draw(st.integers(1, max_docs * n_queries))
    column = lambda values: draw(st.lists(values, min_size=n, max_size=n))  # noqa: E731 (short and local)
    qid = np.array(column(st.sampled_from("abcdefghi"[:n_queries])))
    keep = [np.flatnonzero(qid == q)[:max_docs] for q in np.unique(qid)]  # so that all orders can be listed
    rows = np.sort(np.concatenate(keep))
    return (
        np.array(column(st.integers(0, 3)))[rows],
        np.array(column(st.sampled_from([-2.5, -0.0, 0.0, 1e-300, 7.0])))[rows],
        qid[rows],
        np.array(column(st.sampled_from([True, True, False])))[rows],
    )


def plainly(y, scores, qid, retrieved, measure, convention, ties, relevant_from, max_grade):
    values = []
    for query in query_index(qid)[1]:
        mine = qid == query
        ranked = mine & retrieved
        options = {"convention": convention, "relevant_from": relevant_from, "max_grade": max_grade}
        if ties == "expected":
            values.append(expected_measure(measure, scores[ranked], y[ranked].tolist(), y[mine].tolist(), **options))
        else:
            order = np.argsort(-scores[ranked], kind="stable")
            values.append(measure_ranking(measure, y[ranked][order].tolist(), y[mine].tolist(), **options))
    return values


@settings(max_examples=120)
@given(
    convention=st.sampled_from(list(CONVENTIONS)),
    ties=st.sampled_from(["expected", "file"]),
    run=runs(),
    relevant_from=st.integers(1, 2),
)
def test_every_measure_agrees_with_its_definition_over_all_orders_of_the_ties(convention, ties, run, relevant_from):
    y, scores, qid, retrieved = run
    options = {"convention": convention, "ties": ties, "retrieved": retrieved, "relevant_from": relevant_from}
    result = evaluate(y, scores, qid, ALL, any_grades=True, **options)
    for measure in ALL:
        want = plainly(y, scores, qid, retrieved, Measure.parse(measure), convention, ties, relevant_from, int(y.max()))
        np.testing.assert_allclose(result.per_query[measure], want, rtol=1e-12, atol=1e-12, err_msg=measure)
        assert result.means[measure] == pytest.approx(np.mean(want), abs=1e-12)
    assert result.queries.tolist() == query_index(qid)[1].tolist()
    assert result.n_without_relevant == sum(not (y[qid == q] >= relevant_from).any() for q in result.queries)
    equal = (scores[:, None] == scores) & (qid[:, None] == qid) & retrieved & retrieved[:, None]
    assert result.n_tied == (equal.sum(axis=0) > 1).sum()


@settings(max_examples=20)
@given(st.integers(65, 120), st.integers(0, 2**32 - 1))
def test_long_queries_are_sorted_as_numpy_sorts_them(n_docs, seed):
    rng = np.random.default_rng(seed)
    scores = np.round(rng.normal(size=n_docs) * 10.0 ** rng.integers(-3, 3, n_docs), 1)
    y, qid = rng.integers(0, 4, n_docs), np.zeros(n_docs)
    ranking = y[np.argsort(-scores, kind="stable")].tolist()
    found = evaluate(y, scores, qid, ALL, ties="file")
    for measure in ALL:
        want = measure_ranking(Measure.parse(measure), ranking, y.tolist())
        assert found.means[measure] == pytest.approx(want, abs=1e-12)


def test_err_of_many_tied_documents_stays_exact():
    y = np.array([0] * 80 + [1] * 20)
    stop = 0.5  # one grade above 0: chance (2 - 1) / 2
    # 20 of 100 places hold a relevant document; the reader passes j of them with chance 1 - 0.5 each
    from math import comb

    passed = [
        sum(comb(20, i) * comb(80, j - i) * (1 - stop) ** i for i in range(min(j, 20) + 1)) / comb(100, j)
        for j in range(101)
    ]
    want = sum((passed[j] - passed[j + 1]) / (j + 1) for j in range(100))
    assert evaluate(y, np.ones(100), np.ones(100), "ERR").means["ERR"] == pytest.approx(want, abs=1e-13)


def test_the_order_of_rows_does_not_matter_unless_file_order_breaks_ties():
    rng = np.random.default_rng(1)
    y, qid, scores = rng.integers(0, 3, 60), np.repeat(np.arange(6), 10), rng.integers(0, 4, 60)
    mixed = rng.permutation(60)
    one, other = evaluate(y, scores, qid, ALL), evaluate(y[mixed], scores[mixed], qid[mixed], ALL)
    place = [one.queries.tolist().index(q) for q in other.queries]
    np.testing.assert_allclose(one.values[:, place], other.values, rtol=1e-13)


def test_threads_give_the_same_bits(monkeypatch):
    monkeypatch.setattr("rulerank.evaluation.evaluation.ROWS_PER_THREAD", 1)
    rng = np.random.default_rng(2)
    y, qid, scores = rng.integers(0, 3, 90), np.repeat(np.arange(9), 10), rng.integers(0, 4, 90)
    one = evaluate(y, scores, qid, ALL, n_jobs=1)
    for n_jobs in (2, 5, 30):
        assert (evaluate(y, scores, qid, ALL, n_jobs=n_jobs).values == one.values).all()


def test_query_ids_may_be_anything_hashable_in_any_order():
    ids = [("a", 1), 7, ("a", 1), "q", 7]
    result = evaluate([1, 0, 0, 1, 1], [2, 1, 1, 1, 0], ids, "MRR")
    assert result.queries.tolist() == [("a", 1), 7, "q"]
    assert result.per_query["MRR"].tolist() == [1.0, 0.5, 1.0]
    with pytest.raises(DataError, match=r"^query ids must be hashable, such as text or numbers: got \[1\] \.\.\.$"):
        evaluate([1, 0], [2, 1], [[1], [2, 3]])
    with pytest.raises(DataError, match=r"^query ids must not be missing: row 1 has none \(None\)$"):
        evaluate([1, 0], [2, 1], ["q", None])


def test_a_convention_implies_its_tie_rule_unless_one_is_given():
    y, scores, qid = [0, 1], [0.5, 0.5], ["q", "q"]
    assert {name: evaluate(y, scores, qid, "P@1", convention=name).ties for name in CONVENTIONS} == {
        "standard": "expected",
        "standard-exp": "expected",
        "letor3": "file",
        "letor4": "file",
    }
    assert evaluate(y, scores, qid, "P@1", convention="letor3").means["P@1"] == 0.0
    assert evaluate(y, scores, qid, "P@1", convention="letor3", ties="expected").means["P@1"] == 0.5


def test_documents_not_retrieved_need_no_score_but_count():
    result = evaluate([1, 1], [0.3, np.nan], ["q", "q"], ["MAP", "Recall@5", "NDCG"], retrieved=[True, False])
    assert result.means["MAP"] == result.means["Recall@5"] == 0.5
    assert result.means["NDCG"] == pytest.approx(1 / (1 + 1 / np.log2(3)))
    nothing = evaluate([1, 1], [np.nan, np.nan], ["q", "q"], ALL, retrieved=[False, False])
    assert set(nothing.means.values()) == {0.0}


@pytest.mark.parametrize(
    ("y", "what"), [([1, 1, 1, 1], "all 4 have grade 1"), ([2, 2, 0, 0], "each query has one grade only")]
)
def test_grades_that_are_the_same_in_every_query_tell_no_rankings_apart(y, what):
    scores, qid = [0.1, 0.2, 0.3, 0.4], ["a", "a", "b", "b"]
    for call in (lambda: evaluate(y, scores, qid), lambda: compare(y, {"one": scores, "two": scores}, qid)):
        message = rf"no query has documents of two grades \({what}\), .*grade more documents of each query.*unjudged 0"
        with pytest.raises(DataError, match=message):
            call()
    assert evaluate(y, scores, qid, "NDCG@10", any_grades=True).n_queries == 2
    assert evaluate(y, scores, qid, "R@10", retrieved=[True, True, True, False]).means["Recall@10"] < 1


def test_max_grade_sets_the_scale_of_err():
    assert evaluate([1], [0.0], [1], "ERR", any_grades=True).means["ERR"] == 0.5
    assert evaluate([1], [0.0], [1], "ERR", max_grade=4, any_grades=True).means["ERR"] == 1 / 16


def test_a_result_prints_its_figures_its_tie_rule_and_how_many_are_tied():
    result = evaluate([1, 0, 0], [0.5, 0.5, 0.1], ["a", "a", "b"], ["MAP", "NDCG@10"])
    assert repr(result) == (
        "measure    mean\nMAP      0.3750\nNDCG@10  0.4077\n"
        "2 queries (1 without a relevant document), convention standard, ties expected: "
        "2 of 3 documents tied"
    )


def test_a_result_as_plain_values_holds_what_it_prints():
    result = evaluate([1, 0, 0], [0.5, 0.5, 0.1], [7, 7, 8], ["MAP"])
    assert result.to_dict() == {
        "means": {"MAP": 0.375},
        "n_queries": 2,
        "n_without_relevant": 1,
        "n_docs": 3,
        "n_tied": 2,
        "convention": "standard",
        "ties": "expected",
    }
    full = result.to_dict(per_query=True)
    assert full["queries"] == [7, 8]
    assert full["per_query"] == {"MAP": [0.75, 0.0]}


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"y": [], "scores": [], "qid": []}, "expected at least one document to evaluate: got none"),
        ({"y": [1, -1]}, r"expected a grade for every document: row 1 is not labelled \(-1\); leave such rows out "
         r"with data.labelled\(\), or set them to 0 to count them as not relevant"),
        ({"y": [1, -2]}, "grades must be integers of at least 0, or -1 for not labelled: got -2 at row 1"),
        ({"y": [1, 0.5]}, "grades must be integers of at least 0, or -1 for not labelled: got 0.5 at row 1"),
        ({"y": [1, 32]}, "grades must be at most 31: got 32 at row 1"),
        ({"y": [[1, 0]]}, "y must have one dimension: got 2"),
        ({"y": np.ma.masked_array([1, 0], [0, 1])}, "y must not be a masked array: leave the masked rows out, "
         "or fill them"),
        ({"y": 1}, "y must have one dimension: got 0"),
        ({"scores": [0.5]}, "scores must have one entry per row: expected 2, got 1"),
        ({"scores": np.ones((2, 1))}, "scores must have one dimension: got 2"),
        ({"scores": [0.5, np.nan]}, r"scores must be finite numbers: got nan at row 1"),
        ({"scores": [-np.inf, np.inf]}, r"scores must be finite numbers: got -inf at row 0 \(and 1 more\)"),
        ({"scores": [0.5, None]}, r"scores must be finite numbers: got nan at row 1"),
        ({"scores": ["high", "low"]}, r"scores must be numbers: got \['high', 'low'\] ..."),
        ({"qid": ["q"]}, "qid must have one entry per row: expected 2, got 1"),
        ({"docid": ["d"], "ties": "docid"}, "docid must have one entry per row: expected 2, got 1"),
        ({"ties": "docid"}, "ties='docid' needs the document ids: give docid=, or choose ties='expected' or 'file'"),
        ({"ties": "random"}, "unknown tie rule 'random'; choose from expected, file, docid"),
        ({"convention": "xgboost"}, "unknown convention 'xgboost'; choose from standard, standard-exp, letor3, letor4"),
        ({"retrieved": [True]}, "retrieved must have one entry per row: expected 2, got 1"),
        ({"retrieved": [1, 0]}, r"retrieved must hold True or False for each row: got \[1, 0\] ..."),
        ({"relevant_from": 0}, "relevant_from must be a grade from 1 to 31: got 0"),
        ({"max_grade": 0}, "max_grade must be between the highest grade, 1, and 31: got 0"),
    ],
)  # fmt: skip
def test_bad_input_is_named(change, message):
    arguments = {"y": [1, 0], "scores": [0.5, 0.1], "qid": ["q", "q"]} | change
    with pytest.raises(DataError, match=f"^{message}$"):
        evaluate(**arguments)
