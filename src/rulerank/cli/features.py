"""rulerank features: from documents and queries to named features."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated, Any

import typer

from rulerank.cli.options import AsJson, Unjudged, report_left_out
from rulerank.cli.output import print_json, print_table
from rulerank.errors import DataError

if TYPE_CHECKING:
    from rulerank.dataset import Dataset
    from rulerank.features.fields import Field

MEASURE = "NDCG@10"


def features(
    docs: Annotated[str, typer.Argument(metavar="DOCS", help="Documents: jsonl, csv, tsv or Parquet, - for stdin.")],
    queries: Annotated[str, typer.Argument(metavar="QUERIES", help="Queries: tsv, csv, jsonl or Parquet.")],
    out: Annotated[str, typer.Option("--out", "-o", metavar="FILE", help="The table to write, .parquet or .csv.")],
    qrels: Annotated[
        str | None, typer.Option(metavar="FILE", help="Judgements: TREC qrels, or a table with qid, docid, grade.")
    ] = None,
    top: Annotated[
        int, typer.Option(min=0, help="So many candidates of each query, the best by BM25; 0: only judged documents.")
    ] = 100,
    pairs: Annotated[
        str | None,
        typer.Option(metavar="FILE", help="These documents instead: a TREC run, or qid, docid[, rank, score]."),
    ] = None,
    unjudged: Unjudged = None,
    judged_extra: Annotated[
        str,
        typer.Option(
            metavar="yes|no", help="Write judged documents that are not among the best --top too, marked as extra."
        ),
    ] = "yes",
    keep: Annotated[
        str | None, typer.Option(metavar="FILE", help="Keep what computes the same features for new queries.")
    ] = None,
    fields: Annotated[
        str | None,
        typer.Option(
            metavar="A,B=KIND,...", help="Fields to use, with the kind where it is wrong; all: every field [all]."
        ),
    ] = None,
    names: Annotated[
        str | None, typer.Option("--names", metavar="A,B,...", help="Features by name, or all [a short list].")
    ] = None,
    language: Annotated[str, typer.Option(help="Whose words are stemmed: en, de, fr, ...; none stems nothing.")] = "en",
    id: Annotated[str | None, typer.Option("--id", metavar="FIELD", help="Field of the document id [id].")] = None,
    as_json: AsJson = False,
) -> None:
    """Make a table of named features from documents and queries.

    Fields are used by what they hold: text, lists, numbers, years, dates, categories, vectors. Candidates of a query
    are its best documents by BM25 and, with judgements, all judged ones. The table can be judged and trained on; it
    keeps all fields, which `rulerank judge --show FIELD` shows, which documents are judged, and how many judgements of
    each grade a query has, so that relevant documents that are not among the candidates count as missed. Queries
    without any judgement have no grades.

    Example:
        rulerank features docs.jsonl queries.tsv -o pool.parquet --keep text.rulerank
        rulerank features docs.jsonl queries.tsv --qrels qrels.txt --top 100 -o train.parquet
        rulerank features docs.jsonl queries.tsv --pairs today.run -o today.parquet
        rulerank features docs.jsonl queries.tsv --fields all,price=number -o pool.parquet
    """
    from rulerank.features.text_features import TextFeatures
    from rulerank.io.formats import output_format, write_any
    from rulerank.io.outputs import check_directory_of
    from rulerank.io.streams import identity
    from rulerank.io.texts import read_judgements, read_pairs, read_queries, read_texts
    from rulerank.model_file import check_overwrite, check_target
    from rulerank.recall_base import check_judged_extra, check_unjudged

    if qrels is None and (unjudged is not None or judged_extra != "yes"):
        raise DataError("--unjudged and --judged-extra are for judgements: add --qrels FILE")
    if docs == queries or (identity(docs) is not None and identity(docs) == identity(queries)):
        raise DataError(f"documents and queries are the same file, {docs}: name one file of each")
    with_extra = check_judged_extra(judged_extra)
    output_format(out)
    if out != "-":
        check_directory_of(out)
    if keep is not None:
        check_target(keep)
        check_overwrite(keep, [docs, queries])
    texts = read_texts(docs, id=id)
    asked = read_queries(queries)
    judged = None if qrels is None else read_judgements(qrels)
    listed = None if pairs is None else read_pairs(pairs)
    made = TextFeatures(_fields(fields), _names(names), language).fit(texts)
    data = made.dataset(
        asked, qrels=judged, top=top, pairs=listed, unjudged=check_unjudged(unjudged), judged_extra=bool(with_extra)
    )
    write_any(data, out, None)
    if keep is not None:
        made.save(keep)
    counting = data.counted_rows()
    if qrels is not None:
        report_left_out(counting, len(data), "left out of training and evaluation")
    about_fields, about_features = found_fields(made.fields_), found_features(data)
    if as_json:
        payload = {"rows": len(data), "queries": len(asked), "out": out, "keep": keep}
        if qrels is not None:
            payload |= {"unjudged": counting.unjudged, "judged_extra": counting.n_extra}
            payload |= {"queries_without_judgement": counting.n_queries}
        print_json(payload | {"fields": about_fields, "features": about_features})
        return
    _print(about_fields, about_features, data, out, keep)


def found_fields(fields: Sequence[Field]) -> list[dict[str, Any]]:
    """Return the fields as plain values.

    >>> from rulerank.features.fields import Field
    >>> found_fields([Field("title", "title", 1.0)])
    [{'field': 'title', 'kind': 'title', 'coverage': 1.0, 'unread': 0}]
    """
    return [
        {"field": field.name, "kind": field.kind, "coverage": field.coverage, "unread": field.n_unread}
        for field in fields
    ]


def found_features(data: Dataset) -> list[dict[str, Any]]:
    """Return, for each feature, the share of rows that have it and, with judgements, its NDCG@10 alone.

    >>> from rulerank.dataset import Dataset
    >>> data = Dataset([[1.0], [2.0]], [1, 0], ["q", "q"], feature_names=["price"])
    >>> found_features(data)
    [{'feature': 'price', 'coverage': 1.0, 'NDCG@10': 1.0, 'best': 'lowest'}]
    """
    import numpy as np

    from rulerank.dataset import has_contrast, query_index
    from rulerank.evaluation import evaluate
    from rulerank.evaluation.rankings import feature_scores

    counting = data.counted_rows()
    judged = data.counted(counting)
    contrast = has_contrast(judged.y, query_index(judged.qid)[0])  # else every feature would have the same NDCG
    known = 1.0 - np.isnan(data.X).mean(axis=0)
    found = []
    for name, share in zip(data.feature_names, known.tolist(), strict=True):
        alone: dict[str, Any] = {MEASURE: None, "best": None}
        if contrast and name not in data.categories:
            quality = {
                best: evaluate(
                    data, feature_scores(data, sign + name), measures=MEASURE, unjudged=counting.unjudged
                ).means[MEASURE]
                for best, sign in (("highest", ""), ("lowest", "-"))
            }
            best = max(quality, key=lambda one: quality[one])
            alone = {MEASURE: quality[best], "best": best}
        found.append({"feature": name, "coverage": share, **alone})
    return found


def _print(
    fields: list[dict[str, Any]], features: list[dict[str, Any]], data: Dataset, out: str, keep: str | None
) -> None:
    import sys
    from contextlib import redirect_stdout

    from rulerank.io.tables import TEXT_COLUMNS

    with redirect_stdout(sys.stderr if out == "-" else sys.stdout):
        print_table(["field", "kind", "filled"], [[f["field"], f["kind"], f"{f['coverage']:.0%}"] for f in fields], 2)
        print()
        judged = any(feature["NDCG@10"] is not None for feature in features)
        header = ["feature", "known", *(["NDCG@10", "best"] if judged else [])]
        alone = [["", ""] if f["best"] is None else [f"{f['NDCG@10']:.4f}", f["best"]] for f in features]
        rows = [
            [f["feature"], f"{f['coverage']:.0%}", *(quality if judged else [])]
            for f, quality in zip(features, alone, strict=True)
        ]
        print_table(header, rows, 1)
        if judged:
            others = "count as not relevant" if data.counted_rows().unjudged == "0" else "are left out"
            print(
                "NDCG@10: ranked by this feature alone, the highest or the lowest first; documents without a judgement "
                f"{others}"
            )
        print(f"\n{out}: {data!r}")
        kept = [name for name in data.texts if name not in TEXT_COLUMNS]
        if kept:
            print(f"Raters see title and text; to show other fields: rulerank judge --show {' --show '.join(kept)}")
        if keep is not None:
            print(f"{keep}: computes the same features for new queries; in Python rulerank.load")


def _fields(fields: str | None) -> Any:
    """Return names, with the kinds of those that have one.

    >>> _fields("title,brand=category,all")
    {'title': None, 'brand': 'category', 'all': None}
    """
    if fields is None:
        return None
    pairs = [part.strip().partition("=") for part in fields.split(",")]
    return {name.strip(): kind.strip() or None for name, _, kind in pairs}


def _names(names: str | None) -> Any:
    return None if names is None else "all" if names == "all" else [name.strip() for name in names.split(",")]
