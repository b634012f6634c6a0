"""Several rankings into one.

`fusion.py` puts scores of the same documents together by fixed rules, `runs.py` TREC runs, `linear_fusion.py` with
weights that are learned. `competence.py` is the ranker `Competence`: it learns whom to believe where, and
`weighs_members.py` is how it scores and explains then. Over the seven metrics (DC3A, QC3A) it counts in
`leave_query_out.py` and judges in `metric_competence.py`; over any rankers, `members.py` makes their cross-fitted
scores, `calibration.py` puts them on one scale, `descriptions.py` says what is known of a query before it is judged,
and `mixing.py` weighs them. The names load when they are used.
"""

from rulerank.core.lazy import surface

__all__, __getattr__ = surface(
    __name__,
    {
        "fusion": ("fuse",),
        "runs": ("fuse_runs",),
        "linear_fusion": ("LinearFusion",),
        "competence": ("Competence",),
    },
)
