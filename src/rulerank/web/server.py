"""Run an application on this machine until someone presses Ctrl-C, and let go of connections that stall."""

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
LOOK_SECONDS = 0.05  # between two looks for connections while it ends
MOST_CONNECTIONS = 300  # far more than the raters of a page have, far fewer than files a process may open
HEAD_SECONDS = 15  # how long the head of a request may take to arrive
BACKLOG = 64  # connections taken in one go: with more, files run out before the oldest are let go


class AddressError(RulerankError, OSError):
    """An address on which this machine cannot listen."""


def open_socket(host: str, port: int | None = None) -> socket.socket:
    """Listen on a port; None: the usual one, or any other when that is taken; 0: any.

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
        raise AddressError(f"cannot listen on {host}, port {port}: {reason}; --port 0 takes any free one") from None


def _listen(host: str, port: int) -> socket.socket:
    family, kind, protocol, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
    listening = socket.socket(family, kind, protocol)
    try:
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)  # so that a restart finds its port free
        listening.bind(address)
        listening.listen(BACKLOG)
    except OSError:
        listening.close()
        raise
    return listening


def check_token(host: str, token: str | None, who: str = "rater") -> None:
    """Refuse to open the page to others without a token that is hard to guess.

    >>> check_token("127.0.0.1", None)
    """
    if token is None and not is_loopback(host):
        raise DataError(
            f"--host {host} opens the page to other machines, which needs --token: a secret of at least "
            f"{LEAST_TOKEN} characters that every {who} gets"
        )
    if token is not None and not token.isascii():
        raise DataError("--token must be of ASCII characters: programs could not send others in a header")
    if token is not None and len(token) < LEAST_TOKEN:
        raise DataError(f"--token must have at least {LEAST_TOKEN} characters: got {len(token)}")


def is_loopback(host: str) -> bool:
    """Tell whether only this machine can connect to an address.

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
    """Return the address to open in a browser on this machine."""
    host, port = listening.getsockname()[:2]
    if ipaddress.ip_address(host).is_unspecified:  # all addresses of the machine
        host = "127.0.0.1"
    return f"http://[{host}]:{port}/" if ":" in host else f"http://{host}:{port}/"


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
            self._rest()  # a whole head has come; requests.py has an eye on the body

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
    """Return a server that keeps quiet unless something goes wrong.

    grace: seconds in which to answer what has begun when it is to stop; ready: called once it listens.
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
    """Ends when a signal asks for it, which is a success, and lets go of connections that come in while it ends, too.

    uvicorn tells connections once that the end has come. One that was accepted just before, and is set up just after,
    would go on asking until the grace is over, and its last request would then be cut off with a 500.
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
    """Answer requests until Ctrl-C."""
    make_server(app).run(sockets=[listening])


def open_page(url: str) -> None:
    """Open an address in a browser with windows; one that runs in the terminal would be in the way."""
    try:
        browser = webbrowser.get()
    except webbrowser.Error:
        return
    if type(browser) is not webbrowser.GenericBrowser:
        browser.open(url)
