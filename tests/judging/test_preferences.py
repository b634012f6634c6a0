"""Orders of raters: when they are taken, and what they say of two rankings."""

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rulerank.errors import DataError
from rulerank.judging.label_files import LabelFile
from rulerank.judging.loop import Judging
from rulerank.judging.pool import Pool
from rulerank.judging.preferences import Preferred, _pairs
from rulerank.judging.store import LabelStore
from rulerank.worlds import make_world


@pytest.fixture
def judging(tmp_path):
    pool = Pool(make_world(n_queries=14, docs_per_query=8, seed=0))
    with LabelStore(tmp_path / "labels.db") as store:
        loop = Judging(pool, store, today="bm25_body", max_grade=4)
        store.change_setting("preferences", True, "lead")
        yield loop


def best_first(loop, query):
    rows = sorted(loop.pool.rows_of(query).tolist(), key=lambda row: -loop.pool.own_grades[row])
    return [loop.pool.pairs[row][1] for row in rows]


def test_orders_are_taken_only_where_the_lead_allows_them(judging):
    docs = best_first(judging, "q1")
    assert judging.lists.order("ann", "q1", docs, page="list").docs == tuple(docs)
    judging.store.change_setting("preferences", False, "lead")
    with pytest.raises(DataError, match="the lead has not allowed to put documents in order"):
        judging.lists.order("ann", "q1", docs)


def test_an_order_is_of_documents_of_the_query(judging):
    with pytest.raises(DataError, match="the pool has no document 'd99' of query 'q1'"):
        judging.lists.order("ann", "q1", [best_first(judging, "q1")[0], "d99"])


def test_a_file_of_labels_keeps_no_orders(tmp_path, judging):
    file = LabelFile(judging.pool, str(tmp_path / "labels.csv"), "csv")
    assert file.orders() == []
    with pytest.raises(DataError, match="a file of labels keeps no orders: use a label store"):
        file.add_order("q1", ["a", "b"], "ann")
    file.close()


def test_preferred_pairs_compare_the_new_ranking_with_todays(judging):
    assert judging.lists.preferences() is None
    for row, grade in judging.pool.own_grades.items():
        judging.grade("ann", *judging.pool.pairs[row], grade)
    for query in judging.pool.queries[:4]:
        judging.lists.order("ann", query, best_first(judging, query))
    few = judging.lists.preferences()
    assert (few.verdict, few.line()) == ("too few", "Orders of 4 queries so far: not enough to tell yet.")
    for query in judging.pool.queries[4:12]:
        judging.lists.order("ann", query, best_first(judging, query))
    found = judging.lists.preferences()
    assert (found.n_pairs, found.n_queries) == (12 * 28, 12)
    assert found.low < found.new - found.today < found.high
    today = judging.today.scores(judging.pool.data.X)
    right = [
        float(np.sign(today[judging.pool.row(query, a)] - today[judging.pool.row(query, b)]) + 1) / 2
        for query in judging.pool.queries[:12]
        for a, b in combinations(best_first(judging, query), 2)
    ]
    assert found.today == pytest.approx(np.mean(right))


def test_without_labels_of_other_queries_nothing_is_said(judging):
    judging.lists.order("ann", "q1", best_first(judging, "q1"))
    for doc in best_first(judging, "q1"):
        judging.grade("ann", "q1", doc, 1)
    assert judging.lists.preferences() is None


@pytest.mark.parametrize(
    ("verdict", "words"),
    [("more", "right order, top results unchecked."), ("fewer", "right order: keep the baseline ranking.")],
)
def test_the_line_says_which_ranking_raters_agree_with(verdict, words):
    assert Preferred(0.7, 0.6, 0.01, 0.2, 90, 9, 50, verdict).line().endswith(words)


@settings(max_examples=50)
@given(scores=st.lists(st.integers(0, 3), min_size=2, max_size=8), orders=st.integers(1, 3), seed=st.integers(0, 99))
def test_pairs_are_counted_as_one_would_by_hand(scores, orders, seed):
    rng = np.random.default_rng(seed)
    by_query = {"q": [rng.permutation(len(scores)).tolist() for _ in range(orders)]}
    found = _pairs(np.array(scores, dtype=float), by_query)
    n = right = 0
    for rows in by_query["q"]:
        for better, worse in combinations(rows, 2):
            n += 1
            right += (scores[better] > scores[worse]) + 0.5 * (scores[better] == scores[worse])
    assert (found.n[0], found.right[0]) == (n, right)
