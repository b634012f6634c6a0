"""The papers' rankers as published, on the real folds: every figure of docs/papers.md.

Five folds, trained on train, nothing chosen; mean test MAP with ties expected, and by the official script's rules; P@10
for the intercepts, as the paper's footnote is about it.
"""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any

import numpy as np

import rulerank as rr
from rulerank.dataset import Fold
from rulerank.rules.metrics import METRICS

LOO: dict[str, Any] = {"literal": True, "leave_one_out": True}

FORMS: dict[str, Callable[[], Any]] = {
    "RE-GR": lambda: rr.GlobalRules(votes="mean"),
    "RE-GR, sigma .01": lambda: rr.GlobalRules(votes="mean", min_support=0.01),
    "RE-SR, every query (as published)": lambda: rr.StableRules(literal=True),
    "RE-SR, every query, 2 queries": lambda: rr.StableRules(literal=True, min_queries=2),
    "RE-QR (as published)": lambda: rr.QueryRules(literal=True),
    "RE-QR, leave one out, ties first": lambda: rr.QueryRules(ties="first", **LOO),
    "RE-QR, leave one out, ties share": lambda: rr.QueryRules(ties="share", **LOO),
    **{m: partial(rr.GlobalRules, votes="mean", metric=m) for m in METRICS},
    "DC3A (as published)": lambda: rr.Competence(literal=True),
    "QC3A (as published)": lambda: rr.Competence(literal=True, centric="query"),
    "QI": lambda: rr.QueryIntercepts(missing="mean"),
}


def letter_table(name: str, folds: Sequence[Fold]) -> Iterator[str]:
    """Yield the lines of the table, a form at a time."""
    yield f"{name:36}{'MAP':>9}{'official':>10}{'P@10':>9}   chosen, in how many folds"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # separable grades of single folds
        for label, make in FORMS.items():
            yield line(label, make, folds, "letor4" if "mq200" in name.lower() else "letor3")


def line(label: str, make: Callable[[], Any], folds: Sequence[Fold], convention: str) -> str:
    """Run one form over the folds and return its figures, with the metrics that a Competence chose."""
    figures, chosen = [], Counter[str]()
    for fold in folds:
        ranker = make().fit(fold.train)
        scores = ranker.predict(fold.test)
        neutral = rr.evaluate(fold.test.y, scores, fold.test.qid, ["MAP"]).means
        official = rr.evaluate(
            fold.test.y, scores, fold.test.qid, ["MAP", "P@10"], convention=convention, ties="file"
        ).means
        figures.append([neutral["MAP"], official["MAP"], official["P@10"]])
        if isinstance(ranker, rr.Competence):
            chosen[" and ".join(sorted(set(ranker.chosen(fold.test).tolist())))] += 1
    means = "".join(f"{value:{width}.4f}" for value, width in zip(np.mean(figures, axis=0), (9, 10, 9), strict=True))
    return f"{label:36}{means}   {', '.join(f'{name}: {n}' for name, n in chosen.items())}".rstrip()
