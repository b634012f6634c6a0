"""Run a compiled loop over all cores: kernels release the GIL, so plain threads are enough."""

from __future__ import annotations

import itertools
import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

from rulerank.errors import DataError


def n_threads(n_jobs: int | None) -> int:
    """Return how many threads to use: all cores for None or -1, else as many as asked for.

    >>> n_threads(3)
    3
    """
    if n_jobs is None or n_jobs == -1:
        return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    if n_jobs < 1:
        raise DataError(f"n_jobs must be a positive number, or -1 for all cores: got {n_jobs}")
    return n_jobs


def in_blocks(work: Callable[[int, int], None], n_items: int, n_jobs: int | None = None, min_block: int = 1) -> None:
    """Call work(start, stop) on ranges that together cover n_items, one per thread.

    Each item belongs to one call whatever the number of threads; work that keeps items apart gives the same bits.

    >>> import numpy as np
    >>> out = np.zeros(5)
    >>> def work(start, stop): out[start:stop] += 1
    >>> in_blocks(work, 5, n_jobs=2)
    >>> out.tolist()
    [1.0, 1.0, 1.0, 1.0, 1.0]
    """
    n_blocks = max(1, min(n_threads(n_jobs), n_items // max(1, min_block)))
    if n_blocks == 1:  # a thread costs more than a small query's scores
        work(0, n_items)
        return
    bounds = [n_items * block // n_blocks for block in range(n_blocks + 1)]
    with ThreadPoolExecutor(n_blocks) as pool:
        for done in [pool.submit(work, start, stop) for start, stop in itertools.pairwise(bounds)]:
            done.result()
