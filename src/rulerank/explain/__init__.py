"""Why this score, why A above B, what would change it: exact answers, because a score is a sum of votes.

`Ranker.explain`, `explain_query`, `what_if`, `overview` and `curves` call what stands here. `score.py` explains one
score, `versus.py` two (with `swaps.py`, the smallest set that would swap them), `ranking.py` the whole ranking of a
query, `changes.py` what would lift one, `overview.py` a model as a whole (with `effects.py`), `curves.py` what each
feature adds by its value (`curve_figures.py` draws it). The values they return (`explanation.py` has what they share,
`standing.py` raw values and texts) print themselves: `sentences.py` says them, `page_layout.py`,
`overview_layout.py` and `ranking_layout.py` lay them out for `render`, `figures.py` draws them.
"""

from rulerank.explain.changes import Change, Lift, lift_of, what_if
from rulerank.explain.curves import FeatureCurve, FeatureCurves, curves_of
from rulerank.explain.explanation import Explanation, Shown
from rulerank.explain.overview import ModelOverview, overview_of
from rulerank.explain.ranking import RankingExplanation, explain_ranking
from rulerank.explain.score import explain_score
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
