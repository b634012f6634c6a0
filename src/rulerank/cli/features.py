"""rulerank features: compute named features from documents and queries."""

from __future__ import annotations

import sys
from contextlib import redirect_stdout
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from rulerank.cli.options import AsJson, argument, option, report_left_out
from rulerank.cli.output import print_json, print_table
from rulerank.errors import DataError

if TYPE_CHECKING:
    from rulerank.dataset import Dataset

MEASURE = "NDCG@10"
NPY, OWN = "npy", "embedding"  # vectors in .npy files, and the field that they become
EMBEDDERS = f"static[:FOLDER], lsa, onnx:FOLDER, sentence-transformers:NAME, http://HOST/v1/embeddings#MODEL, {NPY}"


def features(
    docs: Annotated[str, argument("DOCS", "Documents: jsonl, csv, tsv or Parquet, - for stdin.")],
    queries: Annotated[str, argument("QUERIES", "Queries: tsv, csv, jsonl or Parquet.")],
    out: Annotated[str, option("FILE", "Output table, .parquet or .csv.", "--out", "-o")],
    qrels: Annotated[str | None, option("FILE", "Judgements: TREC qrels, or a table with qid, docid, grade.")] = None,
    top: Annotated[int, option("N", "Number of candidates per query; 0: only judged documents.", min=0)] = 100,
    candidates: Annotated[str, option("NAME", "bm25, dense (nearest vectors), hybrid, or a file.")] = "bm25",
    run: Annotated[
        list[str] | None, option("FILE", "TREC run whose scores and ranks become features; repeatable.")
    ] = None,
    keep: Annotated[str | None, option("FILE", "Also save the fitted feature extractor (index), for serving.")] = None,
    fields: Annotated[
        str | None, option("A,B=KIND,...", "Fields to use, with their kinds if guessed wrongly.  [default: all]")
    ] = None,
    language: Annotated[str, option("LANGUAGE", "Stemmer language (en, de, fr, ...; none to disable).")] = "en",
    embed: Annotated[str | None, option("NAME", f"Embedder for similarity in meaning: {EMBEDDERS}.")] = None,
    as_json: AsJson = False,
) -> None:
    """Compute a table of named features from documents and queries.

    Guesses the kind of each field: text, list, number, year, date, category or vector. The candidates of a query are
    its best documents by BM25, by vectors or by both, or those in a file (a TREC run, or a table with qid, docid[,
    rank, score]). --run adds the score and the reciprocal rank of other retrievers as features. With judgements, all
    judged documents are added, and marked. The table can be judged and trained on. It keeps all fields (for `rulerank
    judge --show FIELD`) and the number of judgements per query and grade, so that relevant documents that are not among
    the candidates count as missed. Queries without any judgement have no grades.

    --embed adds the feature meaning(all), the similarity in meaning of query and document. `static` (pip install
    'rulerank[semantic]') and `lsa` need no server and no download. `npy` reads your vectors, docs.npy for docs.jsonl
    and queries.npy for queries.tsv, one row per line, as the feature cosine(embedding). With --keep FILE, the vectors
    are cached in FILE.vectors: the next run embeds only new texts. The key for a server is read from the environment
    variable RULERANK_EMBED_KEY.

    Example:
        # a pool to judge, and the index for rulerank serve
        rulerank features docs.jsonl queries.tsv -o pool.parquet --keep text.rulerank
        # training data from judgements
        rulerank features docs.jsonl queries.tsv --qrels qrels.txt --top 100 -o train.parquet
        # similarity in meaning, in the features and in the search for candidates
        rulerank features docs.jsonl queries.tsv --embed lsa --candidates hybrid -o pool.parquet
        # the candidates of your search engine; price is a number
        rulerank features docs.jsonl queries.tsv --candidates engine.run --fields all,price=number -o engine.parquet
    """
    from rulerank.io.files import check_directory_of, identity
    from rulerank.io.formats import output_format, read_scored, write_any
    from rulerank.io.texts import read_documents, read_judgements, read_queries
    from rulerank.model_file import check_overwrite, check_target
    from rulerank.text.text_features import CANDIDATES, TextFeatures
    from rulerank.text.vectors import read_vectors

    if docs == queries or (identity(docs) is not None and identity(docs) == identity(queries)):
        raise DataError(f"documents and queries are the same file, {docs}: give two files")
    format = "csv" if out == "-" else output_format(out)
    if out != "-":
        check_directory_of(out)
    if keep is not None:
        check_target(keep)
        check_overwrite(keep, [docs, queries])
    texts = read_documents(docs)
    asked = read_queries(queries)
    judged = None if qrels is None else read_judgements(qrels)
    listed = None if candidates in CANDIDATES else read_scored(candidates)
    runs = {Path(one).name.partition(".")[0]: read_scored(one) for one in run or ()}
    if embed == NPY:
        texts = replace(texts, fields={**texts.fields, OWN: read_vectors(docs, len(texts))})
        asked = replace(asked, vectors={**asked.vectors, OWN: read_vectors(queries, len(asked))})
        embed = None
    way = candidates if listed is None else CANDIDATES[0]
    made = TextFeatures(fields_of(fields), language=language, embed=embed, candidates=way)
    made.fit(texts, cache=None if keep is None or embed is None else f"{keep}.vectors")
    data = made.dataset(asked, qrels=judged, top=top, pairs=listed, runs=runs)
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
    of_features, together = alone(data), fused_baseline(data)
    with redirect_stdout(sys.stderr if out == "-" else sys.stdout):
        if not as_json:
            print_found(of_fields, of_features, together, data, out)
            return
        payload = {"rows": len(data), "queries": len(asked), "out": out, "keep": keep}
        if qrels is not None:
            payload |= {"unjudged": counting.unjudged, "judged_extra": counting.n_extra}
            payload |= {"queries_without_judgement": counting.n_queries}
        print_json(payload | {"fields": of_fields, "features": of_features} | ({"fused": together} if together else {}))


def alone(data: Dataset) -> list[dict[str, Any]]:
    """Return the coverage of each feature and, with judgements, the NDCG@10 of ranking by it alone.

    >>> from rulerank.dataset import Dataset
    >>> data = Dataset([[1.0], [2.0]], [1, 0], ["q", "q"], feature_names=["price"])
    >>> alone(data)
    [{'feature': 'price', 'coverage': 1.0, 'NDCG@10': 1.0, 'best': 'lowest'}]
    """
    import numpy as np

    from rulerank.evaluation.rankings import feature_scores

    contrast = has_judgements(data)

    def quality(ranked_by: str) -> float:
        return quality_of(data, feature_scores(data, ranked_by))

    rows = []
    for name, share in zip(data.feature_names, (1.0 - np.isnan(data.X).mean(axis=0)).tolist(), strict=True):
        best: tuple[float | None, str | None] = (None, None)
        if contrast and name not in data.categories:
            best = max((quality(name), "highest"), (quality(f"-{name}"), "lowest"), key=lambda one: one[0])
        rows.append({"feature": name, "coverage": share, MEASURE: best[0], "best": best[1]})
    return rows


def has_judgements(data: Dataset) -> bool:
    """Tell whether some query has documents of different grades; without it every ranking has the same NDCG."""
    from rulerank.dataset import has_contrast, query_index

    judged = data.counted(data.counted_rows())
    return has_contrast(judged.y, query_index(judged.qid)[0])


def quality_of(data: Dataset, scores: Any) -> float:
    """Return the NDCG@10 of a ranking."""
    from rulerank.evaluation import evaluate

    return evaluate(data, scores, measures=MEASURE, unjudged=data.counted_rows().unjudged).means[MEASURE]


def fused_baseline(data: Dataset) -> dict[str, Any] | None:
    """Return the sum of BM25 and of a similarity of vectors, a baseline that needs no labels, and its NDCG@10."""
    from rulerank.baseline import find_baseline

    known = {*data.feature_names}
    near = next((name for name in ("meaning(all)", f"cosine({OWN})") if name in known), None)
    if near is None or "bm25(all)" not in known:
        return None
    name = f"bm25(all) + {near}"
    scores = find_baseline(data.feature_names, name).scores(data)
    return {"baseline": name, MEASURE: quality_of(data, scores) if has_judgements(data) else None}


def print_found(
    fields: list[dict[str, Any]],
    features: list[dict[str, Any]],
    together: dict[str, Any] | None,
    data: Dataset,
    out: str,
) -> None:
    """Print the kinds of fields, and the coverage and NDCG@10 of each feature."""
    from rulerank.io.tables import TEXT_COLUMNS

    print_table(["field", "kind", "filled"], [[f["field"], f["kind"], f"{f['coverage']:.0%}"] for f in fields], 2)
    judged = any(feature["best"] for feature in features)
    rows = [
        [f["feature"], f"{f['coverage']:.0%}"]
        + ([f"{f[MEASURE]:.4f}" if f["best"] else "", f["best"] or ""] if judged else [])
        for f in features
    ]
    print()
    print_table(["feature", "filled", *([MEASURE, "best"] if judged else [])], rows)
    if judged:
        others = "count as not relevant" if data.counted_rows().unjudged == "0" else "are left out"
        print(f"{MEASURE}: ranked by this feature alone, highest or lowest value first; unjudged documents {others}")
    if together is not None:
        how_good = "" if together[MEASURE] is None else f" ({MEASURE} {together[MEASURE]:.4f})"
        print(f"A start without labels: --baseline '{together['baseline']}'{how_good}, the sum of their z-scores")
    print(f"\n{out}: {data!r}")
    kept = [name for name in data.texts if name not in TEXT_COLUMNS]
    if kept:
        print(f"Raters see title and text. To show more fields: rulerank judge --show {','.join(kept)}")


def fields_of(fields: str | None) -> Any:
    """Parse --fields: names, with a kind where one is given.

    >>> fields_of("title,brand=category,all")
    {'title': None, 'brand': 'category', 'all': None}
    """
    if fields is None:
        return None
    pairs = [part.strip().partition("=") for part in fields.split(",")]
    return {name.strip(): kind.strip() or None for name, _, kind in pairs}
