import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rulerank.explain.explanation import fold


@given(st.integers(0, 10**6), st.integers(1, 40), st.integers(1, 6))
def test_every_rule_that_voted_is_in_one_group_with_others_that_point_the_same_way(seed, n_cells, n_features):
    rng = np.random.default_rng(seed)
    adds = rng.normal(size=n_cells).round(1)
    holds = rng.random((n_cells, n_features)) < 0.4
    holds[np.arange(n_cells), rng.integers(0, n_features, n_cells)] = True  # every rule has a feature
    voted = rng.random(n_cells) < 0.8
    groups = fold(adds, holds, voted)
    assert sorted(cell for group in groups for cell in group.tolist()) == np.flatnonzero(voted).tolist()
    sums = [abs(adds[group].sum()) for group in groups]
    assert sums == sorted(sums, reverse=True)
    for group in groups:
        leader, *others = group.tolist()
        assert len({np.sign(adds[cell]) for cell in group}) == 1
        assert all(abs(adds[leader]) >= abs(adds[cell]) for cell in others)
        if adds[leader]:
            assert all((holds[leader] & holds[cell]).any() for cell in others)


def test_of_equal_leaders_the_one_with_more_evidence_leads():
    holds = np.ones((2, 1), dtype=bool)
    (group,) = fold(np.array([0.1, 0.1]), holds, np.ones(2, dtype=bool), np.array([3, 30]))
    assert group.tolist() == [1, 0]


def test_rules_that_add_nothing_come_last():
    groups = fold(np.array([0.0, 0.2, 0.0]), np.eye(3, dtype=bool), np.ones(3, dtype=bool))
    assert [sorted(group.tolist()) for group in groups] == [[1], [0, 2]]
    assert fold(np.zeros(0), np.zeros((0, 2), dtype=bool), np.zeros(0, dtype=bool)) == []


@pytest.mark.parametrize("n", [1, 1000])
def test_a_thousand_rules_become_a_few_groups(n):
    rng = np.random.default_rng(0)
    holds = np.zeros((n, 20), dtype=bool)
    for cell in range(n):
        holds[cell, rng.choice(20, 2, replace=False)] = True
    assert len(fold(rng.normal(size=n), holds, np.ones(n, dtype=bool))) <= 20
