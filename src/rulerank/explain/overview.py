"""The model as a whole: what it does on a data set."""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from sklearn.utils.validation import check_is_fitted

from rulerank.ballots import BinForm, Case
from rulerank.dataset import Array, Dataset, query_index
from rulerank.errors import DataError
from rulerank.explain.curves import FeatureCurves, make_curves
from rulerank.explain.effects import BinEffect, FeatureEffect, Interaction, bin_curve, interactions, value_curve
from rulerank.explain.explanation import RuleVote, Shown, rule_dict
from rulerank.explain.score import find_row, part_name, rule_vote
from rulerank.explain.table_effects import table_curve, table_interactions
from rulerank.rankers.base import Ranker
from rulerank.render import Page
from rulerank.rules.additive import AdditiveTables
from rulerank.rules.engine import Engine
from rulerank.rules.kernels import find_cells

MOST_DOCS = 400  # taken apart, evenly spaced over the data
N_SCORED = 200  # of them, for each point of a curve
CANDIDATES = 200  # most influential rules, before those that cover the same documents are folded
SAME_DOCS = 0.8  # shared among all documents that two rules cover


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
        from rulerank.explain.overview_layout import overview_page

        return overview_page(self)

    def drawn(self) -> Page:
        from rulerank.explain.curve_figures import curves_picture
        from rulerank.explain.table_figures import pairs_picture

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
    form = ranker.bin_form()
    case = _case(ranker, data, 0)
    sizes, parts = np.zeros(case.ballot.n_features), []
    for place, row in enumerate(rows.tolist()):
        ballot = _case(ranker, data, row).ballot
        sizes += np.abs(ballot.shares)
        if form is not None:
            cells = np.flatnonzero(ballot.voted)
            numbers = _cell_numbers(form.engine, ballot.bins)[cells]
            parts.append(_Seen(numbers, np.full(cells.size, place), cells, ballot.adds[cells], ballot.weights[cells]))
    rules: tuple[RuleInfluence, ...] = ()
    found: tuple[Interaction, ...] = ()
    if form is not None:
        seen = _Seen(*(np.concatenate(column) for column in zip(*parts, strict=True)))
        rules = _influential(ranker, form, data, rows, seen)
        found = interactions(form)
    in_tables = ranker.table_form()
    tables = None
    if in_tables is not None:
        tables, found = in_tables.tables, table_interactions(in_tables, ranker.check_rows(data, None))
    effects = _effects(ranker, data, sizes / len(rows), case)
    columns = sizes[: len(ranker.feature_names_)].copy()
    if case.baseline is not None and case.baseline.column is not None:
        columns[case.baseline.column] = sizes[case.baseline.part]  # it is drawn as the feature that it is
    order = np.argsort(-columns, kind="stable")
    try:
        curves = make_curves(ranker, ranker.check_rows(data, None), order)
    except DataError:  # no sum, or nothing to draw
        curves = None
    return ModelOverview(case.method, len(data), len(rows), rules, effects, found, tables, curves, ranker.normalize_)


def _case(ranker: Ranker, data: Dataset, row: int) -> Case:
    found = find_row(ranker, data, row)
    return ranker.case(found.X, found.row)


def _cell_numbers(engine: Engine, bins: tuple[Array, ...]) -> Array:
    """Return the number of each of a document's cells among all cells of the layout."""
    numbers = [np.zeros(0, dtype=np.int64)]
    row_bins = np.zeros(engine.layout.n_bins.size, dtype=np.uint8)
    if bins:
        row_bins[engine.layout.sets[0].features[:, 0]] = bins[0][:, 0]
    for block in engine.layout.sets:
        cells = np.empty(len(block.features), dtype=np.int64)
        find_cells(row_bins, block.features, engine.layout.n_bins, block.offsets, cells)
        numbers.append(cells)
    return np.concatenate(numbers)


def _influential(
    ranker: Ranker, form: BinForm, data: Dataset, rows: Array, seen: _Seen, most: int = 15
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
    bins = form.known_bins(ranker.check_rows(data, None))
    found: list[RuleInfluence] = []
    for place, rule in enumerate(candidates):
        if not left[place] or len(found) == most:
            continue
        both, either = (covers & covers[place]).sum(axis=1), (covers | covers[place]).sum(axis=1)
        alike = left & (both >= SAME_DOCS * either) & (np.sign(adds[candidates]) == np.sign(adds[rule]))
        left &= ~alike
        at = first[rule]
        vote = rule_vote(_case(ranker, data, int(rows[seen.docs[at]])), int(seen.places[at]))
        vote = RuleVote(vote.items, float(adds[rule]), float(weights[rule]), vote.by_grade, vote.queries)
        holds = np.all([bins[item.feature] == item.bin for item in vote.items], axis=0)
        found.append(
            RuleInfluence(
                vote, float(influence[rule]), n_docs[rule] / len(rows), int(alike.sum()) - 1, _by_query(data, holds)
            )
        )
    return tuple(found)


def _by_query(data: Dataset, holds: Array) -> tuple[int, int, int] | None:
    """Count the queries with such documents, and where their mean grade is higher, or lower, than of all documents."""
    labelled = data.y >= 0
    if not (labelled & holds).any():
        return None
    queries = query_index(data.qid)[0][labelled]
    grades, holds = data.y[labelled].astype(np.float64), holds[labelled]
    n_queries = int(queries.max()) + 1
    n, n_held = np.bincount(queries, minlength=n_queries), np.bincount(queries, holds, n_queries)
    # compared without division: sums of small whole numbers are exact
    above = np.bincount(queries, grades * holds, n_queries) * n - np.bincount(queries, grades, n_queries) * n_held
    return int((n_held > 0).sum()), int((above > 0).sum()), int((above < 0).sum())


def _effects(ranker: Ranker, data: Dataset, sizes: Array, case: Case) -> tuple[FeatureEffect, ...]:
    """Return what each part of the score does, the baseline ranking among them; case: of any document."""
    features = [f for f in np.argsort(-sizes, kind="stable").tolist() if sizes[f] > 0]
    curves: list[tuple[BinEffect, ...]] = [()] * len(features)  # a mixture has no bins of its own
    in_bins, in_values = ranker.bin_form(), ranker.linear_form()
    if in_bins is not None:
        bins = in_bins.known_bins(ranker.check_rows(data, None))
        curves = [bin_curve(in_bins, bins, feature, N_SCORED) for feature in features]
    elif in_values is not None:
        X = in_values.fill(ranker.check_rows(data, None))
        curves = [value_curve(in_values, X, feature) for feature in features]
    in_tables = ranker.table_form()
    if in_tables is not None:
        X = ranker.check_rows(data, None)
        curves = [table_curve(in_tables, X, feature, N_SCORED) for feature in features]
    names = [part_name(case, ranker.feature_names_, f) for f in features]
    if case.baseline is not None and case.baseline.name in names and case.baseline.column is not None:
        place, feature = names.index(case.baseline.name), ranker.feature_names_[case.baseline.column]
        renamed = (replace(point, text=point.text.replace(feature, names[place], 1)) for point in curves[place])
        curves[place] = tuple(renamed)
    return tuple(map(FeatureEffect, names, sizes[features].tolist(), curves))
