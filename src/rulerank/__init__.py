"""Glass-box learning to rank: read, discretise, vote with rules, evaluate, explain.

The public names, in the order of the flow. Each loads its module when first used, so that importing is fast.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

if TYPE_CHECKING:
    from rulerank.dataset import Dataset as Dataset
    from rulerank.dataset import Fold as Fold

_HOME = {
    "Dataset": "dataset",
    "Fold": "dataset",
}

__all__ = sorted(_HOME)


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module 'rulerank' has no attribute {name!r}; it has {', '.join(__all__)}")
    value = getattr(importlib.import_module(f"rulerank.{_HOME[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return [*__all__, "__version__"]
