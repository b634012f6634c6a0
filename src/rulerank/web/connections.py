"""Connections that stall are let go: after some seconds, and at once when there are too many."""

from __future__ import annotations

import asyncio
from typing import Any

from uvicorn.protocols.http.h11_impl import H11Protocol

MOST_CONNECTIONS = 300  # far more than the raters of a page have, far fewer than files a process may open
HEAD_SECONDS = 15  # how long the head of a request may take to arrive


class PatientProtocol(H11Protocol):
    """HTTP as uvicorn speaks it, with an end to its patience.

    A connection on which no request is being answered counts as idle. When there are too many, the one that has been
    idle for longest gives way to the newest: those who stall cannot keep others out.
    """

    _deadline: asyncio.TimerHandle | None = None

    def connection_made(self, transport: Any) -> None:
        super().connection_made(transport)
        self._wait()
        if len(self.connections) > MOST_CONNECTIONS:
            idle = (other for other in self.connections if isinstance(other, PatientProtocol) and other._deadline)
            oldest = min(idle, key=lambda other: other._deadline.when(), default=None)  # type: ignore[union-attr]
            if oldest is not None:
                oldest._give_up()

    def connection_lost(self, exc: Exception | None) -> None:
        self._rest()
        super().connection_lost(exc)

    def handle_events(self) -> None:
        super().handle_events()
        if self.cycle is not None and not self.cycle.response_complete:
            self._rest()  # a whole head has come; bodies.py has an eye on the body

    def on_response_complete(self) -> None:
        super().on_response_complete()
        self._wait()

    def _wait(self) -> None:
        self._rest()
        self._deadline = self.loop.call_later(HEAD_SECONDS, self._give_up)

    def _rest(self) -> None:
        if self._deadline is not None:
            self._deadline.cancel()
            self._deadline = None

    def _give_up(self) -> None:
        self._rest()
        self.connections.discard(self)
        self.transport.abort()
