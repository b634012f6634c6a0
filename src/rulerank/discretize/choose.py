"""The discretisers by the names that users, the command line and model files give them."""

from __future__ import annotations

from typing import Any

from sklearn.base import clone

from rulerank.discretize.base import Discretizer
from rulerank.discretize.mdlp import MDLP
from rulerank.discretize.tube import TUBE
from rulerank.discretize.uniform import EqualFrequency, EqualWidth
from rulerank.errors import DataError, ModelFileError

DISCRETIZERS: dict[str, type[Discretizer]] = {c.kind: c for c in (MDLP, TUBE, EqualWidth, EqualFrequency)}


def make_discretizer(choice: Any) -> Any:
    """Return a new, unfitted discretiser; None stands for none, X holding bin numbers already.

    choice is a name, or any object with fit and transform, which is copied and itself left as it is.

    >>> make_discretizer("equal_width")
    EqualWidth()
    >>> make_discretizer(EqualWidth(n_bins=5))
    EqualWidth(n_bins=5)
    """
    choices = f"{', '.join(map(repr, DISCRETIZERS))}, None for bin numbers, or an object with fit and transform"
    if choice is None:
        return None
    if isinstance(choice, str):
        if choice not in DISCRETIZERS:
            raise DataError(f"unknown discretizer {choice!r}; choose from {choices}")
        return DISCRETIZERS[choice]()
    if isinstance(choice, type) or not (hasattr(choice, "fit") and hasattr(choice, "transform")):
        raise DataError(f"discretizer must be one of {choices}: got {choice!r}")
    return clone(choice, safe=False)


def discretizer_from_state(state: dict[str, Any]) -> Discretizer:
    """Return the discretiser that `to_state` described.

    >>> discretizer_from_state(EqualWidth(n_bins=2).fit([[0.0], [1.0]]).to_state())
    EqualWidth(n_bins=2)
    """
    kind = state.get("kind")
    if kind not in DISCRETIZERS:
        raise ModelFileError(f"unknown discretizer {kind!r} in the model; known are {', '.join(DISCRETIZERS)}")
    return DISCRETIZERS[kind].from_state(state)
