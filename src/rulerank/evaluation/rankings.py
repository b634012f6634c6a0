"""Rankings to evaluate: scores of data, single features, or TREC runs with qrels."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import nullcontext
from dataclasses import replace
from typing import Any, NamedTuple, cast

import numpy as np

from rulerank._util.words import counted, listed
from rulerank.dataset import Array, Dataset, query_index
from rulerank.errors import DataError, ReadError, located
from rulerank.evaluation.evaluation import Remark, Result, evaluate, with_missed
from rulerank.io.columns import is_frame, with_keys
from rulerank.io.files import NamedBytes, read_bytes
from rulerank.io.formats import HEAD, detect, read_data_file, read_scored, sniff
from rulerank.io.trec import Qrels, Run, join, qrels_from_data, read_qrels, read_scores
from rulerank.recall_base import CountedRows, warn_unknown_base

RANKED = ("run", "csv", "tsv", "parquet")  # files whose rankings meet the documents by ids


class Ranking(NamedTuple):
    """A named ranking: the arguments of `rulerank.evaluate`, and notes."""

    name: str
    y: Array
    scores: Array
    qid: Array
    docid: Array | None
    retrieved: Array | None = None
    remarks: tuple[Remark, ...] = ()

    def evaluate(self, measures: Any, **rules: Any) -> Result:
        """Evaluate it; rules as in `rulerank.evaluate`."""
        rules |= {"docid": self.docid, "retrieved": self.retrieved}
        return replace(evaluate(self.y, self.scores, self.qid, measures, **rules), remarks=self.remarks)


def from_data(
    data_file: str,
    score_files: Sequence[str],
    features: Sequence[str],
    *,
    complete: bool = False,
    unjudged: str | None = None,
    **reading: Any,
) -> list[Ranking]:
    """Return rankings of a data file: by each score file, run (joined by ids) and feature.

    complete: a query that is not in a run counts 0.
    unjudged: as in `Dataset.labelled`.
    """
    data = read_data_file(data_file, graded=True, wanted=features, **reading).data
    if not score_files and not features:
        raise DataError(f"expected scores for {data_file}: name a score file after it, or a column with --feature")
    found = data.counted_rows(unjudged)
    if not found.rows.size:
        raise DataError(f"{data_file}: no document has a grade, so nothing can be measured")
    warn_unknown_base(data_file, data.base, found, data.feature_names)
    told = left_out(found)

    def scored(name: str, scores: Array, remarks: tuple[Remark, ...] = ()) -> Ranking:
        return Ranking(name, *with_missed(data, scores, found=found), remarks=told + remarks)

    def of_file(name: str) -> Ranking:
        """Rank by a file: a run, or a table of scores with ids, or one score per line."""
        content, source = read_bytes(name)
        named = NamedBytes(content, source)
        if sniff(content[:HEAD]) not in RANKED:
            scores = read_scores(named)
            if scores.size != len(data):
                expected = f"expected {len(data):,} scores, one per document of {data_file}: got {scores.size:,}"
                raise ReadError(source, None, expected)
            return scored(name, scores)
        keyed = with_keys(data)
        run, remarks = read_scored(named), cast(tuple[Remark, ...], ())
        if found.n_extra and data.base is not None:
            run, remarks = without_extras(run, keyed[data.base.extra])
        ranking = beside(name, run, all_judgements(keyed), data_file, complete, unjudged=found.unjudged)
        return ranking._replace(remarks=remarks + ranking.remarks)

    return [of_file(name) for name in score_files] + [
        scored(name, feature_scores(data, name), missing_values(data, name)) for name in features
    ]


def without_extras(run: Run, extras: Dataset) -> tuple[Run, tuple[Remark, ...]]:
    """Leave documents out of a run that are in the data only because they are judged.

    Only a ranking of the data itself holds every one of them: a run that retrieved some by itself keeps them.
    """
    assert extras.docid is not None
    keys = set(zip(map(str, extras.qid.tolist()), map(str, extras.docid.tolist()), strict=True))
    pairs = zip(map(str, run.qid.tolist()), map(str, run.docid.tolist()), strict=True)
    kept = np.array([pair not in keys for pair in pairs], dtype=np.bool_)
    if (~kept).sum() < len(keys):
        return run, ()
    text = f"{len(keys):,} documents of the run count as missed: no candidates"
    run = Run(run.qid[kept], run.docid[kept], run.score[kept], run.tag[kept])
    return run, (Remark("n_judged_extra", len(keys), text),)


def all_judgements(data: Dataset) -> Qrels:
    """Return the judgements of a data set, with those of its recall base whose documents are not among the rows."""
    qrels = qrels_from_data(data)
    if data.base is None:
        return qrels
    first, grades = data.base.missed(data.y, query_index(data.qid)[0])
    names = np.array([f"not in the data: {number}" for number in range(grades.size)], dtype=object)
    together = (qrels.qid, data.qid[first]), (qrels.docid, names), (qrels.grade, grades)
    return Qrels(*(np.concatenate(columns) for columns in together))


def left_out(found: CountedRows) -> tuple[Remark, ...]:
    """Return notes on documents and queries that do not count, or count 0.

    >>> from rulerank.recall_base import CountedRows
    >>> [remark.text for remark in left_out(CountedRows(np.arange(9), np.zeros(9), "0", n_extra=1, n_queries=2))]
    ['1 document counts as missed: not among the candidates', '2 queries without a grade are left out']
    """

    counts = (
        ("n_not_judged", found.n_skipped, ("document",), "without a grade {is} left out"),
        ("n_judged_extra", found.n_extra, ("document",), "count{s} as missed: not among the candidates"),
        ("n_queries_not_judged", found.n_queries, ("query", "queries"), "without a grade {is} left out"),
        ("n_queries_missed", found.n_missed_queries, ("query", "queries"), "without candidates count{s} 0"),
    )
    words = {True: {"is": "is", "s": "s"}, False: {"is": "are", "s": ""}}
    return tuple(
        Remark(key, n, f"{counted(n, *noun)} {text.format(**words[n == 1])}") for key, n, noun, text in counts if n
    )


def from_runs(
    qrels_file: str, run_files: Sequence[str], *, complete: bool, unjudged: str | None = None, **reading: Any
) -> list[Ranking]:
    """Return runs with the same judgements; complete: a query that is not in a run counts 0.

    unjudged: "skip" leaves out documents without a judgement, which count as not relevant otherwise.
    """
    qrels = judgements_from(qrels_file, **reading)
    return [beside(name, read_scored(name), qrels, qrels_file, complete, unjudged) for name in run_files]


def beside(
    name: str, run: Run, qrels: Qrels, judged: str, complete: bool, unjudged: int | str | None, counts: str = "true"
) -> Ranking:
    """Return a run with its judgements; judged: their file name; counts: the value of `complete` in a note."""
    with located(f"does not fit {judged}", name) if judged else nullcontext():
        both = join(run, qrels, complete, unjudged)
    remarks = queries_apart(run, qrels, complete=complete, otherwise=f"complete={counts}")
    return Ranking(name, both.y, both.scores, both.qid, both.docid, both.retrieved, remarks)


def judgements_from(source: Any, **reading: Any) -> Qrels:
    """Return judgements from Qrels, a Dataset, a frame, or a file (TREC qrels, or any format with grades and ids)."""
    if isinstance(source, Qrels):
        return source
    if isinstance(source, Dataset):
        return all_judgements(with_keys(source))
    if is_frame(source):
        return all_judgements(with_keys(read_data_file(source, graded=True, **reading).data))
    content, name = read_bytes(source)
    named = NamedBytes(content, name)
    if not reading and detect(name, content[:HEAD]) == "qrels":
        return read_qrels(named)
    return all_judgements(with_keys(read_data_file(named, graded=True, **reading).data))


def queries_apart(run: Run, qrels: Qrels, *, complete: bool, otherwise: str = "complete=true") -> tuple[Remark, ...]:
    """Return notes on queries that are only in the judgements or only in the run; otherwise: how to count them.

    >>> run, qrels = Run(["a"], ["d"], [1.0], ["me"]), Qrels(["a", "b", "c"], ["d", "d", "d"], [1, 1, 1])
    >>> [remark.text for remark in queries_apart(run, qrels, complete=True)]
    ['2 of 3 judged queries are not in the run: they count 0']
    """
    judged, ran = set(qrels.qid), set(run.qid)
    n_missing, n_extra = len(judged - ran), len(ran - judged)
    counts = "they count 0" if complete else f"they are not counted; {otherwise} counts them 0"
    missing = f"{n_missing:,} of {len(judged):,} judged queries are not in the run: {counts}"
    extra = f"{n_extra:,} of {len(ran):,} queries of the run have no judgements: they are not counted"
    found = Remark("n_queries_not_in_run", n_missing, missing), Remark("n_queries_not_judged", n_extra, extra)
    return tuple(remark for remark in found if remark.n)


def missing_values(data: Dataset, name: str) -> tuple[Remark, ...]:
    """Return a note on documents without the feature that they are ranked by."""
    feature = feature_named(data, name)
    n = int(np.isnan(data.X[:, data.feature_names.index(feature)]).sum())
    text = f"{n:,} of {counted(len(data), 'document')} have no {feature}: they are ranked last"
    return (Remark("n_missing_values", n, text),) if n else ()


def run_beside(run: Any, qrels: Any, complete: bool, unjudged: int | str | None) -> Ranking:
    """Return a run with its judgements, each a value or a file; parameters as in `evaluate`."""
    if isinstance(run, Qrels | Dataset) or isinstance(qrels, Run):
        raise DataError("expected a run, then judgements: evaluate(run, qrels)")
    made = run if isinstance(run, Run) else read_scored(run)
    return beside("run", made, judgements_from(qrels), "", complete, unjudged, "True")


def feature_scores(data: Dataset, name: str) -> Array:
    """Return a feature as scores, or its negative for "-name"; documents that lack it come last.

    >>> data = Dataset([[0.5], [float("nan")], [2.0]], y=[0, 0, 1], qid=["q"] * 3, feature_names=["bm25"])
    >>> feature_scores(data, "bm25").argsort().tolist()  # from worst to best
    [1, 0, 2]
    """
    feature = feature_named(data, name)
    values = data.X[:, data.feature_names.index(feature)].astype(np.float64)
    if feature != name:
        values = -values
    missing = np.isnan(values)
    values[missing] = np.nextafter(values[~missing].min(initial=0.0), -np.inf)
    return values


def feature_named(data: Dataset, name: str) -> str:
    """Return the feature that a name or "-name" means.

    >>> feature_named(Dataset([[1.0]], [0], ["q"], feature_names=["bm25"]), "-bm25")
    'bm25'
    """
    feature = name if name in data.feature_names else name.removeprefix("-")
    if feature not in data.feature_names:
        raise DataError(f"there is no feature {feature!r}; the data has {listed(data.feature_names) or 'none'}")
    return feature


def best_feature(data: Dataset, measure: str = "MAP") -> str:
    """Return the feature, or "-feature" for lowest first, that ranks the documents best; of equals the first.

    >>> data = Dataset([[1.0, 5.0], [2.0, 5.0]], [1, 0], ["q"] * 2, feature_names=("depth", "same"))
    >>> best_feature(data)
    '-depth'
    """

    def quality(name: str) -> float:
        return float(evaluate(data, feature_scores(data, name), measures=measure, any_grades=True).values[0].mean())

    return max((sign + name for name in data.feature_names for sign in ("", "-")), key=quality)
