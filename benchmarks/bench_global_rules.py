"""RE-GR on one OHSUMED fold against LightGBM's LambdaMART: MDLP + fit + predict, warm, in the same run.

Both have all cores. RULERANK_DATA must name a folder that holds letor3-ohsumed, else a synthetic synthetic is used.
"""

from __future__ import annotations

import os
import warnings

import numpy as np

import rulerank as rr
from timing import median_time


def main() -> None:
    warnings.filterwarnings("ignore", message="X does not have valid feature names")
    warnings.filterwarnings("ignore", message="The argument 'eval_set' is deprecated")
    if os.environ.get("RULERANK_DATA"):
        fold = rr.read_folds(f"{os.environ['RULERANK_DATA']}/letor3-ohsumed")[0]
        print("LETOR 3.0 OHSUMED, fold 1")
    else:
        print("RULERANK_DATA is not set: a synthetic synthetic of 200 queries instead of OHSUMED")
        fold = rr.datasets.make_folds(rr.datasets.make_ranking(n_queries=200))[0]
    # queries side by side, as LightGBM wants them
    train, vali = (part[np.argsort(part.qid.astype(str), kind="stable")] for part in (fold.train, fold.vali))

    medians = {}
    for name, run in {
        "RE-GR": lambda: rr.GlobalRules().fit(train).predict(fold.test),
        "RE-GR, literal": lambda: rr.GlobalRules(votes="mean").fit(train).predict(fold.test),
        "LambdaMART": lambda: lambda_mart(train, vali, fold.test),
    }.items():
        medians[name] = median_time(run, 9)
        quality = rr.evaluate(fold.test.y, run(), fold.test.qid, "MAP").means["MAP"]
        print(f"{name:16}  {medians[name] * 1e3:8.1f} ms   MAP {quality:.4f}")
    peer = medians.pop("LambdaMART")
    for name, seconds in medians.items():
        print(f"{name} is {peer / seconds:.0f} times faster than LambdaMART (goal: 30)")


def lambda_mart(train: rr.Dataset, vali: rr.Dataset, test: rr.Dataset) -> np.ndarray:
    """500 trees, learning rate 0.05, 15 leaves, early stopping after 50 rounds on the validation fold."""
    import lightgbm

    model = lightgbm.LGBMRanker(n_estimators=500, learning_rate=0.05, num_leaves=15, verbose=-1)
    model.fit(
        train.X,
        train.y,
        group=np.unique(train.qid.astype(str), return_counts=True)[1],
        eval_set=[(vali.X, vali.y)],
        eval_group=[np.unique(vali.qid.astype(str), return_counts=True)[1]],
        callbacks=[lightgbm.early_stopping(50, verbose=False)],
    )
    return np.asarray(model.predict(test.X))


if __name__ == "__main__":
    main()
