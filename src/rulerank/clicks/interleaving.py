"""Two rankings mixed into one list, so that clicks tell which is better: team draft.

Round by round a coin says which ranking picks first; each adds its best document that is not in the list yet. Coins
come from a key, such as the session and the query: whoever has the key makes the same list again, and nothing is kept.

A place counts for a team only where both rankings could have filled it, had the coin fallen otherwise. So, whatever the
list is so far, each place is as likely of one team as of the other, and clicks that depend on nothing but the place win
for neither, exactly. The rest of the list, where one ranking has nothing more to give, is of no team.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass
from typing import Any

from rulerank.core.checks import is_whole
from rulerank.errors import DataError
from rulerank.io.trec import Run

A, B = "a", "b"  # the teams
TOP = 10
MOST_KEY = 10_000  # characters


@dataclass(frozen=True)
class Interleaved:
    """A list of documents, and which ranking each was picked by.

    >>> Interleaved(("d1", "d2"), ("a", "b")).to_dict()
    {'docs': ['d1', 'd2'], 'teams': ['a', 'b']}
    """

    docs: tuple[str, ...]
    teams: tuple[str | None, ...]  # "a", "b", or None: the place counts for neither

    def to_dict(self) -> dict[str, Any]:
        """Return plain values."""
        return {"docs": list(self.docs), "teams": list(self.teams)}


def interleave(a: Sequence[Any], b: Sequence[Any], key: str, *, top: int = TOP, seed: int = 0) -> Interleaved:
    """Mix two rankings of a query into one list: the same list for the same key.

    Parameters
    ----------
    a, b: ids of documents, best first.
    key: what tells this list from others, such as the session and the query; it is taken as it is given, and `key_of`
        makes one of the two that no other session and query have.
    top: how long the list is at most.
    seed: another seed tosses other coins.

    >>> interleave(["d1", "d2", "d3"], ["d3", "d1", "d4"], "session 7|green tent", top=3)
    Interleaved(docs=('d1', 'd3', 'd4'), teams=('a', 'b', 'b'))
    """
    if not isinstance(key, str) or not 1 <= len(key) <= MOST_KEY:
        raise DataError(f"key must be a text of 1 to {MOST_KEY} characters: got {str(key)[:40]!r}")
    if not is_whole(top, 1):
        raise DataError(f"top must be a whole number from 1: got {top!r}")
    if not is_whole(seed, 0):
        raise DataError(f"seed must be a whole number from 0: got {seed!r}")
    first, second = _docs(A, a), _docs(B, b)
    for name, ranking in ((A, first), (B, second)):
        if len(set(ranking)) < len(ranking):
            twice = next(doc for doc in ranking if ranking.count(doc) > 1)
            raise DataError(f"a ranking holds each document once: {twice!r} is in {name} twice")
    coins = _coins(f"interleave|{seed}|{key}")
    return draft(first, second, lambda: next(coins), top)


def draft(a: Sequence[str], b: Sequence[str], coin: Callable[[], bool], top: int) -> Interleaved:
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
    return Interleaved(tuple(docs), tuple(teams))


def interleave_runs(
    a: Run, b: Run, keys: Sequence[str], *, top: int = TOP, seed: int = 0
) -> Iterator[tuple[str, str, Interleaved]]:
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
    """Return the key of a query in a session, which no other session and query have.

    A bar in the session could be taken for the one between the two, so that there its length comes first.

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
        raise DataError(f"{name} must be a list of documents' ids, best first: got {ranking!r:.60}")
    return [str(doc) for doc in ranking]


def _coins(text: str) -> Iterator[bool]:
    block = 0
    while True:
        for byte in hashlib.blake2b(f"{text}|{block}".encode(errors="surrogatepass"), digest_size=64).digest():
            for bit in range(8):
                yield bool(byte >> bit & 1)
        block += 1
