"""Label documents in the terminal, one at a time or two of a duel: a key for the grade, or to go back, skip or stop."""

from __future__ import annotations

import os
import select
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from rulerank.core.checks import is_whole
from rulerank.dataset import MAX_GRADE
from rulerank.errors import DataError
from rulerank.judging.check import Check, DuelTask
from rulerank.judging.guidelines import Guidelines
from rulerank.judging.label_files import PERSON, keep_answers
from rulerank.judging.labels import JudgingTask
from rulerank.judging.loop import Judging
from rulerank.judging.pool import Pool
from rulerank.judging.sample import Sample, check_budget

KEYS = "f features, s skip, u undo, q save and quit"
DUEL_KEYS = "s skip, u undo, q save and quit"
NOTHING = "there is nothing to undo: no label was given in this session"


def label_in_terminal(
    pool: Pool,
    sampler: Any,
    path: str,
    format: str,
    *,
    labels: dict[int, int],
    max_grade: int,
    budget: int | None,
    guidelines: Guidelines | None = None,
) -> Sample:
    """Ask the person at the terminal, and keep every answer (`keep_answers`); labels: those of the file, by row.

    guidelines: say what the grades mean, and which there are.
    """
    if guidelines is not None:
        max_grade = guidelines.max_grade
    if not is_whole(max_grade, 1, MAX_GRADE):
        raise DataError(f"--max-grade must be between 1 and {MAX_GRADE}: got {max_grade}")
    check_budget(budget)
    with keep_answers(pool, path, labels, format) as store:
        judging = Judging(pool, store, sampler=sampler, max_grade=max_grade)
        with answers(max_grade) as read:
            if guidelines is not None:
                tell_grades(guidelines)
            stop = ask_all(judging, budget, read)
        given = [(row, one.grade) for one in store.labels(PERSON) if (row := pool.rows.get((one.query, one.doc)))
                 is not None and one.grade is not None]  # fmt: skip
        progress = judging.progress(PERSON)
    rows, grades = np.array(given, dtype=np.int64).reshape(-1, 2).T
    return Sample(rows, grades, progress.labelled, stop, progress.closeness)


def tell_grades(guidelines: Guidelines) -> None:
    """Show what the grades mean, with their examples."""
    if guidelines.intro:
        say(guidelines.intro)
    for text in guidelines.grades:
        say(f"  {text.grade} {text.name}{': ' if text.meaning else ''}{text.meaning}")
        for example in text.examples:
            say(f"      for example {example}")


def ask_all(judging: Judging, budget: int | None, read: Callable[[], str]) -> str:
    """Ask until the sampler stops by itself, the budget is used up or the person has had enough; say which.

    read: gives what is typed; EOFError or KeyboardInterrupt end it.
    """
    say(f"{len(judging.pool):,} documents to choose from. {_help(judging)}")
    n_asked = 0
    while (task := judging.next(PERSON)) is not None:
        if n_asked == budget:
            return "budget"
        try:
            answer = _ask(judging, task, read)
        except (EOFError, KeyboardInterrupt):
            say("")
            return "quit"
        if answer == "q":
            return "quit"
        if answer == "s":
            judging.skip(PERSON, task.query, task.doc)
        elif answer != "u":
            judging.grade(PERSON, task.query, task.doc, int(answer), page="terminal")
            n_asked += 1
        elif judging.undo(PERSON) is None:
            say(NOTHING)
        else:
            n_asked -= 1
    stop = judging.stop(PERSON)
    assert stop is not None
    return stop.kind


def _ask(judging: Judging, task: JudgingTask, read: Callable[[], str]) -> str:
    """Return a grade, or u, s or q."""
    pool, row = judging.pool, judging.pool.row(task.query, task.doc)
    progress = judging.progress(PERSON)
    so_far = f"label {progress.labelled + 1}"
    if judging.stops_by_itself:
        so_far += f", {progress.closeness:.0%} of the way to the stop"
    say(f"\nquery {task.query}   document {pool.names[row]}   ({so_far})")
    comment = "" if pool.data.comment is None else pool.data.comment[row]
    title = task.title if task.title != pool.names[row] else ""
    for line in filter(None, (task.query_text, title, comment)):
        say(f"  {line}")
    while True:
        say("grade? ", end="")
        answer = read().strip().lower()
        if answer in ("u", "s", "q") or (answer.isdecimal() and int(answer) <= judging.max_grade):
            return answer
        say(_features(pool, row) if answer == "f" else _help(judging))


def _features(pool: Pool, row: int) -> str:
    """Return the document's features beside where they lie among those of its query, the most unusual first."""
    data = pool.data
    of_query = data.X[pool.rows_of(data.qid[row])]
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


def _help(judging: Judging) -> str:
    return f"Keys: 0 to {judging.max_grade} grade, {KEYS}."


def check_in_terminal(check: Check, read: Callable[[], str], max_grade: int) -> str:
    """Ask until the check has decided, no duel is left or the person has had enough; say which: over, none or quit.

    read: gives what is typed; EOFError or KeyboardInterrupt end it.
    """
    keys = f"Keys: 0 to {max_grade} grade, {DUEL_KEYS}."
    say(f"Two documents of a query, one by each ranking, in an order that tells nothing. Grade both. {keys}")
    while (task := check.next(PERSON)) is not None:
        try:
            answer = _ask_both(check, task, read, max_grade, keys)
        except (EOFError, KeyboardInterrupt):
            say("")
            return "quit"
        if answer == "q":
            return "quit"
        if answer == "s":
            check.skip(PERSON, task.query)
        elif answer == "u" and check.store.undo(PERSON) is None:
            say(NOTHING)
    return "over" if check.tally().over else "none"


def _ask_both(check: Check, task: DuelTask, read: Callable[[], str], max_grade: int, keys: str) -> str:
    """Ask for the grades that the two documents lack; return what ended it: a key, or nothing when both have one."""
    tally = check.tally()
    query_text = task.docs[0].query_text
    named = f"query {task.query}" if query_text is None else f"query {task.query}: {query_text}"
    say(f"\n{named}   (duel {task.number}, {tally.won} : {tally.lost} so far, {tally.drawn} drawn)")
    given = {(label.query, label.doc) for label in check.store.labels()}
    for name, doc in zip("AB", task.docs, strict=True):
        say(f"  {name}  {_shown(doc)}")
    for name, doc in zip("AB", task.docs, strict=True):
        if (doc.query, doc.doc) in given:
            continue
        while True:
            say(f"grade of {name}? ", end="")
            answer = read().strip().lower()
            if answer in ("u", "s", "q"):
                return answer
            if answer.isdecimal() and int(answer) <= max_grade:
                check.store.add(doc.query, doc.doc, int(answer), PERSON, page="terminal")
                break
            say(keys)
    return ""


def _shown(doc: JudgingTask) -> str:
    texts = [text for text in (doc.title, doc.text, doc.url) if text]
    return " | ".join(texts)[:400] if texts else doc.doc


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
