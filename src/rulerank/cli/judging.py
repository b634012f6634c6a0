"""A session of judging: what `rulerank judge` says before, during and after it."""

from __future__ import annotations

import shlex
import socket
import sys
import threading
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlencode

import typer

from rulerank.cli.output import print_json
from rulerank.core.words import counted
from rulerank.errors import DataError, MissingExtraError

if TYPE_CHECKING:
    from rulerank.judging.loop import Judging

PACKAGES = ("starlette", "uvicorn", "jinja2", "sqlalchemy")  # what the page needs
SERVING = {  # options that say how to serve, and not what is judged
    "rater", "guidelines", "whole_pool", "overlap", "model", "train", "method",
    "host", "port", "token", "open_browser", "as_json",
}  # fmt: skip


@dataclass(frozen=True)
class Session:
    """Judging of a pool, its labels, and the words by which the user asked for it."""

    judging: Judging
    source: str  # the file with the documents
    model: str
    context: typer.Context
    as_json: bool

    def train(self, method: str) -> None:
        """Train on the labels and save the model."""
        from rulerank.judging.web.api import Api
        from rulerank.methods import method_named

        done = Api(self.judging, self.model).train(method_named(method).name)
        if self.as_json:
            print_json(done)
        else:
            for note in done["notes"]:
                print(f"warning: {note}", file=sys.stderr)
            print(f"{self.model}: {done['method']}, trained on {counted(done['n_labels'], 'label')}")
            print(f"Rank with it:\n    {self.ranking_command()}")

    def serve(
        self,
        host: str,
        port: int | None,
        *,
        rater: str | None,
        guidelines: str | None,
        token: str | None,
        open_browser: bool,
    ) -> None:
        """Show the page until Ctrl-C, then say where the labels are and what to do with them."""
        from rulerank.judging.web import server
        from rulerank.judging.web.app import create_app
        from rulerank.judging.web.guidelines import read_guidelines

        max_grade = self.judging.max_grade
        app = create_app(
            self.judging,
            rater=None if rater is None else checked_name(rater),
            guidelines=None if guidelines is None else read_guidelines(guidelines, max_grade),
            token=token,
            model_path=self.model,
            command=self.training_command,
        )
        with server.open_socket(host, port) as listening:
            secret = "" if token is None else "?" + urlencode({"token": token})
            url = server.url_of(listening) + secret
            self.say_hello(url)
            if not server.is_loopback(host) and not self.as_json:
                print(
                    f"On other machines: http://{socket.gethostname()}:{listening.getsockname()[1]}/{secret}",
                    flush=True,
                )
            if open_browser:
                threading.Thread(target=open_page, args=(url,), daemon=True).start()
            server.serve(app, listening)
        self.say_goodbye()

    def say_hello(self, url: str) -> None:
        pool, store = self.judging.pool, self.judging.store
        if self.as_json:
            print_json({"url": url, "labels": store.name, "documents": len(pool), "queries": len(pool.queries)})
        else:
            print(f"{pool!r}\nJudge at {url}\nLabels go to {store.name}; Ctrl-C stops.")
        typer.get_text_stream("stdout").flush()

    def say_goodbye(self) -> None:
        if self.as_json:
            return
        n_labels = len(self.judging.store.labels())
        print(f"\n{counted(n_labels, 'label')} in {self.judging.store.name}.")
        if n_labels:
            print(f"Train a model on them:\n    {self.training_command('RE-GR')}")
        if Path(self.model).is_file():
            print(f"Rank with {self.model}:\n    {self.ranking_command()}")

    def ranking_command(self) -> str:
        """Return the command that ranks these documents with the model."""
        return shlex.join(["rulerank", "rank", self.model, self.source, "--format", "csv"])

    def training_command(self, method: str) -> str:
        """Return the command that trains on these documents and labels."""
        words = ["rulerank", "judge", *given(self.context), "--train", "--model", self.model, "--method", method]
        return shlex.join(words)


def given(context: typer.Context) -> list[str]:
    """Return the words of the command line that name documents and labels, without how to serve them."""
    words: list[str] = []
    for parameter in context.command.params:
        name = parameter.name or ""
        origin = context.get_parameter_source(name)
        if name in SERVING or origin is None or origin.name != "COMMANDLINE":
            continue
        value: Any = context.params[name]
        if parameter.param_type_name == "argument":
            words.insert(0, str(value))
        else:
            words += [parameter.opts[0]] if value is True else [parameter.opts[0], str(value)]
    return words


def open_page(url: str) -> None:
    """Open an address in a browser with windows; one that runs in the terminal would be in the way."""
    import webbrowser

    try:
        browser = webbrowser.get()
    except webbrowser.Error:
        return
    if type(browser) is not webbrowser.GenericBrowser:
        browser.open(url)


def share(text: str) -> float:
    """Return a share of the documents from 10% or 0.1.

    >>> share("10%"), share("0.25")
    (0.1, 0.25)
    """
    try:
        value = float(text.removesuffix("%")) / (100 if text.endswith("%") else 1)
    except ValueError:
        value = -1.0
    if not 0 <= value <= 1:
        raise DataError(f"--overlap must be a share such as 10% or 0.1: got {text!r}")
    return value


def checked_name(rater: str) -> str:
    """Return a rater's name, or say what is wrong with it."""
    from rulerank.judging.web.raters import check_rater
    from rulerank.judging.web.request_error import RequestError

    try:
        return check_rater(rater)
    except RequestError as refusal:
        raise DataError(f"--rater: {refusal.message}") from None


def check_packages() -> None:
    """Name the first package of the page that is not installed."""
    for package in PACKAGES:
        if find_spec(package) is None:
            raise MissingExtraError("judge", package)
