"""Evaluate TREC runs against judgements, which meet by the ids of queries and documents."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from rulerank.dataset import Dataset
from rulerank.errors import DataError
from rulerank.evaluation.evaluation import evaluate
from rulerank.evaluation.measures import Measure
from rulerank.evaluation.rankings import judgements_from, queries_apart
from rulerank.evaluation.result import Result
from rulerank.io.convert import read_scored
from rulerank.io.trec import Qrels, Run, join


def evaluate_run(
    run: Run | Any,
    qrels: Qrels | Dataset | Any,
    measures: str | Measure | Iterable[str | Measure] = ("MAP", "NDCG@10", "P@1"),
    *,
    complete: bool = False,
    unjudged: int | str | None = None,
    convention: str = "standard",
    ties: str | None = None,
    relevant_from: int = 1,
    max_grade: int | None = None,
    n_jobs: int | None = None,
) -> Result:
    """Measure how well a run ranks the documents that were judged, as trec_eval does.

    >>> run = Run(["q1", "q1", "q1"], ["a", "b", "c"], [3.0, 2.0, 1.0], ["bm25"] * 3)
    >>> evaluate_run(run, Qrels(["q1", "q1", "q2"], ["b", "c", "a"], [2, 1, 1]), ["NDCG@10", "P@1"])
    measure    mean
    NDCG@10  0.6697
    P@1      0.0000
    1 query, convention standard, ties expected: 0 of 3 documents tied; 1 of 2 judged queries are not in the run: \
they are not counted; complete=True counts them 0

    Parameters
    ----------
    run : a `Run`, or a file of one: a TREC run, or a table with qid, docid and score.
    qrels : a `Qrels`, a Dataset with grades, or a file of either.
    unjudged : documents of the run without a judgement count as not relevant as in trec_eval (0); "skip": are left out.
    complete : a judged query that the run lacks counts 0; otherwise it is left out, and the result says so.
    measures, convention, ties, relevant_from, max_grade : as in `evaluate`.
    """
    if isinstance(qrels, Run) and isinstance(run, Qrels | Dataset):
        run, qrels = qrels, run  # their types tell them apart
    if isinstance(run, Qrels | Dataset) or isinstance(qrels, Run):
        raise DataError("expected a run, then judgements: evaluate_run(run, qrels)")
    made = run if isinstance(run, Run) else read_scored(run)
    judged = judgements_from(qrels)
    both = join(made, judged, complete, unjudged)
    result = evaluate(
        both.y, both.scores, both.qid, measures, convention=convention, ties=ties, docid=both.docid,
        retrieved=both.retrieved, relevant_from=relevant_from, max_grade=max_grade, judged=both.judged,
        any_grades=unjudged != "skip",
        n_jobs=n_jobs,
    )  # fmt: skip
    return replace(result, remarks=queries_apart(made, judged, complete=complete, otherwise="complete=True"))
