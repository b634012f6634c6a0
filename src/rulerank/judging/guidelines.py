"""The grading scale: grades, their names and descriptions."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from rulerank.errors import ReadError

NAMES = {  # names on the buttons, by the highest grade
    1: ("not relevant", "relevant"),
    2: ("not relevant", "relevant", "highly relevant"),
    3: ("not relevant", "marginal", "relevant", "highly relevant"),
    4: ("bad", "fair", "good", "excellent", "perfect"),
}
USUAL = 4  # the default highest grade
HIGHEST = 9  # one key per grade
LONGEST_NAME = 24  # characters, on a button
GRADE_LINE = re.compile(r"(\d+)\s*:\s*(.*)")
DASH = re.compile(r"\s+[-\N{EN DASH}\N{EM DASH}]\s+")


@dataclass(frozen=True, slots=True)
class GradeText:
    """One grade: its number, the name on its button, and its description."""

    grade: int
    name: str
    meaning: str = ""


@dataclass(frozen=True, slots=True)
class Guidelines:
    """An introduction for raters, and the grades."""

    intro: str
    grades: tuple[GradeText, ...]

    @property
    def max_grade(self) -> int:
        return self.grades[-1].grade


def default_guidelines(max_grade: int) -> Guidelines:
    """Return the default names of the grades.

    >>> [text.name for text in default_guidelines(2).grades]
    ['not relevant', 'relevant', 'highly relevant']
    """
    names = NAMES.get(max_grade, ("",) * (max_grade + 1))
    return Guidelines("", tuple(GradeText(grade, name) for grade, name in enumerate(names)))


def usual_guidelines(grades: Iterable[int]) -> Guidelines:
    """Return the default names up to the highest of known grades; 0 to 4 if there is none, or more than keys.

    >>> [usual_guidelines(known).max_grade for known in ([0, 3, 1], [], [0, 31])]
    [3, 4, 4]
    """
    highest = max(grades, default=0)
    return default_guidelines(highest if 1 <= highest <= HIGHEST else USUAL)


def read_guidelines(path: str | Path) -> Guidelines:
    """Read guidelines from a text file."""
    try:
        text = Path(path).read_text(encoding="utf-8-sig")
    except UnicodeDecodeError:
        raise ReadError(str(path), None, "the guidelines must be text in UTF-8") from None
    return parse_guidelines(text, str(path))


def parse_guidelines(text: str, source: str = "<guidelines>") -> Guidelines:
    """Parse guidelines: an introduction, then `GRADE: name - description` per grade, each until the next.

    Only these grades can be given. Without a dash, a short text is the name and a long one the description.

    >>> found = parse_guidelines("Think of a student.\\n0: no\\n1: yes - On topic,\\n  in part.")
    >>> found.intro, found.max_grade, found.grades[1]
    ('Think of a student.', 1, GradeText(grade=1, name='yes', meaning='On topic, in part.'))
    """
    intro: list[str] = []
    words: dict[int, list[str]] = {}  # of each grade
    here = intro
    for number, line in enumerate(text.splitlines(), start=1):
        line = line.strip()
        if found := GRADE_LINE.fullmatch(line):
            grade, line = int(found[1]), found[2]
            if grade in words or grade > HIGHEST:
                raise ReadError(source, number, f"expected each grade from 0 to {HIGHEST} once, got {grade}")
            here = words[grade] = []
        here.append(line)
    if words and (len(words) == 1 or max(words) >= len(words)):
        missing = next(grade for grade in range(len(words) + 1) if grade not in words)
        raise ReadError(source, None, f"grade {missing} is missing: add a line such as {missing}: name - meaning")
    usual = default_guidelines(len(words) - 1 if words else USUAL)
    texts = []
    for grade, lines in sorted(words.items()):
        text = " ".join(filter(None, lines))
        name, *meaning = DASH.split(text, maxsplit=1)
        if len(name) > LONGEST_NAME:  # the dash belongs to a sentence
            name, meaning = usual.grades[grade].name, [text]
        texts.append(GradeText(grade, name, "".join(meaning)))
    return Guidelines("\n".join(intro).strip(), tuple(texts) or usual.grades)
