"""The figures of docs/benchmarks/rule-rankers.md, for one metric and one fusion of all seven."""

import numpy as np
import pytest

import rulerank as rr
from rulerank.rules.metrics import METRICS


@pytest.mark.parametrize(
    ("name", "alone", "together"), [("letor3-ohsumed", 0.4465, 0.4455), ("letor4-mq2008", 0.4705, 0.4671)]
)
def test_strength_alone_and_condorcet_over_the_seven(letor, name, alone, together):
    figures = []
    for fold in rr.read_folds(letor / name):
        scores = [rr.GlobalRules(votes="mean", metric=metric).fit(fold.train).predict(fold.test) for metric in METRICS]
        rankings = scores[METRICS.index("strength")], rr.fuse(scores, fold.test.qid, "condorcet")
        figures.append([rr.evaluate(fold.test.y, one, fold.test.qid, "MAP").means["MAP"] for one in rankings])
    assert np.mean(figures, axis=0) == pytest.approx([alone, together], abs=1e-4)
