"""Features whose votes must only rise or only fall with the value."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

import numpy as np

from rulerank.core.parameters import shown
from rulerank.dataset import Array
from rulerank.errors import DataError


def check_monotone(value: Any) -> None:
    """Raise an error unless a value gives 1 or -1 by feature name."""
    if not isinstance(value, Mapping) or not all(
        isinstance(name, str) and not isinstance(sign, bool) and sign in (1, -1) for name, sign in value.items()
    ):
        raise DataError(f'monotone must give 1 or -1 by feature name, such as {{"bm25": 1}}: got {shown(value)}')


def signs_of(monotone: Mapping[str, int] | None, names: tuple[str, ...], categories: Collection[str]) -> Array:
    """Return 1 for features whose votes must rise, -1 for those whose must fall, else 0."""
    signs = np.zeros(len(names), dtype=np.int64)
    for name, sign in (monotone or {}).items():
        if name not in names:
            known = ", ".join(names[:5]) + (", ..." if len(names) > 5 else "")
            raise DataError(f"monotone names {name!r}, which is no feature; the features are {known}")
        if name in categories:
            raise DataError(f"monotone names {name!r}, whose categories have no order; leave it out")
        signs[names.index(name)] = sign
    return signs
