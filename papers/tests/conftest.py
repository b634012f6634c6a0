"""The real data, when RULERANK_DATA names its folder."""

import os
from pathlib import Path

import pytest


@pytest.fixture(scope="session")
def letor() -> Path:
    """The folder with letor3-ohsumed/Fold1/train.txt and its sisters."""
    if not os.environ.get("RULERANK_DATA"):
        pytest.skip("needs the real LETOR data: RULERANK_DATA is not set")
    return Path(os.environ["RULERANK_DATA"])
