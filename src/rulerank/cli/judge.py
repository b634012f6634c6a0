"""rulerank judge: a page on which people grade documents, the most telling ones first."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from rulerank.cli.judge_page import PageChoices, Words, personal_links, print_links, print_model, serve, server_port
from rulerank.cli.options import (
    AsJson,
    DocidColumn,
    FeatureColumns,
    GuidelinesFile,
    QidColumn,
    TodayFeature,
    columns,
    rater_option,
    refuse_model,
    today_of,
)
from rulerank.errors import DataError

if TYPE_CHECKING:
    from rulerank.judging.guidelines import Guidelines
    from rulerank.today import Today

COMMAND_LINE = "the command line"  # who says so, in the history
NO_MODEL = (
    "the judging page ranks by a feature: give the pool the model's scores as a column (rulerank rank MODEL POOL "
    "--to csv writes them), and name that"
)


def text_column(flag: str, what: str, usual: str) -> Any:
    return typer.Option(flag, metavar="COLUMN", help=f"Column of the {what} [{usual}].")


def judge(
    context: typer.Context,
    source: Annotated[
        str | None, typer.Argument(metavar="[POOL]", help="The documents to judge: LETOR text or a table.")
    ] = None,
    labels: Annotated[
        str | None,
        typer.Option(metavar="STORE", help="Where labels are kept: a file or a postgresql:// URL [labels.db]."),
    ] = None,
    rater: Annotated[str | None, typer.Option(metavar="NAME", help="Who judges [asked on the first visit].")] = None,
    guidelines: GuidelinesFile = None,
    max_grade: Annotated[
        int | None, typer.Option(min=1, max=9, help="Grades go from 0 to this [as --guidelines say, else 4].")
    ] = None,
    n_listed: Annotated[
        int | None,
        typer.Option(
            "--list", metavar="N", min=1, max=50, help="Start with lists: the first N documents of a query on one page."
        ),
    ] = None,
    show_rank: Annotated[
        bool, typer.Option("--show-rank", help="Lists in today's order, with the rank; it leads raters [by lot].")
    ] = False,
    whole_pool: Annotated[
        bool,
        typer.Option(
            "--whole-pool", help="Choose among all documents, not query by query: for more queries than you will judge."
        ),
    ] = False,
    overlap: Annotated[str, typer.Option(metavar="SHARE", help="Documents that two raters judge, as 10%.")] = "0%",
    judgements: Annotated[
        int | None, typer.Option(min=1, max=9, help="People who judge each document; kept in STORE [1].")
    ] = None,
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
    show: Annotated[
        list[str] | None,
        typer.Option("--show", metavar="COLUMN", help="Another column that raters see, as a price; can be repeated."),
    ] = None,
    image: Annotated[str | None, text_column("--image", "address of a picture", "image, image_url, thumbnail")] = None,
    images: Annotated[
        list[str] | None,
        typer.Option("--images", metavar="HOST", help="Show pictures from this host; can be repeated [no pictures]."),
    ] = None,
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
        rulerank judge pool.csv
        rulerank judge pool.csv --rater ann --overlap 10%
        rulerank judge pool.csv --judgements 2
        rulerank judge pool.csv --list 20 --images images.example.org
        rulerank judge pool.csv --labels judged.db --train --method QI
        rulerank judge pool.csv --host 0.0.0.0 --token "a secret of yours" --invite ann --invite ben
        rulerank judge --token "a secret of yours" --invite cem
    """
    from rulerank.judging.loop import Judging
    from rulerank.judging.offers import ListChoices
    from rulerank.judging.pool import read_pool
    from rulerank.judging.web import check_packages
    from rulerank.methods import method_named
    from rulerank.sampling.ssar import SSAR
    from rulerank.sampling.strata import Strata

    if not train:
        check_packages()
    from rulerank.judging.store import LabelStore

    if not train:
        from rulerank.web.server import check_token

        check_token(host, token)
    links = [] if train else personal_links(invite or [], token)
    if links and source is None:
        print_links(links, f"http://{host}:{port or server_port()}/", as_json=as_json)
        return
    if source is None:
        raise DataError("name the documents to judge; `rulerank world shop --texts` makes some to try the page on")
    named = {"query_text": query_text, "description": description, "title": title, "text": text}
    named |= {"url": url, "image": image}
    chosen: dict[str, Any] = {role: column for role, column in named.items() if column}
    chosen |= columns(qid, docid, None, features)
    pool = read_pool(source, format=format, show=show or (), **chosen)
    target = labels or "labels.db"
    if train and "://" not in target and not Path(target).exists():
        raise DataError(f"{target}: there is no such label store, so there is nothing to learn from: judge first")
    meant = grade_texts(guidelines, max_grade)
    lists = ListChoices(n_listed or 10, come_first=n_listed is not None, shows_rank=show_rank)
    words = Words(context, source, model)
    with LabelStore(target) as store:
        found = todays_ranking(pool.data.feature_names, today)
        sampler = SSAR(per_query=not whole_pool) if whole_pool or found is None else Strata(today=found.option)
        where = None if found is None else found.option
        judging = Judging(pool, store, sampler=sampler, today=where, max_grade=meant.max_grade, overlap=share(overlap))
        if judgements is not None and judgements != store.settings().judgements:
            store.change_setting("judgements", judgements, COMMAND_LINE, page="terminal")
        if train:
            chosen_method = method_named(method or judging.usual_method).name
            print_model(judging.save_model(model, chosen_method), words, as_json=as_json)
        else:
            store.check_writable()
            name = None if rater is None else rater_option(rater)
            choices = PageChoices(meant, tuple(images or ()), lists)
            serve(judging, words, host, port, name, choices, token, links, open_browser=open_browser, as_json=as_json)


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
    refuse_model(given, NO_MODEL)
    return today_of(names, given)


def grade_texts(path: str | None, max_grade: int | None) -> Guidelines:
    """Return what the grades mean by a file of guidelines, which also says how many there are, or without one."""
    from rulerank.judging.guidelines import parse_guidelines, read_guidelines

    if path is not None:
        return read_guidelines(path, max_grade)
    return parse_guidelines("", max_grade)


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
