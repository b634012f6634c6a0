"""Keep NumPy's matrix products to one thread: our threads take whole blocks, and sums then never change with them."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from typing import Any

import numpy  # noqa: F401  # its BLAS must be loaded before anybody looks for it
from threadpoolctl import ThreadpoolController  # type: ignore[import-untyped]  # it ships no types

_lock = threading.Lock()
_limits: list[Any] = []  # one entry for each user; the first set the limit, the last restores what was before


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
def _controller() -> ThreadpoolController:
    return ThreadpoolController()  # looking for the libraries takes milliseconds
