"""What several test files share: the command line, and the real data, when RULERANK_DATA names its folder."""

import json
import os
import sys
from pathlib import Path
from typing import NamedTuple

import pytest
from hypothesis import HealthCheck, settings

pytest.register_assert_rewrite("contract_checks")  # its failures are shown as those of tests
# compiled loops make the first example slow; deadlines would fail on noise, not on mistakes
settings.register_profile("rulerank", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("rulerank")


class Done(NamedTuple):
    code: int
    out: str
    err: str


@pytest.fixture
def run(monkeypatch, capsys):
    """Call the command line in this process, as a user does: run("evaluate", "test.txt", ...) -> code, out, err.

    run.json("evaluate", "test.txt", ...) adds --json and returns the answer, of a command that must succeed.
    """
    from rulerank.cli import main  # most tests do without

    def run(*args):
        monkeypatch.setattr(sys, "argv", ["rulerank", *args])
        with pytest.raises(SystemExit) as stop:
            main()
        return Done(stop.value.code or 0, *capsys.readouterr())

    def answer(*args):
        done = run(*args, "--json")
        assert done.code == 0, done.err
        return json.loads(done.out)

    run.json = answer
    return run


@pytest.fixture(scope="session")
def letor() -> Path:
    """The folder with letor3-ohsumed/Fold1/train.txt and its sisters."""
    return _folder("RULERANK_DATA")


@pytest.fixture(scope="session")
def official() -> Path:
    """The folder with official.csv: what the LETOR evaluation scripts print for some score files."""
    return _folder("RULERANK_OFFICIAL")


def _folder(variable: str) -> Path:
    if not os.environ.get(variable):
        pytest.skip(f"needs the real LETOR data: {variable} is not set")
    return Path(os.environ[variable])
