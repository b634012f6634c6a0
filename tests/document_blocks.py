"""The blocks of a Markdown page: what a reader types, and what is shown of the answers."""

import re
import shlex
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parents[1]
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md"))]
COMMANDS = ("rulerank", "curl", "pip", "make", "git", "python", "cat", "cd", "source", ".venv/bin/python")
FENCE = re.compile(r'^( *)```(\w*)(?: title="(.*)")?')


class Block(NamedTuple):
    page: str  # as a link has it: README.md, docs/scale.md
    line: int  # of its first line, from 1
    language: str  # what the fence says; empty where it says nothing, and for indented blocks
    lines: tuple[str, ...]
    title: str = ""  # the file that the block is, where it has a name

    @property
    def kind(self) -> str:
        """Tell what the block is: file, session (Python with prompts), python, shell, or other."""
        if self.title:
            return "file"
        first = self.lines[0].split() if self.lines else []
        if self.language in ("python", "pycon"):
            return "session" if self.lines[0].startswith(">>> ") else "python"
        if self.language == "sh" or (not self.language and first and command_word(first) in COMMANDS):
            return "shell"
        if not self.language and first and first[0] in ("from", "import"):
            return "python"
        return "other"

    @property
    def commands(self) -> list[str]:
        """The commands of a shell block: a backslash, or a quotation that is open, carries one on over lines."""
        found, begun = [], ""
        for line in self.lines:
            begun += f"{line}\n"
            if not is_open(begun):
                found.append(begun.strip())
                begun = ""
        assert not begun, f"{self.page}:{self.line}: a quotation is not closed"
        return [command for command in found if command and not command.startswith("#")]


def is_open(command: str) -> bool:
    """Tell whether the next line belongs to a command as well."""
    try:
        shlex.split(command, comments=True)
    except ValueError:
        return True
    return command.endswith("\\\n")


def command_word(words: list[str]) -> str:
    """Return the first word that sets no variable."""
    return next((word for word in words if "=" not in word), "")


def blocks_of(page: Path) -> list[Block]:
    """Return the fenced and the indented blocks of a page, in order; comments of HTML are passed over."""
    name, lines = page.relative_to(ROOT).as_posix(), page.read_text().splitlines()
    found, place = [], 0
    while place < len(lines):
        if fence := FENCE.match(lines[place]):
            end = next(at for at in range(place + 1, len(lines)) if lines[at].strip() == "```")
            inside = tuple(line.removeprefix(fence[1]) for line in lines[place + 1 : end])
            found.append(Block(name, place + 2, fence[2], inside, fence[3] or ""))
            place = end + 1
        elif lines[place].startswith("    ") and not lines[place - 1].strip():
            end = place
            while end < len(lines) and lines[end].startswith("    "):
                end += 1
            indented = [line[4:] for line in lines[place:end]]
            if not is_list(lines[:place], indented):
                found.append(Block(name, place + 1, "", tuple(indented)))
            place = end
        else:
            place += 1
    return found


def is_list(before: list[str], indented: list[str]) -> bool:
    """Tell whether indented lines go on with an item of a list, or are options of a reference entry."""
    above = next((line for line in reversed(before) if line.strip() and not line.startswith("    ")), "")
    goes_on = above.startswith(("- ", "::: ")) and not indented[0].split()[0].startswith("rulerank")
    return goes_on or indented[0].startswith(("!", "options:", "- "))
