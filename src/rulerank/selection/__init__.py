"""From data to a ranker: `select.py` tries methods and settings on held-out queries, `few_labels.py` starts from the
baseline ranking and a few labels, `from_clicks.py` from clicks. A ranker alone learns from the labelled
rows of a pool by its own `fit`. The names load when they are used.
"""

from rulerank._util.words import surface

__all__, __getattr__ = surface(
    __name__,
    {
        "select": ("select", "Selection", "Trial", "Scoring", "GRID", "default_rankers", "make_scorer"),
        "few_labels": ("few_label_ranker", "few_label_params"),
    },
)
