"""rulerank explain: why a document has its score, why one stands above another, what the model does."""

from __future__ import annotations

import sys
from dataclasses import asdict, replace
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import typer

from rulerank.cli.options import AsJson, DocidColumn, FeatureColumns, QidColumn, columns
from rulerank.errors import DataError

if TYPE_CHECKING:
    from rulerank.dataset import Array, Dataset
    from rulerank.explain.changes import Change
    from rulerank.explain.explanation import Shown

FORMATS = {"text": ".txt", "markdown": ".md", "html": ".html", "json": ".json"}


class Lift(NamedTuple):
    """What would lift a document above a score."""

    document: str
    above: float
    changes: tuple[Change, ...]

    def to_dict(self) -> dict[str, Any]:
        # a move that is not known is null, as JSON has no NaN
        changes = [asdict(one) | {"move": None if one.move != one.move else one.move} for one in self.changes]
        return {"document": self.document, "above": self.above, "changes": changes}


def explain(
    model: Annotated[str, typer.Argument(metavar="MODEL", help="A model file that `rulerank train` wrote.")],
    source: Annotated[str, typer.Argument(metavar="DATA", help="Documents in any format, - for stdin.")],
    query: Annotated[str | None, typer.Option("--query", metavar="ID", help="The document's query.")] = None,
    doc: Annotated[
        str | None, typer.Option("--doc", metavar="ID", help="The document; without ids, its number in the query.")
    ] = None,
    versus: Annotated[
        str | None, typer.Option("--versus", metavar="ID", help="Another document of the query to compare it with.")
    ] = None,
    what_if: Annotated[
        bool, typer.Option("--what-if", help="Also say what would lift it above the one ranked before it.")
    ] = False,
    target_format: Annotated[
        str | None, typer.Option("--to", metavar="FORMAT", help=f"{', '.join(FORMATS)} [by the name of FILE].")
    ] = None,
    out: Annotated[str, typer.Option("--out", "-o", metavar="FILE", help="Write to a file instead of stdout.")] = "-",
    format: Annotated[str | None, typer.Option("--from", metavar="FORMAT", help="Format of DATA [by name].")] = None,
    qid: QidColumn = None,
    docid: DocidColumn = None,
    features: FeatureColumns = None,
    as_json: AsJson = False,
) -> None:
    """Say why a document stands where it stands.

    Why it has its score, why it is above another one, and what would lift it. Every number is exact: what features and
    rules add adds up to the score, or to the difference of two. With --query alone, the query's first document is
    explained; without --query and --doc, the model as a whole.

    Example:

    \b
        rulerank explain model.rulerank test.txt --query q1 --doc q1-d3
        rulerank explain model.rulerank test.txt --query q1 --doc q1-d3 --versus q1-d5 --what-if
        rulerank explain model.rulerank test.txt --doc q1-d3 -o why.html
        rulerank explain model.rulerank test.txt
    """
    from rulerank.cli.output import report
    from rulerank.model_file import load_beside_data
    from rulerank.rankers.documents import read_documents

    chosen = choose_format("json" if as_json and out == "-" else target_format, out)
    ranker = load_beside_data(model, source, command="explain")
    data = read_documents(source, format, columns(qid, docid, None, features)).with_features(ranker.feature_names_)
    if doc is None and (versus is not None or what_if):
        raise DataError("--versus and --what-if need the document that is meant: name it with --doc")
    if doc is None and query is None:
        shown: Shown = ranker.overview(data)
        write(shown, chosen, out)
    else:
        own = of_query(data, query, doc)
        scores = ranker.predict(own)
        row = int(scores.argmax()) if doc is None else find(own, doc)
        other = None if versus is None else find(own, versus)
        own = with_names(own)
        shown = ranker.explain(own, row) if other is None else ranker.explain(own, row, versus=other)
        above = score_before(scores, row, other) if what_if else None
        lift = (
            None
            if above is None
            else Lift(ranker.explain(own, row).document, above, ranker.what_if(own, row, above=above))
        )
        write(shown, chosen, out, lift)
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
        if data.docid is None:
            raise DataError("the documents have no ids: say with --query which query's document is meant")
        holding = dict.fromkeys(str(q) for q in data.qid[np.array([str(d) == doc for d in data.docid], dtype=bool)])
        if len(holding) != 1:
            where = f"queries {listed(list(holding))}: choose one with --query" if holding else "no query of the data"
            raise DataError(f"document {doc!r} is in {where}")
        query = next(iter(holding))
    if query not in ids:
        raise DataError(f"no query {query!r} in the data: it has {listed(ids)}")
    return data[np.array([str(q) == query for q in data.qid], dtype=bool)]


def with_names(own: Dataset) -> Dataset:
    """Return the documents of one query with names for those that have no ids."""
    import numpy as np

    if own.docid is not None:
        return own
    return replace(own, docid=np.array([f"document {row + 1}" for row in range(len(own))], dtype=object))


def find(own: Dataset, doc: str) -> int:
    """Return the row of a document of one query, by its id or, without ids, by its number from 1."""
    from rulerank.core.words import listed

    names = [str(row + 1) for row in range(len(own))] if own.docid is None else [str(name) for name in own.docid]
    if doc not in names:
        raise DataError(f"no document {doc!r} in query {own.qid[0]}: it has {listed(names)}")
    return names.index(doc)


def score_before(scores: Array, row: int, other: int | None) -> float | None:
    """Return the score of the other document, or of the one ranked just before; None if there is none to beat."""
    if other is not None:
        return float(scores[other]) if scores[other] >= scores[row] else None
    higher = scores[scores > scores[row]]
    return float(higher.min()) if higher.size else None


def write(shown: Shown, format: str, out: str, lift: Lift | None = None) -> None:
    """Print or write an explanation in a format, with what would change it."""
    import json

    from rulerank.explain.pages import changes_table
    from rulerank.io.streams import write_bytes
    from rulerank.render.html import render_html
    from rulerank.render.markdown import render_markdown
    from rulerank.render.terminal import render_text, rich_page

    if format == "json":
        text = json.dumps(shown.to_dict() | ({} if lift is None else {"what_if": lift.to_dict()}), indent=2)
    else:
        page = shown.page()
        if lift is not None:
            page = replace(page, blocks=(*page.blocks, changes_table(lift.changes, lift.document, lift.above)))
        if format == "text" and out == "-" and sys.stdout.isatty() and (sys.stdout.encoding or "").startswith("utf"):
            from rich.console import Console

            Console().print(rich_page(page))
            return
        text = {"text": render_text, "markdown": render_markdown, "html": render_html}[format](page)
    write_bytes(out, f"{text.rstrip()}\n".encode())
