"""Files of scores: one number per line in the order of the documents, as SVMrank has them, a TREC run, or csv."""

from __future__ import annotations

import math

import numpy as np
import polars as pl

from rulerank.dataset import Array, Dataset
from rulerank.errors import DataError, ReadError
from rulerank.io.doc_names import doc_keys, with_keys
from rulerank.io.outputs import write_bytes
from rulerank.io.streams import Source, format_suffix, read_bytes
from rulerank.io.tables import write_frame
from rulerank.io.trec import run_from_scores, write_run
from rulerank.io.trec_lines import RUN

FORMATS = {"scores": "one per line", "run": "as a TREC run", "csv": "as csv"}


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


def score_format(named: str | None, out: str) -> str:
    """Return the format that was named, or the one that the file's name ends in.

    >>> score_format(None, "a.run.gz"), score_format(None, "a.txt"), score_format("csv", "a.txt")
    ('run', 'scores', 'csv')
    """
    if named is None:
        suffix = format_suffix(out).removeprefix(".")
        return suffix if suffix in FORMATS else "scores"
    if named.lower() not in FORMATS:
        raise DataError(f"unknown format {named!r}; choose from {', '.join(FORMATS)}")
    return named.lower()


def write_scores(data: Dataset, scores: Array, target: Source, format: str) -> None:
    """Write the scores of documents: one per line, as a TREC run, or as a table beside their ids or keys.

    >>> import io
    >>> out = io.BytesIO()
    >>> write_scores(Dataset([[0.5]], y=[-1], qid=["q"], docid=["d"]), np.array([0.25]), out, "csv")
    >>> print(out.getvalue().decode())
    qid,docid,score
    q,d,0.25
    """
    if format == "run":
        write_run(run_from_scores(with_keys(data), scores), target)
    elif format == "csv":
        ids = {"qid": [str(query) for query in data.qid], "docid": doc_keys(data).tolist()}
        write_frame(pl.DataFrame(ids | {"score": scores}), target, format="csv")
    else:
        write_bytes(target, "".join(f"{score!r}\n" for score in scores.tolist()).encode())
