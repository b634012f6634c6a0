"""rulerank features: from documents and queries to named features."""

from __future__ import annotations

import sys
from contextlib import redirect_stdout
from typing import TYPE_CHECKING, Annotated, Any

from rulerank.cli.options import AsJson, argument, flag, option, report_left_out
from rulerank.cli.output import print_json, print_table
from rulerank.errors import DataError

if TYPE_CHECKING:
    from rulerank.dataset import Dataset

MEASURE = "NDCG@10"


def features(
    docs: Annotated[str, argument("DOCS", "Documents: jsonl, csv, tsv or Parquet, - for stdin.")],
    queries: Annotated[str, argument("QUERIES", "Queries: tsv, csv, jsonl or Parquet.")],
    out: Annotated[str, option("FILE", "The table to write, .parquet or .csv.", "--out", "-o")],
    qrels: Annotated[str | None, option("FILE", "Judgements: qrels, or a table with qid, docid, grade.")] = None,
    top: Annotated[int, flag("So many candidates of each query, by BM25; 0: only judged documents.", min=0)] = 100,
    pairs: Annotated[str | None, option("FILE", "These documents: a TREC run, or qid, docid[, rank, score].")] = None,
    keep: Annotated[str | None, option("FILE", "Keep what computes them for new queries.")] = None,
    fields: Annotated[str | None, option("A,B=KIND,...", "Fields to use, and kinds that are wrong [all].")] = None,
    language: Annotated[str, flag("Whose words are stemmed: en, de, fr, ...; none stems nothing.")] = "en",
    as_json: AsJson = False,
) -> None:
    """Make a table of named features from documents and queries.

    Fields are used by what they hold: text, lists, numbers, years, dates, categories, vectors. Candidates of a query
    are its best documents by BM25 and, with judgements, all judged ones, which are marked. The table can be judged and
    trained on; it keeps all fields, which `rulerank judge --show FIELD` shows, which documents are judged, and how many
    judgements of each grade a query has, so that relevant documents that are not among the candidates count as missed.
    Queries without any judgement have no grades.

    Example:
        rulerank features docs.jsonl queries.tsv -o pool.parquet --keep text.rulerank
        rulerank features docs.jsonl queries.tsv --qrels qrels.txt --top 100 -o train.parquet
        rulerank features docs.jsonl queries.tsv --pairs engine.run -o engine.parquet
        rulerank features docs.jsonl queries.tsv --fields all,price=number -o pool.parquet
    """
    from rulerank.features.text_features import TextFeatures
    from rulerank.io.formats import output_format, write_any
    from rulerank.io.outputs import check_directory_of
    from rulerank.io.streams import identity
    from rulerank.io.texts import read_judgements, read_pairs, read_queries, read_texts
    from rulerank.model_file import check_overwrite, check_target

    if docs == queries or (identity(docs) is not None and identity(docs) == identity(queries)):
        raise DataError(f"documents and queries are the same file, {docs}: name one file of each")
    format = "csv" if out == "-" else output_format(out)
    if out != "-":
        check_directory_of(out)
    if keep is not None:
        check_target(keep)
        check_overwrite(keep, [docs, queries])
    texts = read_texts(docs)
    asked = read_queries(queries)
    judged = None if qrels is None else read_judgements(qrels)
    listed = None if pairs is None else read_pairs(pairs)
    made = TextFeatures(fields_of(fields), language=language).fit(texts)
    data = made.dataset(asked, qrels=judged, top=top, pairs=listed)
    write_any(data, out, format)
    if keep is not None:
        made.save(keep)
    counting = data.counted_rows()
    if qrels is not None:
        report_left_out(counting, len(data), "left out of training and evaluation")
    of_fields = [
        {"field": field.name, "kind": field.kind, "coverage": field.coverage, "unread": field.n_unread}
        for field in made.fields_
    ]
    of_features = alone(data)
    with redirect_stdout(sys.stderr if out == "-" else sys.stdout):
        if not as_json:
            print_found(of_fields, of_features, data, out)
            return
        payload = {"rows": len(data), "queries": len(asked), "out": out, "keep": keep}
        if qrels is not None:
            payload |= {"unjudged": counting.unjudged, "judged_extra": counting.n_extra}
            payload |= {"queries_without_judgement": counting.n_queries}
        print_json(payload | {"fields": of_fields, "features": of_features})


def alone(data: Dataset) -> list[dict[str, Any]]:
    """Return, for each feature, the share of rows that have it and, with judgements, its NDCG@10 alone.

    >>> from rulerank.dataset import Dataset
    >>> data = Dataset([[1.0], [2.0]], [1, 0], ["q", "q"], feature_names=["price"])
    >>> alone(data)
    [{'feature': 'price', 'coverage': 1.0, 'NDCG@10': 1.0, 'best': 'lowest'}]
    """
    import numpy as np

    from rulerank.dataset import has_contrast, query_index
    from rulerank.evaluation import evaluate
    from rulerank.evaluation.rankings import feature_scores

    counting = data.counted_rows()
    judged = data.counted(counting)
    contrast = has_contrast(judged.y, query_index(judged.qid)[0])  # else every feature would have the same NDCG

    def quality(ranked_by: str) -> float:
        scores = feature_scores(data, ranked_by)
        return evaluate(data, scores, measures=MEASURE, unjudged=counting.unjudged).means[MEASURE]

    rows = []
    for name, share in zip(data.feature_names, (1.0 - np.isnan(data.X).mean(axis=0)).tolist(), strict=True):
        best: tuple[float | None, str | None] = (None, None)
        if contrast and name not in data.categories:
            best = max((quality(name), "highest"), (quality(f"-{name}"), "lowest"), key=lambda one: one[0])
        rows.append({"feature": name, "coverage": share, MEASURE: best[0], "best": best[1]})
    return rows


def print_found(fields: list[dict[str, Any]], features: list[dict[str, Any]], data: Dataset, out: str) -> None:
    """Print what fields and features hold, and how good each feature is alone."""
    from rulerank.io.tables import TEXT_COLUMNS

    print_table(["field", "kind", "filled"], [[f["field"], f["kind"], f"{f['coverage']:.0%}"] for f in fields], 2)
    judged = any(feature["best"] for feature in features)
    rows = [
        [f["feature"], f"{f['coverage']:.0%}"]
        + ([f"{f[MEASURE]:.4f}" if f["best"] else "", f["best"] or ""] if judged else [])
        for f in features
    ]
    print()
    print_table(["feature", "known", *([MEASURE, "best"] if judged else [])], rows)
    if judged:
        others = "count as not relevant" if data.counted_rows().unjudged == "0" else "are left out"
        print(f"{MEASURE}: ranked by this feature alone, the highest or the lowest first; unjudged documents {others}")
    print(f"\n{out}: {data!r}")
    kept = [name for name in data.texts if name not in TEXT_COLUMNS]
    if kept:
        print(f"Raters see title and text; to show other fields: rulerank judge --show {','.join(kept)}")


def fields_of(fields: str | None) -> Any:
    """Return names, with the kinds of those that have one.

    >>> fields_of("title,brand=category,all")
    {'title': None, 'brand': 'category', 'all': None}
    """
    if fields is None:
        return None
    pairs = [part.strip().partition("=") for part in fields.split(",")]
    return {name.strip(): kind.strip() or None for name, _, kind in pairs}
