"""The libraries behind the adapters: found without loading them, kept from phoning home."""

import doctest
import importlib
import os
import socket
from importlib.util import find_spec

import pytest

# read when they are imported, which these tests alone do
os.environ["LANGSMITH_TRACING"] = "false"
os.environ["LANGCHAIN_TRACING_V2"] = "false"
os.environ["PYTERRIER_DISABLE_NOTEBOOK_SCHEMATIC"] = "1"


@pytest.fixture(autouse=True)
def no_network(monkeypatch):
    def refuse(self, address):
        raise AssertionError(f"an adapter's test connects to {address}")

    monkeypatch.setattr(socket.socket, "connect", refuse)


@pytest.fixture
def adapter():
    """Import an adapter, or skip where its library is missing."""

    def load(name, package):
        if find_spec(package) is None:
            pytest.skip(f"needs {package}: pip install 'rulerank[adapters]'")
        return importlib.import_module(f"rulerank.serve.adapters.{name}")

    return load


@pytest.fixture
def examples_run():
    """Run the docstrings of an adapter, which are not collected with the others."""

    def run(module):
        found = doctest.testmod(module, optionflags=doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS)
        assert found.attempted > 0
        assert found.failed == 0

    return run
