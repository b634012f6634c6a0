"""What the benchmarks share: warm up, repeat, take the median."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable


def median_time(run: Callable[[], object], rounds: int = 5) -> float:
    """Return the median of several runs in seconds, after one that warms up."""
    run()
    times = []
    for _ in range(rounds):
        start = time.perf_counter()
        run()
        times.append(time.perf_counter() - start)
    return statistics.median(times)
