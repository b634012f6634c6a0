"""Run an application until Ctrl-C; closes stalled connections."""

from __future__ import annotations

import asyncio
import ipaddress
import math
import signal
import socket
import threading
import webbrowser
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import uvicorn
from starlette.types import ASGIApp
from uvicorn.protocols.http.h11_impl import H11Protocol

from rulerank.errors import DataError, RulerankError

SIGNALS = (signal.SIGTERM, signal.SIGINT)
USUAL_PORT = 8765
LEAST_TOKEN = 12  # characters
LOOK_SECONDS = 0.05  # between two checks for connections while stopping
MOST_CONNECTIONS = 300  # more than raters need, fewer than the limit of open files
HEAD_SECONDS = 15  # for the headers of a request to arrive
BACKLOG = 64  # more could exceed the limit of open files


class AddressError(RulerankError, OSError):
    """Cannot listen on an address."""


def open_socket(host: str, port: int | None = None) -> socket.socket:
    """Listen on a port; None: 8765, or any free port if it is taken; 0: any free port.

    >>> with open_socket("127.0.0.1", 0) as listening:
    ...     listening.getsockname()[0]
    '127.0.0.1'
    """
    try:
        return _listen(host, USUAL_PORT if port is None else port)
    except OSError as error:
        if port is None and not isinstance(error, socket.gaierror):
            try:
                return _listen(host, 0)
            except OSError as second:
                error = second
        reason = error.strerror or str(error)
        raise AddressError(f"cannot listen on {host}, port {port}: {reason}; --port 0 uses any free port") from None


def _listen(host: str, port: int) -> socket.socket:
    family, kind, protocol, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
    listening = socket.socket(family, kind, protocol)
    try:
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)  # so that a restart can use the port
        listening.bind(address)
        listening.listen(BACKLOG)
    except OSError:
        listening.close()
        raise
    return listening


def check_token(host: str, token: str | None, who: str = "rater") -> None:
    """Refuse to open the page to other machines without a long token.

    >>> check_token("127.0.0.1", None)
    """
    if token is None and not is_loopback(host):
        raise DataError(
            f"--host {host} opens the page to other machines, which needs --token, a secret of at least "
            f"{LEAST_TOKEN} characters for every {who}"
        )
    if token is not None and not token.isascii():
        raise DataError("--token must have ASCII characters only: it is sent in a header")
    if token is not None and len(token) < LEAST_TOKEN:
        raise DataError(f"--token must have at least {LEAST_TOKEN} characters: got {len(token)}")


def is_loopback(host: str) -> bool:
    """Return whether only this machine can connect to an address.

    >>> is_loopback("localhost"), is_loopback("::1"), is_loopback("0.0.0.0")
    (True, True, False)
    """
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def url_of(listening: socket.socket) -> str:
    """Return the URL for a browser on this machine."""
    host, port = listening.getsockname()[:2]
    if ipaddress.ip_address(host).is_unspecified:  # all addresses of the machine
        host = "127.0.0.1"
    return f"http://[{host}]:{port}/" if ":" in host else f"http://{host}:{port}/"


class PatientProtocol(H11Protocol):
    """uvicorn's HTTP protocol with timeouts.

    A connection without a request in progress is idle. If there are too many connections, the one that has been idle
    for longest is closed, so that stalled clients cannot block others.
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
            self._rest()  # the headers are complete; requests.py has a timeout for the body

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


def make_server(app: ASGIApp, grace: float = 5, ready: Callable[[], None] = lambda: None) -> Server:
    """Return a server that logs only problems.

    grace: seconds to finish open requests when stopping; ready: called once it listens.
    """
    config = uvicorn.Config(
        app,
        log_level="warning",
        access_log=False,
        server_header=False,
        lifespan="off",
        proxy_headers=False,
        timeout_graceful_shutdown=math.ceil(grace),
        timeout_keep_alive=HEAD_SECONDS,
        http=PatientProtocol,
        ws="none",
        backlog=BACKLOG,
    )
    return Server(config, ready)


class Server(uvicorn.Server):
    """Stops on a signal, with success, and closes connections that come in meanwhile.

    uvicorn shuts down its connections once. A connection that is set up just after that would stay open until the grace
    period ends, and its last request would get a 500.
    """

    def __init__(self, config: uvicorn.Config, ready: Callable[[], None]) -> None:
        super().__init__(config)
        self.ready = ready

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets=sockets)
        self.ready()

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        if threading.current_thread() is not threading.main_thread():
            yield
            return
        before = {number: signal.signal(number, self.handle_exit) for number in SIGNALS}
        try:
            yield
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        late = asyncio.create_task(self._let_go())
        try:
            await super().shutdown(sockets)
        finally:
            late.cancel()

    async def _let_go(self) -> None:
        while True:
            for connection in [*self.server_state.connections]:
                if not connection.transport.is_closing():
                    connection.shutdown()
            await asyncio.sleep(LOOK_SECONDS)


def serve(app: ASGIApp, listening: socket.socket) -> None:
    """Serve until Ctrl-C."""
    make_server(app).run(sockets=[listening])


def open_page(url: str) -> None:
    """Open a URL in a graphical browser, not in a terminal browser."""
    try:
        browser = webbrowser.get()
    except webbrowser.Error:
        return
    if type(browser) is not webbrowser.GenericBrowser:
        browser.open(url)
