"""From data to a ranker: try settings, choose on held-out queries, learn from few labels in a pool.

`trials.py` is the one machine that tries settings; `tuning.py` feeds it by cross-validation, `validating.py` with a
validation set, `choose.py` with whole methods; `scoring.py` has the measures as scikit-learn wants them. Few labels:
`in_pool.py` learns from the labelled rows of a pool with the settings of `few_labels.py`, `from_today.py` from
today's ranking on, and says what `pair_accuracy.py` and `still_to_gain.py` found. `from_clicks.py` learns from
clicks and keeps today's ranking until they say more (`keep_today.py`), `from_both.py` from clicks and labels. How
rankers of other libraries are fitted is in `rankers/foreign.py`. The names load when they are used.
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
