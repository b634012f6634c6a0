"""Reranking in production: rank the documents of a query, with contributions.

`reranker.py` has the `Reranker` and its results, `rows.py` turns documents into rows, `model_watch.py` reloads a
replaced model file. `adapters/` has the interfaces of other libraries, one file each, loaded on use.
"""

from rulerank._util.words import surface

__all__, __getattr__ = surface(
    __name__, {"reranker": ("Ranking", "Reranker", "Result"), "model_watch": ("WatchedReranker",), "rows": ("Reason",)}
)
