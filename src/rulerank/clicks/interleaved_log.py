"""Logs of interleaved lists: the clicks of each impression on documents of each team."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import polars as pl

from rulerank.clicks.contest import Contest, contest_of
from rulerank.clicks.interleaving import TOP, A, B, interleave, key_of, ranking_of
from rulerank.clicks.log import Log, LogFile, find_columns, naming, text, whole, zero_or_one
from rulerank.core.words import counted, listed
from rulerank.errors import DataError
from rulerank.io.trec import Run

ROLES = ("query", "session", "doc", "position", "clicked", "team")


def read_contest(
    sources: Any,
    a: Run | None = None,
    b: Run | None = None,
    *,
    query: str | None = None,
    session: str | None = None,
    doc: str | None = None,
    position: str | None = None,
    clicked: str | None = None,
    team: str | None = None,
    top: int = TOP,
    seed: int = 0,
    names: tuple[str, str] = ("A", "B"),
    format: str | None = None,
) -> Contest:
    """Read a log of interleaved lists, one row per document shown, and say who won.

    The log has the columns query, session, doc and clicked, and team (a, b, or nothing where a place counts for
    neither), as `interleave` gives it. Without a column team it has the position, from 1, and the two runs are mixed
    again by each session's key, with the top and the seed of then; every document must stand where it stood. Files and
    names of columns are as for `read_clicks`.

    >>> import io
    >>> log = "query,session,doc,team,clicked\\nq,1,d1,a,0\\nq,1,d2,b,1\\nq,2,d1,b,0\\nq,2,d2,a,0\\n"
    >>> read_contest(io.StringIO(log)).line()
    'Not enough to tell yet (A 0 : 1 B of 1 query, 1 impression without a winner).'
    """
    given = {"query": query, "session": session, "doc": doc, "position": position, "clicked": clicked}
    given |= {"team": team}
    named = {role: name for role, name in given.items() if name}
    with Log(sources, format) as log:
        rows = log.fetch(" UNION ALL BY NAME ".join(_rows(file, named, a is not None) for file in log.files))
        name = log.name
    bad = rows.filter(pl.any_horizontal(pl.col("query", "session", "clicked").is_null()))
    if len(bad):
        raise DataError(
            f"{name}: {len(bad):,} of {counted(len(rows), 'row')} have no query, no session, or a clicked "
            "that is neither 0 nor 1"
        )
    if not len(rows):
        raise DataError(f"{name}: the log holds no impression")
    if "team" not in rows.columns:
        assert a is not None
        if b is None:
            raise DataError("two runs are needed to mix the lists of a log again: got one")
        rows = _with_teams(rows, a, b, top, seed, name)
    _check_teams(rows, name)
    mine = [pl.col("clicked").filter(pl.col("team") == one).sum().alias(one) for one in (A, B)]
    return contest_of(rows.group_by("query", "session").agg(*mine), names)


def _rows(file: LogFile, named: Mapping[str, str], has_runs: bool) -> str:
    """Return SQL of one file's rows: a column for each role that is there."""
    there = [*file.columns]
    columns = find_columns(there, named, ROLES, file.fail)
    for role in ("query", "session", "clicked", *(["doc", "position"] if "team" not in columns and has_runs else [])):
        if role not in columns:
            file.fail(f"no column is known to be the {role}: the columns are {listed(there)}; name it ({naming(role)})")
    if "team" not in columns and not has_runs:
        file.fail(
            f"no column says which ranking's a document is (a or b): name it ({naming('team')}), or give the two runs "
            "that were mixed"
        )
    readers = {"clicked": zero_or_one, "position": whole}
    made = [f"{readers.get(role, text)(name, file)} AS {role}" for role, name in columns.items()]
    return f"SELECT {', '.join(made)} FROM {file.scan}"


def _with_teams(rows: pl.DataFrame, a: Run, b: Run, top: int, seed: int, name: str) -> pl.DataFrame:
    """Return the rows with the teams that mixing again gives."""
    orders = ranking_of(a), ranking_of(b)
    lists = rows.select("query", "session").unique(maintain_order=True)
    strange = [query for query in lists["query"].unique(maintain_order=True) if any(query not in one for one in orders)]
    if strange:
        raise DataError(f"{name}: query {strange[0]!r} is not in both runs ({len(strange):,} such queries)")
    made: dict[str, list[Any]] = {"query": [], "session": [], "doc": [], "position": [], "team": []}
    for query, session in lists.rows():
        mixed = interleave(orders[0][query], orders[1][query], key_of(session, query), top=top, seed=seed)
        made["query"] += [query] * len(mixed.docs)
        made["session"] += [session] * len(mixed.docs)
        made["doc"] += mixed.docs
        made["position"] += range(1, len(mixed.docs) + 1)
        made["team"] += [team or "" for team in mixed.teams]
    teams = pl.DataFrame(made, schema=dict.fromkeys(made, pl.String) | {"position": pl.Int64})
    found = rows.join(teams, on=["query", "session", "doc", "position"], how="left")
    lost = int(found["team"].null_count())
    if lost:
        raise DataError(
            f"{name}: {lost:,} of {counted(len(found), 'document')} shown do not stand where the two runs put "
            "them for their query and session: these are not the rankings, or not the top and the seed, that were shown"
        )
    return found


def _check_teams(rows: pl.DataFrame, name: str) -> None:
    strange = rows.filter(~pl.col("team").fill_null("").is_in([A, B, ""]))
    if len(strange):
        raise DataError(
            f"{name}: expected {A}, {B} or nothing as the team, got {strange['team'][0]!r} in {len(strange):,} of "
            f"{counted(len(rows), 'row')}"
        )
    if not rows["team"].is_in([A, B]).any():
        raise DataError(f"{name}: no document is of a team ({A} or {B}), so that no ranking can win")
