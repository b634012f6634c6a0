"""What the peers share: they are fitted and asked, and not saved."""

from __future__ import annotations

from typing import Any, NoReturn

from rulerank.baselines.library_ranker import LibraryRanker
from rulerank.errors import DataError


class Peer(LibraryRanker):
    """Base of rankers that are here to be compared with."""

    def _learned_state(self) -> NoReturn:
        raise DataError(f"{type(self).__name__} is here to be compared with and is not saved: use its own library")

    def _take_learned(self, state: dict[str, Any]) -> NoReturn:
        self._learned_state()
