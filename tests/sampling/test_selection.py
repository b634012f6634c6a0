"""The state that the judging page drives: skips, labels nobody asked for, and how close the stop is."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import rulerank as rr
from plain.sampling import pick_plainly
from rulerank.errors import DataError

pytestmark = pytest.mark.kernels

SYNTHETIC = rr.datasets.make_ranking(n_queries=6, docs_per_query=(5, 8), n_features=6, seed=2)
kinds = pytest.mark.parametrize(
    "params", [{}, {"partitions": 3}, {"per_query": True}, {"partitions": 2, "per_query": True}], ids=str
)


@st.composite
def pools(draw):
    n_rows, n_features = draw(st.integers(1, 8)), draw(st.integers(1, 4))
    cells = st.lists(st.integers(0, 2), min_size=n_features, max_size=n_features)
    X = draw(st.lists(cells, min_size=n_rows, max_size=n_rows))
    rows = st.integers(0, n_rows - 1)
    return X, draw(st.lists(rows, unique=True)), draw(st.sets(rows))


@settings(max_examples=80)
@given(pools(), st.integers(1, 3))
def test_any_labels_and_any_skips_lead_to_the_row_with_the_fewest_rules_among_the_others(pool, max_size):
    X, labelled, skip = pool
    selection = rr.SSAR(max_size, discretizer=None).begin(X)
    labels = {}
    for row in labelled:
        selection.add(row, row % 2)
        labels[row] = row % 2
        candidates = [r for r in range(len(X)) if r in labels or r not in skip]
        expected = pick_plainly(X, labels, candidates, max_size)
        assert selection.next(skip) == (None if expected in labels else expected)
        if not skip:
            assert (selection.closeness == 1.0) == (expected in labels)


@kinds
def test_asking_changes_nothing(params):
    ssar = rr.SSAR(**params)
    quiet, asked = ssar.begin(SYNTHETIC), ssar.begin(SYNTHETIC)
    while (row := quiet.next()) is not None:
        assert asked.next() == row
        other = asked.next(skip={row})
        assert other != row
        assert asked.next(skip=[row, other] if other is not None else [row]) not in (row, other) or other is None
        assert asked.next(skip={row}) == other
        assert asked.next() == row
        quiet.add(row, SYNTHETIC.y[row])
        asked.add(row, SYNTHETIC.y[row])
    assert asked.next() is None
    assert quiet.order.tolist() == asked.order.tolist() == ssar.select(SYNTHETIC, SYNTHETIC.y.__getitem__).tolist()


@kinds
def test_a_judge_who_skips_often_still_comes_to_an_end_and_can_go_back(params):
    ssar = rr.SSAR(**params)
    selection = ssar.begin(SYNTHETIC)
    skip, n_asked = set(), 0
    while (row := selection.next(skip)) is not None:
        assert row not in skip
        assert row not in selection.order
        n_asked += 1
        if n_asked % 3 == 0:
            skip.add(row)
        else:
            selection.add(row, SYNTHETIC.y[row])
    again = ssar.begin(SYNTHETIC, start=dict(zip(selection.order, selection.grades, strict=True)))
    assert again.next() == selection.next()
    assert again.next(skip) is None
    assert again.n_rules.tolist() == selection.n_rules.tolist()
    assert again.closeness == selection.closeness
    while (row := again.next()) is not None:  # those that were skipped can still be labelled
        again.add(row, SYNTHETIC.y[row])
    assert again.closeness == 1.0


@kinds
def test_closeness_runs_from_nothing_to_one(params):
    selection = rr.SSAR(**params).begin(SYNTHETIC)
    seen = [selection.closeness]
    while (row := selection.next()) is not None:
        selection.add(row, SYNTHETIC.y[row])
        seen.append(selection.closeness)
    assert seen[0] == 0.0
    assert seen[-1] == 1.0
    assert all(0.0 <= value < 1.0 for value in seen[:-1])


def test_a_label_after_the_stop_may_bring_another_row_to_the_front():
    selection = rr.SSAR(max_size=1, discretizer=None).begin([[0, 0], [0, 0], [0, 1]])
    for row in (0, 2):
        assert selection.next() == row
        selection.add(row, 0)
    assert selection.next() is None
    assert selection.closeness == 1.0
    selection.add(1, 1)
    assert selection.order.tolist() == [0, 2, 1]
    assert selection.next() is None


@pytest.mark.parametrize(
    ("row", "grade", "message"),
    [
        (2, 0, r"^a row must be an integer from 0 to 1: got 2$"),
        (True, 0, r"^a row must be an integer from 0 to 1: got True$"),
        (0, 32, r"^a grade must be an integer from 0 to 31: got 32 for row 0$"),
        (1, 0, r"^row 1 is labelled already, with grade 3$"),
    ],
)
def test_a_wrong_label_is_refused_and_leaves_no_trace(row, grade, message):
    selection = rr.SSAR(discretizer=None).begin([[0], [1]])
    selection.add(1, 3)
    with pytest.raises(DataError, match=message):
        selection.add(row, grade)
    assert selection.order.tolist() == [1]
    assert selection.next() == 0
