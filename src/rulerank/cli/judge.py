"""rulerank judge: a page on which people grade documents, the most telling ones first."""

from __future__ import annotations

import shlex
import socket
import sys
import threading
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any
from urllib.parse import urlencode

import typer

from rulerank.cli.options import (
    AsJson,
    DocidColumn,
    FeatureColumns,
    QidColumn,
    TodayFeature,
    columns,
    rater_option,
    today_of,
)
from rulerank.cli.output import print_json
from rulerank.core.words import counted
from rulerank.errors import DataError

if TYPE_CHECKING:
    from rulerank.judging.loop import Judging
    from rulerank.judging.train import SavedModel
    from rulerank.today import Today

DEMO_POOL = "demo-pool.csv"
Link = tuple[str, str]  # a rater, and the end of the address that is that rater's
SERVING = {  # options that say how to serve, and not what is judged
    "rater", "guidelines", "whole_pool", "overlap", "model", "train", "method",
    "host", "port", "token", "invite", "open_browser", "as_json",
}  # fmt: skip


def text_column(flag: str, what: str, usual: str) -> Any:
    return typer.Option(flag, metavar="COLUMN", help=f"Column of the {what} [{usual}].")


def judge(
    context: typer.Context,
    source: Annotated[
        str | None, typer.Argument(metavar="[POOL]", help="The documents to judge: LETOR text or a table.")
    ] = None,
    demo: Annotated[bool, typer.Option("--demo", help="Judge products of a made-up shop; no POOL is needed.")] = False,
    labels: Annotated[
        str | None,
        typer.Option(metavar="STORE", help="Where labels are kept: a file or a postgresql:// URL [labels.db]."),
    ] = None,
    rater: Annotated[str | None, typer.Option(metavar="NAME", help="Who judges [asked on the first visit].")] = None,
    guidelines: Annotated[
        str | None, typer.Option(metavar="FILE", help="What grades mean, in lines such as 2: good - Answers it all.")
    ] = None,
    max_grade: Annotated[int | None, typer.Option(min=1, max=9, help="Grades go from 0 to this [4].")] = None,
    whole_pool: Annotated[
        bool,
        typer.Option(
            "--whole-pool", help="Choose among all documents, not query by query: for more queries than you will judge."
        ),
    ] = False,
    overlap: Annotated[str, typer.Option(metavar="SHARE", help="Documents that two raters judge, as 10%.")] = "0%",
    model: Annotated[str, typer.Option(metavar="FILE", help="Where training saves the model.")] = "model.rulerank",
    train: Annotated[bool, typer.Option("--train", help="Train a model on the labels, save it and stop.")] = False,
    method: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="What --train trains [Anchored; without a ranking of today RE-GR]."),
    ] = None,
    today: TodayFeature = None,
    host: Annotated[str, typer.Option(help="Where to listen; beyond this machine it needs --token.")] = "127.0.0.1",
    port: Annotated[int | None, typer.Option(min=0, max=65535, help="Port, 0 for any [8765, or any].")] = None,
    token: Annotated[
        str | None, typer.Option(envvar="RULERANK_TOKEN", help="A secret that every request must bring.")
    ] = None,
    invite: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME",
            help="Print a personal link: its holder judges as NAME only. Needs --token; can be repeated.",
        ),
    ] = None,
    open_browser: Annotated[bool, typer.Option("--open/--no-open", help="Open the page in the browser.")] = True,
    query_text: Annotated[str | None, text_column("--query-text", "query's words", "query_text, query")] = None,
    description: Annotated[str | None, text_column("--description", "query's description", "description")] = None,
    title: Annotated[str | None, text_column("--title", "document's title", "title")] = None,
    text: Annotated[str | None, text_column("--text", "document's text", "text, body, abstract")] = None,
    url: Annotated[str | None, text_column("--url", "document's address", "url, link")] = None,
    qid: QidColumn = None,
    docid: DocidColumn = None,
    features: FeatureColumns = None,
    format: Annotated[str | None, typer.Option("--from", metavar="FORMAT", help="Format of POOL [by name].")] = None,
    as_json: AsJson = False,
) -> None:
    """Judge documents on a local page, the most telling first.

    Shows one query and one document at a time in the order of SSAR, takes a grade with one key and keeps it at once.
    Ctrl-C stops it; the labels stay in STORE, and the next start goes on from there. --invite without POOL only prints.

    Example:
        rulerank judge --demo
        rulerank judge pool.csv --rater ann --overlap 10%
        rulerank judge pool.csv --labels judged.db --train --method QI
        rulerank judge pool.csv --host 0.0.0.0 --token "a secret of yours" --invite ann --invite ben
        rulerank judge --token "a secret of yours" --invite cem
    """
    from rulerank.io.tables import write_table
    from rulerank.judging import demo as example
    from rulerank.judging.loop import Judging
    from rulerank.judging.pool import read_pool
    from rulerank.judging.web import check_packages
    from rulerank.methods import method_named
    from rulerank.sampling.ssar import SSAR
    from rulerank.sampling.strata import Strata

    if not train:
        check_packages()
    from rulerank.judging.store import LabelStore

    if demo and source is not None:
        raise DataError(f"--demo brings its own documents: leave out {source}, or --demo")
    if not train:
        from rulerank.web.server import check_token

        check_token(host, token)
    links = [] if train else personal_links(invite or [], token)
    if links and source is None and not demo:
        print_links(links, f"http://{host}:{port or server_port()}/", as_json=as_json)
        return
    if demo:
        pool, source = example.demo_pool(), DEMO_POOL
        write_table(pool.data, DEMO_POOL)  # so that the model has something to rank
    elif source is None:
        raise DataError("name the documents to judge, or try the page with --demo")
    else:
        named = {"query_text": query_text, "description": description, "title": title, "text": text, "url": url}
        chosen: dict[str, Any] = {role: column for role, column in named.items() if column}
        chosen |= columns(qid, docid, None, features)
        pool = read_pool(source, format=format, **chosen)
    target = labels or ("demo-labels.db" if demo else "labels.db")
    if train and "://" not in target and not Path(target).exists():
        raise DataError(f"{target}: there is no such label store, so there is nothing to learn from: judge first")
    words = Words(context, source, model)
    with LabelStore(target) as store:
        highest = max_grade or (example.MAX_GRADE if demo else 4)
        found = todays_ranking(pool.data.feature_names, today)
        sampler = SSAR(per_query=not whole_pool) if whole_pool or found is None else Strata(today=found.option)
        where = None if found is None else found.option
        judging = Judging(pool, store, sampler=sampler, today=where, max_grade=highest, overlap=share(overlap))
        if train:
            chosen_method = method_named(method or words.usual_method(found)).name
            print_model(judging.save_model(model, chosen_method), words, as_json=as_json)
        else:
            store.check_writable()
            name = None if rater is None else rater_option(rater)
            serve(
                judging, words, host, port, name, guidelines, token, links, open_browser=open_browser, as_json=as_json
            )


def todays_ranking(names: Sequence[str], given: str | None) -> Today | None:
    """Return today's ranking as it was named, or by its name; None, which stderr is told, when no name says so."""
    from rulerank.today import suggest_today

    if given is None and suggest_today(names) is None:
        print(
            "no feature's name says that it ranks the documents now: documents are chosen by SSAR, query by query; "
            "--today FEATURE lets models start from today's ranking and be compared with it",
            file=sys.stderr,
        )
        return None
    return today_of(names, given)


def serve(
    judging: Judging,
    words: Words,
    host: str,
    port: int | None,
    rater: str | None,
    guidelines: str | None,
    token: str | None,
    links: list[Link],
    *,
    open_browser: bool,
    as_json: bool,
) -> None:
    """Show the page until Ctrl-C, then say where the labels are and what to do with them."""
    from rulerank.judging.web.app import create_app
    from rulerank.judging.web.guidelines import read_guidelines
    from rulerank.web import server

    app = create_app(
        judging,
        rater=rater,
        guidelines=None if guidelines is None else read_guidelines(guidelines, judging.max_grade),
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


@dataclass(frozen=True)
class Words:
    """The words by which the user asked for this page, and the commands that go on from there."""

    context: typer.Context
    source: str  # the file with the documents
    model: str

    def usual_method(self, today: Today | None) -> str:
        """Return what to train when nothing else is asked for."""
        return "RE-GR" if today is None else "Anchored"

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
