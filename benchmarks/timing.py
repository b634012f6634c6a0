"""What the benchmarks share: warm up, repeat, take the median."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable


def median_time(run: Callable[[], object], rounds: int = 5, clock: Callable[[], float] = time.perf_counter) -> float:
    """Return the median of several runs in seconds, after one that warms up.

    clock=time.thread_time counts what this thread alone works, whatever else a shared machine does.
    """
    run()
    times = []
    for _ in range(rounds):
        start = clock()
        run()
        times.append(clock() - start)
    return statistics.median(times)
