"""rulerank evaluate: measure rankings and test whether they differ."""

from __future__ import annotations

import sys
from typing import Annotated

from rulerank.cli import options as cli
from rulerank.errors import DataError

SETTINGS = ("ties", "unjudged", "complete", "relevant_from", "max_grade")


def evaluate(
    files: Annotated[list[str], cli.argument("FILE...", "Data, then score files or runs; with --qrels: runs.")],
    measure: cli.Measures = None,
    convention: cli.Convention = "standard",
    qrels: Annotated[str | None, cli.option("FILE", "Judgements (TREC, or a table); the files are then runs.")] = None,
    feature: Annotated[
        list[str] | None, cli.option("NAME", "Rank by a column (-NAME: lowest first); repeatable.")
    ] = None,
    compare: Annotated[
        bool, cli.flag("Test whether the rankings differ; missing queries count as 0.", "--compare")
    ] = False,
    per_query: Annotated[bool, cli.flag("Print one line per query instead of the means.", "--per-query")] = False,
    out: Annotated[str | None, cli.option("FILE", "Write a .csv (all digits) or .md.", "--out", "-o")] = None,
    qid: cli.Qid = None,
    docid: cli.Docid = None,
    grade: cli.Grade = None,
    as_json: cli.AsJson = False,
) -> None:
    """Measure rankings and compare them.

    Ranks the documents of each query by scores, by features, or as in TREC runs. A score file has one number per line,
    in the order of the data; a run, or a table with qid, docid and score, is joined by ids. Prints how ties were broken
    and how many documents were tied. Documents of a run without a judgement count as not relevant, as in trec_eval,
    unless unjudged=skip. In tables from `rulerank features --qrels`, relevant documents that are not among the
    candidates count as missed.

    Default measures: MAP, NDCG@10 and P@1. Others: MRR, ERR@10, R@50 and MeanNDCG. More settings of
    --convention: complete=true (a query missing in a run counts as 0), relevant_from (the lowest relevant
    grade) and max_grade (the highest grade of the scale, for ERR).

    Example:
        # scores of a model, with the LETOR 3 definitions
        rulerank evaluate test.txt scores.txt -m NDCG@10 -m MAP --convention letor3
        # TREC runs and qrels
        rulerank evaluate --qrels qrels.txt one.run two.run -m MAP -m P@5 --convention standard:complete=true
        # test whether two features, a run and scores differ
        rulerank evaluate test.csv one.run scores.txt --feature bm25_body --feature pagerank --compare -o table.md
    """
    from rulerank.cli.output import ending_of, print_json, print_results, results_text
    from rulerank.evaluation import compare_results
    from rulerank.evaluation.evaluation import as_dict, said
    from rulerank.evaluation.rankings import from_data, from_runs
    from rulerank.io.files import write_text

    ending = None if out is None else ending_of(out, (".csv", ".md"))
    named = [*files, *([qrels] if qrels else []), *(feature or [])]
    twice = next((name for name in named if named.count(name) > 1), None)
    if twice:
        raise DataError(f"name each file and feature once: {twice!r} is given twice")
    convention, given = cli.name_and_settings(convention, "--convention", SETTINGS)
    unjudged = str(given.pop("unjudged")) if "unjudged" in given else None
    complete = bool(given.pop("complete", False)) or compare
    reading = cli.columns(qid, docid, grade) | {"complete": complete, "unjudged": unjudged}
    if qrels is None:
        rankings = from_data(files[0], files[1:], feature or [], **reading)
    elif feature:
        raise DataError("--feature ranks by a column of the data: leave it out with --qrels")
    else:
        rankings = from_runs(qrels, files, **reading)
    if given.get("ties") == "docid" and any(ranking.docid is None for ranking in rankings):
        raise DataError("ties=docid needs document ids: name their column with --docid, or choose other ties")
    results = {
        ranking.name: ranking.evaluate(
            [name for several in measure or ["MAP,NDCG@10,P@1"] for name in several.split(",")],
            convention=convention,
            # runs may hold different documents, some of them only relevant ones
            any_grades=qrels is not None and unjudged != "skip",
            **given,
        )
        for ranking in rankings
    }
    comparison = compare_results(results) if compare else None
    if out is not None and ending is not None:
        write_text(out, results_text(results, comparison, ending, per_query=per_query))
        if ending == ".csv":
            print("".join(f"note: {line}\n" for line in said(results)), end="", file=sys.stderr)
    if as_json:
        print_json(as_dict(results, comparison, per_query=per_query))
    elif out is None:
        print_results(results, comparison, per_query=per_query)
    else:
        print(f"{out}: {len(results)} rankings")
