"""From data to a ranker: try settings, choose on held-out queries, learn from few labels in a pool.

`trials.py` is the one machine that tries settings; `tuning.py` feeds it by cross-validation, `validating.py` with a
validation set, `choose.py` with whole methods. How rankers of other libraries are fitted is in `rankers/foreign.py`.
The names load when they are used.
"""

from rulerank.core.lazy import surface

__all__, __getattr__ = surface(
    __name__,
    {
        "trials": (
            "Trial",
            "Scoring",
        ),
        "tuning": (
            "tune",
            "Tuned",
            "GRID",
        ),
        "choose": (
            "choose_ranker",
            "Candidate",
            "CANDIDATES",
            "Chosen",
        ),
        "validating": (
            "fit_tuned",
            "Validated",
        ),
        "scoring": ("scorer",),
        "in_pool": (
            "fit_in_pool",
            "PoolLearner",
        ),
        "from_today": (
            "learn_from_today",
            "FromToday",
        ),
        "few_labels": (
            "few_label_ranker",
            "few_label_params",
            "full_data_ranker",
        ),
    },
)
