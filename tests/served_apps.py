"""An application for clients in this process, and on a server that starts when its address is asked for."""

import threading
from contextlib import nullcontext

import httpx
from starlette.responses import Response
from starlette.testclient import TestClient

from rulerank.web.server import make_server, open_socket, url_of


class Served:
    """An application, in this process or from a thread that serves it."""

    def __init__(self, app, port=0):
        self.away = ""  # a path that nobody answers

        async def answer(scope, receive, send):
            asked = Response("away", 503) if scope.get("path") == self.away else app
            await asked(scope, receive, send)

        self.app = answer
        self._running = None
        self.port = port or 8765  # of clients, until a server has one
        if port:
            self._start(port)

    def go_away(self, path):
        """Answer nothing sensible to requests for a path, until `come_back`.

        Playwright's `route` is no way to do so on an open page: a request right after it may still get through.
        """
        self.away = path

    def come_back(self):
        self.away = ""

    def _start(self, port=0):
        if self._running is None:
            listening = open_socket("127.0.0.1", port)
            self.port = listening.getsockname()[1]
            server = make_server(self.app)
            thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]})
            self._running = listening, server, thread
            thread.start()
        return self._running

    @property
    def url(self):
        return url_of(self._start()[0])

    @property
    def server(self):
        return self._start()[1]

    def client(self, params=None, **options):
        """Ask the application in this process."""
        options = {"follow_redirects": False, "raise_server_exceptions": False} | options
        client = TestClient(self.app, f"http://127.0.0.1:{self.port}", **options)
        client.params = params or {}
        return nullcontext(client)

    def remote(self):
        """Ask the server."""
        return httpx.Client(base_url=self.url, timeout=60)

    def stop(self):
        if self._running is not None:
            listening, server, thread = self._running
            server.should_exit = True
            thread.join(timeout=120)
            assert not thread.is_alive()
            listening.close()
            self._running = None
