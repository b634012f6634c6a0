"""Label documents in the terminal, one at a time: a key for the grade, or to go back, skip, look closer or stop."""

from __future__ import annotations

import os
import select
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

import numpy as np

from rulerank.judging.label_files import LabelFile, Pool
from rulerank.sampling.selection import Selection
from rulerank.sampling.ssar import SSAR

KEYS = "f features, s skip, u undo, q save and quit"


@dataclass
class Session:
    """One sitting of a judge."""

    pool: Pool
    ssar: SSAR
    labels: dict[int, int]  # by row, in the order they were given
    file: LabelFile
    max_grade: int
    budget: int | None  # answers to ask for at most
    read: Callable[[], str]  # what the judge types; EOFError or KeyboardInterrupt end the session
    skipped: set[int] = field(default_factory=set)
    n_asked: int = 0

    def run(self) -> str:
        """Ask until the selection stops by itself, the budget is used up or the judge has had enough; say which."""
        self.selection = self._begin()
        say(f"{len(self.pool.data):,} documents to choose from. {self._help()}")
        while (row := self.selection.next(skip=self.skipped)) is not None:
            if self.n_asked == self.budget:
                return "budget"
            try:
                answer = self._ask(row)
            except (EOFError, KeyboardInterrupt):
                say("")
                return "quit"
            if answer == "q":
                return "quit"
            if answer == "u":
                self._undo()
            elif answer == "s":
                self.skipped.add(row)
            else:
                self.file.add(row, int(answer))
                self.labels[row] = int(answer)
                self.n_asked += 1
                self.selection.add(row, int(answer))
        return "natural" if self.selection.next() is None else "skipped"

    def _begin(self) -> Selection:
        return self.ssar.begin(self.pool.data, start=self.labels)

    def _ask(self, row: int) -> str:
        """Return a grade, or u, s or q."""
        data = self.pool.data
        assert data.docid is not None
        so_far = f"label {len(self.labels) + 1}, {self.selection.closeness:.0%} of the way to the stop"
        say(f"\nquery {data.qid[row]}   document {data.docid[row]}   ({so_far})")
        if data.comment is not None and data.comment[row]:
            say(f"  {data.comment[row]}")
        while True:
            say("grade? ", end="")
            answer = self.read().strip().lower()
            if answer in ("u", "s", "q") or (answer.isdecimal() and int(answer) <= self.max_grade):
                return answer
            say(self._features(row) if answer == "f" else self._help())

    def _undo(self) -> None:
        if not self.n_asked:
            say("there is nothing to undo: no label was given in this session")
            return
        self.file.undo()
        self.labels.popitem()
        self.n_asked -= 1
        self.selection = self._begin()

    def _features(self, row: int) -> str:
        """Return the document's features beside where they lie among those of its query, the most unusual first."""
        data = self.pool.data
        of_query = data.X[data.qid == data.qid[row]]
        x = data.X[row]
        below = (of_query < x).sum(axis=0) + 0.5 * ((of_query == x).sum(axis=0) - 1)
        share = below / max(1, len(of_query) - 1)
        order = np.argsort(-np.abs(np.nan_to_num(share, nan=0.5) - 0.5), kind="stable")
        width = max(map(len, data.feature_names))
        lines = [
            f"  {data.feature_names[f]:{width}}  "
            + ("missing" if np.isnan(x[f]) else f"{x[f]:10.4g}   above {share[f]:4.0%} of the query's documents")
            for f in order
        ]
        return "\n".join(lines)

    def _help(self) -> str:
        return f"Keys: 0 to {self.max_grade} grade, {KEYS}."


def say(text: str, end: str = "\n") -> None:
    """Print to stderr: stdout is for results."""
    print(text, end=end, file=sys.stderr, flush=True)


@contextmanager
def answers(max_grade: int) -> Iterator[Callable[[], str]]:
    """Give what reads one key from a terminal, or one line where keys are not enough or nobody sits there."""
    try:
        import termios
        import tty
    except ImportError:  # not on Windows
        yield read_line
        return
    if not sys.stdin.isatty() or max_grade > 9:
        yield read_line
        return
    before = termios.tcgetattr(sys.stdin)
    tty.setcbreak(sys.stdin, termios.TCSANOW)  # once: changing it for every key would lose keys typed ahead
    mode = termios.tcgetattr(sys.stdin)
    mode[3] &= ~termios.ISIG  # Ctrl-C is a key too: a signal may reach a thread that does not wait for it
    termios.tcsetattr(sys.stdin, termios.TCSANOW, mode)
    try:
        yield read_key
    finally:
        termios.tcsetattr(sys.stdin, termios.TCSANOW, before)


def read_key() -> str:
    """Wait for a key and show it; one that stands for several characters, such as an arrow, counts as none."""
    key = os.read(sys.stdin.fileno(), 1)
    if key in (b"", b"\x03", b"\x04"):  # Ctrl-C, Ctrl-D
        raise EOFError
    if key == b"\x1b":
        while select.select([sys.stdin], [], [], 0.01)[0]:
            os.read(sys.stdin.fileno(), 1)
    shown = key.decode("ascii", "ignore")
    say(shown if shown.isprintable() else "")
    return shown


def read_line() -> str:
    """Read an answer that ends with a line."""
    line = sys.stdin.readline()
    if not line:
        raise EOFError
    return line
