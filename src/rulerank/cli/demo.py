"""rulerank demo: what the library is for, in a minute, without a file."""

from __future__ import annotations

from rulerank.cli.options import AsJson, Queries, Seed
from rulerank.errors import DataError


def demo(queries: Queries = 100, seed: Seed = 0, as_json: AsJson = False) -> None:
    """See what learning to rank gains, in a minute.

    Ranks a synthetic web search by single features and by learning from grades, and compares the two. It needs no file.

    Example:
        rulerank demo
        rulerank demo --queries 60 --seed 3 --json
    """
    from rulerank.cli.output import print_json, print_results, print_table
    from rulerank.experiment.demo import BEST, MIN_QUERIES, run_demo

    if queries < MIN_QUERIES:
        raise DataError(f"--queries must be at least {MIN_QUERIES}, two to test in each fold: got {queries}")
    shown = run_demo(queries, seed)
    if as_json:
        print_json(shown.to_dict())
        return
    print(f"A synthetic web search: {shown.data!r}")
    print(f"Each query is ranked by what was learned from the others, in {len(shown.folds)} folds.\n")
    print_results(shown.results)
    print("RE-GR: relevance estimation with global rules, learned from the training queries of each fold")
    print(f"{BEST}: {', '.join(dict.fromkeys(shown.chosen))}, chosen on the training queries of each fold")
    print(f"\n{shown.closing()}\n")
    print("Labels are costly. SSAR says which documents to label, one at a time; query intercepts learn from them:")
    print_table(*shown.few_labels())
    print(f"\n{shown.reasons()}")
