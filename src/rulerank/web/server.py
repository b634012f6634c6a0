"""Run the application on this machine until someone presses Ctrl-C."""

from __future__ import annotations

import asyncio
import ipaddress
import math
import socket
import webbrowser
from contextlib import suppress

import uvicorn
from starlette.types import ASGIApp

from rulerank.errors import DataError, RulerankError
from rulerank.web.connections import HEAD_SECONDS, PatientProtocol

USUAL_PORT = 8765
LEAST_TOKEN = 12  # characters
LOOK_SECONDS = 0.05  # between two looks for connections while it ends
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


def server_config(app: ASGIApp, grace: float = 5) -> uvicorn.Config:
    """Return how applications are served; grace: seconds in which to answer what has begun when it is to stop."""
    return uvicorn.Config(
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


class Server(uvicorn.Server):
    """Lets go of connections that come in while it ends, too.

    uvicorn tells connections once that the end has come. One that was accepted just before, and is set up just after,
    would go on asking until the grace is over, and its last request would then be cut off with a 500.
    """

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


def make_server(app: ASGIApp) -> Server:
    """Return a server that keeps quiet unless something goes wrong."""
    return Server(server_config(app))


def serve(app: ASGIApp, listening: socket.socket) -> None:
    """Answer requests until Ctrl-C."""
    with suppress(KeyboardInterrupt):  # uvicorn has finished what was under way, and raises it again
        make_server(app).run(sockets=[listening])


def open_page(url: str) -> None:
    """Open an address in a browser with windows; one that runs in the terminal would be in the way."""
    try:
        browser = webbrowser.get()
    except webbrowser.Error:
        return
    if type(browser) is not webbrowser.GenericBrowser:
        browser.open(url)
