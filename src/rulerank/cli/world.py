"""rulerank world: write the synthetic world to a file."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from rulerank.cli.options import AsJson, Queries, Seed
from rulerank.cli.output import report
from rulerank.errors import DataError


def world(
    out: Annotated[
        str,
        typer.Argument(metavar="OUT", help="The file to write, - for stdout, or a folder with --folds or --texts."),
    ],
    queries: Queries = 50,
    seed: Seed = 0,
    features: Annotated[int | None, typer.Option(help="How many features each document has [20].")] = None,
    folds: Annotated[int, typer.Option(help="Write so many folds, as LETOR lays them out; 0: one file.")] = 0,
    texts: Annotated[
        bool, typer.Option("--texts", help="Write a shop instead: texts, queries and judgements.")
    ] = False,
    products: Annotated[int | None, typer.Option(help="How many products the shop has [2000].")] = None,
    format: Annotated[str | None, typer.Option("--to", metavar="FORMAT", help="Format of OUT [by its name].")] = None,
    as_json: AsJson = False,
) -> None:
    """Write synthetic data to try things on.

    Queries and documents of a small web search, with grades; the help of rulerank.make_ranking says how they are made.
    A LETOR file (.txt) numbers the features; a table (.csv, .parquet) keeps their names.

    With --texts it is a small shop, as texts that features are still to be made of: documents.jsonl, queries.tsv and
    judgements.qrels, which holds every product above grade 0 and the nearest misses (help of rulerank.make_shop).

    Example:
        rulerank world world.txt --queries 30
        rulerank world world.csv --seed 7
        rulerank world worlds --folds 5
        rulerank world shop --texts --queries 100
    """
    if texts:
        for option, given in (("--features", features), ("--folds", folds), ("--to", format)):
            if given:
                raise DataError(f"{option} is about data with features: leave it out with --texts")
        _write_texts(out, products, queries, seed, as_json=as_json)
        return
    if products is not None:
        raise DataError("--products is about the shop: add --texts")
    from rulerank.datasets.ranking import make_ranking
    from rulerank.io.formats import write_any
    from rulerank.splitting import make_folds

    data = make_ranking(n_queries=queries, n_features=20 if features is None else features, seed=seed)
    parts = {out: data}
    if folds:
        if out == "-":
            raise DataError("folds need a folder to be written to: got -")
        suffix = "txt" if format in (None, "letor") else format
        parts = {
            str(Path(out, fold.name, f"{name}.{suffix}")): getattr(fold, name)
            for fold in make_folds(data, folds, seed)
            for name in ("train", "vali", "test")
        }
    for path, part in parts.items():
        if folds:
            Path(path).parent.mkdir(parents=True, exist_ok=True)
        write_any(part, path, format)
    payload = {"files": list(parts), "rows": len(data), "queries": queries, "features": data.X.shape[1]}
    report(payload, f"{out}: {data!r}", as_json=as_json, target=out)


def _write_texts(out: str, products: int | None, queries: int, seed: int, *, as_json: bool) -> None:
    from rulerank.datasets.shop import make_shop, write_shop

    if out == "-":
        raise DataError("texts need a folder to be written to: got -")
    shop = make_shop(2000 if products is None else products, queries, seed)
    files = write_shop(shop, out)
    payload = {"files": files, "products": len(shop.texts), "queries": queries, "judgements": len(shop.qrels)}
    report(payload, f"{out}: {shop!r}", as_json=as_json, target=out)
