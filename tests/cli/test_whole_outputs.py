"""All bytes or an error, whatever stdout is; and an end without a traceback when a signal comes."""

import os
import re
import signal
import subprocess
import sys
import time

import pytest

from rulerank.io.files import write_bytes

PROGRAM = [sys.executable, "-m", "rulerank"]
UNBUFFERED = os.environ | {"PYTHONUNBUFFERED": "1"}


class ShortRaw:
    """A file without a buffer that takes seven bytes at a time, as a slow pipe may."""

    def __init__(self):
        self.content = b""

    def write(self, content):
        self.content += bytes(content[:7])
        return min(7, len(content))

    def flush(self):
        pass


def test_a_file_that_takes_a_few_bytes_at_a_time_gets_all():
    slow = ShortRaw()
    write_bytes(slow, b"2 qid:1 1:0.5\n" * 9)
    assert slow.content == b"2 qid:1 1:0.5\n" * 9


def test_a_file_that_takes_no_more_is_an_error():
    full = ShortRaw()
    full.write = lambda content: None
    with pytest.raises(BlockingIOError, match="does not accept more data"):
        write_bytes(full, b"x")


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="needs /dev/full")
@pytest.mark.parametrize(
    ("line", "unbuffered"), [("make-data - --queries 3", "1"), ("methods --json", ""), ("--help", "1")]
)
def test_a_full_disk_is_an_error(line, unbuffered):
    env = os.environ | {"PYTHONUNBUFFERED": unbuffered}
    with open("/dev/full", "wb") as full:
        done = subprocess.run([*PROGRAM, *line.split()], stdout=full, stderr=subprocess.PIPE, env=env, check=False)
    assert (done.returncode, done.stderr.decode().splitlines()[-1]) == (2, "error: [Errno 28] No space left on device")


def test_a_pipe_that_does_not_wait_and_is_not_read_is_an_error():
    reads, writes = os.pipe()
    os.set_blocking(writes, False)
    command = [*PROGRAM, "make-data", "-", "--queries", "200"]  # more than the 64 kB that fit
    process = subprocess.Popen(command, stdout=writes, stderr=subprocess.PIPE, env=UNBUFFERED)
    os.close(writes)
    process.stderr.read()
    code = process.wait()
    os.close(reads)
    assert code == 2


@pytest.mark.parametrize(("stop", "moment"), [(signal.SIGINT, "working"), (signal.SIGTERM, "starting")])
def test_compare_ends_without_a_traceback(tmp_path, run, stop, moment):
    assert run("make-data", str(tmp_path / "w"), "--folds", "3", "--queries", "60").code == 0
    command = [*PROGRAM, *["compare", "w", "--jobs", "2", "--method", "RE-GR", "--method", "QI", "--method", "RE-QR"]]
    streams = {"stdout": subprocess.DEVNULL, "stderr": subprocess.PIPE}
    process = subprocess.Popen(command, cwd=tmp_path, start_new_session=True, **streams)
    cells = tmp_path / "report" / "cells"  # made just before the workers start
    while process.poll() is None and not (cells.is_dir() and (moment == "starting" or any(cells.iterdir()))):
        time.sleep(0.01)
    os.killpg(process.pid, stop)  # as a terminal does: everybody hears it
    told = process.stderr.read().decode().splitlines()
    assert process.wait() in (130, 143)
    assert [line for line in told if not re.match(r"\d+ of \d+ cells", line)] == []  # how far a slow one is
