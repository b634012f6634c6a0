"""Run a compiled loop over all cores: kernels release the GIL, so plain threads are enough.

Our threads take whole blocks, so NumPy's matrix products keep to one thread inside them: sums then never change with
the number of threads.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import cache
from itertools import pairwise
from typing import Any

from rulerank.core.parameters import Threads

THREADS = Threads()
_pools: dict[int, ThreadPoolExecutor] = {}  # kept: starting threads takes longer than scoring a query
_lock = threading.Lock()
_inside = threading.local()
_limits: list[Any] = []  # one entry for each user; the first set the limit, the last restores what was before
if hasattr(os, "register_at_fork"):  # threads do not survive a fork
    os.register_at_fork(after_in_child=lambda: _forget())


def n_threads(n_jobs: int | None) -> int:
    """Return how many threads to use: all cores for None or -1, else as many as asked for.

    >>> n_threads(3)
    3
    """
    if n_jobs is not None:
        THREADS.check("n_jobs", n_jobs)
        if n_jobs > 0:
            return n_jobs
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


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
    if n_blocks == 1 or getattr(_inside, "pool", False):  # work inside work must not wait for its own thread
        work(0, n_items)
        return
    bounds = [n_items * block // n_blocks for block in range(n_blocks + 1)]
    # the caller's thread takes the first block itself
    others = [_pool(n_blocks - 1).submit(_marked, work, start, stop) for start, stop in pairwise(bounds[1:])]
    try:
        work(0, bounds[1])
    finally:
        for other in others:
            other.result()


@contextmanager
def one_thread() -> Iterator[None]:
    """Let `in_blocks` do everything in this thread: for workers that do several things at once anyway.

    >>> with one_thread():
    ...     in_blocks(lambda start, stop: print(start, stop), 10, n_jobs=4)
    0 10
    """
    before = getattr(_inside, "pool", False)
    _inside.pool = True
    try:
        yield
    finally:
        _inside.pool = before


@contextmanager
def one_blas_thread() -> Iterator[None]:
    """Let matrix products use one thread, in the whole process, as long as anybody is inside.

    >>> with one_blas_thread():
    ...     [pool["num_threads"] for pool in _controller().info() if pool["user_api"] == "blas"][0]
    1
    """
    with _lock:
        _limits.append(None if _limits else _controller().limit(limits=1, user_api="blas"))
    try:
        yield
    finally:
        with _lock:
            first = _limits[0]
            _limits.pop()
            if not _limits:
                first.restore_original_limits()


@cache
def _controller() -> Any:
    import numpy  # noqa: F401  # its BLAS must be loaded before anybody looks for it
    from threadpoolctl import ThreadpoolController  # type: ignore[import-untyped]  # it ships no types

    return ThreadpoolController()  # looking for the libraries takes milliseconds


def _forget() -> None:
    global _lock
    _lock = threading.Lock()  # the parent may have held it
    _pools.clear()


def _marked(work: Callable[[int, int], None], start: int, stop: int) -> None:
    _inside.pool = True
    work(start, stop)


def _pool(size: int) -> ThreadPoolExecutor:
    with _lock:
        if size not in _pools:
            _pools[size] = ThreadPoolExecutor(size, thread_name_prefix="rulerank")
        return _pools[size]
