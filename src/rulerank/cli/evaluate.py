"""rulerank evaluate: measure rankings, and tell whether they differ."""

from __future__ import annotations

from typing import Annotated

import typer

from rulerank.cli.options import (
    AsJson,
    DocidColumn,
    FeatureColumns,
    GradeColumn,
    JudgedExtra,
    QidColumn,
    Unjudged,
    columns,
)
from rulerank.errors import DataError


def evaluate(
    files: Annotated[
        list[str], typer.Argument(metavar="FILE", help="Data, then score files or runs; with --qrels: runs.")
    ],
    measures: Annotated[
        list[str],
        typer.Option(
            "--measure",
            "-m",
            metavar="NAME",
            help="MAP, NDCG@10, P@1, MRR, ERR@10, R@50, RBP(p=0.8), ... or one of ir_measures; repeat it.",
        ),
    ] = ["MAP", "NDCG@10", "P@1"],  # noqa: B006 typer needs a list, and nobody changes it
    convention: Annotated[str, typer.Option(help="standard, standard-exp, letor3 or letor4.")] = "standard",
    ties: Annotated[str | None, typer.Option(help="expected, file or docid [the convention's own].")] = None,
    qrels: Annotated[
        str | None, typer.Option(metavar="FILE", help="Judgements, as TREC has them or a table: the files are runs.")
    ] = None,
    unjudged: Unjudged = None,
    judged_extra: JudgedExtra = None,
    complete: Annotated[bool, typer.Option("--complete", help="A query missing in a run counts 0.")] = False,
    by: Annotated[
        list[str] | None,
        typer.Option(
            "--feature",
            "--score-column",
            metavar="NAME",
            help="Rank by a column of the data; -NAME: lowest first. Documents without a value come last.",
        ),
    ] = None,
    compare: Annotated[
        bool, typer.Option("--compare", help="Test whether the rankings differ (implies --complete).")
    ] = False,
    per_query: Annotated[bool, typer.Option("--per-query", help="One line per query instead of the means.")] = False,
    relevant_from: Annotated[int, typer.Option(metavar="GRADE", help="The lowest grade that is relevant.")] = 1,
    max_grade: Annotated[
        int | None, typer.Option(metavar="GRADE", help="Top of the scale, for ERR [as found].")
    ] = None,
    format: Annotated[
        str | None, typer.Option("--from", metavar="FORMAT", help="Format of the data [by name and content].")
    ] = None,
    qid: QidColumn = None,
    docid: DocidColumn = None,
    grade: GradeColumn = None,
    features: FeatureColumns = None,
    as_csv: Annotated[bool, typer.Option("--csv", help="Print csv, with all digits.")] = False,
    as_markdown: Annotated[bool, typer.Option("--markdown", help="Print a Markdown table.")] = False,
    as_json: AsJson = False,
) -> None:
    """Measure rankings and compare them.

    Ranks the documents of each query by scores, by features of the data, or as TREC runs do. A score file has one
    number per line, in the order of the data; a run, or a table with qid, docid and score, meets it by ids. The output
    says how ties were resolved and how many documents were tied. Documents of a run without a judgement count as not
    relevant, as in trec_eval, unless --unjudged skip. In data that `rulerank features --qrels` wrote, relevant
    documents that are not among the candidates count as missed.

    Example:
        rulerank evaluate test.txt scores.txt -m NDCG@10 -m MAP --convention letor3
        rulerank evaluate test.csv --feature bm25_body --feature pagerank --compare
        rulerank evaluate --qrels qrels.txt one.run two.run -m MAP -m P@5
        rulerank evaluate test.csv one.run scores.txt --compare
    """
    from rulerank.cli.output import print_results
    from rulerank.evaluation import compare_results
    from rulerank.evaluation.measures import split_names
    from rulerank.evaluation.rankings import from_data, from_runs

    chosen = [form for form, on in (("csv", as_csv), ("markdown", as_markdown), ("json", as_json)) if on]
    if len(chosen) > 1:
        raise DataError(f"choose one of --{' and --'.join(chosen)}")
    named = [*files, *([qrels] if qrels else []), *(by or [])]
    twice = next((name for name in named if named.count(name) > 1), None)
    if twice:
        raise DataError(f"each file and feature may be named once: {twice!r} is there twice")
    if qrels is not None:
        if by:
            raise DataError("--feature ranks by a column of the data; TREC runs have none")
        named_columns = columns(qid, docid, grade, features) | ({"format": format} if format else {})
        if judged_extra is not None:
            raise DataError("--judged-extra is for data with candidates; with --qrels the files are runs")
        rankings = from_runs(qrels, files, complete=complete or compare, unjudged=unjudged, **named_columns)
    else:
        how = columns(qid, docid, grade, features)
        how |= {"complete": complete or compare, "unjudged": unjudged, "judged_extra": judged_extra}
        rankings = from_data(files[0], files[1:], by or [], format=format, **how)
    if ties == "docid" and any(ranking.docid is None for ranking in rankings):
        raise DataError("--ties docid needs ids of the documents: name their column with --docid, or choose other ties")
    results = {
        ranking.name: ranking.evaluate(
            split_names(measures),
            convention=convention,
            ties=ties,
            relevant_from=relevant_from,
            max_grade=max_grade,
            # a run may hold relevant documents only, and other runs others
            any_grades=qrels is not None and unjudged != "skip",
        )
        for ranking in rankings
    }
    comparison = compare_results(results) if compare else None
    print_results(results, comparison, *chosen, per_query=per_query)
