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
from typer.core import TyperCommand

from rulerank import __version__
from rulerank.errors import RulerankError
from rulerank.io.files import inputs_watched

NAMES = (
    "demo make_data features convert clicks judge sample labels train methods evaluate compare check label_curve fuse "
    "interleave rank explain export serve"
)  # of the commands, each in a file of its name
COMMANDS = tuple(getattr(import_module(f"rulerank.cli.{name}"), name) for name in NAMES.split())

PANELS = {  # of options in the help of commands; all others are in "Options"
    f"--{name}": panel
    for panel, names in {
        "Method": "method set vali tune",
        "Labels": "labels own-grades import rater kind raters guidelines overlap unjudged",
        "Columns": "qid docid grade features columns",
        "Server": "host port token open workers max-docs timeout",
        "General": "json help",
    }.items()
    for name in names.split()
}


class Command(TyperCommand):
    """A command whose help lists options in panels."""

    def collect_usage_pieces(self, ctx: Any) -> list[str]:
        """Return the words of the usage line, without Typer's braces."""
        return ["[OPTIONS]", *(str(one.metavar) for one in self.params if one.param_type_name == "argument")]

    def format_options(self, ctx: Any, formatter: Any) -> None:
        """Write arguments, then each panel of options; plain text, since loading Rich takes a fifth of a second."""
        panels: dict[str, list[tuple[str, str]]] = {"Arguments": [], "Options": []}
        for one in self.get_params(ctx):
            record = one.get_help_record(ctx)
            if record is not None and one.param_type_name == "argument":
                panels["Arguments"].append((str(one.metavar), record[1].replace("  [required]", "")))
            elif record is not None:
                panels.setdefault(PANELS.get(one.opts[0], "Options"), []).append(record)
        general = panels.pop("General")
        for name, records in (*panels.items(), ("General", general)):
            if records:
                with formatter.section(name):
                    formatter.write_dl(records)


app = typer.Typer(add_completion=False, no_args_is_help=True, rich_markup_mode=None, pretty_exceptions_enable=False)
for command in COMMANDS:
    about, _, examples = inspect.cleandoc(command.__doc__ or "").partition("\nExample:\n")
    # the epilog comes after the options, so that help ends with the examples; \b keeps their lines
    app.command(
        cls=Command,
        help=about,
        epilog=f"\b\nExamples:\n{examples}",
        context_settings={"max_content_width": 100},
        no_args_is_help=command.__name__ not in ("demo", "methods"),
    )(command)


def show_version(asked: bool) -> None:
    if asked:
        print(f"rulerank {__version__}")
        raise typer.Exit


@app.callback(epilog="\b\nExamples:\n    # try everything on synthetic data, in a minute\n    rulerank demo")
def rulerank(
    context: typer.Context,
    version: Annotated[
        bool, typer.Option("--version", help="Print the version and stop.", callback=show_version, is_eager=True)
    ] = False,
) -> None:
    """Train, evaluate, explain and serve glass-box rankers.

    Results go to stdout, everything else to stderr. The file name - means stdin or stdout. Commands never overwrite
    their input files or a label store.
    """
    context.with_resource(inputs_watched())


class Warn:
    """Prints each warning once on stderr, even if ten fits on the same data raise it."""

    def __init__(self) -> None:
        self.said: set[str] = set()

    def __call__(self, message: Warning | str, *_: object, **__: object) -> None:
        if str(message) not in self.said:
            self.said.add(str(message))
            print(f"warning: {message}", file=sys.stderr)


def main() -> None:
    """Run the command line; a user's mistake ends with one line on stderr and exit code 2, without a traceback."""
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:  # closed by the caller
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
        readable = str(where).encode(errors="backslashreplace").decode()  # file names may hold bytes that are no text
        print(f"error: {readable}", file=sys.stderr)
        give_up_stdout()
        sys.exit(2)


def whole(stream: TextIO) -> TextIO:
    """Return a stream that writes the whole text or fails: with PYTHONUNBUFFERED=1 Python ignores short writes."""
    raw = getattr(stream, "buffer", None)
    if not isinstance(raw, io.RawIOBase):
        return stream
    return io.TextIOWrapper(io.BufferedWriter(raw), encoding=stream.encoding, errors=stream.errors, line_buffering=True)


def give_up_stdout() -> None:
    """Drop what stdout did not accept; otherwise Python reports the error again at exit."""
    try:
        sys.stdout.flush()
    except OSError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


@contextmanager
def ended_by_a_signal() -> Iterator[None]:
    """Turn SIGTERM into an exit, so that temporary files are removed."""
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
