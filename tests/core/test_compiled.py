import os
import subprocess
import sys

from rulerank.core.compiled import MESSAGE

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
