"""Every baseline keeps the promises of a ranker, but for being saved."""

import inspect
from functools import partial

import pytest

from contract_checks import CHECKS
from papers import baselines

BASELINES = {
    "Regression": partial(baselines.Regression, missing="mean"),
    "RankSVM": partial(baselines.RankSVM, missing="mean"),
    "SVMMAP": partial(baselines.SVMMAP, missing="mean"),
    "LambdaMART": partial(baselines.LambdaMART, n_trees=30),
    "RankBoost": partial(baselines.RankBoost, n_rounds=50),
    "FRank": partial(baselines.FRank, n_rounds=50),
    "AdaRank": partial(baselines.AdaRank, missing="mean"),
    "ListNet": partial(baselines.ListNet, missing="mean"),
}
LEFT_OUT = ("check_importances", "check_contributions")  # sums of trees and stumps are not explained here
KEPT = [
    check
    for check in CHECKS
    if "tmp_path" not in inspect.signature(check).parameters and not check.__name__.startswith(LEFT_OUT)
]


@pytest.mark.parametrize("check", KEPT, ids=lambda check: check.__name__)
@pytest.mark.parametrize("make", BASELINES.values(), ids=BASELINES)
def test_contract(make, check):
    check(make)
