"""Interleaving: exactly fair to both rankings, the same list for the same key, and no more certain than the clicks."""

import io
from fractions import Fraction
from itertools import product

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import rulerank as rr
from rulerank.clicks.interleaving import (
    LEAST,
    draft,
    interleave_runs,
    interleaving_as_dict,
    interleaving_in_words,
    key_of,
    read_interleaving,
)
from rulerank.errors import DataError, ReadError
from rulerank.evaluation.comparison import compare_trials

rankings = st.lists(st.sampled_from("abcdefg"), unique=True, min_size=1, max_size=6)


def all_lists(a, b, top):
    """Every list that coins can give, with its probability: one half for each coin that was tossed."""
    for coins in product([True, False], repeat=6):
        left = iter(coins)
        yield draft(a, b, lambda left=left: next(left), top), Fraction(1, 2**6)


@given(rankings, rankings, st.integers(1, 7))
def test_every_place_is_as_likely_of_one_team_as_of_the_other(a, b, top):
    chances = {"a": [Fraction(0)] * top, "b": [Fraction(0)] * top}
    for mixed, chance in all_lists(a, b, top):
        for place, team in enumerate(mixed.teams):
            if team:
                chances[team][place] += chance
    assert chances["a"] == chances["b"]  # so that clicks that know only places win for neither, exactly


def test_a_list_for_a_key_never_changes():
    """What was shown under a key last year is what its clicks are counted by."""
    mixed = rr.clicks.interleave([f"d{i}" for i in range(12)], [f"d{i}" for i in range(11, -1, -1)], "session 1|tent")
    assert mixed.docs == ("d11", "d0", "d10", "d1", "d2", "d9", "d8", "d3", "d7", "d4")
    assert mixed.teams == ("b", "a", "b", "a", "a", "b", "b", "a", "b", "a")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((["a"], ["b"], ""), "key must be a text of 1 to 10000 characters: got ''"),
        ((["a"], ["b"], 7), "key must be a text of 1 to 10000 characters: got '7'"),
        ((["a", "a"], ["b"], "k"), "a ranking must list each document once: 'a' is in a twice"),
        ((["a"], ["b", "c", "b"], "k"), "a ranking must list each document once: 'b' is in b twice"),
        (("ab", ["b"], "k"), "a must be a list of document ids, best first: got 'ab'"),
        ((["a"], b"bc", "k"), "b must be a list of document ids, best first: got b'bc'"),
        ((["a"], {"b"}, "k"), "b must be a list of document ids, best first: got {'b'}"),
        ((["a"], None, "k"), "b must be a list of document ids, best first: got None"),
    ],
)
def test_rankings_and_keys_that_cannot_be_are_refused(arguments, message):
    with pytest.raises(DataError, match=message):
        rr.clicks.interleave(*arguments)


barred = st.text("a1|\\", max_size=6)


@given(barred, barred, barred, barred)
def test_two_sessions_and_queries_never_have_the_same_key(session, query, other_session, other_query):
    same = (session, query) == (other_session, other_query)
    assert (key_of(session, query) == key_of(other_session, other_query)) == same


def run(orders):
    rows = [(query, doc, -place) for query, docs in orders.items() for place, doc in enumerate(docs)]
    qid, docid, score = zip(*rows, strict=True)
    return rr.Run(qid, docid, score, ["x"] * len(rows))


def test_runs_are_mixed_query_by_query():
    found = [*interleave_runs(run({"q": "ab", "p": "ab"}), run({"q": "ba", "r": "ab"}), ["s1", "s2"])]
    assert [(query, key) for query, key, _ in found] == [("q", "s1"), ("q", "s2")]
    assert found[0][2] == rr.clicks.interleave([*"ab"], [*"ba"], "s1|q")
    with pytest.raises(DataError, match="the two runs have no query in common"):
        [*interleave_runs(run({"q": "ab"}), run({"p": "ab"}), ["s1"])]


def test_a_log_with_teams_is_judged_by_session_and_query():
    rows = []
    for session in range(40):
        query = f"q{session % 8}"
        own = (("x", "a", 0), ("y", "b", int(session % 4 != 1)), ("z", "", 1))
        rows += [(query, session, *row) for row in own]
    log = pl.DataFrame(rows, schema=["query", "session", "doc", "team", "clicked"], orient="row")
    result = read_interleaving(log, names=("baseline", "new"))
    assert interleaving_in_words(result).startswith(
        "new wins: 30 of 30 decided impressions of 6 queries (100 %, 95 % interval 85-100"
    )
    assert interleaving_as_dict(result)["won"] == {"a": 0, "b": 30}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("query,session,doc,clicked\nq,1,a,1\n", "no column is recognised as the team: the columns are query, session"),
        ("query,doc,team,clicked\nq,a,a,1\n", "no column is recognised as the session: the columns are query"),
        ("query,session,team,clicked\nq,1,c,1\n", "expected a, b or nothing as the team, got 'c' in 1 of 1 row"),
        ("query,session,team,clicked\nq,1,,1\n", "no document has a team (a or b), so no ranking can win"),
        ("query,session,team,clicked\nq,1,a,5\n", "1 of 1 row have no query, no session, or a value of clicked"),
        ("query,session,team,clicked\n", "the log has no impressions"),
    ],
)
def test_a_log_that_cannot_be_judged_is_refused(text, message):
    with pytest.raises((DataError, ReadError)) as caught:
        read_interleaving(io.StringIO(text))
    assert message in str(caught.value)


def interleaving_between(a, b, ties=0):
    return compare_trials("impressions", ("B", "A"), b, a, ties, least=LEAST)


@pytest.mark.parametrize(
    ("a", "b", "line"),
    [
        ([10] * 10, [11] * 10, "No clear difference: B won 110 of 210 decided impressions of 10 queries (52 %, 95 % "),
        ([16, 15, 17, 16, 18] * 4, [4] * 20, "A wins: 328 of 408 decided impressions of 20 queries (80 %, 95 % int"),
        ([100], [10], "Too few clicks yet (A 100 : 10 B of 1 query, 0 impressions without a winner)."),
        ([30, 0, 0, 0, 0, 0], [0, 1, 1, 1, 1, 1], "No clear difference: B won 5 of 35 decided impressions of 6 q"),
    ],
)
def test_the_sentence_says_no_more_than_the_clicks_allow(a, b, line):
    assert interleaving_in_words(interleaving_between(a, b)).startswith(line)


@pytest.mark.parametrize(
    "often", [np.full(8, 20), np.full(50, 15), 200 / np.arange(1, 51)], ids=["few queries", "many", "uneven"]
)
def test_rankings_that_are_alike_are_told_apart_in_5_of_100_cases_at_the_most(often):
    rng = np.random.default_rng(1)
    wrong = 0
    for _ in range(800):
        decided, shares = rng.poisson(often), rng.beta(2, 2, size=often.size)  # each query has its own favourite
        won = rng.binomial(decided, shares)
        wrong += interleaving_between(decided - won, won).verdict in ("better", "worse")
    assert wrong / 800 <= 0.065  # 5 %, and two standard errors of 800 cases


def test_queries_that_all_go_one_way_prove_something_from_six_on():
    five, six = (interleaving_between([0] * n, [50] * n) for n in (5, 6))
    assert (five.verdict, six.verdict) == ("too few", "better")


def test_half_a_character_in_a_key_is_a_key_like_others():
    assert sorted(rr.clicks.interleave(["a"], ["b"], "\ud800").docs) == ["a", "b"]
