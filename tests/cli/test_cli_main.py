"""What holds for the whole command line: exit codes, streams, and no traceback for a user's mistake."""

import os
import re
import subprocess
import sys
import warnings
from pathlib import Path

import rulerank
from rulerank import cli


def shell(line):
    """Run a line in a real shell, with the installed rulerank."""
    own = os.environ | {"PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"}
    return subprocess.run(["bash", "-c", line], capture_output=True, text=True, check=False, env=own)


def test_the_version_is_the_package_s_and_the_library_s_own_way_to_warn_comes_back(run):
    before = warnings.showwarning
    assert run("--version") == (0, f"rulerank {rulerank.__version__}\n", "")
    assert warnings.showwarning is before


def test_help_names_every_command_and_cuts_no_summary(run):
    done = run("--help")
    assert done.code == 0
    lines = done.out.partition("Commands:\n")[2].splitlines()[: len(cli.COMMANDS)]
    assert {line.split()[0] for line in lines} == {command.__name__.replace("_", "-") for command in cli.COMMANDS}
    assert all(re.search(r"[^.]\.$", line) for line in lines)


def test_help_loads_nothing_heavy():
    program = (
        "import sys; from rulerank.cli import app; app(['evaluate', '--help'], standalone_mode=False); "
        "print({'numpy', 'polars', 'sklearn', 'numba', 'rich'} & set(sys.modules), file=sys.stderr)"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stderr == "set()\n"


def test_an_interrupt_ends_with_130_and_no_traceback(run, monkeypatch):
    def interrupt(*args, **kwargs):
        raise KeyboardInterrupt

    monkeypatch.setattr("rulerank.datasets.ranking.make_ranking", interrupt)
    assert run("make-data", "x.txt") == (130, "", "")


def test_a_warning_of_the_library_is_one_line(run, folder):
    Path("odd.csv").write_text("qid,grade,film,a\n1,0,Dr No,1\n1,1,Jaws,2\n")
    [line] = run("convert", "odd.csv", "odd.txt").err.splitlines()
    assert line.startswith("warning: columns left out because they do not hold numbers: 'film' (String); to read one")


def test_a_mistake_of_the_system_is_one_line_too(run, folder):
    done = run("make-data", "test.txt", "--folds", "3")
    assert done == (2, "", f"error: {Path('test.txt', 'Fold1')}: Not a directory\n")


def test_a_reader_that_has_seen_enough_ends_the_command_quietly():
    done = shell("rulerank make-data - --queries 300 | head -1")
    assert done.stdout.startswith("qid,docid,grade,bm25_body")
    assert not re.search("Traceback|Broken", done.stderr)
    assert shell("rulerank --help | true; rulerank evaluate --help | head -1").stderr == ""


def test_commands_pipe_into_one_another():
    done = shell("rulerank make-data - --queries 20 2>/dev/null | rulerank evaluate - --feature bm25_body -m MAP")
    assert done.stderr == ""
    assert done.stdout.split()[:6] == ["ranking", "MAP", "queries", "docs", "tied", "bm25_body"]


def test_closed_streams_are_no_mistake(tmp_path):
    assert shell("rulerank --version >&- && echo fine >&2").stderr == "fine\n"
    make = f"cd {tmp_path}; rulerank make-data w.txt --queries 5"
    done = shell(f"{make} && rulerank evaluate w.txt --feature f1 <&- >&- && echo fine")
    assert done.stdout.endswith("fine\n")


def test_text_that_the_terminal_cannot_write_is_one_line(tmp_path):
    table = f"cd {tmp_path}; printf 'qid,grade,a\\n\\303\\274,1,2\\n\\303\\274,0,1\\n' > u.csv; "
    done = shell(f"{table} PYTHONUTF8=0 PYTHONIOENCODING=ascii rulerank evaluate u.csv --feature a --per-query")
    assert done.stderr.startswith("error: ascii cannot write \\xfc; set PYTHONIOENCODING=utf-8")


def test_a_warning_is_printed_once(capsys):
    warn = cli.Warn()
    for message in ("one", "other", "one"):
        warn(UserWarning(message), UserWarning, "file.py", 1)
    assert capsys.readouterr().err == "warning: one\nwarning: other\n"
