"""rulerank explain: why a document has its score, why one stands above another, what the model does."""

from __future__ import annotations

import sys
from dataclasses import replace
from typing import TYPE_CHECKING, Annotated

import typer

from rulerank.cli.options import AsJson, DataFormat, DocidColumn, FeatureColumns, QidColumn, columns
from rulerank.errors import DataError

if TYPE_CHECKING:
    from rulerank.dataset import Dataset
    from rulerank.explain import Lift, Shown

FORMATS = {"text": ".txt", "markdown": ".md", "html": ".html", "json": ".json"}


def explain(
    model: Annotated[str, typer.Argument(metavar="MODEL", help="A model file that `rulerank train` wrote.")],
    source: Annotated[str, typer.Argument(metavar="DATA", help="Documents in any format, - for stdin.")],
    query: Annotated[str | None, typer.Option("--query", metavar="ID", help="The document's query.")] = None,
    doc: Annotated[
        str | None, typer.Option("--doc", metavar="ID", help="The document; without ids, its row in DATA, from 1.")
    ] = None,
    versus: Annotated[
        str | None, typer.Option("--versus", metavar="ID", help="Another document of the query to compare it with.")
    ] = None,
    what_if: Annotated[
        bool, typer.Option("--what-if", help="Also say what would lift it above the one ranked before it.")
    ] = False,
    ranking: Annotated[
        bool, typer.Option("--ranking", help="Explain the whole ranking of --query, and what moved against today's.")
    ] = False,
    today: Annotated[
        str | None,
        typer.Option(
            metavar="NAME", help="With --ranking: the column that ranks today, -NAME: lowest first, none [by its name]."
        ),
    ] = None,
    first: Annotated[
        int | None, typer.Option("--first", metavar="N", help="With --ranking: how many documents to show [10].")
    ] = None,
    target_format: Annotated[
        str | None, typer.Option("--to", metavar="FORMAT", help=f"{', '.join(FORMATS)} [by the name of FILE].")
    ] = None,
    out: Annotated[str, typer.Option("--out", "-o", metavar="FILE", help="Write to a file instead of stdout.")] = "-",
    format: DataFormat = None,
    qid: QidColumn = None,
    docid: DocidColumn = None,
    features: FeatureColumns = None,
    as_json: AsJson = False,
) -> None:
    """Say why a document stands where it stands.

    Why it has its score, why it is above another one, and what would lift it. Every number is exact: what features and
    rules add adds up to the score, or to the difference of two. With --query alone, the query's first document is
    explained; with --ranking all of its ranking; without --query and --doc, the model as a whole.

    Example:

    \b
        rulerank explain model.rulerank test.txt --query q1 --doc q1-d3
        rulerank explain model.rulerank test.txt --query q1 --doc q1-d3 --versus q1-d5 --what-if
        rulerank explain model.rulerank test.txt --doc q1-d3 -o why.html
        rulerank explain model.rulerank test.txt --query q1 --ranking --today f3 -o ranking.html
        rulerank explain model.rulerank test.txt
    """
    from rulerank.cli.output import report
    from rulerank.explain import lift_of
    from rulerank.io.doc_names import first_rows
    from rulerank.model_file import load_beside_data
    from rulerank.rankers.documents import read_documents

    chosen = choose_format("json" if as_json and out == "-" else target_format, out)
    ranker = load_beside_data(model, source, command="explain")
    names = ranker.feature_names_
    file = read_documents(source, format, columns(qid, docid, None, features), wanted=names)
    once = slice(None) if file.data.shown is None else first_rows(file.data)  # a row is a document, not a position
    data = file.with_features(names)[once]
    if ranking and (doc is not None or versus is not None or what_if):
        raise DataError("--ranking explains all documents of a query: leave --doc, --versus and --what-if out")
    if not ranking and (today is not None or first is not None):
        raise DataError("--today and --first belong to --ranking, the whole ranking of a query")
    if ranking and query is None and len({*map(str, data.qid)}) > 1:
        raise DataError("--ranking needs the query that is meant: name it with --query")
    if doc is None and (versus is not None or what_if):
        raise DataError("--versus and --what-if need the document that is meant: name it with --doc")
    if ranking:  # today's ranking may be a column that the model does not read
        others = [name for name in file.data.feature_names if name not in names]
        whole = with_names(file.with_features([*names, *others])[once])
        shown: Shown = ranker.explain_query(
            whole, query, today=False if today == "none" else today, n=10 if first is None else first
        )
        write(shown, chosen, out)
    elif doc is None and query is None:
        shown = ranker.overview(data)
        write(shown, chosen, out)
    else:
        data, doc, versus = with_names(data), as_named(data, doc), as_named(data, versus)
        if doc is not None and doc == versus:
            raise DataError(f"--doc and --versus name the same document, {doc!r}: choose two")
        own = of_query(data, query, doc)
        scores = ranker.predict(own)
        row = int(scores.argmax()) if doc is None else find(own, doc)
        other = None if versus is None else find(own, versus)
        shown = ranker.explain(own, row) if other is None else ranker.explain(own, row, versus=other)
        write(shown, chosen, out, lift_of(ranker, own, scores, row, other) if what_if else None)
    if out != "-":
        report({"file": out, "format": chosen}, f"{out}: {shown.page().title}", as_json=as_json, target=out)


def choose_format(named: str | None, out: str) -> str:
    """Return the format that was named, or the one that the file's name ends in.

    >>> choose_format(None, "why.html"), choose_format(None, "-"), choose_format("markdown", "why.txt")
    ('html', 'text', 'markdown')
    """
    from pathlib import Path

    if named is None:
        suffix = Path(out).suffix.lower()
        if suffix and suffix not in FORMATS.values():
            endings = ", ".join(FORMATS.values())
            raise DataError(f"cannot tell the format from the name {out!r}; end it in one of {endings}, or say --to")
        return next((name for name, ending in FORMATS.items() if ending == suffix), "text")
    if named.lower() not in FORMATS:
        raise DataError(f"unknown format {named!r}; choose from {', '.join(FORMATS)}")
    return named.lower()


def of_query(data: Dataset, query: str | None, doc: str | None) -> Dataset:
    """Return the documents of a query; without its id, of the only query with such a document."""
    import numpy as np

    from rulerank.core.words import listed
    from rulerank.dataset import query_index

    ids = [str(one) for one in query_index(data.qid)[1]]
    if query is None:
        holding = dict.fromkeys(str(q) for q in data.qid[np.array([d == doc for d in names_of(data)], dtype=bool)])
        if len(holding) != 1:
            where = f"queries {listed(list(holding))}: choose one with --query" if holding else "no query of the data"
            raise DataError(f"document {doc!r} is in {where}")
        query = next(iter(holding))
    if query not in ids:
        raise DataError(f"no query {query!r} in the data: it has {listed(ids)}")
    return data[np.array([str(q) == query for q in data.qid], dtype=bool)]


def with_names(data: Dataset) -> Dataset:
    """Return documents that keep their names when some are taken out, though they may have no ids."""
    import numpy as np

    return replace(data, docid=np.array(names_of(data), dtype=object))


def names_of(data: Dataset) -> list[str]:
    """Return what documents are called, here and everywhere."""
    from rulerank.dataset import doc_name

    return [doc_name(data, row) for row in range(len(data))]


def as_named(data: Dataset, doc: str | None) -> str | None:
    """Return the name of a document that was given as a bare row number, which is enough where there are no ids."""
    return f"row {doc}" if doc is not None and data.docid is None and doc.isdecimal() else doc


def find(own: Dataset, doc: str) -> int:
    """Return the row of a document among those of one query."""
    from rulerank.core.words import listed

    names = names_of(own)
    if doc not in names:
        raise DataError(f"no document {doc!r} in query {own.qid[0]}: it has {listed(names)}")
    return names.index(doc)


def write(shown: Shown, format: str, out: str, lift: Lift | None = None) -> None:
    """Print or write an explanation in a format, with what would change it."""
    import json

    from rulerank.io.outputs import write_bytes
    from rulerank.render.html import render_html
    from rulerank.render.text import render_markdown, render_text, rich_page

    if format == "json":
        text = json.dumps(shown.to_dict() | ({} if lift is None else {"what_if": lift.to_dict()}), indent=2)
    else:
        page = shown.page() if format != "html" else shown.drawn()
        if lift is not None:
            page = replace(page, blocks=(*page.blocks, lift.block()))
        if format == "text" and out == "-" and sys.stdout.isatty() and (sys.stdout.encoding or "").startswith("utf"):
            from rich.console import Console

            Console().print(rich_page(page))
            return
        text = {"text": render_text, "markdown": render_markdown, "html": render_html}[format](page)
    write_bytes(out, f"{text.rstrip()}\n".encode())
