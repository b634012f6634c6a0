"""RULERANK_LONG_TESTS=1 runs what takes minutes, and more rounds of what tries things out at random."""

import os

import pytest

LONG = bool(os.environ.get("RULERANK_LONG_TESTS"))
long = pytest.mark.skipif(not LONG, reason="long: set RULERANK_LONG_TESTS=1")
