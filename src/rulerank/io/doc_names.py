"""Names for documents that come without ids."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Sequence

import numpy as np

from rulerank.dataset import Array


def digest_names(X: Array, queries: Sequence[str]) -> Array:
    """Name documents by a digest of their features; those with the same ones in one query are numbered.

    Labels find such a document again wherever its row moves.

    >>> digest_names(np.array([[0.5], [0.5], [0.5]], dtype=np.float32), ["q", "q", "p"]).tolist()
    ['d99e58435243', 'd99e58435243-2', 'd99e58435243']
    """
    seen: Counter[tuple[str, str]] = Counter()
    names = np.empty(len(X), dtype=object)
    for row, values in enumerate(np.where(np.isnan(X), np.float32(np.nan), X + np.float32(0))):  # one NaN, one zero
        digest = hashlib.sha256(values.astype("<f4").tobytes()).hexdigest()[:12]
        seen[queries[row], digest] += 1
        n_seen = seen[queries[row], digest]
        names[row] = digest if n_seen == 1 else f"{digest}-{n_seen}"
    return names
