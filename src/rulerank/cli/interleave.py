"""rulerank interleave: mix two rankings into one list, and say from the clicks which of them wins."""

from __future__ import annotations

import json
from typing import Annotated

import typer

from rulerank.cli.options import AsJson, LogColumns, Seed, named_columns
from rulerank.cli.output import print_json, report
from rulerank.errors import DataError


def interleave(
    first: Annotated[
        str | None, typer.Argument(metavar="A", help="A ranking: a TREC run, or a table of qid, docid and score.")
    ] = None,
    second: Annotated[str | None, typer.Argument(metavar="B", help="The other one.")] = None,
    out: Annotated[
        str | None, typer.Option("--out", "-o", metavar="FILE", help="The mixed lists, one JSON object a line.")
    ] = None,
    clicks: Annotated[
        str | None, typer.Option(metavar="LOG", help="What was clicked in mixed lists: say who wins.")
    ] = None,
    keys: Annotated[
        str | None, typer.Option(metavar="FILE", help="Sessions, one a line: a list for each and every query.")
    ] = None,
    lists: Annotated[int, typer.Option(help="How many lists of each query, with the keys 1, 2, ...")] = 1,
    top: Annotated[int, typer.Option(help="How long a list is at most.")] = 10,
    seed: Seed = 0,
    name_a: Annotated[str | None, typer.Option(metavar="NAME", help="What to call A [its file, or A].")] = None,
    name_b: Annotated[str | None, typer.Option(metavar="NAME", help="What to call B [its file, or B].")] = None,
    log_columns: LogColumns = None,
    log_format: Annotated[
        str | None, typer.Option("--from", metavar="FORMAT", help="Format of LOG [by its name].")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Mix two rankings, or say which of them clicks prefer.

    Team draft: in every round a coin says which ranking picks first, and each adds its best document that is not in the
    list yet. The list of a query and a session is always the same, so that nothing needs to be kept.

    With --clicks, LOG has one row per document shown: query, session, clicked, and team (a, b, or nothing), as the
    lists have it. An impression is won by the ranking whose documents were clicked more; those without a winner are
    dropped. The interval is by query.

    Example:
        rulerank interleave one.run two.run -o mixed.jsonl
        rulerank interleave --clicks teams.csv --name-a today --name-b new
    """
    from rulerank.clicks.interleaving import contest_as_dict, contest_in_words, interleave_runs, read_contest
    from rulerank.core.words import counted
    from rulerank.io.engine_logs import read_ids
    from rulerank.io.formats import read_scored
    from rulerank.io.outputs import write_text

    if (out is None) == (clicks is None):
        raise DataError("say what to do: -o FILE writes mixed lists, --clicks LOG says who wins; one thing at a time")
    if clicks is not None:
        names = (name_a or first or "A", name_b or second or "B")
        contest = read_contest(clicks, columns=named_columns(log_columns), names=names, format=log_format)
        if as_json:
            print_json(contest_as_dict(contest))
            return
        print(contest_in_words(contest))
        return
    if first is None or second is None:
        raise DataError("name two rankings: rulerank interleave A B -o mixed.jsonl")
    assert out is not None
    runs = read_scored(first), read_scored(second)
    if lists < 1:
        raise DataError(f"--lists must be a whole number from 1: got {lists}")
    sessions = [str(number) for number in range(1, lists + 1)] if keys is None else read_ids(keys)
    made = [
        {"query": query, "session": session, **mixed.to_dict()}
        for query, session, mixed in interleave_runs(*runs, sessions, top=top, seed=seed)
    ]
    write_text(out, "".join(f"{json.dumps(one, ensure_ascii=False)}\n" for one in made))
    n_queries = len({one["query"] for one in made})
    said = f"{out}: {counted(len(made), 'list')} of {counted(n_queries, 'query', 'queries')}"
    report({"file": out, "lists": len(made), "queries": n_queries}, said, as_json=as_json, target=out)
