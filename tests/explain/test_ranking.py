"""The whole ranking of a query: adds up, says what moved, shows what people read."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import rulerank as rr
from papers.baselines import RankBoost
from plain.standing import standing_plainly
from rulerank.errors import DataError
from rulerank.explain.documents import standing
from rulerank.explain.ranking import ranks_of

SYNTHETIC = rr.datasets.make_ranking(n_queries=20, docs_per_query=12, n_features=6, seed=1)
CLEAN = rr.Dataset(np.nan_to_num(SYNTHETIC.X), SYNTHETIC.y, SYNTHETIC.qid, SYNTHETIC.docid, SYNTHETIC.feature_names)
MEMBERS = {"rules": rr.GlobalRules(), "linear": rr.QueryIntercepts(l2=1.0)}
RANKERS = {
    "rules": rr.GlobalRules(),
    "literal": rr.GlobalRules(votes="mean"),
    "tables": rr.FittedRules(normalize="rank"),
    "linear": rr.QueryIntercepts(l2=1.0, normalize="zscore"),
    "baseline and labels": rr.Anchored(baseline=0),
    "mixture": rr.Competence(members=MEMBERS),
}


@pytest.fixture(scope="module", params=RANKERS)
def ranked(request):
    ranker = RANKERS[request.param].fit(CLEAN)
    return ranker, ranker.explain_query(CLEAN, "q3", baseline="bm25_title", n=5)


def test_scores_are_the_mean_and_what_features_add(ranked):
    ranker, found = ranked
    own = CLEAN[CLEAN.qid == "q3"]
    scores = dict(zip(own.docid, ranker.predict(own), strict=True))
    assert found.mean_score == pytest.approx(np.mean(list(scores.values())), abs=1e-12)
    for doc in (*found.documents, *found.dropped):
        assert doc.score == pytest.approx(scores[doc.document], abs=1e-9)
        total = found.mean_score + doc.rest + sum(share.adds for share in doc.features)
        assert total == pytest.approx(doc.score, abs=1e-9)
        assert doc.rank == 1 + sum(score > scores[doc.document] for score in scores.values())


def test_why_a_document_moved_adds_up_to_the_difference(ranked):
    ranker, found = ranked
    own = CLEAN[CLEAN.qid == "q3"]
    scores = dict(zip(own.docid, ranker.predict(own), strict=True))
    baseline = dict(zip(own.docid, ranks_of(own.X[:, list(own.feature_names).index("bm25_title")]), strict=True))
    for doc in (*found.documents, *found.dropped):
        assert doc.baseline_rank == baseline[doc.document]
        why = doc.passing
        if why is None:
            continue
        assert why.difference == pytest.approx(abs(scores[doc.document] - scores[why.other]), abs=1e-9)
        assert why.base_difference + sum(gap.adds for gap in why.features) == pytest.approx(why.difference, abs=1e-9)
        assert why.passed == (doc.moved > 0)
        assert (why.other_baseline < doc.baseline_rank) == (why.other_rank > doc.rank) == why.passed


def test_texts_and_query_are_shown_and_markup_is_not_run():
    n = 4
    data = rr.Dataset(
        np.arange(n)[:, None], [0, 0, 1, 1], ["q"] * n, [f"d{i}" for i in range(n)], ("bm25",),
        texts={
            "query_text": np.array(["green <b>tent</b>"] * n, dtype=object),
            "title": np.array([f"Tent {i}" for i in range(n)], dtype=object),
            "text": np.array(["a  long\ntext " * 60, None, "", "short"], dtype=object),
        },
    )  # fmt: skip
    found = rr.GlobalRules(discretizer=rr.discretize.EqualWidth(n_bins=2)).fit(data).explain_query(data)
    page = found.to_html()
    assert "The ranking for “green &lt;b&gt;tent&lt;/b&gt;”" in page
    assert "<b>" not in page
    assert "Tent 3" in page
    [long] = [doc.about.texts["text"] for doc in found.documents if doc.document == "d0"]
    assert long.endswith(" …")
    assert len(long) < 290
    why = rr.GlobalRules(discretizer=rr.discretize.EqualWidth(n_bins=2)).fit(data).explain(data, 3, versus=0)
    assert "\nquery " in why.to_text()
    assert "Tent 0" in why.to_text()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"query": "q99"}, "no query 'q99' in the data: it has q1, q2"),
        ({}, "the data has 20 queries: choose one, query='q1'"),
        ({"query": "q1", "n": 0}, "n, the number of documents to show, must be an integer of at least 1: got 0"),
        ({"query": "q1", "baseline": "fame"}, "baseline ranking: there is no feature 'fame'"),
    ],
)
def test_mistakes_are_named(options, message):
    with pytest.raises(DataError, match=message):
        rr.GlobalRules().fit(CLEAN).explain_query(CLEAN, **options)


def test_without_a_data_set_or_a_sum_there_is_no_ranking_to_explain():
    with pytest.raises(DataError, match=r"explained from a Dataset with documents: make one with rr.Dataset"):
        rr.GlobalRules().fit(CLEAN).explain_query(CLEAN.X)
    with pytest.raises(DataError, match="RankBoost gives no explanation"):
        RankBoost(n_rounds=3).fit(CLEAN).explain_query(CLEAN, "q1")


def test_baseline_is_found_by_its_name_or_left_out():
    ranker = rr.GlobalRules().fit(CLEAN)
    assert ranker.explain_query(CLEAN, "q1").baseline == "bm25_body"
    found = ranker.explain_query(CLEAN, "q1", baseline=False)
    assert found.baseline is None
    assert {doc.moved for doc in found.documents} == {0}
    assert "baseline" not in found.to_text().replace("How to read", "")


@given(
    st.lists(st.one_of(st.integers(0, 4).map(float), st.just(float("nan"))), min_size=1, max_size=24),
    st.integers(0, 23),
)
def test_where_a_value_stands_agrees_with_the_plain_way(values, row):
    row %= len(values)
    assert standing(np.array(values), row) == standing_plainly(values, row)


def test_linear_rankers_do_not_speak_of_rules():
    ranker = rr.QueryIntercepts(l2=1.0).fit(CLEAN)
    for found in (ranker.explain(CLEAN, 3), ranker.explain(CLEAN, 3, versus=5), ranker.explain_query(CLEAN, "q1")):
        assert "rule" not in found.to_text()
        assert "the model sees" not in found.to_text()
    nothing = rr.QueryIntercepts(l2=1.0).fit([[1.0], [1.0]], [0, 1], qid=["a", "a"]).explain([[0.0]])
    assert nothing.lines()[0].endswith("no feature counts for it, so it gets the base score (0 for linear models).")
