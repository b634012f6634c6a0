"""Reranking in production: one object from a query and documents to an order with reasons.

`reranker.py` is the `Reranker`, `rows.py` turns documents into rows, `results.py` is what it
answers, `model_watch.py` picks up a new model file while others rank. `adapters/` has other libraries' interfaces,
one file each, none loaded unless it is used. The names below load when they are used.
"""

from rulerank.core.lazy import surface

__all__, __getattr__ = surface(
    __name__,
    {"reranker": ("Reranker",), "model_watch": ("WatchedReranker",), "results": ("Ranking", "Reason", "Result")},
)
