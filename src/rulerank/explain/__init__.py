"""Why this score, why A above B, what would change it: exact answers, because a score is a sum of parts.

All of it reads `Ranker.contributions`, and the additive tables of models that have them. `documents.py` has the
documents of a query with their raw values and what the model sees of them, `explanation.py` explains one score and the
difference of two, `ranking.py` the whole ranking of a query, `changes.py` what would lift a document, `curves.py` what
each feature adds by its value (drawn by `figures.py`), `overview.py` a model as a whole, `release.py` what a new
ranking changes. What they return prints itself.
"""

from rulerank.explain.changes import Change, Lift, lift_of, what_if
from rulerank.explain.curves import FeatureCurves, curves_of
from rulerank.explain.explanation import Explanation, Shown, Versus, explain_score, explain_versus
from rulerank.explain.overview import ModelOverview, overview_of
from rulerank.explain.ranking import RankingExplanation, explain_ranking
from rulerank.explain.release import Release, release_of

__all__ = [
    "Change",
    "Explanation",
    "FeatureCurves",
    "Lift",
    "ModelOverview",
    "RankingExplanation",
    "Release",
    "Shown",
    "Versus",
    "curves_of",
    "explain_ranking",
    "explain_score",
    "explain_versus",
    "lift_of",
    "overview_of",
    "release_of",
    "what_if",
]
