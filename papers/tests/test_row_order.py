import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from papers.baselines.base import canonical_order
from papers.baselines.list_net import ListNet
from rulerank.dataset import query_index
from rulerank.rankers.base import Labelled

rows = st.lists(
    st.tuples(st.integers(0, 3), st.integers(0, 2), st.sampled_from([0.0, 0.5, 1.0, np.nan])), min_size=1, max_size=20
)


def in_order(queries, grades, values):
    numbers, ids = query_index(queries)
    order, found = canonical_order(Labelled(values[:, None], grades, numbers, ids))
    assert sorted(order.tolist()) == list(range(len(values)))
    assert np.array_equal(found, query_index(numbers[order])[0]), "a query's rows lie together"
    return values[order], grades[order], found


@given(rows, st.randoms(use_true_random=False))
def test_rows_come_out_alike_in_whatever_order_they_go_in(rows, rng):
    shuffled = rows.copy()
    rng.shuffle(shuffled)
    one, other = (in_order(*(np.array(column) for column in zip(*some, strict=True))) for some in (rows, shuffled))
    for found, expected in zip(one, other, strict=True):
        np.testing.assert_array_equal(found, expected)


def test_queries_that_share_their_worst_document_do_not_change_a_bit_with_the_order_of_the_file():
    rng = np.random.default_rng(0)
    qid = np.repeat(np.arange(40), 6)
    X = rng.random((qid.size, 2))
    X[::6], X[1::6] = 0, 1  # as features are that were put between 0 and 1 by query
    y = (X.sum(axis=1) + rng.normal(0, 0.5, qid.size) > 1.2).astype(int)
    y[::6], y[1::6] = 0, 1
    order = rng.permutation(qid.size)
    one, other = ListNet().fit(X, y, qid), ListNet().fit(X[order], y[order], qid[order])
    assert one.coef_.tobytes() == other.coef_.tobytes()
