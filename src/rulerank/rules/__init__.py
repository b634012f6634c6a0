"""The engine: counts per set of features, votes derived from them, and the rules behind a score.

`layout.py` says which sets of features are counted and where their tables lie; `tables.py` counts rows into them, and
each feature by itself first; `votes.py` turns counts into votes (`metrics.py`: how strong a rule is), `engine.py` keeps
the tables, scores, and has the rules a person reads. `by_query.py`, with the loops of `by_query_kernels.py`, counts
the rules of each query by itself and says which is the most competent for a row. `additive.py` is a score as a sum of
tables. `kept_rows.py` holds the training rows for incremental learning. The names load when they are used.
"""

from rulerank._util.words import surface

__all__, __getattr__ = surface(
    __name__,
    {
        "engine": ("Engine", "Item", "Rule", "RuleBook"),
        "layout": ("Layout",),
        "tables": ("Rows", "Counts", "Training"),
        "votes": ("VOTES",),
        "metrics": ("METRICS",),
    },
)
