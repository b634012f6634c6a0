"""Packages load their modules when a name is used, and say what they have."""

import subprocess
import sys

import pytest

import rulerank.evaluation
import rulerank.io
import rulerank.selection


@pytest.mark.parametrize("package", [rulerank.io, rulerank.selection], ids=lambda p: p.__name__)
def test_every_name_of_a_package_is_there(package):
    for name in package.__all__:
        assert getattr(package, name) is not None


def test_a_name_that_is_not_there_lists_those_that_are():
    with pytest.raises(AttributeError, match=r"^module 'rulerank.selection' has no attribute 'tun'; it has select, "):
        rulerank.selection.tun  # noqa: B018


def test_importing_a_package_loads_nothing_heavy():
    code = (
        "import sys, rulerank.io, rulerank.selection\n"
        "print([m for m in ('numpy', 'numba', 'sklearn', 'polars') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
