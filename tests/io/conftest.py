"""Files that tests of reading name."""

import gzip
import json

import pytest


@pytest.fixture
def write(tmp_path, monkeypatch):
    """Write a file into the current folder: text as it is, anything else as JSON; return its name."""
    monkeypatch.chdir(tmp_path)

    def write(name, content):
        text = content if isinstance(content, str) else json.dumps(content)
        (tmp_path / name).write_bytes(gzip.compress(text.encode()) if name.endswith(".gz") else text.encode())
        return name

    return write
