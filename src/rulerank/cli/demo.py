"""rulerank demo: an end-to-end demo on synthetic shop data."""

from __future__ import annotations

from textwrap import fill

from rulerank.cli.options import AsJson, Queries
from rulerank.errors import DataError

WIDTH = 118


def demo(queries: Queries = 100, as_json: AsJson = False) -> None:
    """Run a one-minute end-to-end demo on synthetic shop data.

    Generates product texts and queries, computes features, trains rankers and prints what they gain over BM25, with all
    labels and with few labels. Needs no files.

    Example:
        # the whole demo
        rulerank demo
        # fewer queries, as JSON
        rulerank demo --queries 60 --json
    """
    from rulerank.cli.output import print_json, print_results
    from rulerank.experiment.demo import BASELINE, BEST, BM25, FUSED, MIN_QUERIES, TOP, reasons, run_demo

    if queries < MIN_QUERIES:
        raise DataError(f"--queries must be at least {MIN_QUERIES}, two per test fold: got {queries}")
    shown = run_demo(queries, seed=0)
    if as_json:
        print_json(shown.to_dict())
        return
    print(f"1. Texts of a synthetic shop: {shown.shop!r}")
    document = shown.shop.records[0]
    fields = ", ".join(f"{name}: {document[name]}" for name in ("title", "brand", "price", "rating", "stock"))
    print(f"A product: {fields}, ...")
    print(f"Queries: {', '.join(map(repr, shown.shop.queries.texts[:3]))}, ...\n")
    print(f"2. Features of the top {TOP} products per query by BM25, with their true grades:")
    print(fill(f"{shown.data!r}: {', '.join(shown.data.feature_names)}", WIDTH) + "\n")
    print(f"3. Rankers, by cross-validation over queries in {len(shown.folds)} folds:")
    print_results(shown.results)
    print(f"{BM25}: ranked by bm25(all), without learning")
    print(f"{FUSED}: ranked by {BASELINE} (z-scores, added), without learning; meaning: features --embed lsa")
    print(f"{BEST}: {', '.join(dict.fromkeys(shown.chosen))}, selected on the training queries of each fold")
    print("GlobalRules as published: votes=mean, by the strength of each rule alone; the default also weights rules by")
    print("  their number of rows and by the query. Which of the two is better depends on the data")
    print("ridge regression and QueryIntercepts use brand and category as numbers, rules as categories")
    print(f"\n{shown.closing()}\n")
    print(
        f"4. With few labels: start from the baseline ranking, {FUSED}, and grade ten products each for a few queries."
    )
    print("\n".join(fill(line, WIDTH) for line in shown.few_labels[0]))
    print(f"\n5. {reasons(shown.folds[0].train, shown.folds[0].test)}")
