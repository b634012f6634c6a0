"""The reference of the command line, made from the help that each command prints."""

from __future__ import annotations

import inspect
import re

import typer

from rulerank.cli import app

INTRODUCTION = """# Command line: all commands and options

The output of `rulerank COMMAND --help`. Results go to stdout, everything else goes to stderr. A file named `-` is stdin
or stdout. Every command has `--json`. An error prints one line to stderr and exits with code 2. No command overwrites
one of its input files or a label store.
"""


def commands_page() -> str:
    """Return the page: a section a command, with what it does, examples, arguments and options."""
    commands = typer.main.get_command(app).commands
    return "\n".join([INTRODUCTION, *(section(name, command) for name, command in commands.items())])


def section(name: str, command: typer.core.TyperCommand) -> str:
    """Return what there is to say of one command."""
    context = typer.Context(command, info_name=f"rulerank {name}")
    usage = " ".join(["rulerank", name, *command.collect_usage_pieces(context)])
    examples = inspect.cleandoc((command.epilog or "").partition("Examples:\n")[2])
    rows = [record for parameter in command.params if (record := parameter.get_help_record(context))]
    table = [f"| {cell(what)} | {words(meaning)} |" for what, meaning in rows]
    return "\n".join(
        [
            f"## rulerank {name}\n",
            f"{words(inspect.cleandoc(command.help or ''))}\n",
            f"```sh\n{examples}\n```\n",
            f"`{usage}`\n",
            "| | |\n| --- | --- |",
            *table,
            "",
        ]
    )


def cell(text: str) -> str:
    """Return an option with its value as code: `-o`, `--out FILE`."""
    return f"`{text.strip()}`".replace("|", "\\|")


def words(text: str) -> str:
    """Return a sentence of the help as Markdown: what looks like markup is text, and options and commands are code.

    >>> words("Use --out FILE [1] or <x>.")
    'Use `--out` FILE \\\\[1\\\\] or &lt;x&gt;.'
    """
    parts = re.split(r"(`[^`]*`)", text)
    for place in range(0, len(parts), 2):
        plain = parts[place].replace("<", "&lt;").replace(">", "&gt;").replace("|", "\\|")
        plain = re.sub(r"([\[\]*_])", r"\\\1", plain)
        parts[place] = re.sub(r"(?<![\w-])(--[a-z][a-z-]*)", r"`\1`", plain)
    return "".join(parts)
