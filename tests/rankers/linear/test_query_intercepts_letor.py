"""What the paper and the issue promise of query intercepts, on the real data."""

import numpy as np
import pytest

import rulerank as rr
from rulerank.dataset import Dataset
from rulerank.evaluation import evaluate
from rulerank.io.formats import read_folds
from rulerank.rankers.linear.query_intercepts import L2_GRID, QueryIntercepts

PAPER = {
    "NDCG@2": 0.491,
    "NDCG@4": 0.480,
    "NDCG@6": 0.458,
    "NDCG@8": 0.448,
    "NDCG@10": 0.447,
    "P@2": 0.610,
    "P@4": 0.598,
    "P@6": 0.560,
    "P@8": 0.526,
    "P@10": 0.511,
    "MAP": 0.445,
}


def test_the_row_of_the_paper_is_reproduced_in_every_cell(letor):
    cells = []
    for fold in read_folds(letor / "letor2-ohsumed"):
        ranker = QueryIntercepts().fit(fold.train)
        assert ranker.gradient_norm_ < 1e-6
        means = evaluate(fold.test.y, ranker.predict(fold.test), fold.test.qid, list(PAPER), convention="letor3").means
        cells.append([means[measure] for measure in PAPER])
    found = dict(zip(PAPER, np.mean(cells, axis=0), strict=True))
    print("\n".join(f"{measure:8} paper {PAPER[measure]:.3f}  ours {found[measure]:.4f}" for measure in PAPER))
    assert found == pytest.approx(PAPER, abs=0.003)


@pytest.mark.parametrize(("name", "at_least"), [("letor4-mq2008", 0.485), ("letor3-ohsumed", 0.446)])
def test_tuned_without_the_test_queries_it_ranks_as_well_as_promised(letor, name, at_least):
    """By the defaults of tune. Other seeds and 3, 5 or 10 parts give .4844 to .4877 on MQ2008 (7 of 9 reach .485,
    mean .4857) and .4473 to .4516 on OHSUMED (all 9 reach .446): the choice of l2 is noisy."""
    values = []
    for fold in read_folds(letor / name):
        known = Dataset.concat([fold.train, fold.vali])
        tuned = rr.select(known, QueryIntercepts(normalize="zscore"), {"l2": L2_GRID})
        result = evaluate(fold.test.y, tuned.ranker.predict(fold.test), fold.test.qid, "MAP")
        assert result.ties == "expected"
        values.append(result.means["MAP"])
    assert np.mean(values) >= at_least
