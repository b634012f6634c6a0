"""Score files: one number per line, in the order of the documents, as SVMrank and the LETOR scripts have them."""

from __future__ import annotations

import math

import numpy as np

from rulerank.dataset import Array
from rulerank.errors import ReadError
from rulerank.io.streams import Source, read_bytes
from rulerank.io.trec_lines import RUN


def read_scores(source: Source) -> Array:
    """Read a score file.

    >>> import io
    >>> read_scores(io.StringIO("0.5\\n-1e3\\n")).tolist()
    [0.5, -1000.0]
    """
    content, name = read_bytes(source)
    lines = content.decode("utf-8", "replace").rstrip().split("\n")
    if lines == [""]:
        raise ReadError(name, None, "the file is empty: expected one score per line")
    if len(lines[0].split()) == RUN.n_columns:
        raise ReadError(
            name,
            None,
            "this looks like a TREC run, not a score file; a run is judged beside qrels "
            "(rulerank evaluate --qrels QRELS RUN, in Python read_run and read_qrels)",
        )
    return np.array([_score(line.strip(), name, number) for number, line in enumerate(lines, start=1)])


def _score(text: str, name: str, line: int) -> float:
    try:
        score = math.nan if "_" in text else float(text)
    except ValueError:
        score = math.nan
    if not math.isfinite(score):
        raise ReadError(name, line, f"expected one finite number, the score of a document: got {text[:60]!r}")
    return score
