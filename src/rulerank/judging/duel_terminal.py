"""Duels in the terminal: two documents of a query, a grade for each, and what follows from all of them."""

from __future__ import annotations

from collections.abc import Callable

from rulerank.judging.check import Check, DuelTask
from rulerank.judging.label_files import PERSON
from rulerank.judging.labels import JudgingTask
from rulerank.judging.terminal import NOTHING, say

KEYS = "s skip, u undo, q save and quit"


def check_in_terminal(check: Check, read: Callable[[], str], max_grade: int) -> str:
    """Ask until the check has decided, no duel is left or the person has had enough; say which: over, none or quit.

    read: gives what is typed; EOFError or KeyboardInterrupt end it.
    """
    keys = f"Keys: 0 to {max_grade} grade, {KEYS}."
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
                check.store.add(doc.query, doc.doc, int(answer), PERSON)
                break
            say(keys)
    return ""


def _shown(doc: JudgingTask) -> str:
    texts = [text for text in (doc.title, doc.text, doc.url) if text]
    return " | ".join(texts)[:400] if texts else doc.doc
