"""The public names exist, load lazily, stay functions whatever is imported before, and old names lead to the new
ones."""

import subprocess
import sys

import pytest

import rulerank as rr
import rulerank.selection

OF_MODULES = [f"{module}.{name}" for module in rr.MODULES for name in getattr(getattr(rr, module), "__all__", ())]


@pytest.mark.parametrize("name", [*rr.__all__, *OF_MODULES])
def test_every_public_name_is_there_and_documented(name):
    value = rr
    for part in name.split("."):
        assert part in dir(value)
        value = getattr(value, part)
    assert value.__doc__


def test_about_thirty_names_are_on_top_and_the_modules_beside_them():
    assert len(rr.__all__) <= 35
    assert set(dir(rr)) == {*rr.__all__, *rr.MODULES, "__version__"}


def test_an_unknown_name_lists_what_there_is():
    with pytest.raises(AttributeError, match="module 'rulerank' has no attribute 'read_leter'; it has Dataset, read"):
        rr.read_leter  # noqa: B018
    with pytest.raises(AttributeError, match=r"'rulerank\.io' has no attribute 'write_leter'; it has read_letor, "):
        rr.io.write_leter  # noqa: B018


def test_importing_loads_nothing_heavy():
    heavy = "[m for m in ('numpy', 'numba', 'sklearn', 'polars') if m in sys.modules]"
    code = f"import sys, rulerank.io, rulerank.selection; print({heavy})"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_every_name_of_a_package_is_there_and_another_lists_them():
    for package in (rr.io, rulerank.selection):
        assert all(getattr(package, name) is not None for name in package.__all__)
    with pytest.raises(AttributeError, match=r"^module 'rulerank.selection' has no attribute 'tun'; it has select, "):
        rulerank.selection.tun  # noqa: B018


def test_no_public_name_is_hidden_by_a_module():
    files = "rulerank.evaluation.measures, rulerank.io.formats, rulerank.experiment.curve, rulerank.scale.partitions"
    names = "rr.evaluate, rr.io.convert, rr.experiment.label_curve, rr.scale.fit_partitions"
    code = f"import {files}, rulerank as rr; print(all(map(callable, [{names}])))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "True"
