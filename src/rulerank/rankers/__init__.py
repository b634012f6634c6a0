"""Our own rankers. Each follows the scikit-learn conventions; fit takes qid.

`base.py` is what every ranker is and how it looks at its data, with the functions of `rows.py`; `rule_ranker.py` what
those share that count rules (`global_rules.py`, `stable_rules.py`, `query_rules.py`), rows added and removed included.
`fitted/` holds the rules whose votes are fitted, `linear/` the weighted sums, `clicks/` what clicks need,
`anchored/` what starts from the baseline ranking; `pool.py` learns from few labels. `foreign.py` fits and asks any
ranker, those of other libraries too;
`documents.py` reads files with a model's features. The names load when they are used.
"""

from rulerank._util.words import surface

__all__, __getattr__ = surface(
    __name__,
    {
        "base": ("Ranker",),
        "rule_ranker": ("RuleRanker",),
        "global_rules": ("GlobalRules",),
        "stable_rules": ("StableRules",),
        "query_rules": ("QueryRules",),
        "linear.query_intercepts": ("QueryIntercepts",),
        "foreign": ("fit_ranker", "predict_ranker"),
    },
)
