"""Our own rankers. Each follows the scikit-learn conventions; fit takes qid.

`base.py` is what every ranker shares, `rule_ranker.py` what those share that count rules (`global_rules.py`,
`stable_rules.py`, `query_rules.py`), `linear/` holds the weighted sums. `foreign.py` fits and asks any ranker, those
of other libraries too; `documents.py` reads files with a model's features; `shared_counts.py` fits several settings
from the same counts. The names load when they are used.
"""

from rulerank.core.lazy import surface

__all__, __getattr__ = surface(
    __name__,
    {
        "base": ("Ranker",),
        "rule_ranker": ("RuleRanker",),
        "global_rules": ("GlobalRules",),
        "stable_rules": ("StableRules",),
        "query_rules": ("QueryRules",),
        "linear.query_intercepts": ("QueryIntercepts",),
        "linear.linear_ranker": ("LinearRanker",),
        "foreign": (
            "fit_ranker",
            "predict_ranker",
        ),
    },
)
