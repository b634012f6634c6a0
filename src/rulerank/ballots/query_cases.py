"""The cases of RE-QR: which training queries are heard, and what each says by itself."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from rulerank.ballots.case import Case
from rulerank.ballots.heard import QueryVote
from rulerank.ballots.query_ballot import QuerySay, literal_ballot, trusted_lifts
from rulerank.core.words import counted
from rulerank.dataset import Array
from rulerank.rules.by_query.counts import LIFTS, ByQuery, Labels
from rulerank.rules.engine import Engine, picked
from rulerank.rules.layout import FeatureSets
from rulerank.rules.votes import Training, vote_table


def literal_case(
    case: Case,
    by_query: ByQuery,
    labels: Labels,
    row_bins: Array,
    training: Training,
    min_support: float,
    memory_budget: float,
) -> tuple[Case, QuerySay]:
    """Turn the case of RE-GR into that of literal RE-QR, which falls back on it."""
    ballot, say = literal_ballot(by_query, labels, row_bins, training, min_support, case.ballot, memory_budget)
    grades = () if say.weights.any() else case.grades
    return replace(case, ballot=ballot, grades=grades, method="QueryRules, literal"), say


def trusted_say(engine: Engine, by_query: ByQuery, trusted: Array, row_bins: Array, shrink: float) -> QuerySay:
    """Return what the trusted queries say of a document; their mean is its score."""
    counts = engine.cells_of(row_bins)
    tables, first = [np.empty((0, 2))], 0
    for block in engine.layout.sets:
        sets = FeatureSets(block.features, np.arange(len(block.features) + 1))
        own = picked(counts, slice(first, first + len(block.features)))
        tables.append(vote_table(LIFTS, own, sets, engine.training))
        first += len(block.features)
    base = np.concatenate(tables)
    ranks, weights = np.full(by_query.n_queries, np.nan), np.zeros(by_query.n_queries)
    if base[:, 1].any():
        lifts = trusted_lifts(by_query, trusted, base, row_bins, shrink)
        ranks[trusted] = engine.training.mean_grade + lifts
        weights[trusted] = 1 / trusted.size
    return QuerySay(ranks, weights)


def query_case(case: Case, say: QuerySay, ids: Array) -> Case:
    """Add to a case which training queries were heard, the loudest first."""
    base = case.ballot.base
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
