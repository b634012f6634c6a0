"""Team-draft interleaving: two rankings mixed into one list, so that clicks show which one is better.

In each round a coin decides which ranking picks first; each adds its best document that is not in the list yet. Coins
are derived from a key, such as session and query: the same key gives the same list again, so nothing has to be stored.

A position counts for a team only if both rankings could have filled it, depending on the coin. Each such position is
equally likely to belong to either team, so clicks that depend on the position alone favour neither, exactly. The rest
of the list, where one ranking has no more documents, belongs to no team.

An impression, one list shown for a query in a session, is won by the ranking whose documents were clicked more; ties
and lists without clicks are dropped. The share of wins has an interval by query, because impressions of one query are
not independent.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass
from typing import Any

import polars as pl

from rulerank._util.parameters import is_whole
from rulerank._util.words import counted, percent
from rulerank.clicks.log import Log, LogFile, find_columns, text, zero_or_one
from rulerank.errors import DataError
from rulerank.evaluation.comparison import Comparison, compare_trials
from rulerank.io.trec import Run

A, B = "a", "b"  # the teams
TOP = 10
MOST_KEY = 10_000  # characters
ROLES = ("query", "session", "clicked", "team")
LEAST = 6  # queries with a decided impression: five go all one way by chance in 1 of 16 cases


@dataclass(frozen=True)
class InterleavedList:
    """A list of documents, and which ranking each was picked by.

    >>> InterleavedList(("d1", "d2"), ("a", "b")).to_dict()
    {'docs': ['d1', 'd2'], 'teams': ['a', 'b']}
    """

    docs: tuple[str, ...]
    teams: tuple[str | None, ...]  # "a", "b", or None: the place counts for neither

    def to_dict(self) -> dict[str, Any]:
        """Return plain values."""
        return {"docs": list(self.docs), "teams": list(self.teams)}


def interleave(a: Sequence[Any], b: Sequence[Any], key: str, *, top: int = TOP, seed: int = 0) -> InterleavedList:
    """Mix two rankings of a query into one list: the same list for the same key.

    Parameters
    ----------
    a, b: ids of documents, best first.
    key: a text that identifies the list, such as session and query; `key_of` makes a unique one of the two.
    top: maximum length of the list.
    seed: random seed of the coin flips.

    >>> interleave(["d1", "d2", "d3"], ["d3", "d1", "d4"], "session 7|green tent", top=3)
    InterleavedList(docs=('d1', 'd3', 'd4'), teams=('a', 'b', 'b'))
    """
    if not isinstance(key, str) or not 1 <= len(key) <= MOST_KEY:
        raise DataError(f"key must be a text of 1 to {MOST_KEY} characters: got {str(key)[:40]!r}")
    if not is_whole(top, 1):
        raise DataError(f"top must be an integer of at least 1: got {top!r}")
    if not is_whole(seed, 0):
        raise DataError(f"seed must be an integer of at least 0: got {seed!r}")
    first, second = _docs(A, a), _docs(B, b)
    for name, ranking in ((A, first), (B, second)):
        if len(set(ranking)) < len(ranking):
            twice = next(doc for doc in ranking if ranking.count(doc) > 1)
            raise DataError(f"a ranking must list each document once: {twice!r} is in {name} twice")
    coins = _coins(f"interleave|{seed}|{key}")
    return draft(first, second, lambda: next(coins), top)


def draft(a: Sequence[str], b: Sequence[str], coin: Callable[[], bool], top: int) -> InterleavedList:
    """Mix two rankings; the coin says whether `a` picks first in a round."""
    docs: list[str] = []
    teams: list[str | None] = []
    there: set[str] = set()

    def best(ranking: Sequence[str], without: str | None = None) -> str | None:
        return next((doc for doc in ranking if doc not in there and doc != without), None)

    def add(doc: str, team: str | None) -> None:
        if len(docs) < top:
            docs.append(doc)
            teams.append(team)
            there.add(doc)

    while len(docs) < top:
        of_a, of_b = best(a), best(b)
        if of_a is None or of_b is None:
            break
        both = best(a, of_b) is not None and best(b, of_a) is not None  # the second place, whoever is first
        a_first = coin()
        add(of_a if a_first else of_b, A if a_first else B)
        answer = best(b if a_first else a)
        if answer is not None:
            add(answer, (B if a_first else A) if both else None)
    for ranking in (a, b):  # one of them has nothing left
        for doc in ranking:
            if doc not in there:
                add(doc, None)
    return InterleavedList(tuple(docs), tuple(teams))


def interleave_runs(
    a: Run, b: Run, keys: Sequence[str], *, top: int = TOP, seed: int = 0
) -> Iterator[tuple[str, str, InterleavedList]]:
    """Yield (query, key, list) for every query that both runs hold and every key.

    The query is a part of what the coins come from, so that one key, such as a session, serves all of its queries.
    """
    orders = [ranking_of(run) for run in (a, b)]
    shared = [query for query in orders[0] if query in orders[1]]
    if not shared:
        raise DataError("the two runs have no query in common")
    for query in shared:
        for key in keys:
            yield query, key, interleave(orders[0][query], orders[1][query], key_of(key, query), top=top, seed=seed)


def key_of(session: str, query: str) -> str:
    """Return a unique key of a query in a session.

    If the session contains a bar, its length comes first, so that keys stay unique.

    >>> key_of("s1", "green tent"), key_of("s1", "red|green"), key_of("s1|red", "green")
    ('s1|green tent', 's1|red|green', '|6|s1|redgreen')
    """
    if session and "|" not in session:
        return f"{session}|{query}"
    return f"|{len(session)}|{session}{query}"


def ranking_of(run: Run) -> dict[str, list[str]]:
    """Return the documents of every query, best first; equal scores in the order of the file."""
    places: dict[str, list[int]] = {}
    for row, query in enumerate(run.qid.tolist()):
        places.setdefault(str(query), []).append(row)
    return {
        query: [str(run.docid[row]) for row in sorted(rows, key=lambda row: -float(run.score[row]))]
        for query, rows in places.items()
    }


def _docs(name: str, ranking: Any) -> list[str]:
    if isinstance(ranking, str | bytes | Mapping | Set) or not isinstance(ranking, Iterable):
        raise DataError(f"{name} must be a list of document ids, best first: got {ranking!r:.60}")
    return [str(doc) for doc in ranking]


def _coins(text: str) -> Iterator[bool]:
    block = 0
    while True:
        for byte in hashlib.blake2b(f"{text}|{block}".encode(errors="surrogatepass"), digest_size=64).digest():
            for bit in range(8):
                yield bool(byte >> bit & 1)
        block += 1


def read_interleaving(
    sources: Any,
    *,
    columns: Mapping[str, str] | None = None,
    names: tuple[str, str] = ("A", "B"),
    format: str | None = None,
) -> Comparison:
    """Read a log of interleaved lists, one row per document shown, and compare B with A by the impressions they won.

    The log has the columns query, session, clicked and team (a, b, or nothing where a place counts for neither), as
    `interleave` gives it. Files and names of columns are as for `read_clicks`.

    >>> import io
    >>> log = "query,session,doc,team,clicked\\nq,1,d1,a,0\\nq,1,d2,b,1\\nq,2,d1,b,0\\nq,2,d2,a,0\\n"
    >>> interleaving_in_words(read_interleaving(io.StringIO(log)))
    'Too few clicks yet (A 0 : 1 B of 1 query, 1 impression without a winner).'
    """
    with Log(sources, format) as log:
        rows = log.fetch(" UNION ALL BY NAME ".join(_rows(file, columns) for file in log.files))
        name = log.name
    bad = rows.filter(pl.any_horizontal(pl.col("query", "session", "clicked").is_null()))
    if len(bad):
        raise DataError(
            f"{name}: {len(bad):,} of {counted(len(rows), 'row')} have no query, no session, or a value "
            "of clicked other than 0 and 1"
        )
    if not len(rows):
        raise DataError(f"{name}: the log has no impressions")
    strange = rows.filter(~pl.col("team").fill_null("").is_in([A, B, ""]))
    if len(strange):
        raise DataError(
            f"{name}: expected {A}, {B} or nothing as the team, got {strange['team'][0]!r} in {len(strange):,} of "
            f"{counted(len(rows), 'row')}"
        )
    if not rows["team"].is_in([A, B]).any():
        raise DataError(f"{name}: no document has a team ({A} or {B}), so no ranking can win")
    mine = [pl.col("clicked").filter(pl.col("team") == one).sum().alias(one) for one in (A, B)]
    impressions = rows.group_by("query", "session").agg(*mine)
    a, b = pl.col("a"), pl.col("b")
    won = impressions.group_by("query").agg((b > a).sum().alias("won"), (b < a).sum().alias("lost")).sort("query")
    ties = int((impressions["a"] == impressions["b"]).sum())
    by_query = won["won"].to_numpy(), won["lost"].to_numpy()
    return compare_trials("decided impressions", (names[1], names[0]), *by_query, ties, least=LEAST)


def interleaving_in_words(found: Comparison) -> str:
    """Return which of two interleaved rankings wins, as a sentence.

    >>> found = compare_trials("", ("B", "A"), [7, 8, 9, 8, 9, 7], [1, 2, 3, 1, 2, 2], ties=120, least=LEAST)
    >>> print(interleaving_in_words(found))
    B wins: 48 of 59 decided impressions of 6 queries (81 %, 95 % interval 69-90 %); 120 without a winner.
    """
    queries = counted(found.n_queries, "query", "queries")
    if found.verdict == "too few":
        score = f"{found.b} {found.losses:,} : {found.wins:,} {found.a} of {queries}"
        return f"Too few clicks yet ({score}, {counted(found.ties, 'impression')} without a winner)."
    won, name, low, high = found.wins, found.a, found.low, found.high
    if found.verdict == "worse":
        won, name, low, high = found.losses, found.b, -high, -low
    begin = f"No clear difference: {name} won" if found.verdict == "unclear" else f"{name} wins:"
    decided = found.wins + found.losses
    return (
        f"{begin} {won:,} of {counted(decided, 'decided impression')} of {queries} ({percent(won / decided)}, "
        f"95 % interval {50 * (1 + low):.0f}-{percent((1 + high) / 2)}); {found.ties:,} without a winner."
    )


def interleaving_as_dict(found: Comparison) -> dict[str, Any]:
    """Return all results as plain values."""
    known = bool(found.wins + found.losses)
    return {
        "verdict": {"better": B, "worse": A}.get(found.verdict, found.verdict),
        "won": {A: found.losses, B: found.wins},
        "without_a_winner": found.ties,
        "queries": found.n_queries,
        "share_of_b": round(found.mean_a, 4) if known else None,
        "interval": [round((1 + bound) / 2, 4) for bound in (found.low, found.high)],
        "line": interleaving_in_words(found),
    }


def _rows(file: LogFile, named: Mapping[str, str] | None) -> str:
    """Return SQL of one file's rows."""
    columns = find_columns(file, named, ROLES, ROLES)
    made = [f"{(zero_or_one if role == 'clicked' else text)(name, file)} AS {role}" for role, name in columns.items()]
    return f"SELECT {', '.join(made)} FROM {file.scan}"
