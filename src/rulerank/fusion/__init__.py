"""Several rankings into one.

`classic.py` puts scores of the same documents, or TREC runs, together by fixed rules. `competence.py` is the ranker
`Competence`: it learns whom to believe where. Over the seven metrics (DC3A, QC3A) it counts and judges in
`metric_rules.py`; over any rankers, `mixture.py` calibrates their cross-fitted scores and weights them. The names
load when they are used.
"""

from rulerank._util.words import surface

__all__, __getattr__ = surface(__name__, {"classic": ("fuse",), "competence": ("Competence",)})
