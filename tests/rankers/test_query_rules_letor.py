"""RE-QR on the real folds: chosen without test data, it is no worse than the literal RE-GR (.4458 .4456 .4690)."""

import numpy as np
import pytest

from rulerank.evaluation import evaluate
from rulerank.io.folds import read_folds
from rulerank.rankers.query_rules import QueryRules


def mean_over_folds(folder, **options):
    figures = []
    for fold in read_folds(folder):
        scores = QueryRules(**options).fit(fold.train).predict(fold.test)
        figures.append(evaluate(fold.test.y, scores, fold.test.qid, ["MAP", "P@1"]).means)
    return [np.mean([figure[measure] for figure in figures]) for measure in ("MAP", "P@1")]


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("letor3-ohsumed", (0.4496, 0.6139)),
        ("letor2-ohsumed", (0.4493, 0.6584)),
        ("letor4-mq2008", (0.4770, 0.4389)),
    ],
)
def test_five_fold_figures_of_the_default(letor, name, expected):
    assert mean_over_folds(letor / name) == pytest.approx(expected, abs=5e-5)


def test_five_fold_figures_of_the_literal_reading(letor):
    assert mean_over_folds(letor / "letor3-ohsumed", literal=True) == pytest.approx((0.4459, 0.6314), abs=5e-5)
