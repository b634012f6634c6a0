"""Serving the judging page: who gets which address, and what the terminal says before and after."""

from __future__ import annotations

import shlex
import socket
import sys
import threading
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlencode

import typer

from rulerank.cli.options import rater_option
from rulerank.cli.output import print_json
from rulerank.core.words import counted
from rulerank.errors import DataError

if TYPE_CHECKING:
    from rulerank.judging.guidelines import Guidelines
    from rulerank.judging.learning import SavedModel
    from rulerank.judging.loop import Judging
    from rulerank.judging.offers import ListChoices

Link = tuple[str, str]  # a rater, and the end of the address that is that rater's
SERVING = {  # options that say how to serve, and not what is judged
    "rater", "guidelines", "show", "image", "images", "n_listed", "show_rank", "whole_pool", "overlap", "judgements",
    "model", "train", "method", "host", "port", "token", "invite", "open_browser", "as_json",
}  # fmt: skip


@dataclass(frozen=True)
class Words:
    """The words by which the user asked for this page, and the commands that go on from there."""

    context: typer.Context
    source: str  # the file with the documents
    model: str

    def ranking(self) -> str:
        """Return the command that ranks these documents with the model."""
        return shlex.join(["rulerank", "rank", self.model, self.source, "--format", "csv"])

    def training(self, method: str) -> str:
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


@dataclass(frozen=True)
class PageChoices:
    """What the lead has chosen for the raters' pages."""

    guidelines: Guidelines
    images: tuple[str, ...] = ()  # hosts of pictures
    lists: ListChoices | None = None


def serve(
    judging: Judging,
    words: Words,
    host: str,
    port: int | None,
    rater: str | None,
    choices: PageChoices,
    token: str | None,
    links: list[Link],
    *,
    open_browser: bool,
    as_json: bool,
) -> None:
    """Show the page until Ctrl-C, then say where the labels are and what to do with them."""
    threading.Thread(target=judging.prepare, daemon=True).start()  # while the rest is loaded
    from rulerank.judging.web.app import create_app
    from rulerank.web import server

    app = create_app(
        judging,
        rater=rater,
        guidelines=choices.guidelines,
        images=choices.images,
        lists=choices.lists,
        token=token,
        model_path=words.model,
        command=words.training,
    )
    with server.open_socket(host, port) as listening:
        secret = "" if token is None else "?" + urlencode({"token": token})
        url = server.url_of(listening) + secret
        beyond = not server.is_loopback(host)
        address = f"http://{socket.gethostname()}:{listening.getsockname()[1]}/" if beyond else server.url_of(listening)
        print_hello(judging, url, {name: address + query for name, query in links}, as_json=as_json)
        if beyond and not links and not as_json:  # with personal links, the secret stays with whoever serves
            print(f"On other machines: {address}{secret}", flush=True)
        if open_browser:
            threading.Thread(target=server.open_page, args=(url,), daemon=True).start()
        server.serve(app, listening)
    if not as_json:
        print_goodbye(judging, words)


def personal_links(names: list[str], token: str | None) -> list[Link]:
    """Return (name, end of the address) of the raters who are invited."""
    if not names:
        return []
    from rulerank.judging.labels import check_rater
    from rulerank.web.security import Tokens

    if token is None:
        raise DataError("--invite needs --token: the secret from which personal links are made, and which you keep")
    tokens = Tokens(token, check_rater)
    raters = [rater_option(name, "--invite") for name in names]
    return [(rater, "?" + urlencode({"token": tokens.invite(rater)})) for rater in raters]


def server_port() -> int:
    from rulerank.web.server import USUAL_PORT

    return USUAL_PORT


def print_links(links: list[Link], address: str, *, as_json: bool) -> None:
    if as_json:
        print_json({"links": {name: address + query for name, query in links}})
    else:
        print("\n".join(f"{name}: {address}{query}" for name, query in links))


def print_hello(judging: Judging, url: str, links: dict[str, str], *, as_json: bool) -> None:
    pool, store = judging.pool, judging.store
    if as_json:
        found = {"url": url, "labels": store.name, "documents": len(pool), "queries": len(pool.queries)}
        print_json(found | ({"links": links} if links else {}))
    else:
        print(f"{pool!r}\nJudge at {url}")
        if links:
            print("That address is yours: it may judge under any name. The raters' links:")
            print("\n".join(f"    {name}: {link}" for name, link in links.items()))
        print(f"Labels go to {store.name}; Ctrl-C stops.")
    typer.get_text_stream("stdout").flush()


def print_goodbye(judging: Judging, words: Words) -> None:
    n_labels = len(judging.store.labels())
    print(f"\n{counted(n_labels, 'label')} in {judging.store.name}.")
    if n_labels:
        print(f"Train a model on them:\n    {words.training(judging.usual_method)}")
    if Path(words.model).is_file():
        print(f"Rank with {words.model}:\n    {words.ranking()}")


def print_model(saved: SavedModel, words: Words, *, as_json: bool) -> None:
    if as_json:
        print_json(saved.to_dict())
        return
    for note in saved.notes:
        print(f"warning: {note}", file=sys.stderr)
    print(f"{saved.path}: {saved.method}, trained on {counted(saved.n_labels, 'label')}")
    print(f"Rank with it:\n    {words.ranking()}")
