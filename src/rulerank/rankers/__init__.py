"""Our own rankers. Each follows the scikit-learn conventions; fit takes qid.

`base.py` is the base class, with the checks of `rows.py`; `rule_ranker.py` is the base of the rankers that count rules
(`global_rules.py`, `stable_rules.py`, `query_rules.py`), incremental learning included. `fitted/` holds the rules whose
votes are fitted, `linear/` the weighted sums, `clicks/` what clicks need, `anchored/` what starts from the baseline
ranking; `pool.py` learns from few labels. `foreign.py` fits rankers of other libraries too, and splits by query. The
names load when they are used.
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
