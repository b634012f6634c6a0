"""rulerank make-data: write synthetic data to a file."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from rulerank.cli.options import AsJson, Queries, argument, flag
from rulerank.cli.output import report
from rulerank.errors import DataError


def make_data(
    out: Annotated[str, argument("OUT", "A file, - for stdout, or a folder with --folds or --texts.")],
    queries: Queries = 50,
    seed: Annotated[int, flag("Another seed draws otherwise.")] = 0,
    folds: Annotated[int, flag("Write so many folds, as LETOR lays them out; 0: one file.")] = 0,
    texts: Annotated[bool, flag("Write a shop: texts, queries, judgements.", "--texts")] = False,
    as_json: AsJson = False,
) -> None:
    """Write synthetic data to try things on.

    Queries and documents of a small web search, with grades; the help of rulerank.make_ranking says how they are made.
    A LETOR file (.txt) numbers the features; a table (.csv, .parquet) keeps their names; stdout is csv.

    With --texts it is a small shop, as texts that features are still to be made of: documents.jsonl, queries.tsv and
    judgements.qrels, which holds every product above grade 0 and the nearest misses (help of rulerank.make_shop).

    Example:
        rulerank make-data small.txt --queries 30
        rulerank make-data small.csv --seed 7
        rulerank make-data folds --folds 5
        rulerank make-data shop --texts --queries 100
    """
    if out == "-" and (folds or texts):
        raise DataError("folds and texts need a folder to be written to: got -")
    if texts:
        from rulerank.datasets.shop import make_shop, write_shop

        shop = make_shop(n_queries=queries, seed=seed)
        files = write_shop(shop, out)
        payload = {"files": files, "products": len(shop.texts), "queries": queries, "judgements": len(shop.qrels)}
        report(payload, f"{out}: {shop!r}", as_json=as_json)
        return
    from rulerank.datasets.ranking import make_ranking
    from rulerank.io.formats import write_any
    from rulerank.splitting import make_folds

    data = make_ranking(n_queries=queries, seed=seed)
    parts = {out: data}
    if folds:
        parts = {
            str(Path(out, fold.name, f"{name}.txt")): getattr(fold, name)
            for fold in make_folds(data, folds, seed)
            for name in ("train", "vali", "test")
        }
    for path, part in parts.items():
        if folds:
            Path(path).parent.mkdir(parents=True, exist_ok=True)
        write_any(part, path, "csv" if out == "-" else None)
    payload = {"files": list(parts), "rows": len(data), "queries": queries, "features": data.X.shape[1]}
    report(payload, f"{out}: {data!r}", as_json=as_json, target=out)
