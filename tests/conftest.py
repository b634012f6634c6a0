"""What several test files share: the real data, when RULERANK_DATA names a folder that holds it."""

import os
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

# compiled loops make the first example slow; deadlines would fail on noise, not on mistakes
settings.register_profile("rulerank", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("rulerank")


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
