"""Compiled loops: how they are compiled, run over all cores, and shown by a progress bar.

Loops release the GIL, so plain threads are enough. Our threads take whole blocks, so NumPy's matrix products keep to
one thread inside them: sums never change with the number of threads. A progress bar appears for long work in a terminal
or a notebook only. np.sort and np.argsort inside loops that are cached on disk have crashed when several such loops ran
in one process, so the loops that must sort use `sort_places`.
"""

from __future__ import annotations

import logging
import os
import sys
import threading
import warnings
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import cache
from itertools import pairwise
from typing import Any, TypeVar, cast

import numpy as np
from numba import njit
from numba.core import event

from rulerank._util.parameters import Array, Threads

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
    """Let `in_blocks` run everything in this thread: for workers that already run in parallel.

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
    """Limit matrix products to one thread, in the whole process, while any thread is inside.

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


Item = TypeVar("Item")
_one_at_a_time = threading.Lock()  # a bar inside a bar would draw over it


@contextmanager
def progress(total: int, label: str, after: float = 2.0) -> Iterator[Bar]:
    """Show a bar once the work has taken `after` seconds: on a terminal that is stderr, in a notebook below its cell.

    The environment variable RULERANK_PROGRESS=off silences it.

    >>> with progress(3, "reading") as bar:
    ...     for _ in range(3):
    ...         bar.advance()
    >>> bar.done
    3
    """
    bar = Bar(total, label)
    timer = threading.Timer(after, bar.show)
    timer.daemon = True
    if somebody_looks():
        timer.start()
    try:
        yield bar
    finally:
        timer.cancel()
        bar.close()


def tracked(items: Sequence[Item], label: str) -> Iterator[Item]:
    """Yield items, and show by a bar how many are done.

    >>> [*tracked([3, 4], "adding")]
    [3, 4]
    """
    with progress(len(items), label) as bar:
        for item in items:
            yield item
            bar.advance()


def somebody_looks() -> bool:
    """Tell whether stderr is a terminal, or a notebook runs us, and RULERANK_PROGRESS does not say off."""
    shell = sys.modules.get("IPython")
    in_notebook = shell is not None and hasattr(shell.get_ipython(), "kernel")
    return (sys.stderr.isatty() or in_notebook) and os.environ.get("RULERANK_PROGRESS", "").lower() != "off"


class Bar:
    """How much of the work is done; any thread may advance it. Rich draws it."""

    def __init__(self, total: int, label: str) -> None:
        self.total = total
        self.label = label
        self.done = 0
        self._closed = False
        self._drawn: Any = None
        self._lock = threading.Lock()

    def advance(self, n: int = 1) -> None:
        """Say that n more of the total are done."""
        with self._lock:
            self.done += n
            if self._drawn is not None:
                self._drawn.update(self._drawn.task_ids[0], completed=self.done)

    def show(self) -> None:
        """Start to draw, unless the work is over or another bar is there."""
        from rich.console import Console
        from rich.progress import Progress

        with self._lock:
            if self._closed or not _one_at_a_time.acquire(blocking=False):
                return
            # results go to stdout: rich must not move them to where it draws
            self._drawn = Progress(console=Console(stderr=True), transient=True, redirect_stdout=False)
            self._drawn.add_task(self.label, total=self.total, completed=self.done)
            self._drawn.start()

    def close(self) -> None:
        """Take the bar off the screen."""
        with self._lock:
            self._closed = True
            if self._drawn is not None:
                self._drawn.stop()
                self._drawn = None
                _one_at_a_time.release()


Loop = TypeVar("Loop", bound=Callable[..., object])
MESSAGE = "compiling rulerank's loops for this machine: once, some seconds each the first time they are used ..."
NO_CACHE = (
    "no folder to keep compiled code in can be written (tried the package's folder and the home folder), so that every "
    "process compiles again, some seconds for each loop: set NUMBA_CACHE_DIR to a folder that can be written"
)


def compiled(loop: Loop) -> Loop:
    """Compile a loop over arrays, keep the result for later processes, and let other threads run meanwhile.

    Where nothing can be kept, as in a container whose folders are read-only, it warns once.
    """
    try:
        return cast(Loop, njit(cache=True, nogil=True)(loop))
    except RuntimeError as error:
        if "no locator available" not in str(error):
            raise
    warn_of_no_cache()
    return cast(Loop, njit(nogil=True)(loop))


@cache
def warn_of_no_cache() -> None:
    """Warn once per process."""
    warnings.warn(NO_CACHE, RuntimeWarning, stacklevel=2)


class FirstTime(event.Listener):
    """Says once per process that loops are being compiled; what lies in the cache raises no event."""

    def __init__(self) -> None:
        self.told = False

    def on_start(self, event: object) -> None:
        if not self.told:
            self.told = True
            logging.getLogger("rulerank").info(MESSAGE)
            if somebody_looks():
                print(MESSAGE, file=sys.stderr)

    def on_end(self, event: object) -> None:
        """Nothing to say."""


event.register("numba:compile", FirstTime())  # type: ignore[no-untyped-call]  # numba leaves this one untyped


@compiled
def sort_places(values: Array, places: Array) -> None:
    """Write into places, int64[n], the places of values in rising order (a heap sort: equal values in any order)."""
    n = places.size
    for i in range(n):
        places[i] = i
    for start in range(n // 2 - 1, -1, -1):
        sift(values, places, start, n)
    for last in range(n - 1, 0, -1):
        places[0], places[last] = places[last], places[0]
        sift(values, places, 0, last)


@compiled
def sift(values: Array, places: Array, root: int, n: int) -> None:
    """Let a place sink until neither of the two below it has a larger value."""
    while 2 * root + 1 < n:
        child = 2 * root + 1
        if child + 1 < n and values[places[child]] < values[places[child + 1]]:
            child += 1
        if values[places[root]] >= values[places[child]]:
            return
        places[root], places[child] = places[child], places[root]
        root = child


def between(lows: Array, highs: Array) -> Array:
    """Return the cuts halfway from low to high in float64, such that low < cut <= high even for neighbouring floats.

    >>> between(np.array([1.0, 1.0]), np.array([2.0, np.nextafter(1.0, 2.0)]))
    array([1.5, 1. ])
    """
    lows, highs = lows.astype(np.float64), highs.astype(np.float64)
    middles = 0.5 * lows + 0.5 * highs  # halved first: the sum could overflow
    return np.where(middles > lows, middles, highs)
