"""DC3A and QC3A on the real folds: what they choose, and what comes of it."""

import numpy as np
import pytest

import rulerank as rr


@pytest.mark.parametrize(
    ("name", "n_alone", "expected"), [("letor3-ohsumed", 3, (0.4375, 0.4414)), ("letor4-mq2008", 5, (0.4606, 0.4705))]
)
def test_two_metrics_are_all_that_is_chosen(letor, name, n_alone, expected):
    figures, alone = [], 0
    for fold in rr.read_folds(letor / name):
        for centric in ("document", "query"):
            ranker = rr.Competence(literal=True, centric=centric).fit(fold.train)
            chosen = set(ranker.chosen(fold.test).tolist())
            assert chosen <= {"confidence", "strength"}
            alone += centric == "query" and chosen == {"strength"}
            figures.append(rr.evaluate(fold.test.y, ranker.predict(fold.test), fold.test.qid, "MAP").means["MAP"])
    assert alone == n_alone
    assert np.mean(np.reshape(figures, (-1, 2)), axis=0) == pytest.approx(expected, abs=5e-5)
