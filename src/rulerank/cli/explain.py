"""rulerank explain: a score, the ranking of a query, a model, or what a new model changes."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from rulerank.cli.options import AsJson, BaselineOption, Docid, Qid, argument, columns, flag, option
from rulerank.errors import DataError

if TYPE_CHECKING:
    from rulerank.dataset import Dataset
    from rulerank.explain import Lift, Shown

TEXTS = (".txt", ".md", ".html", ".json")


def explain(
    source: Annotated[str, argument("DATA", "Documents in any format, - for stdin.")],
    model: Annotated[str, argument("MODEL", "Model file from `rulerank train`.")],
    query: Annotated[str | None, option("ID", "Explain the ranking of this query.")] = None,
    doc: Annotated[str | None, option("ID", "Explain this document; without ids its row, from 1.")] = None,
    versus: Annotated[str | None, option("ID", "Compare the document of --doc with this one.")] = None,
    what_if: Annotated[bool, flag("Also show feature changes that move --doc up one rank.", "--what-if")] = False,
    baseline: BaselineOption = None,
    labels: Annotated[str | None, option("FILE", "Label store or file for the report against --baseline.")] = None,
    top: Annotated[int, option("N", "Documents of a ranking to show.")] = 10,
    out: Annotated[
        str, option("FILE", "A .txt, .md, .html, .json, .svg, .png or .pdf.", "--out", "-o", "--report")
    ] = "-",
    qid: Qid = None,
    docid: Docid = None,
    as_json: AsJson = False,
) -> None:
    """Explain a score, a ranking, a model, or what changes.

    --query explains the ranking of a query and what moved against the baseline, --doc the score of one document.
    Without either, the model as a whole is explained, also as a picture (.svg, .png, .pdf): what each of the most
    important features adds to the score, by its value. With --baseline OLD, and neither --query nor --doc, writes a
    report that compares MODEL with OLD: how many top lists change, why, which documents move most, metrics if there
    are labels (in DATA, or of --labels), and example queries side by side.

    Every number is exact: contributions sum to the score, or to the difference of two scores.

    Example:
        # the model as a whole, as text and as a picture
        rulerank explain test.txt model.rulerank
        rulerank explain test.txt model.rulerank -o curves.svg
        # two documents of a query, and what would move the first one up
        rulerank explain test.txt model.rulerank --query q1 --doc q1-d3 --versus q1-d5 --what-if
        # the ranking of a query against the baseline
        rulerank explain test.txt model.rulerank --query q1 --baseline f3 -o ranking.html
        # all queries: what the model changes against the baseline
        rulerank explain test.txt model.rulerank --baseline f3 --report release.html
    """
    from rulerank.cli.output import PICTURES, ending_of, report
    from rulerank.explain import lift_of, release_of
    from rulerank.io.columns import first_rows
    from rulerank.io.formats import read_documents
    from rulerank.model_file import load_beside_data

    ending = ".json" if as_json and out == "-" else ".txt" if out == "-" else ending_of(out, TEXTS + PICTURES)
    whole = query is None and doc is None
    if doc is None and (versus is not None or what_if):
        raise DataError("--versus and --what-if need a document: name it with --doc")
    if ending in PICTURES and (not whole or baseline is not None):
        raise DataError("a picture shows the model as a whole: leave out --query, --doc and --baseline, or write .html")
    if labels is not None and (not whole or baseline is None):
        raise DataError("--labels is for the report on all queries: add --baseline, leave out --query and --doc")
    ranker = load_beside_data(model, source, command="explain")
    features = ranker.feature_names_
    file = read_documents(source, columns(qid, docid), wanted=features)
    once = (
        slice(None) if file.data.impressions is None else first_rows(file.data)
    )  # a row is a document, not a position
    data = file.with_features(features)[once]
    others = [name for name in file.data.feature_names if name not in features]  # the baseline may be one of these
    lift: Lift | None = None
    if ending in PICTURES:
        from rulerank.explain.figures import curves_figure
        from rulerank.io.files import write_bytes
        from rulerank.render.figures import figure_bytes

        write_bytes(out, figure_bytes(curves_figure(ranker.curves(data)), ending))
        report({"file": out, "rows": len(data)}, f"{out}: effects of {len(data):,} documents", as_json=as_json)
        return
    if whole and baseline is not None:
        every = file.with_features([*features, *others])[once]
        every = every if labels is None else with_labels(every, labels, source)
        shown: Shown = release_of(ranker, every, baseline, top, name=Path(model).name)
    elif whole:
        shown = ranker.overview(data)
    elif doc is None:
        every = candidates(with_names(file.with_features([*features, *others])[once]))
        shown = ranker.explain_query(every, query, baseline=False if baseline == "none" else baseline, n=top)
    else:
        doc, versus = as_named(data, doc), None if versus is None else as_named(data, versus)
        if doc == versus:
            raise DataError(f"--doc and --versus name the same document, {doc!r}: choose two")
        own = candidates(of_query(with_names(data), query, doc), doc, versus)
        row, other = find(own, doc), None if versus is None else find(own, versus)
        shown = ranker.explain(own, row) if other is None else ranker.explain(own, row, versus=other)
        lift = lift_of(ranker, own, ranker.predict(own), row, other) if what_if else None
    write(shown, ending, out, lift)
    if out != "-":
        report({"file": out}, f"{out}: {shown.page().title}", as_json=as_json)


def with_labels(data: Dataset, labels: str, source: str) -> Dataset:
    """Return the documents with the labels of a store or file in the place of their own."""
    import numpy as np

    from rulerank.dataset import UNLABELLED
    from rulerank.judging.label_files import read_labels
    from rulerank.judging.pool import Pool

    data = data if data.base is None else data[~data.base.extra]
    grades = read_labels(Pool(data, name=source), labels, strict=False)
    if not grades:
        raise DataError(f"{labels} has no label of a document in {source}: check the query and document ids")
    y = np.full(len(data), UNLABELLED)
    y[[*grades]] = [*grades.values()]
    return replace(data, y=y, base=None)


def candidates(data: Dataset, *named: str | None) -> Dataset:
    """Leave out documents that are in the data only because they are judged, as `rank` does; unless one is named."""
    assert data.docid is not None
    if data.base is None or {*named} & {*data.docid[data.base.extra].tolist()}:
        return data
    return data[~data.base.extra]


def of_query(data: Dataset, query: str | None, doc: str) -> Dataset:
    """Return the documents of a query; without its id, of the only query with such a document."""
    from rulerank._util.words import listed
    from rulerank.explain.ranking import rows_of

    if query is None:
        assert data.docid is not None
        holding = list(dict.fromkeys(map(str, data.qid[data.docid == doc])))
        if len(holding) != 1:
            where = f"queries {listed(holding)}: choose one with --query" if holding else "no query of the data"
            raise DataError(f"document {doc!r} is in {where}")
        query = holding[0]
    return rows_of(data, query)


def with_names(data: Dataset) -> Dataset:
    """Return documents that keep their names when some are taken out, though they may have no ids."""
    import numpy as np

    from rulerank.dataset import doc_name

    return replace(data, docid=np.array([doc_name(data, row) for row in range(len(data))], dtype=object))


def as_named(data: Dataset, doc: str) -> str:
    """Return the name of a document that was given as a bare row number, which is enough where there are no ids."""
    return f"row {doc}" if data.docid is None and doc.isdecimal() else doc


def find(own: Dataset, doc: str) -> int:
    """Return the row of a document among those of one query."""
    from rulerank._util.words import listed

    assert own.docid is not None
    names = own.docid.tolist()
    if doc not in names:
        raise DataError(f"no document {doc!r} in query {own.qid[0]}: it has {listed(names)}")
    return names.index(doc)


def write(shown: Shown, ending: str, out: str, lift: Lift | None = None) -> None:
    """Print or write an explanation, with what would change it."""
    import json

    from rulerank.cli.output import print_page
    from rulerank.io.files import write_text
    from rulerank.render.html import render_html
    from rulerank.render.text import render_markdown, render_text

    if ending == ".json":
        text = json.dumps(shown.to_dict() | ({} if lift is None else {"what_if": lift.to_dict()}), indent=2)
    else:
        page = shown.page() if ending != ".html" else shown.drawn()
        if lift is not None:
            page = replace(page, blocks=(*page.blocks, lift.block()))
        if out == "-":
            print_page(page, sys.stdout)
            return
        text = {".txt": render_text, ".md": render_markdown, ".html": render_html}[ending](page)
    write_text(out, f"{text.rstrip()}\n")
