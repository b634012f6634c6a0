"""What each grade means: a few lines of text that the raters see beside the buttons."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from rulerank.errors import ReadError

NAMES = {  # the words on the buttons, by the highest grade
    1: ("not relevant", "relevant"),
    2: ("not relevant", "relevant", "highly relevant"),
    3: ("not relevant", "marginal", "relevant", "highly relevant"),
    4: ("bad", "fair", "good", "excellent", "perfect"),
}
LONGEST_NAME = 24  # characters, on a button
GRADE_LINE = re.compile(r"(\d+)\s*:\s*(.*)")
DASH = re.compile(r"\s+[-\N{EN DASH}\N{EM DASH}]\s+")


@dataclass(frozen=True, slots=True)
class GradeText:
    """One grade: its number, the word on its button, and what it takes to give it."""

    grade: int
    name: str
    meaning: str = ""


@dataclass(frozen=True, slots=True)
class Guidelines:
    """What the raters are told: a text for all, and one per grade."""

    intro: str
    grades: tuple[GradeText, ...]


def default_guidelines(max_grade: int) -> Guidelines:
    """Return the words for the buttons when there is no file.

    >>> [text.name for text in default_guidelines(2).grades]
    ['not relevant', 'relevant', 'highly relevant']
    """
    names = NAMES.get(max_grade, ("",) * (max_grade + 1))
    return Guidelines("", tuple(GradeText(grade, name) for grade, name in enumerate(names)))


def read_guidelines(path: str | Path, max_grade: int) -> Guidelines:
    """Read guidelines from a text file."""
    try:
        text = Path(path).read_text(encoding="utf-8-sig")
    except UnicodeDecodeError:
        raise ReadError(str(path), None, "the guidelines must be text in UTF-8") from None
    return parse_guidelines(text, max_grade, str(path))


def parse_guidelines(text: str, max_grade: int, source: str = "<guidelines>") -> Guidelines:
    """Read guidelines: lines `GRADE: name - meaning`, each until the next; what comes before is for all grades.

    >>> found = parse_guidelines("Think of a student.\\n0: no - Off topic.\\n1: yes - On topic,\\n  in part.", 1)
    >>> found.intro
    'Think of a student.'
    >>> found.grades[1]
    GradeText(grade=1, name='yes', meaning='On topic, in part.')

    Without a dash, a short text is the name, and a long one the meaning of a button that keeps its usual word.
    """
    intro: list[str] = []
    lines_of: dict[int, list[str]] = {}
    here = intro
    for number, line in enumerate(text.splitlines(), start=1):
        found = GRADE_LINE.fullmatch(line.strip())
        if found:
            grade = int(found[1])
            if grade > max_grade:
                raise ReadError(source, number, f"expected a grade from 0 to {max_grade}, got {grade}")
            if grade in lines_of:
                raise ReadError(source, number, f"grade {grade} is explained twice")
            here = lines_of[grade] = []
            line = found[2]
        here.append(line.strip())
    texts = []
    for usual in default_guidelines(max_grade).grades:
        words = " ".join(filter(None, lines_of.get(usual.grade, [])))
        name, meaning = _split(words)
        texts.append(GradeText(usual.grade, name or usual.name, meaning))
    return Guidelines("\n".join(intro).strip(), tuple(texts))


def _split(words: str) -> tuple[str, str]:
    name, *meaning = DASH.split(words, maxsplit=1)
    if len(name) > LONGEST_NAME:  # a dash in a sentence ends no name
        return "", words
    return name, "".join(meaning)
