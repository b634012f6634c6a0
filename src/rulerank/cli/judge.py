"""rulerank judge: a page on which people grade documents, the most telling ones first."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from rulerank.cli.options import AsJson, DocidColumn, FeatureColumns, QidColumn, columns
from rulerank.errors import DataError

DEMO_POOL = "demo-pool.csv"


def text_column(flag: str, what: str, usual: str) -> Any:
    return typer.Option(flag, metavar="COLUMN", help=f"Column of the {what} [{usual}].")


def judge(
    context: typer.Context,
    source: Annotated[
        str | None, typer.Argument(metavar="[POOL]", help="The documents to judge: LETOR text or a table.")
    ] = None,
    demo: Annotated[
        bool, typer.Option("--demo", help="Judge made-up pages for twelve searches; no POOL is needed.")
    ] = False,
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
    method: Annotated[str, typer.Option(metavar="NAME", help="What --train trains.")] = "RE-GR",
    host: Annotated[str, typer.Option(help="Where to listen; beyond this machine it needs --token.")] = "127.0.0.1",
    port: Annotated[int | None, typer.Option(min=0, max=65535, help="Port, 0 for any [8765, or any].")] = None,
    token: Annotated[
        str | None, typer.Option(envvar="RULERANK_TOKEN", help="A secret that every request must bring.")
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
    Ctrl-C stops it; the labels stay in STORE, and the next start goes on from there.

    Example:
        rulerank judge --demo
        rulerank judge pool.csv --rater ann --overlap 10%
        rulerank judge pool.csv --labels judged.db --train --method QI
    """
    from rulerank.cli.judging import Session, check_packages, share

    check_packages()
    from rulerank.io.tables import write_table
    from rulerank.judging.loop import Judging
    from rulerank.judging.pool import read_pool
    from rulerank.judging.store import LabelStore
    from rulerank.judging.web import demo as example
    from rulerank.judging.web.server import check_token
    from rulerank.sampling.ssar import SSAR

    if demo and source is not None:
        raise DataError(f"--demo brings its own documents: leave out {source}, or --demo")
    check_token(host, token)
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
    with LabelStore(target) as store:
        highest = max_grade or (example.MAX_GRADE if demo else 4)
        sampler = SSAR(per_query=not whole_pool)
        judging = Judging(pool, store, sampler=sampler, max_grade=highest, overlap=share(overlap))
        session = Session(judging, source, model, context, as_json)
        if train:
            session.train(method)
        else:
            session.serve(host, port, rater=rater, guidelines=guidelines, token=token, open_browser=open_browser)
