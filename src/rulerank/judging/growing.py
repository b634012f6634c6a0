"""A pool that grows while people judge, in this process and in others that read the same file."""

from __future__ import annotations

import threading
from collections.abc import Callable
from contextlib import suppress

from rulerank.errors import DataError, RulerankError
from rulerank.judging.added import Growth, PoolFile
from rulerank.judging.pool import Pool

TRIES = 5  # as many others may add documents at the same moment


class GrowingPool:
    """Keeps up with the documents that were added beside a pool's file.

    pool: as it was read from the file.
    take: called with every bigger pool, which has the same rows and more behind them.
    """

    def __init__(self, pool: Pool, file: PoolFile, take: Callable[[Pool], None]) -> None:
        self._pool, self._file, self._take = pool, file, take
        self._known = file.added()
        self._one = threading.Lock()  # grows it at a time

    def add(self, content: bytes, name: str) -> Growth:
        """Add the documents of a file for good: all of them, or none and it says why."""
        with self._one:
            for _ in range(TRIES):
                self._notice()
                with suppress(FileExistsError):  # another process was quicker
                    pool, growth = self._file.add(self._pool, content, name, self._known)
                    self._known = self._file.added()[: len(self._known) + 1]
                    self._go_on(pool)
                    return growth
        raise DataError(f"others are adding documents all the time: add {name} again")

    def notice(self) -> None:
        """Take over what was added elsewhere, and return when that is done."""
        if self._is_bigger():
            with self._one:
                self._notice()

    def notice_soon(self) -> None:
        """Begin to take over what was added elsewhere; nobody waits for it."""
        if self._is_bigger() and not self._one.locked():
            threading.Thread(target=self._notice_alone, daemon=True).start()

    def _is_bigger(self) -> bool:
        return len(self._file.added()) > len(self._known)

    def _notice_alone(self) -> None:
        with suppress(RulerankError):  # whoever asks for a new document is told what is wrong
            self.notice()

    def _notice(self) -> None:
        pool, added = self._pool, self._file.added()
        for name in added[len(self._known) :]:
            pool = self._file.grown(pool, name)
        if pool is not self._pool:
            self._known = added
            self._go_on(pool)

    def _go_on(self, pool: Pool) -> None:
        self._pool = pool
        self._take(pool)
