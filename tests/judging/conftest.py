"""Stores to test: a new SQLite file, and an empty database of a real PostgreSQL server where one can be started."""

import pytest

from judging_data import SYNTHETIC
from postgres_server import CannotStartError, postgres_server
from rulerank.judging.loop import Judging
from rulerank.judging.pool import Pool
from rulerank.judging.store import LabelStore


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


@pytest.fixture
def store(tmp_path):
    with LabelStore(tmp_path / "labels.db") as made:
        yield made


@pytest.fixture
def judging(store):
    return Judging(Pool(SYNTHETIC), store, max_grade=2)
