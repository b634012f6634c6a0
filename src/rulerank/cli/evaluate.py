"""rulerank evaluate: measure rankings and test whether they differ."""

from __future__ import annotations

import sys
from typing import Annotated, Any

from rulerank.cli import options as cli
from rulerank.errors import DataError

SETTINGS = ("ties", "unjudged", "complete", "relevant_from", "max_grade")


def evaluate(
    files: Annotated[list[str], cli.argument("FILE...", "Data, then score files or runs; with --qrels: runs.")],
    measure: cli.Measures = None,
    convention: cli.Convention = "standard",
    qrels: Annotated[
        str | None,
        cli.option(
            "FILE", "Judgements (TREC, a table, a label store); the files are then runs.", "--qrels", "--labels"
        ),
    ] = None,
    llm_labels: Annotated[
        str | None, cli.option("FILE", "Labels of an LLM, corrected by the human ones in --labels.", "--llm-labels")
    ] = None,
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

    With --llm-labels, estimates NDCG@10 and differences of rankings with 95 % intervals, from LLM labels of all queries
    and human labels of some (--labels). People judged all documents of queries sampled at random, or the documents of
    `rulerank sample --for-comparison`. The first file is then the data, unless it is a run. A label store that holds
    both kinds of labels needs no --llm-labels.

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
        # LLM labels of all queries, human labels of some
        rulerank evaluate test.csv one.run two.run --labels qrels.txt --llm-labels gpt.csv
    """
    from rulerank.cli.output import ending_of, print_json, print_results, results_text
    from rulerank.evaluation import compare_results
    from rulerank.evaluation.evaluation import as_dict, said
    from rulerank.evaluation.rankings import from_data, from_runs
    from rulerank.io.files import write_text
    from rulerank.judging.label_files import is_store

    ending = None if out is None else ending_of(out, (".csv", ".md"))
    named = [*files, *([qrels] if qrels else []), *(feature or [])]
    twice = next((name for name in named if named.count(name) > 1), None)
    if twice:
        raise DataError(f"name each file and feature once: {twice!r} is given twice")
    convention, given = cli.name_and_settings(convention, "--convention", SETTINGS)
    asked = [name for several in measure or [] for name in several.split(",")]
    if llm_labels is not None or (qrels is not None and is_store(qrels)):
        if compare or per_query or out is not None or given.keys() & {"unjudged", "complete"}:
            raise DataError(
                "estimates with LLM labels have intervals of their own: leave out --compare, --per-query, -o, and the "
                "settings unjudged and complete"
            )
        rules = {"convention": convention, **given}
        estimate(files, feature or [], qrels, llm_labels, asked or ["NDCG@10"], cli.columns(qid, docid), rules, as_json)
        return
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
            asked or ["MAP", "NDCG@10", "P@1"],
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


def estimate(
    files: list[str], features: list[str], human: str | None, llm: str | None, measures: list[str],
    columns: dict[str, Any], rules: dict[str, Any], as_json: bool,
) -> None:  # fmt: skip
    """Estimate measures and differences from LLM labels of all queries and human labels of some."""
    from dataclasses import replace

    from rulerank.cli.output import print_json
    from rulerank.evaluation.llm_labels import estimate_with_llm
    from rulerank.io.files import NamedBytes, read_bytes
    from rulerank.io.formats import HEAD, detect
    from rulerank.judging.llm_raters import pool_of_llm, read_both
    from rulerank.judging.pool import read_pool

    if human is None:
        raise DataError("--llm-labels are corrected by human labels: name their file with --labels")
    content, source = read_bytes(files[0])
    only_runs = detect(source, content[:HEAD]) == "run"
    pool = pool_of_llm(llm or human) if only_runs else read_pool(NamedBytes(content, source), **columns)
    named = [*files[not only_runs :], *features]
    if not named:
        raise DataError(f"expected scores for {source}: name a score file after it, or a column with --feature")
    both = read_both(pool, human, llm)
    data = replace(pool.data, y=both.llm, base=None)
    scores = {name: cli.scores_of(data, name, source) for name in named}
    asked: list[tuple[str, ...]] = [(named[0], other) for other in named[1:]]
    if both.probability is None:
        asked += [(name,) for name in named]
    found = [
        estimate_with_llm(
            data, {name: scores[name] for name in names}, both.human, measure, probability=both.probability, **rules
        )
        for measure in measures
        for names in asked
    ]
    if as_json:
        print_json([one.to_dict() for one in found])
    else:
        print("\n".join(line for one in found for line in one.lines()))
