"""Fuse TREC runs, which need not hold the same documents."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from rulerank.aggregate.fusion import fuse
from rulerank.errors import DataError
from rulerank.io.trec import Run, run_from_scores


def fuse_runs(
    runs: Sequence[Run], method: str = "comb_mnz", weights: ArrayLike | None = None, tag: str | None = None
) -> Run:
    """Put runs together into one with all their documents, best first; `fuse` says what the methods are.

    A query that a run lacks is one whose documents it misses. tag: the name of the new run, by default the method's.

    >>> one = Run(["q", "q"], ["a", "b"], [9.0, 8.0], ["one", "one"])
    >>> two = Run(["q", "q"], ["b", "c"], [0.7, 0.1], ["two", "two"])
    >>> fused = fuse_runs([one, two], "rrf")
    >>> fused.docid.tolist(), fused.score.round(4).tolist()
    (['b', 'a', 'c'], [0.0325, 0.0164, 0.0161])
    """
    if not runs or not all(isinstance(run, Run) for run in runs):
        raise DataError(f"expected runs, such as [rr.read_run(one), rr.read_run(two)]: got {runs!r:.80}")
    row: dict[tuple[str, str], int] = {}
    rows = [
        np.array([row.setdefault(pair, len(row)) for pair in zip(run.qid, run.docid, strict=True)], dtype=np.int64)
        for run in runs
    ]
    scores = np.full((len(runs), len(row)), np.nan)
    for own, run, found in zip(scores, runs, rows, strict=True):
        own[found] = run.score
    ids = np.empty((2, len(row)), dtype=object)
    for place, (qid, docid) in enumerate(row):
        ids[0, place], ids[1, place] = qid, docid
    return run_from_scores((ids[0], ids[1]), fuse(scores, ids[0], method, weights), tag or method)
