"""The command line: each command opens, calls one library function and prints; heavy modules load inside it."""

from __future__ import annotations

import inspect
import io
import os
import signal
import sys
import threading
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from typing import Annotated, Any, TextIO

import typer
from typer.core import TyperCommand, TyperGroup

from rulerank import __version__
from rulerank.cli.options import NEW_OPTIONS
from rulerank.errors import RulerankError
from rulerank.io.streams import inputs_watched

NAMES = (
    "demo make_data features convert clicks judge sample labels train methods evaluate compare check label_curve fuse "
    "interleave rank explain export serve"
)  # of the commands, each in a file of its name
COMMANDS = tuple(getattr(import_module(f"rulerank.cli.{name}"), name) for name in NAMES.split())
NEW_COMMANDS = {  # commands of version 0.1, and what does the same now
    "world": "make-data",
    "curve": "label-curve",
    "logs": "convert --from logs",
    "figure": "explain DATA MODEL -o FILE.svg",
}


class Command(TyperCommand):
    """A command that knows the options of version 0.1."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Suggest what an old option is called now, in the usual error."""
        try:
            return super().parse_args(ctx, args)
        except Exception as error:
            new = NEW_OPTIONS.get(getattr(error, "option_name", ""))
            if new is not None and hasattr(error, "possibilities"):
                error.possibilities = [new]
            raise


class Group(TyperGroup):
    """Commands, and what those of version 0.1 are called now."""

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """Suggest the new name of an old command, in the usual error."""
        if args and args[0] in NEW_COMMANDS:
            ctx.fail(f"No such command {args[0]!r}. Did you mean {NEW_COMMANDS[args[0]]!r}?")
        return super().resolve_command(ctx, args)


app = typer.Typer(
    cls=Group, add_completion=False, no_args_is_help=True, rich_markup_mode=None, pretty_exceptions_enable=False
)
for command in COMMANDS:
    about, _, examples = inspect.cleandoc(command.__doc__ or "").partition("\nExample:\n")
    # the epilog comes after the options, so that help ends with the examples; \b keeps their lines
    app.command(
        cls=Command,
        help=about,
        epilog=f"\b\nExample:\n{examples}",
        no_args_is_help=command.__name__ not in ("demo", "methods"),
    )(command)


def show_version(asked: bool) -> None:
    if asked:
        print(f"rulerank {__version__}")
        raise typer.Exit


@app.callback(epilog="\b\nExample:\n    rulerank demo")
def rulerank(
    context: typer.Context,
    version: Annotated[
        bool, typer.Option("--version", help="Print the version and stop.", callback=show_version, is_eager=True)
    ] = False,
) -> None:
    """Glass-box learning to rank: read, rank and evaluate, and see the reasons.

    Results go to stdout, everything else to stderr; a file named - is stdin or stdout. No command writes over a file
    that it reads, or over a label store.
    """
    context.with_resource(inputs_watched())


class Warn:
    """Prints warnings on stderr, each once: what ten fits have to say of the same data is said by one."""

    def __init__(self) -> None:
        self.said: set[str] = set()

    def __call__(self, message: Warning | str, *_: object, **__: object) -> None:
        if str(message) not in self.said:
            self.said.add(str(message))
            print(f"warning: {message}", file=sys.stderr)


def main() -> None:
    """Run the command line: a user's mistake ends in one line on stderr and exit code 2, never in a traceback."""
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:  # the caller has closed it
            setattr(sys, name, open(os.devnull, mode))  # noqa: SIM115  # stays open as long as the process
    sys.stdout, sys.stderr = whole(sys.stdout), whole(sys.stderr)
    try:
        with warnings.catch_warnings(), ended_by_a_signal():
            warnings.showwarning = Warn()
            try:
                app(prog_name="rulerank")
            finally:
                sys.stdout.flush()
    except BrokenPipeError:  # the reader, such as head, has seen enough
        give_up_stdout()
        sys.exit(1)
    except UnicodeEncodeError as error:
        shown = error.object[error.start : error.end].encode("unicode_escape").decode()
        print(f"error: {error.encoding} cannot write {shown}; set PYTHONIOENCODING=utf-8, or use -o", file=sys.stderr)
        sys.exit(2)
    except (RulerankError, OSError) as error:
        where = f"{error.filename}: {error.strerror}" if isinstance(error, OSError) and error.filename else error
        print(f"error: {where}", file=sys.stderr)
        give_up_stdout()
        sys.exit(2)


def whole(stream: TextIO) -> TextIO:
    """Return a stream that writes all of a text or fails: with PYTHONUNBUFFERED=1 Python passes over short writes."""
    raw = getattr(stream, "buffer", None)
    if not isinstance(raw, io.RawIOBase):
        return stream
    return io.TextIOWrapper(io.BufferedWriter(raw), encoding=stream.encoding, errors=stream.errors, line_buffering=True)


def give_up_stdout() -> None:
    """Pass over what stdout did not take: the end of the process would complain of it once more."""
    try:
        sys.stdout.flush()
    except OSError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


@contextmanager
def ended_by_a_signal() -> Iterator[None]:
    """End as after a mistake when the system asks us to (SIGTERM), so that what was begun is cleared away."""
    if threading.current_thread() is not threading.main_thread() or signal.getsignal(signal.SIGTERM) != signal.SIG_DFL:
        yield
        return

    def end(*_: object) -> None:
        sys.exit(128 + signal.SIGTERM)

    signal.signal(signal.SIGTERM, end)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
