"""The engine: counts per set of features, votes derived from them, and the rules behind a score.

`layout.py` says which sets of features are counted and where their tables lie (`any_size.py`: how large they can be),
`tables.py` counts rows into them with the loops of `kernels.py`, `votes.py` turns counts into votes, in
`vote_kernels.py` (`metrics.py`: how strong a rule is; `strength.py`: how well a feature tells documents apart),
`engine.py` keeps the tables and scores. `rule.py` and `rule_book.py` are what a person reads; `saved.py` checks an
engine that comes from a file. `additive.py` is a score as a sum of tables, its loops are in `additive_kernels.py`;
`folding.py` folds small tables into larger ones. `stable/` and `by_query/` count per query as well. `kept_rows.py`
holds the training rows for incremental learning. The names load when they are used.
"""

from rulerank.core.lazy import surface

__all__, __getattr__ = surface(
    __name__,
    {
        "engine": ("Engine",),
        "layout": ("Layout",),
        "tables": (
            "Rows",
            "Counts",
        ),
        "votes": (
            "Training",
            "VOTES",
        ),
        "metrics": ("METRICS",),
        "rule": (
            "Item",
            "Rule",
        ),
        "rule_book": ("RuleBook",),
    },
)
