"""Stores to test: a new SQLite file, and an empty database of a real PostgreSQL server where one can be started."""

import pytest

from postgres_server import CannotStartError, postgres_server


@pytest.fixture(scope="session")
def postgres():
    """What makes URLs of empty PostgreSQL databases."""
    try:
        with postgres_server() as databases:
            yield databases
    except CannotStartError as error:
        pytest.skip(f"needs a PostgreSQL server: {error}")


@pytest.fixture(params=["sqlite", "postgresql"])
def target(request, tmp_path):
    """Where a new label store can be made."""
    if request.param == "sqlite":
        return tmp_path / "labels.db"
    return request.getfixturevalue("postgres").new_url()
