"""RE-GR on one OHSUMED fold against LightGBM's LambdaMART: MDLP + fit + predict, warm, in the same run.

Needs the real data: RULERANK_DATA must name a folder that holds letor3-ohsumed (else a synthetic world is used).
"""

from __future__ import annotations

import os
import warnings

import numpy as np

import rulerank as rr
from rulerank.evaluation import evaluate
from timing import median_time


def main() -> None:
    warnings.filterwarnings("ignore", message="X does not have valid feature names")
    if os.environ.get("RULERANK_DATA"):
        fold = rr.read_folds(f"{os.environ['RULERANK_DATA']}/letor3-ohsumed")[0]
        print("LETOR 3.0 OHSUMED, fold 1")
    else:
        print("RULERANK_DATA is not set: a synthetic world of 100 queries instead of OHSUMED")
        fold = rr.split_world(rr.make_world(n_queries=100, seed=0))
    train, vali, test = fold.train, fold.vali, fold.test

    def ours(votes: str) -> np.ndarray:
        return rr.GlobalRules(votes=votes).fit(train).predict(test)

    medians = {}
    for name, run in {
        "RE-GR (default)": lambda: ours("residual"),
        "RE-GR (literal)": lambda: ours("mean"),
        "LambdaMART": lambda: lambda_mart(train, vali, test),
    }.items():
        scores = run()
        medians[name] = median_time(run)
        quality = evaluate(test.y, scores, test.qid, ["MAP"]).means["MAP"]
        print(f"{name:16}  {medians[name] * 1e3:8.1f} ms   MAP {quality:.4f}")
    peer = medians.pop("LambdaMART")
    for name, seconds in medians.items():
        print(f"{name} is {peer / seconds:.0f} times faster than LambdaMART (goal: 30)")


def lambda_mart(train: rr.Dataset, vali: rr.Dataset, test: rr.Dataset) -> np.ndarray:
    """500 trees, learning rate 0.05, 15 leaves, early stopping after 50 rounds on the validation fold."""
    import lightgbm

    model = lightgbm.LGBMRanker(n_estimators=500, learning_rate=0.05, num_leaves=15, verbose=-1)
    sizes = [np.unique(part.qid.astype(str), return_counts=True) for part in (train, vali)]
    parts = [part[np.argsort(part.qid.astype(str), kind="stable")] for part in (train, vali)]
    model.fit(
        parts[0].X,
        parts[0].y,
        group=sizes[0][1],
        eval_set=[(parts[1].X, parts[1].y)],
        eval_group=[sizes[1][1]],
        callbacks=[lightgbm.early_stopping(50, verbose=False)],
    )
    return np.asarray(model.predict(test.X))


if __name__ == "__main__":
    main()
