"""rulerank make-data: write synthetic data to a file."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from rulerank.cli.options import AsJson, Queries, argument, flag, option
from rulerank.cli.output import report
from rulerank.errors import DataError


def make_data(
    out: Annotated[str, argument("OUT", "Output file, - for stdout; with --folds or --texts a folder.")],
    queries: Queries = 50,
    seed: Annotated[int, option("N", "Random seed.")] = 0,
    folds: Annotated[int, option("N", "Number of folds, in LETOR's layout; 0: one file.")] = 0,
    texts: Annotated[bool, flag("Write shop data: product texts, queries, judgements.", "--texts")] = False,
    as_json: AsJson = False,
) -> None:
    """Generate synthetic data.

    Writes queries and graded documents of a small web search; help(rulerank.datasets.make_ranking) describes the model.
    A LETOR file (.txt) numbers the features, a table (.csv, .parquet) keeps their names; stdout is csv.

    With --texts, writes the texts of a small shop, as input of `rulerank features`: documents.jsonl, queries.tsv and
    judgements.qrels, which has all products above grade 0 and the nearest misses (help(rulerank.datasets.make_shop)).

    Example:
        # a table with grades and features
        rulerank make-data small.csv --queries 30 --seed 7
        # five folds for rulerank compare
        rulerank make-data folds --folds 5
        # texts for rulerank features
        rulerank make-data shop --texts --queries 100
    """
    if out == "-" and (folds or texts):
        raise DataError("--folds and --texts write a folder: got -")
    if texts:
        from rulerank.datasets.shop import make_shop, write_shop

        shop = make_shop(n_queries=queries, seed=seed)
        files = write_shop(shop, out)
        payload = {"files": files, "products": len(shop.documents), "queries": queries, "judgements": len(shop.qrels)}
        report(payload, f"{out}: {shop!r}", as_json=as_json)
        return
    from rulerank.dataset import make_folds
    from rulerank.datasets.ranking import make_ranking
    from rulerank.io.formats import write_any

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
