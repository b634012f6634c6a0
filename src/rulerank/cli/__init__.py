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
from typing import Annotated, TextIO

import typer

from rulerank import __version__
from rulerank.errors import RulerankError
from rulerank.io.streams import inputs_watched

NAMES = (
    "demo features train rank explain fuse evaluate compare sample check curve figure export serve convert logs clicks "
    "interleave world judge labels"
)  # of the commands, each in a file of its name
COMMANDS = tuple(getattr(import_module(f"rulerank.cli.{name}"), name) for name in NAMES.split())

app = typer.Typer(add_completion=False, no_args_is_help=True, rich_markup_mode=None, pretty_exceptions_enable=False)
for command in COMMANDS:
    about, _, examples = inspect.cleandoc(command.__doc__ or "").partition("\nExample:\n")
    # the epilog comes after the options, so that help ends with the examples; \b keeps their lines
    app.command(help=about, epilog=f"\b\nExample:\n{examples}", no_args_is_help=command.__name__ != "demo")(command)


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
