import os
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import rulerank
from rulerank.core.compiled import MESSAGE, NO_CACHE, compiled, sort_places

CODE = """
import logging, sys
logging.basicConfig(level=logging.INFO, stream=sys.stdout, format="%(message)s")
import numpy as np
from rulerank.normalize import normalize_by_query
normalize_by_query(np.ones((2, 1)), np.zeros(2, dtype=int), "minmax")
"""


def run(folder):
    environment = os.environ | {"NUMBA_CACHE_DIR": str(folder), "NUMBA_DISABLE_JIT": "0"}
    return subprocess.run([sys.executable, "-c", CODE], capture_output=True, text=True, check=True, env=environment)


def test_the_first_compile_ever_is_said_to_be_that_and_later_processes_are_silent(tmp_path):
    first, second = run(tmp_path), run(tmp_path)
    assert first.stdout == f"{MESSAGE}\n"
    assert first.stderr == ""  # not a terminal: only the log
    assert second.stdout == ""


def test_on_a_terminal_it_is_printed(monkeypatch, capsys):
    from rulerank.core import compiled

    monkeypatch.setattr(compiled, "somebody_looks", lambda: True)
    listener = compiled.FirstTime()
    listener.on_start(None)
    listener.on_start(None)
    assert capsys.readouterr().err == f"{MESSAGE}\n"


FIT = """
import rulerank as rr
world = rr.make_ranking(n_queries=20, docs_per_query=5, n_features=2, seed=0)
print(len(rr.QueryIntercepts(normalize="minmax").fit(world).predict(world)))
"""


def test_where_nothing_can_be_written_loops_are_compiled_without_a_cache_and_one_warning_says_so(tmp_path):
    package = tmp_path / "site" / "rulerank"
    shutil.copytree(Path(rulerank.__file__).parent, package, ignore=shutil.ignore_patterns("__pycache__"))
    for folder in (package, *(path for path in package.rglob("*") if path.is_dir())):
        (folder / "__pycache__").write_text("a file here: not even root can make the folder")
    environment = {name: value for name, value in os.environ.items() if name != "NUMBA_CACHE_DIR"}
    nowhere = str(package / "__pycache__" / "home")
    environment |= {"PYTHONPATH": str(package.parent), "HOME": nowhere, "XDG_CACHE_HOME": nowhere}
    environment |= {"NUMBA_DISABLE_JIT": "0", "PYTHONDONTWRITEBYTECODE": "1"}
    done = subprocess.run([sys.executable, "-c", FIT], capture_output=True, text=True, env=environment)
    assert (done.returncode, done.stdout) == (0, "100\n"), done.stderr
    assert done.stderr.count(NO_CACHE) == 1


def test_other_errors_of_the_compiler_stay_what_they_are(monkeypatch):
    def broken(**options):
        raise RuntimeError("out of order")

    monkeypatch.setattr("rulerank.core.compiled.njit", broken)
    with pytest.raises(RuntimeError, match="out of order"):
        compiled(len)


@pytest.mark.kernels
@given(st.lists(st.integers(-5, 5).map(float), max_size=60))
def test_places_are_those_of_rising_values_each_once(numbers):
    values = np.array(numbers)
    places = np.empty(values.size, dtype=np.int64)
    sort_places(values, places)
    assert sorted(places) == list(range(values.size))
    assert values[places].tolist() == sorted(numbers)
