"""How the server ends."""

import asyncio
from types import SimpleNamespace

import pytest

pytest.importorskip("uvicorn", reason="needs the extra serve")

from rulerank.web.server import make_server


class Connection:
    """One that stays until it is told to go."""

    def __init__(self, server):
        self.server, self.n_told = server, 0
        self.transport = SimpleNamespace(is_closing=lambda: self.n_told > 0)
        server.server_state.connections.add(self)

    def shutdown(self):
        self.n_told += 1
        self.server.server_state.connections.discard(self)


async def end_with_connections(grace):
    """End a server that has a connection, and gets another one once it has told those of now to go."""
    server = make_server(lambda scope, receive, send: None, grace=grace)
    server.config.load()
    server.servers, server.lifespan = [], server.config.lifespan_class(server.config)
    early = Connection(server)
    ending = asyncio.create_task(server.shutdown())
    while not early.n_told:
        await asyncio.sleep(0)
    late = Connection(server)
    await ending
    return early, late


def test_a_connection_that_is_set_up_after_the_signal_is_let_go_and_not_cut_off_when_the_grace_is_over(caplog):
    early, late = asyncio.run(end_with_connections(grace=60))
    assert (early.n_told, late.n_told) == (1, 1)
    assert "graceful shutdown exceeded" not in caplog.text
