"""Many labels at once lead where the same labels lead one by one: next row, closed blocks and counts."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import rulerank as rr
from rulerank.errors import DataError
from rulerank.sampling import selection as selection_module
from rulerank.sampling.selection import Chooser, can_look_up

pytestmark = pytest.mark.kernels

SYNTHETIC = rr.datasets.make_ranking(n_queries=12, docs_per_query=(5, 25), n_features=5, seed=3)


@st.composite
def labelled_pools(draw):
    n_rows, n_features = draw(st.integers(2, 14)), draw(st.integers(1, 4))
    cells = st.lists(st.integers(0, 2), min_size=n_features, max_size=n_features)
    X = draw(st.lists(cells, min_size=n_rows, max_size=n_rows))
    qid = draw(st.lists(st.sampled_from("abc"), min_size=n_rows, max_size=n_rows))
    rows = draw(st.lists(st.integers(0, n_rows - 1), unique=True, min_size=1))
    grades = draw(st.lists(st.integers(0, 31), min_size=len(rows), max_size=len(rows)))
    return X, qid, list(zip(rows, grades, strict=True)), draw(st.integers(0, len(rows)))


def state(selection):
    (run,) = selection._runs
    counts = run.counts
    return [
        selection.next(),
        selection.closeness,
        selection.order.tolist(),
        selection.grades.tolist(),
        selection.n_rules.tolist(),
        counts.n_rules.tolist(),
        counts.projection.tolist(),
        counts.labelled,
        run.labelled.tolist(),
        run.open.tolist(),
        run.turn,
    ]


@settings(max_examples=60)
@given(labelled_pools(), st.booleans(), st.integers(1, 2))
def test_labels_learned_together_lead_where_they_lead_one_by_one(pool, per_query, max_size):
    X, qid, labels, n_before = pool
    ssar = rr.SSAR(max_size, per_query=per_query, discretizer=None)
    plain, together = ssar.begin(X, qid), ssar.begin(X, qid)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(selection_module, "MANY", 1)
        for row, grade in labels[:n_before]:
            together.add(row, grade)
        together.add_all(labels[n_before:])
    for row, grade in labels:
        plain.add(row, grade)
    assert state(together) == state(plain)
    skip = [row for row in range(len(X)) if row % 2]
    assert together.next(skip) == plain.next(skip)


def test_what_is_too_large_for_the_table_is_learned_one_by_one(monkeypatch):
    for params in ({"max_size": 3}, {"partitions": 2}, {}):
        if not params:
            monkeypatch.setattr(selection_module, "MAX_CELLS", 4)
        ssar = rr.SSAR(**params)
        plain, together = ssar.begin(SYNTHETIC), ssar.begin(SYNTHETIC)
        assert params.get("partitions") or not can_look_up(together._runs[0].counts)
        labels = [(row, int(SYNTHETIC.y[row])) for row in range(2 * selection_module.MANY)]
        together.add_all(labels)
        for row, grade in labels:
            plain.add(row, grade)
        assert (together.next(), together.n_rules.tolist()) == (plain.next(), plain.n_rules.tolist())


def test_a_wrong_label_among_many_is_named_and_nothing_is_learned():
    selection = rr.SSAR().begin(SYNTHETIC)
    labels = [(row, 1) for row in range(selection_module.MANY)]
    with pytest.raises(DataError, match="row 5 is labelled already, with grade 1"):
        selection.add_all([*labels, (5, 0)])
    with pytest.raises(DataError, match="a grade must be an integer from 0 to 31: got 'x' for row 99"):
        selection.add_all([*labels, (99, "x")])
    assert selection.order.size == 0


def test_a_chooser_told_much_at_once_or_less_than_before_is_one_told_step_by_step():
    sampler = rr.SSAR(per_query=True)
    chooser = Chooser(sampler, SYNTHETIC)
    grades = {row: int(SYNTHETIC.y[row]) for row in np.random.default_rng(1).permutation(len(SYNTHETIC))[:100].tolist()}
    for kept in (grades, dict([*grades.items()][:-3]), dict([*grades.items()][5:])):
        chooser.tell(kept)
        slow = Chooser(sampler, SYNTHETIC)
        for row, grade in kept.items():
            slow.add(row, grade)
        assert state(chooser._selection) == state(slow._selection)
