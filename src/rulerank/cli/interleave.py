"""rulerank interleave: interleave two rankings, or evaluate clicks on interleaved lists."""

from __future__ import annotations

import json
from typing import Annotated

from rulerank.cli.options import AsJson, LogColumns, argument, log_columns, option
from rulerank.cli.output import print_json, report
from rulerank.errors import DataError


def interleave(
    first: Annotated[
        str | None, argument("[A]", "First ranking: a TREC run, or a table with qid, docid, score.")
    ] = None,
    second: Annotated[str | None, argument("[B]", "Second ranking.")] = None,
    out: Annotated[
        str | None, option("FILE", "Write interleaved lists, one JSON object per line.", "--out", "-o")
    ] = None,
    clicks: Annotated[str | None, option("LOG", "Clicks on interleaved lists: print which ranking wins.")] = None,
    sessions: Annotated[
        str | None, option("FILE", "Session ids, one per line; one list per session and query.")
    ] = None,
    top: Annotated[int, option("N", "Maximum length of a list.")] = 10,
    columns: LogColumns = None,
    as_json: AsJson = False,
) -> None:
    """Interleave two rankings, or evaluate their clicks.

    Team draft: in every round a coin flip decides which ranking picks first, and each adds its best document that is
    not in the list yet. The same query and session always give the same list, so lists need not be stored.

    With --clicks, LOG has one row per document shown: query, session, clicked, and the team (a, b or empty) from the
    lists. The ranking with more clicks wins the impression; ties are dropped. The confidence interval is computed by
    query.

    Example:
        # write interleaved lists
        rulerank interleave one.run two.run -o mixed.jsonl
        # evaluate the clicks on them
        rulerank interleave one.run two.run --clicks teams.csv
    """
    from rulerank._util.words import counted
    from rulerank.clicks.interleaving import (
        interleave_runs,
        interleaving_as_dict,
        interleaving_in_words,
        read_interleaving,
    )
    from rulerank.io.engine_logs import read_ids
    from rulerank.io.files import write_text
    from rulerank.io.formats import read_scored

    if (out is None) == (clicks is None):
        raise DataError("give either -o FILE to write interleaved lists or --clicks LOG to evaluate clicks on them")
    if clicks is not None:
        names = (first or "A", second or "B")
        result = read_interleaving(clicks, columns=log_columns(columns), names=names)
        if as_json:
            print_json(interleaving_as_dict(result))
        else:
            print(interleaving_in_words(result))
        return
    assert out is not None
    if first is None or second is None:
        raise DataError("give two rankings: rulerank interleave A B -o mixed.jsonl")
    runs = read_scored(first), read_scored(second)
    made = [
        {"query": query, "session": session, **mixed.to_dict()}
        for query, session, mixed in interleave_runs(*runs, ["1"] if sessions is None else read_ids(sessions), top=top)
    ]
    write_text(out, "".join(f"{json.dumps(one, ensure_ascii=False)}\n" for one in made))
    n_queries = len({one["query"] for one in made})
    said = f"{out}: {counted(len(made), 'list')} of {counted(n_queries, 'query', 'queries')}"
    report({"file": out, "lists": len(made), "queries": n_queries}, said, as_json=as_json, target=out)
