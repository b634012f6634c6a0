"""What each grade means, with examples: what raters see beside the buttons, and which grades there are."""

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
USUAL = 4  # the highest grade where nobody says otherwise
HIGHEST = 9  # a key each
LONGEST_NAME = 24  # characters, on a button
GRADE_LINE = re.compile(r"(\d+)\s*:\s*(.*)")
NEARLY_GRADE_LINE = re.compile(
    r"0\s*[=.)\-\N{EN DASH}\N{EM DASH}]\s*\D.*"
)  # as people write them; a list of advice begins with 1
EXAMPLE_LINE = re.compile(r"examples?\s*:\s*(.*)", re.IGNORECASE)
DASH = re.compile(r"\s+[-\N{EN DASH}\N{EM DASH}]\s+")


@dataclass(frozen=True, slots=True)
class GradeText:
    """One grade: its number, the word on its button, what it takes to give it, and examples."""

    grade: int
    name: str
    meaning: str = ""
    examples: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Guidelines:
    """What the raters are told: a text for all, and one per grade; there are no other grades."""

    intro: str
    grades: tuple[GradeText, ...]

    @property
    def max_grade(self) -> int:
        return self.grades[-1].grade

    def line(self) -> str:
        """Name the grades in one line.

        >>> default_guidelines(1).line()
        '0 not relevant, 1 relevant'
        """
        return ", ".join(f"{text.grade} {text.name}".strip() for text in self.grades)


def default_guidelines(max_grade: int) -> Guidelines:
    """Return the words for the buttons when there is no file.

    >>> [text.name for text in default_guidelines(2).grades]
    ['not relevant', 'relevant', 'highly relevant']
    """
    names = NAMES.get(max_grade, ("",) * (max_grade + 1))
    return Guidelines("", tuple(GradeText(grade, name) for grade, name in enumerate(names)))


def read_guidelines(path: str | Path, max_grade: int | None = None) -> Guidelines:
    """Read guidelines from a text file; max_grade: what the file must agree with, where it is said elsewhere too."""
    try:
        text = Path(path).read_text(encoding="utf-8-sig")
    except UnicodeDecodeError:
        raise ReadError(str(path), None, "the guidelines must be text in UTF-8") from None
    return parse_guidelines(text, max_grade, str(path))


def parse_guidelines(text: str, max_grade: int | None = None, source: str = "<guidelines>") -> Guidelines:
    """Read guidelines: lines `GRADE: name - meaning`, each until the next; what comes before is for all grades.

    The grades that have a line are those that can be given. Lines `example: ...` below one are examples of it.

    >>> found = parse_guidelines("Think of a student.\\n0: no\\n1: yes - On topic,\\n  in part.\\n  example: a list")
    >>> found.intro, found.max_grade
    ('Think of a student.', 1)
    >>> found.grades[1]
    GradeText(grade=1, name='yes', meaning='On topic, in part.', examples=('a list',))

    Without a dash, a short text is the name, and a long one the meaning of a button that keeps its usual word.
    """
    intro: list[str] = []
    parts: dict[int, list[list[str]]] = {}  # of each grade: what it means, then its examples
    line_of: dict[int, int] = {}
    here = intro
    for number, line in enumerate(text.splitlines(), start=1):
        line = line.strip()
        if found := GRADE_LINE.fullmatch(line):
            grade = int(found[1])
            if grade > HIGHEST:
                raise ReadError(source, number, f"expected a grade from 0 to {HIGHEST}, got {grade}")
            if grade in parts:
                raise ReadError(source, number, f"grade {grade} is explained twice")
            parts[grade], line_of[grade] = [[]], number
            here, line = parts[grade][0], found[2]
        elif parts and (found := EXAMPLE_LINE.fullmatch(line)):
            here, line = [], found[1]
            parts[max(line_of, key=line_of.__getitem__)].append(here)
        elif not parts and NEARLY_GRADE_LINE.fullmatch(line):
            raise ReadError(source, number, f"expected a grade as 0: name - meaning, with a colon, got {line!r:.60}")
        here.append(line)
    highest = _highest(line_of, max_grade, source)
    texts = []
    for usual in default_guidelines(highest).grades:
        words, *examples = (" ".join(filter(None, part)) for part in parts.get(usual.grade, [[]]))
        name, meaning = _split(words)
        texts.append(GradeText(usual.grade, name or usual.name, meaning, tuple(filter(None, examples))))
    _check_names(texts, line_of, source)
    return Guidelines("\n".join(intro).strip(), tuple(texts))


def _highest(line_of: dict[int, int], max_grade: int | None, source: str) -> int:
    """Return the highest grade, or say what is missing or contradicts what is said elsewhere."""
    if not line_of:
        return USUAL if max_grade is None else max_grade
    highest = max(line_of)
    for grade in range(max(1, highest)):
        if grade not in line_of:
            raise ReadError(
                source,
                line_of[highest],
                f"grade {highest} is explained and grade {grade} is not: the guidelines say which grades there are, "
                f"so add a line such as {grade}: name - meaning",
            )
    if highest == 0:
        raise ReadError(source, line_of[0], "expected at least the grades 0 and 1: only grade 0 is explained")
    if max_grade not in (None, highest):
        raise ReadError(
            source,
            line_of[highest],
            f"the guidelines have the grades 0 to {highest}, and --max-grade says 0 to {max_grade}: "
            "leave --max-grade out, or change one of them",
        )
    return highest


def _check_names(texts: list[GradeText], line_of: dict[int, int], source: str) -> None:
    """Refuse two buttons that say the same."""
    grade_of: dict[str, int] = {}
    for text in texts:
        name = text.name.casefold()
        if name and name in grade_of:
            raise ReadError(
                source,
                line_of.get(text.grade),
                f"grades {grade_of[name]} and {text.grade} are both called {text.name!r}: give each a name of its own",
            )
        grade_of[name] = text.grade


def _split(words: str) -> tuple[str, str]:
    name, *meaning = DASH.split(words, maxsplit=1)
    if len(name) > LONGEST_NAME:  # a dash in a sentence ends no name
        return "", words
    return name, "".join(meaning)
