"""Character 3-grams of short texts: what is left of a query when words are misspelt or run together."""

from __future__ import annotations

import itertools
import re
from collections.abc import Sequence

import numpy as np

from rulerank.dataset import Array
from rulerank.features.analyser import fold
from rulerank.features.kernels import fill_grams

NO_LETTERS = re.compile(r"[\W_]+")


def letters(texts: Sequence[str | list[str] | None]) -> tuple[Array, Array]:
    """Return the letters and digits of texts as code points, one text after the other, and where each starts.

    >>> codes, starts = letters(["Ab-1", None])
    >>> codes.tolist(), starts.tolist()
    ([97, 98, 49], [0, 3, 3])
    """
    squeezed = [
        "" if text is None else NO_LETTERS.sub("", fold(text if isinstance(text, str) else " ".join(text)))
        for text in texts
    ]
    codes = np.frombuffer("".join(squeezed).encode("utf-32-le"), dtype="<u4").astype(np.uint32)
    starts = np.zeros(len(squeezed) + 1, dtype=np.int64)
    np.cumsum([len(text) for text in squeezed], out=starts[1:])
    return codes, starts


def grams(texts: Sequence[str]) -> tuple[Array, Array]:
    """Return the distinct 3-grams of queries, sorted, one query after the other, and where each starts."""
    codes, starts = letters(texts)
    parts, ends = [], [0]
    for begin, end in itertools.pairwise(starts):
        own = np.empty(end - begin, dtype=np.int64)
        fill_grams(codes, begin, end, own)
        parts.append(np.unique(own))
        ends.append(ends[-1] + parts[-1].size)
    return np.concatenate(parts) if parts else np.empty(0, dtype=np.int64), np.array(ends, dtype=np.int64)
