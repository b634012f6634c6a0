"""rulerank evaluate: measure rankings, and tell whether they differ."""

from __future__ import annotations

import sys
from typing import Annotated

from rulerank.cli.options import (
    AsJson,
    Convention,
    Docid,
    Grade,
    Measures,
    Qid,
    argument,
    columns,
    flag,
    name_and_settings,
    option,
)
from rulerank.errors import DataError

SETTINGS = ("ties", "unjudged", "complete", "relevant_from", "max_grade")


def evaluate(
    files: Annotated[list[str], argument("FILE", "Data, then score files or runs; with --qrels: runs.")],
    measure: Measures = None,
    convention: Convention = "standard",
    qrels: Annotated[str | None, option("FILE", "Judgements (TREC, or a table): the files are runs.")] = None,
    feature: Annotated[list[str] | None, option("NAME", "Rank by a column; -NAME: lowest first; repeat it.")] = None,
    compare: Annotated[bool, flag("Test whether the rankings differ; missing queries count 0.", "--compare")] = False,
    per_query: Annotated[bool, flag("One line per query instead of the means.", "--per-query")] = False,
    out: Annotated[str | None, option("FILE", "Write a .csv, with all digits, or .md.", "--out", "-o")] = None,
    qid: Qid = None,
    docid: Docid = None,
    grade: Grade = None,
    as_json: AsJson = False,
) -> None:
    """Measure rankings and compare them.

    Ranks the documents of each query by scores, by features of the data, or as TREC runs do. A score file has one
    number per line, in the order of the data; a run, or a table with qid, docid and score, meets it by ids. The output
    says how ties were resolved and how many documents were tied. Documents of a run without a judgement count as not
    relevant, as in trec_eval, unless unjudged=skip. In data that `rulerank features --qrels` wrote, relevant documents
    that are not among the candidates count as missed.

    Measures are MAP, NDCG@10 and P@1 by default; others are MRR, ERR@10, R@50, RBP(p=0.8), ... and those of
    ir_measures. Settings of --convention beside ties and unjudged: complete=true (a query missing in a run counts 0),
    relevant_from (the lowest relevant grade) and max_grade (the top of the scale, for ERR).

    Example:
        rulerank evaluate test.txt scores.txt -m NDCG@10 -m MAP --convention letor3
        rulerank evaluate test.csv --feature bm25_body --feature pagerank --compare
        rulerank evaluate --qrels qrels.txt one.run two.run -m MAP -m P@5 --convention standard:complete=true
        rulerank evaluate test.csv one.run scores.txt --compare -o table.md
    """
    from rulerank.cli.output import ending_of, print_json, print_results, results_text
    from rulerank.evaluation import compare_results
    from rulerank.evaluation.evaluation import as_dict, said
    from rulerank.evaluation.measures import split_names
    from rulerank.evaluation.rankings import from_data, from_runs
    from rulerank.io.outputs import write_text

    ending = None if out is None else ending_of(out, (".csv", ".md"))
    named = [*files, *([qrels] if qrels else []), *(feature or [])]
    twice = next((name for name in named if named.count(name) > 1), None)
    if twice:
        raise DataError(f"each file and feature may be named once: {twice!r} is there twice")
    convention, given = name_and_settings(convention, "--convention", SETTINGS)
    unjudged = str(given.pop("unjudged")) if "unjudged" in given else None
    complete = bool(given.pop("complete", False)) or compare
    reading = columns(qid, docid, grade) | {"complete": complete, "unjudged": unjudged}
    if qrels is None:
        rankings = from_data(files[0], files[1:], feature or [], **reading)
    elif feature:
        raise DataError("--feature ranks by a column of the data; TREC runs have none")
    else:
        rankings = from_runs(qrels, files, **reading)
    if given.get("ties") == "docid" and any(ranking.docid is None for ranking in rankings):
        raise DataError("ties=docid needs ids of the documents: name their column with --docid, or choose other ties")
    results = {
        ranking.name: ranking.evaluate(
            split_names(measure or ["MAP", "NDCG@10", "P@1"]),
            convention=convention,
            # a run may hold relevant documents only, and other runs others
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
