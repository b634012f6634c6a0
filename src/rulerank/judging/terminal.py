"""Judge in the terminal, one document at a time or two of a duel: the page's loop and store, a line an answer."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import TYPE_CHECKING

from rulerank.judging.duels import MOST
from rulerank.judging.guidelines import Guidelines
from rulerank.judging.labels import JudgingTask
from rulerank.judging.loop import Judging

if TYPE_CHECKING:
    from rulerank.judging.check import Check

PERSON = "you"  # who answers in the terminal
NOTHING = "there is nothing to undo: no label was given in this session"


def read_answer() -> str:
    """Read a line; Ctrl-C, Ctrl-D and the end of a file are q."""
    try:
        line = sys.stdin.readline()
    except KeyboardInterrupt:
        line = ""
    if not line:
        say("")
    return line.strip().lower() if line else "q"


def ask_all(judging: Judging, budget: int | None, read: Callable[[], str] = read_answer) -> str:
    """Ask until the sampler stops by itself, the budget is used up or the person has had enough; say which."""
    keys = f"Keys: 0 to {judging.max_grade} grade, f features, s skip, u undo, q save and quit."
    say(f"{len(judging.pool):,} documents to choose from. {keys}")
    n_asked = 0
    while (task := judging.next(PERSON)) is not None:
        if n_asked == budget:
            return "budget"
        _show(judging, task)
        while (answer := _ask("grade? ", judging.max_grade, read, keys, "fsuq")) == "f":
            for one in judging.feature_values(task.query, task.doc):
                known = "missing" if one.value is None else f"{one.value:.4g}, above {one.percentile:.0f} % of the pool"
                say(f"  {one.name}: {known}")
        if answer == "q":
            return "quit"
        if answer == "s":
            judging.skip(PERSON, task.query, task.doc)
        elif answer != "u":
            judging.grade(PERSON, task.query, task.doc, int(answer), page="terminal")
            n_asked += 1
        elif judging.undo(PERSON, page="terminal") is None:
            say(NOTHING)
        else:
            n_asked -= 1
    stop = judging.stop(PERSON)
    assert stop is not None
    return stop.kind


def check_in_terminal(check: Check, max_grade: int, read: Callable[[], str] = read_answer) -> str:
    """Ask until the check has decided, no duel is left or the person has had enough; say which: over, none or quit."""
    keys = f"Keys: 0 to {max_grade} grade, s skip, u undo, q save and quit."
    say(f"Two documents of a query, one by each ranking, in an order that tells nothing. Grade both. {keys}")
    while (task := check.next(PERSON)) is not None:
        found, query_text = check.comparison(), task.docs[0].query_text
        named = f"query {task.query}" if query_text is None else f"query {task.query}: {query_text}"
        say(f"\n{named}   (duel {task.number}, {found.wins} : {found.losses} so far, {found.ties} drawn)")
        for name, doc in zip("AB", task.docs, strict=True):
            say(f"  {name}  {' | '.join(filter(None, (doc.title, doc.text, doc.url)))[:400] or doc.doc}")
        given = {(label.query, label.doc) for label in check.store.labels()}
        for name, doc in zip("AB", task.docs, strict=True):
            if (doc.query, doc.doc) in given:
                continue
            answer = _ask(f"grade of {name}? ", max_grade, read, keys, "suq")
            if answer == "q":
                return "quit"
            if answer == "s":
                check.skip(PERSON, task.query)
            elif answer == "u" and check.store.undo(PERSON, page="terminal") is None:
                say(NOTHING)
            if not answer.isdecimal():
                break
            check.store.add(doc.query, doc.doc, int(answer), PERSON, page="terminal")
    return "over" if check.comparison().is_over(MOST) else "none"


def tell_grades(guidelines: Guidelines) -> None:
    """Show what the grades mean, with their examples."""
    if guidelines.intro:
        say(guidelines.intro)
    for text in guidelines.grades:
        say(f"  {text.grade} {text.name}{': ' if text.meaning else ''}{text.meaning}")
        for example in text.examples:
            say(f"      for example {example}")


def say(text: str, end: str = "\n") -> None:
    """Print to stderr: stdout is for results."""
    print(text, end=end, file=sys.stderr, flush=True)


def _show(judging: Judging, task: JudgingTask) -> None:
    pool, row = judging.pool, judging.pool.row(task.query, task.doc)
    progress = judging.progress(PERSON)
    stop = f", {progress.closeness:.0%} of the way to the stop" if judging.stops_by_itself else ""
    say(f"\nquery {task.query}   document {pool.names[row]}   (label {progress.labelled + 1}{stop})")
    comment = "" if pool.data.comment is None else pool.data.comment[row]
    title = task.title if task.title != pool.names[row] else ""
    for line in filter(None, (task.query_text, title, comment)):
        say(f"  {line}")


def _ask(prompt: str, max_grade: int, read: Callable[[], str], keys: str, others: str) -> str:
    """Return a grade, or one of the other keys; help with anything else."""
    while True:
        say(prompt, end="")
        answer = read()
        if answer in [*others] or (answer.isdecimal() and int(answer) <= max_grade):
            return answer
        say(keys)
