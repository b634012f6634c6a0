"""Serving the judging page: who gets which address, and what the terminal says before and after."""

from __future__ import annotations

import socket
import sys
import threading
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlencode

import typer

from rulerank.cli.judge_words import Words
from rulerank.cli.options import rater_option
from rulerank.cli.output import print_json
from rulerank.core.words import counted
from rulerank.errors import DataError

if TYPE_CHECKING:
    from rulerank.judging.guidelines import Guidelines
    from rulerank.judging.lists import ListChoices
    from rulerank.judging.loop import Judging
    from rulerank.judging.train import SavedModel

Link = tuple[str, str]  # a rater, and the end of the address that is that rater's


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
    from rulerank.web.tokens import Tokens

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
        print(f"Train a model on them:\n    {words.training(words.usual_method(judging.today))}")
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
