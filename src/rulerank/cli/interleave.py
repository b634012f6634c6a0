"""rulerank interleave: mix two rankings into one list, and say from the clicks which of them wins."""

from __future__ import annotations

import json
from typing import Annotated

from rulerank.cli.options import AsJson, LogColumns, argument, log_columns, option
from rulerank.cli.output import print_json, report
from rulerank.errors import DataError


def interleave(
    first: Annotated[str | None, argument("[A]", "A TREC run, or a table of qid, docid, score.")] = None,
    second: Annotated[str | None, argument("[B]", "The other one.")] = None,
    out: Annotated[str | None, option("FILE", "The mixed lists, a JSON object a line.", "--out", "-o")] = None,
    clicks: Annotated[str | None, option("LOG", "What was clicked in mixed lists: say who wins.")] = None,
    sessions: Annotated[str | None, option("FILE", "Sessions, one a line: a list for each and query.")] = None,
    top: Annotated[int, option("N", "How long a list is at most.")] = 10,
    columns: LogColumns = None,
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
        rulerank interleave one.run two.run --clicks teams.csv
    """
    from rulerank.clicks.interleaving import contest_as_dict, contest_in_words, interleave_runs, read_contest
    from rulerank.core.words import counted
    from rulerank.io.engine_logs import read_ids
    from rulerank.io.formats import read_scored
    from rulerank.io.outputs import write_text

    if (out is None) == (clicks is None):
        raise DataError("say what to do: -o FILE writes mixed lists, --clicks LOG says who wins; one thing at a time")
    if clicks is not None:
        names = (first or "A", second or "B")
        contest = read_contest(clicks, columns=log_columns(columns), names=names)
        if as_json:
            print_json(contest_as_dict(contest))
        else:
            print(contest_in_words(contest))
        return
    assert out is not None
    if first is None or second is None:
        raise DataError("name two rankings: rulerank interleave A B -o mixed.jsonl")
    runs = read_scored(first), read_scored(second)
    made = [
        {"query": query, "session": session, **mixed.to_dict()}
        for query, session, mixed in interleave_runs(*runs, ["1"] if sessions is None else read_ids(sessions), top=top)
    ]
    write_text(out, "".join(f"{json.dumps(one, ensure_ascii=False)}\n" for one in made))
    n_queries = len({one["query"] for one in made})
    said = f"{out}: {counted(len(made), 'list')} of {counted(n_queries, 'query', 'queries')}"
    report({"file": out, "lists": len(made), "queries": n_queries}, said, as_json=as_json, target=out)
