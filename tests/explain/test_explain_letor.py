"""Explanations of real documents add up."""

import pytest

import rulerank as rr


@pytest.mark.parametrize(
    "ranker",
    [
        rr.GlobalRules(),
        rr.GlobalRules(votes="mean", metric="strength", max_size=3),
        rr.StableRules(literal=True),
        rr.QueryRules(),
        rr.QueryRules(literal=True),
        rr.QueryIntercepts(l2=10.0),
    ],
    ids=str,
)
def test_parts_of_ohsumed_scores_add_up(letor, ranker):
    data = rr.read_letor(letor / "letor3-ohsumed" / "Fold1" / "vali.txt")
    scores = ranker.fit(data).predict(data)
    for row in range(0, len(data), len(data) // 5):
        found = ranker.explain(data, row)
        assert found.score == pytest.approx(scores[row], abs=1e-9)
        assert found.base + sum(group.adds for group in found.groups) == pytest.approx(scores[row], abs=1e-9)
        assert found.base + sum(share.adds for share in found.features) == pytest.approx(scores[row], abs=1e-9)
        assert len(found.to_json()) < 60_000
