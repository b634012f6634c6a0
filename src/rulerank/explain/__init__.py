"""Why this score, why A above B, what would change it: exact answers, because a score is a sum of parts.

`Ranker.contributions`, `explain`, `explain_query`, `what_if`, `overview` and `curves` call what stands here.
`cases.py` is one document as a ranker sees it, with its `Ballot` (`ballot.py`, loops in `kernels.py`): the parts of its
score, what is left without some of them, and words; `query_cases.py` and `mixture_cases.py` have those of RE-QR and of
mixtures. `explanation.py` explains one score, `versus.py` two, `ranking.py` the whole ranking of a query, `changes.py`
what would lift a document, `overview.py` a model as a whole (with `effects.py`), `curves.py` what each feature adds by
its value. The values they return print themselves: `standing.py` has raw values and texts, `pages.py` sentences and
pages, `figures.py` drawings.
"""

from rulerank.explain import query_cases as query_cases  # RE-QR is explained once this is loaded
from rulerank.explain.changes import Change, Lift, lift_of, what_if
from rulerank.explain.curves import FeatureCurve, FeatureCurves, curves_of
from rulerank.explain.explanation import Explanation, Shown, explain_score
from rulerank.explain.overview import ModelOverview, overview_of
from rulerank.explain.ranking import RankingExplanation, explain_ranking
from rulerank.explain.versus import Versus, explain_versus

__all__ = [
    "Change",
    "Explanation",
    "FeatureCurve",
    "FeatureCurves",
    "Lift",
    "ModelOverview",
    "RankingExplanation",
    "Shown",
    "Versus",
    "curves_of",
    "explain_ranking",
    "explain_score",
    "explain_versus",
    "lift_of",
    "overview_of",
    "what_if",
]
