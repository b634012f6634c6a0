"""A Reranker with the interface of another library: `langchain.py` and `pyterrier.py`, loaded on use."""

from os import PathLike
from typing import Any

from rulerank._util.parameters import shown
from rulerank.errors import DataError
from rulerank.serve.model_watch import WatchedReranker
from rulerank.serve.reranker import Reranker


def opened(reranker: Any) -> Reranker | WatchedReranker:
    """Return a reranker, given as such or as a path, which is then watched."""
    if isinstance(reranker, str | PathLike):
        return Reranker.watch(reranker)
    if not isinstance(reranker, Reranker | WatchedReranker):
        raise DataError(f"reranker must be a rr.Reranker or the path of a saved one: got {shown(reranker)}")
    return reranker
