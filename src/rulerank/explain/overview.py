"""The model as a whole: what it does on a data set, and how that is laid out on a page."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass, replace
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from sklearn.utils.validation import check_is_fitted

from rulerank.core.intervals import SCALES
from rulerank.core.words import counted
from rulerank.dataset import Array, Dataset, query_index
from rulerank.errors import DataError
from rulerank.explain.ballot import Ballot
from rulerank.explain.cases import Case, case_of, rules_of
from rulerank.explain.curves import FeatureCurves, make_curves
from rulerank.explain.effects import FeatureEffect, Interaction, effect_of, interactions, table_interactions
from rulerank.explain.explanation import RuleVote, Shown, rule_dict, rule_vote
from rulerank.rankers.base import Ranker
from rulerank.render.document import Block, Content, Page, Table, bars, only, shown
from rulerank.rules.additive import AdditiveTables
from rulerank.rules.engine import Engine
from rulerank.rules.kernels import find_cells

MOST_DOCS = 400  # taken apart, evenly spaced over the data
CANDIDATES = 200  # most influential rules, before those that cover the same documents are folded
SAME_DOCS = 0.8  # shared among all documents that two rules cover
FEATURES = 12  # lines
CURVES = 6  # features whose effects are shown bin by bin


@dataclass(frozen=True, slots=True)
class RuleInfluence:
    """A rule that moves many scores of a data set, or a few much."""

    rule: RuleVote  # `adds` and `weight` are means over the documents it covers
    influence: float  # what it adds without sign, mean over all documents
    share: float  # of the documents that it covers
    n_alike: int  # weaker rules that cover nearly the same documents and point the same way
    queries: tuple[int, int, int] | None  # of the data: with such documents, where they are better, and worse


@dataclass(frozen=True, repr=False)
class ModelOverview(Shown):
    """What a model does on a data set: its most influential rules, effects of features and interactions."""

    method: str
    n_docs: int
    n_taken_apart: int  # evenly spaced
    rules: tuple[RuleInfluence, ...]  # the most influential first
    features: tuple[FeatureEffect, ...]  # the most influential first
    interactions: tuple[Interaction, ...]  # the strongest first, of the training rows, or of the model's own tables
    tables: AdditiveTables | None = None  # the model itself, where it is a sum of tables
    curves: FeatureCurves | None = None  # what each feature adds by its value, where the score is a sum
    scale: str | None = None  # that values are put on by query

    def page(self) -> Page:
        return overview_page(self)

    def drawn(self) -> Page:
        from rulerank.explain.figures import curves_picture, pairs_picture

        page = self.page()
        first, *others = page.blocks
        drawn = [] if self.curves is None else curves_picture(self.curves)
        return replace(page, blocks=(first, *drawn, *pairs_picture(self.tables, self.scale), *others))

    def to_dict(self) -> dict[str, Any]:
        rules = [asdict(one) | {"rule": rule_dict(one.rule)} for one in self.rules]
        plain = asdict(replace(self, tables=None, curves=None))
        del plain["tables"], plain["curves"]
        drawn = {} if self.curves is None else {"curves": self.curves.to_dict()["curves"]}
        return {"kind": "overview"} | plain | {"rules": rules} | drawn


class _Seen(NamedTuple):
    """The cells of the documents that were taken apart, one entry per document and cell that voted."""

    cells: Array  # number in the layout
    docs: Array  # place among those taken apart
    places: Array  # place in the document's ballot
    adds: Array
    weights: Array


def overview_of(ranker: Ranker, data: Dataset) -> ModelOverview:
    """Take evenly spaced documents of a data set apart and sum up what was found."""
    check_is_fitted(ranker)
    if not isinstance(data, Dataset) or not len(data):
        raise DataError("an overview needs a Dataset with at least one document: make one with rr.Dataset(X, y, qid)")
    rows = np.linspace(0, len(data) - 1, min(MOST_DOCS, len(data))).astype(np.int64)
    rules, tables, X, queries = (
        rules_of(ranker),
        ranker.as_tables(),
        ranker.check_rows(data, None),
        query_index(data.qid)[0],
    )
    cases = partial(_case, ranker, X, queries if ranker.needs_the_query() else None)
    case = cases(0)
    sizes, parts = np.zeros(case.ballot.n_features), []
    bins = None if rules is None else rules.known_bins(X)
    if rules is None and tables is not None:
        sizes = np.abs(ranker.checked_contributions(X[rows]).by_feature(sizes.size)).sum(axis=0)
    else:
        for place, row in enumerate(rows.tolist()):
            ballot = cases(row).ballot
            sizes += np.abs(ballot.shares)
            if rules is not None:
                cells = np.flatnonzero(ballot.voted)
                numbers = _cell_numbers(rules.engine_, ballot)[cells]
                parts.append(
                    _Seen(numbers, np.full(cells.size, place), cells, ballot.adds[cells], ballot.weights[cells])
                )
    influential: tuple[RuleInfluence, ...] = ()
    found: tuple[Interaction, ...] = ()
    if rules is not None and bins is not None:
        seen = _Seen(*(np.concatenate(column) for column in zip(*parts, strict=True)))
        influential = _influential(cases, bins, data.y, queries, rows, seen)
        found, tables = interactions(rules, case.names), None
    elif tables is not None:
        text = partial(tables.item_text, scale=ranker.normalize_, dates=ranker.dates_)
        found = table_interactions(tables, X, text)
    columns = sizes[: len(case.names)].copy()
    if case.baseline is not None and case.baseline.column is not None:
        columns[case.baseline.column] = sizes[-1]  # it is drawn as the feature that it is
    order = np.argsort(-columns, kind="stable")
    try:
        curves = make_curves(ranker, X, order)
    except DataError:  # no sum, or nothing to draw
        curves = None
    effects = _effects(ranker, X, bins, sizes / len(rows), case)
    of_pairs = tables if tables is not None and tables.tables and not tables.from_model else None
    return ModelOverview(
        case.method, len(data), len(rows), influential, effects, found, of_pairs, curves, ranker.normalize_
    )


def _case(ranker: Ranker, X: Array, queries: Array | None, row: int) -> Case:
    """Return one of the checked rows, among those of its query where they are compared with each other."""
    if queries is None:
        return case_of(ranker, X[row : row + 1], 0)
    own = np.flatnonzero(queries == queries[row])
    return case_of(ranker, X[own], int(np.searchsorted(own, row)))


def _cell_numbers(engine: Engine, ballot: Ballot) -> Array:
    """Return the number of each of a document's cells among all cells of the layout."""
    numbers = [np.zeros(0, dtype=np.int64)]
    row_bins = np.zeros(engine.layout.n_bins.size, dtype=np.uint8)
    row_bins[ballot.sets[:, 0]] = ballot.bins[:, 0]  # every feature has a set of its own
    for block in engine.layout.sets:
        cells = np.empty(len(block.features), dtype=np.int64)
        find_cells(row_bins, block, cells)
        numbers.append(cells)
    return np.concatenate(numbers)


def _influential(
    cases: Callable[[int], Case],
    bins: Array,
    grades: Array,
    queries: Array,
    rows: Array,
    seen: _Seen,
    most: int = 15,
) -> tuple[RuleInfluence, ...]:
    """Return the rules that move scores most; those that cover nearly the same documents are folded into the first."""
    _, first, number, n_docs = np.unique(seen.cells, return_index=True, return_inverse=True, return_counts=True)
    influence = np.bincount(number, np.abs(seen.adds)) / len(rows)
    adds, weights = (np.bincount(number, values) / n_docs for values in (seen.adds, seen.weights))
    candidates = np.argsort(-influence, kind="stable")[:CANDIDATES]
    covers = np.zeros((candidates.size, len(rows)), dtype=bool)
    for place, rule in enumerate(candidates):
        covers[place, seen.docs[number == rule]] = True
    left = np.ones(candidates.size, dtype=bool)
    found: list[RuleInfluence] = []
    for place, rule in enumerate(candidates):
        if not left[place] or len(found) == most:
            continue
        both, either = (covers & covers[place]).sum(axis=1), (covers | covers[place]).sum(axis=1)
        alike = left & (both >= SAME_DOCS * either) & (np.sign(adds[candidates]) == np.sign(adds[rule]))
        left &= ~alike
        at = first[rule]
        vote = rule_vote(cases(int(rows[seen.docs[at]])), int(seen.places[at]))
        vote = RuleVote(vote.items, float(adds[rule]), float(weights[rule]), vote.by_grade, vote.queries)
        holds = np.all([bins[item.feature] == item.bin for item in vote.items], axis=0)
        found.append(
            RuleInfluence(
                vote,
                float(influence[rule]),
                n_docs[rule] / len(rows),
                int(alike.sum()) - 1,
                _by_query(grades, queries, holds),
            )
        )
    return tuple(found)


def _by_query(grades: Array, queries: Array, holds: Array) -> tuple[int, int, int] | None:
    """Count the queries with such documents, and where their mean grade is higher, or lower, than of all documents."""
    labelled = grades >= 0
    if not (labelled & holds).any():
        return None
    queries, grades, holds = queries[labelled], grades[labelled].astype(np.float64), holds[labelled]
    n_queries = int(queries.max()) + 1
    n, n_held = np.bincount(queries, minlength=n_queries), np.bincount(queries, holds, n_queries)
    # compared without division: sums of small whole numbers are exact
    above = np.bincount(queries, grades * holds, n_queries) * n - np.bincount(queries, grades, n_queries) * n_held
    return int((n_held > 0).sum()), int((above > 0).sum()), int((above < 0).sum())


def _effects(ranker: Ranker, X: Array, bins: Array | None, sizes: Array, case: Case) -> tuple[FeatureEffect, ...]:
    """Return what each part of the score does, the baseline ranking among them; case: of any document."""
    effects = []
    for part in np.argsort(-sizes, kind="stable")[: np.count_nonzero(sizes)].tolist():
        name, column = case.part_name(part), case.column(part)
        own = part < len(case.names) or case.noun == "feature"  # beside rules, the baseline ranking has no bins
        curve = effect_of(ranker, X, bins, column) if own and column is not None else ()
        if column is not None and column != part:
            curve = tuple(replace(point, text=point.text.replace(case.names[column], name, 1)) for point in curve)
        effects.append(FeatureEffect(name, float(sizes[part]), curve))
    return tuple(effects)


def overview_page(o: ModelOverview) -> Page:
    """Lay an overview out: features, rules, interactions, curves."""
    docs = counted(o.n_docs, "document")
    apart = f", of which {o.n_taken_apart:,}, evenly spaced, were taken apart" if o.n_taken_apart < o.n_docs else ""
    lead = f"{o.method}, on {docs}{apart}."
    blocks: list[Block] = [_influential_features(o), *_influential_rules(o), *_interactions(o), *_curves(o)]
    leads = (lead,) if o.scale is None else (lead, "{}: {}.".format(*SCALES[o.scale]).capitalize())
    return Page("What the model does", leads, tuple(blocks))


def _influential_features(o: ModelOverview) -> Table:
    numbers = bars((effect.influence for effect in o.features), signed=False)
    rows: list[tuple[Content, ...]] = []
    for effect, number in list(zip(o.features, numbers, strict=True))[:FEATURES]:
        points = sorted(effect.curve, key=lambda point: point.score)
        ends = [only(point.text, effect.feature) for point in (points[-1], points[0])] if points else ["", ""]
        rows.append((effect.feature, *ends, shown(effect.swing) if points else "", number))
    note = (
        "Influence: mean size of the feature's part of a score. Swing: mean score with every document in the best bin, "
        "less that in the worst."
    )
    if o.features[FEATURES:]:
        note += f" {counted(len(o.features) - FEATURES, 'weaker feature')} left out."
    header = ("feature", "best", "worst", "swing", "influence")
    return Table("The features that matter most", header, tuple(rows), 3, note)


def _influential_rules(o: ModelOverview) -> list[Table]:
    if not o.rules:
        return []
    numbers = bars(one.rule.adds for one in o.rules)
    rows: list[tuple[Content, ...]] = []
    for one, number in zip(o.rules, numbers, strict=True):
        stable = "" if one.queries is None else f"{one.queries[1]} : {one.queries[2]} of {one.queries[0]}"
        alike = f" (and {one.n_alike} alike)" if one.n_alike else ""
        rows.append((f"{one.rule}{alike}", f"{one.share:.0%}", f"{one.rule.mean_grade:.2f}", stable, number))
    note = (
        "Covers: share of the documents. Grade: mean of such training rows. Better : worse, of the queries with such "
        "documents: where their grades are above, or below, those of all its documents. Adds: mean where it covers."
    )
    header = ("rule", "covers", "grade", "better : worse", "adds")
    return [Table("The most influential rules", header, tuple(rows), 1, note)]


def _interactions(o: ModelOverview) -> list[Table]:
    if not o.interactions:
        return []
    numbers = bars(one.excess for one in o.interactions)
    rows = tuple(
        (" & ".join(one.features), " & ".join(one.cell), f"{one.n_rows:,}", f"{one.strength:.3f}", number)
        for one, number in zip(o.interactions, numbers, strict=True)
    )
    note = (
        "Pairs whose mean grades are not the sum of what the two features say apart; chance alone would put one "
        "pair of a thousand here. Excess: the mean grade in that cell, above that sum."
    )
    if o.tables is not None:
        note = (
            "Pairs of features with a table of their own. Strength: usual size of its vote. Excess: the vote in that "
            "cell, beside those of the two features."
        )
    header = ("features", "where it shows most", "rows", "strength", "excess")
    return [Table("Interactions worth a look", header, rows, 2, note)]


def _curves(o: ModelOverview) -> list[Table]:
    tables = []
    for effect in o.features[:CURVES]:
        if effect.curve:
            usual = sum(point.score * point.share for point in effect.curve) / (
                sum(point.share for point in effect.curve) or 1.0
            )
            numbers = bars(point.score - usual for point in effect.curve)
            rows = tuple(
                (
                    only(point.text, effect.feature),
                    f"{point.share:.0%}",
                    f"{shown(point.low)} to {shown(point.high)}",
                    shown(point.score),
                    number,
                )
                for point, number in zip(effect.curve, numbers, strict=True)
            )
            header = ("bin", "documents", "8 in 10 score", "mean score", "against the usual")
            tables.append(Table(f"Effect of {effect.feature}", header, rows, 1))
    return tables
