"""Reranking in production: one object from a query and documents to an order with reasons.

`reranker.py` is the `Reranker` and what it answers, `rows.py` turns documents into rows with reasons, `model_watch.py`
picks up a new model file while others rank. `adapters/` has other libraries' interfaces, one file each, none loaded
unless it is used. The names below load when they are used.
"""

from rulerank.core import surface

__all__, __getattr__ = surface(
    __name__,
    {"reranker": ("Ranking", "Reranker", "Result"), "model_watch": ("WatchedReranker",), "rows": ("Reason",)},
)
