"""The cases of RE-QR: which training queries are heard, what each says by itself, and the votes behind it."""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import numpy as np

from rulerank.core.words import counted
from rulerank.dataset import Array
from rulerank.errors import TooLargeError
from rulerank.explain import kernels
from rulerank.explain.ballot import Ballot
from rulerank.explain.cases import Case, QueryVote, bins_at, case_of, rule_case
from rulerank.rankers.query_rules import QueryRules
from rulerank.rules.by_query import LIFTS, SHARE, ByQuery, packing, shares_needed
from rulerank.rules.engine import Engine
from rulerank.rules.layout import FeatureSets
from rulerank.rules.tables import rows_needed
from rulerank.rules.votes import vote_table


class QuerySay(NamedTuple):
    """The training queries' own estimates of one document, and how much each is heard."""

    ranks: Array  # float64 (n_queries,) NaN where one abstains
    weights: Array  # float64 (n_queries,) of those heard; they add up to 1, or all are 0


def counts_like(
    by_query: ByQuery, rows: Array, codes: Array, shares: Array, row_bins: Array, n_codes: int, by_place: bool
) -> Array:
    """Count some training rows by code in each cell of one document, int64 (n_cells, n_codes).

    rows: places among the rows sorted by query if `by_place`, else row numbers.
    """
    bins = np.ascontiguousarray((by_query.bins if by_place else by_query.rows.bins)[:, rows])
    sets = by_query.layout.members
    counts = np.zeros((len(sets), n_codes), dtype=np.int64)
    kernels.count_codes_like(bins, codes.astype(np.int64), shares, sets, row_bins, counts)
    return counts


def literal_ballot(ranker: QueryRules, row_bins: Array, otherwise: Ballot) -> tuple[Ballot, QuerySay]:
    """Take literal RE-QR apart: each query's rules, in units, and the rules X -> query that say who is heard.

    otherwise: the ballot of RE-GR, which scores a document that no query knows.
    """
    (by_query, labels), training = ranker.heard(), ranker.engine_.training
    min_support, memory_budget = ranker.params_["min_support"], ranker.memory_budget
    n_queries, n_grades = by_query.n_queries, training.n_grades
    n_cells = len(otherwise.adds)
    need = 8 * n_cells * n_queries * (3 * n_grades + 3) / 2**20
    if need > memory_budget:
        raise TooLargeError(
            f"the rules of {n_queries:,} queries over {n_cells:,} feature sets take {need:,.0f} MiB, more than "
            f"memory_budget ({memory_budget:,.0f}); raise it, or lower max_size"
        )
    units = packing(by_query.layout.n_sets)[0]
    places = np.arange(by_query.rows.n_rows)
    ones = np.ones(places.size, dtype=np.int64)
    codes = by_query.queries * n_grades + by_query.grades
    hits = counts_like(by_query, places, codes, ones, row_bins, n_queries * n_grades, by_place=True)
    hits = hits.reshape(n_cells, n_queries, n_grades)
    exists = hits >= np.maximum(rows_needed(min_support, by_query.sizes), 1)[:, None]
    thetas = np.where(exists, np.floor(hits * (units / np.maximum(hits.sum(axis=2, keepdims=True), 1)) + 0.5), 0.0)

    labelled = np.unique(labels.rows)
    held = counts_like(by_query, labels.rows, labels.queries, labels.shares, row_bins, n_queries, by_place=False)
    covered = counts_like(by_query, labelled, labelled * 0, labelled * 0 + 1, row_bins, 1, by_place=False)
    names = held >= shares_needed(min_support, labelled.size)
    trusts = np.where(names, np.floor(held * (units / np.maximum(covered * SHARE, 1)) + 0.5), 0.0)

    def say(sums: Array) -> tuple[Array, Array]:
        """Return rank(q, d) and the weight of each query, (n, n_queries) each, from sums of votes."""
        theta, n_rules, trust, n_names, _ = np.split(sums, np.cumsum(widths)[:-1], axis=1)
        mean = _mean(theta, n_rules, units).reshape(-1, n_queries, n_grades)
        total = mean.sum(axis=2)
        with np.errstate(invalid="ignore"):
            ranks = (mean @ np.arange(n_grades)) / np.where(total > 0, total, np.nan)
        weights = np.where(np.isnan(ranks), 0.0, _mean(trust, n_names, units))
        heard = weights.sum(axis=1, keepdims=True)
        return ranks, weights / np.where(heard > 0, heard, 1.0)

    def tally(sums: Array) -> Array:
        ranks, weights = say(sums)
        by_rules = otherwise.tally(sums[:, sums.shape[1] - otherwise.votes.shape[1] :])
        return np.where(weights.any(axis=1), (weights * np.nan_to_num(ranks)).sum(axis=1), by_rules)

    flat = n_cells, n_queries * n_grades
    tables = [thetas.reshape(flat), exists.reshape(flat), trusts, names, otherwise.votes]
    widths = [table.shape[1] for table in tables]
    votes = np.concatenate(tables, axis=1, dtype=np.float64)
    ranks, heard = (values[0] for values in say(votes.sum(axis=0, keepdims=True)))
    if not heard.any():
        adds, weights, voted = otherwise.adds, otherwise.weights, otherwise.voted
    else:
        n_rules = np.maximum(exists.sum(axis=0), 1)
        totals = (thetas.sum(axis=0) / units / n_rules).sum(axis=1)
        lever = heard[:, None] / (units * n_rules * np.where(totals > 0, totals, 1.0)[:, None])
        shares = np.einsum("cqr,qr->cr", thetas, lever)
        adds, weights = shares @ (np.arange(n_grades) - training.mean_grade), shares.sum(axis=1)
        voted = exists[:, heard > 0].sum(axis=(1, 2)) > 0
    ballot = replace(otherwise, votes=votes, tally=tally, adds=adds, weights=weights, voted=voted)
    return ballot, QuerySay(ranks, heard)


def trusted_lifts(by_query: ByQuery, trusted: Array, base: Array, row_bins: Array, shrink: float) -> Array:
    """Return how far above the mean grade each trusted query puts a document, (n_trusted,).

    base: float64 (n_cells, 2) weight * lift of all rows in each cell of the document, and weight.
    """
    places = np.flatnonzero(np.isin(by_query.queries, trusted))
    numbers = np.searchsorted(trusted, by_query.queries[places])
    n_grades = by_query.rows.n_grades
    codes = numbers * n_grades + by_query.grades[places]
    ones = np.ones(places.size, dtype=np.int64)
    hits = counts_like(by_query, places, codes, ones, row_bins, trusted.size * n_grades, by_place=True)
    hits = hits.reshape(len(hits), trusted.size, n_grades)
    covered = hits.sum(axis=2)
    surplus = hits @ np.arange(n_grades) - covered * by_query.means[trusted]
    lifts = (base[:, 1:] * surplus + shrink * base[:, :1]) / (covered + shrink)
    return lifts.sum(axis=0) / (base[:, 1].sum() or 1.0)


def trusted_say(engine: Engine, by_query: ByQuery, trusted: Array, row_bins: Array, shrink: float) -> QuerySay:
    """Return what the trusted queries say of a document; their mean is its score."""
    counts, _ = engine.votes_of(row_bins)
    tables, first = [np.empty((0, 2))], 0
    for block in engine.layout.sets:
        sets = FeatureSets(block.features, np.arange(len(block.features) + 1), block.n_bins)
        own = counts.at(slice(first, first + len(block.features)))
        tables.append(vote_table(LIFTS, own, sets, engine.training))
        first += len(block.features)
    base = np.concatenate(tables)
    ranks, weights = np.full(by_query.n_queries, np.nan), np.zeros(by_query.n_queries)
    if base[:, 1].any():
        lifts = trusted_lifts(by_query, trusted, base, row_bins, shrink)
        ranks[trusted] = engine.training.mean_grade + lifts
        weights[trusted] = 1 / trusted.size
    return QuerySay(ranks, weights)


@case_of.register(QueryRules)
def query_case(ranker: QueryRules, X: Array, row: int) -> Case:
    """Return the case of a document under RE-QR: with the training queries that were heard, the loudest first."""
    row_bins, given = bins_at(ranker, X, row), ranker.params_
    case = rule_case(ranker, row_bins, "QueryRules, literal" if given["literal"] else "QueryRules")
    if given["literal"]:
        ballot, say = literal_ballot(ranker, row_bins, case.ballot)
        case = replace(case, ballot=ballot, grades=() if say.weights.any() else case.grades)
    else:
        say = trusted_say(ranker.engine_, *ranker.heard(), row_bins, given["shrink"])
    ids, base = ranker.queries_, case.ballot.base
    heard = np.flatnonzero(say.weights > 0)
    heard = heard[np.argsort(-say.weights[heard], kind="stable")]
    if not heard.size:
        return replace(case, notes=("No training query knows this document: the rules of all of them vote.",))
    votes = tuple(
        QueryVote(ids[q], float(rank), float(weight), float(weight * (rank - base)))
        for q, rank, weight in zip(heard, say.ranks[heard], say.weights[heard], strict=True)
    )
    lines = (
        f"{len(votes)} of {counted(ids.size, 'training query', 'training queries')} are heard",
        f"the weighted mean of their own estimates is {case.ballot.score:.4f}",
    )
    return replace(case, queries=votes, arithmetic=lines)


def _mean(sums: Array, n_rules: Array, units: float) -> Array:
    return sums / units / np.maximum(n_rules, 1.0)
