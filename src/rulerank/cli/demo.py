"""rulerank demo: what the library is for, in a minute, without a file."""

from __future__ import annotations

from textwrap import fill

from rulerank.cli.options import AsJson, Queries
from rulerank.errors import DataError

WIDTH = 118


def demo(queries: Queries = 100, as_json: AsJson = False) -> None:
    """Show the way from texts to a ranker, in a minute.

    Makes a small shop with texts, features of its products and queries, and rankers that learn from grades; shows what
    they gain over BM25 alone, with all labels and with few of them, starting from BM25. It needs no file.

    Example:
        rulerank demo
        rulerank demo --queries 60 --json
    """
    from rulerank.cli.output import print_json, print_results
    from rulerank.experiment.demo import BEST, BM25, MIN_QUERIES, TOP, reasons, run_demo

    if queries < MIN_QUERIES:
        raise DataError(f"--queries must be at least {MIN_QUERIES}, two to test in each fold: got {queries}")
    shown = run_demo(queries, seed=0)
    if as_json:
        print_json(shown.to_dict())
        return
    print(f"1. Texts of a synthetic shop: {shown.shop!r}")
    document = shown.shop.documents[0]
    fields = ", ".join(f"{name}: {document[name]}" for name in ("title", "brand", "price", "rating", "stock"))
    print(f"A product: {fields}, ...")
    print(f"Queries: {', '.join(map(repr, shown.shop.queries.texts[:3]))}, ...\n")
    print(f"2. Features of the {TOP} best products of each query by BM25, with their true grades:")
    print(fill(f"{shown.data!r}: {', '.join(shown.data.feature_names)}", WIDTH) + "\n")
    print(f"3. Rankers: each query is ranked by what was learned from the others, in {len(shown.folds)} folds.")
    print_results(shown.results)
    print(f"{BM25}: by bm25(all), what a shop without learning does")
    print(f"{BEST}: {', '.join(dict.fromkeys(shown.chosen))}, chosen on the training queries of each fold")
    print("RE-GR: relevance estimation with global rules, learned from the training queries of each fold")
    print("RE-GR, literal: the paper's votes, each rule by its strength alone; the default weighs rules by their rows")
    print("  and by what queries lead one to expect. Which of the two is ahead depends on the data")
    print("ridge regression and query intercepts read brand and category as numbers, rules as what they are")
    print(f"\n{shown.closing()}\n")
    print("4. Labels are costly: start from the baseline, BM25 alone, and grade ten products each of a few queries.")
    print("\n".join(fill(line, WIDTH) for line in shown.few_labels[0]))
    print(f"\n5. {reasons(shown.folds[0].train, shown.folds[0].test)}")
