"""The public names exist, load lazily, and stay functions whatever is imported before."""

import subprocess
import sys

import pytest

import rulerank as rr


@pytest.mark.parametrize("name", rr.__all__)
def test_every_public_name_is_there_and_documented(name):
    assert getattr(rr, name).__doc__


def test_an_unknown_name_lists_what_there_is():
    with pytest.raises(AttributeError, match="module 'rulerank' has no attribute 'read_leter'; it has Dataset, Fold"):
        rr.read_leter  # noqa: B018


def test_importing_loads_nothing_heavy():
    code = "import sys, rulerank; print([m for m in ('numpy', 'numba', 'sklearn', 'polars') if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_no_public_name_is_hidden_by_a_module():
    code = "import rulerank.evaluation.measures, rulerank.io.formats, rulerank as rr; print(callable(rr.evaluate))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "True"
