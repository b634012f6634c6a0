"""The model as a whole: which features matter on a data set, what they add by their values, the strongest rules."""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np

from rulerank._util.estimator import check_is_fitted
from rulerank._util.words import SCALES, counted
from rulerank.dataset import Dataset, query_index
from rulerank.errors import DataError
from rulerank.explain.curves import FeatureCurves, make_curves
from rulerank.explain.documents import Documents, method_of
from rulerank.explain.explanation import RuleVote, Shown, label_of, rule_votes
from rulerank.explain.figures import curves_picture, curves_table
from rulerank.rankers.base import Ranker
from rulerank.rankers.rows import Sample, sample_of, spread
from rulerank.render.document import Block, Content, Page, Table, bars
from rulerank.rules.additive import Contributions

FEATURES = 12  # lines
RULES = 15


@dataclass(frozen=True, slots=True)
class FeatureImportance:
    """How much one feature, or the baseline ranking, matters for the order within queries; all add up to 1."""

    feature: str
    importance: float
    name: str = ""  # what people call the feature


@dataclass(frozen=True, slots=True)
class RuleInfluence:
    """The rule with the largest effect of those over the same features."""

    rule: RuleVote  # `adds` is the mean over the documents that it covers
    strength: float  # what the rules over its features add without sign, mean over all documents
    share: float  # of the documents that it covers


@dataclass(frozen=True, repr=False)
class ModelOverview(Shown):
    """A model on a data set: which features matter, their contributions by value, the strongest rules."""

    method: str
    n_docs: int
    n_taken_apart: int  # documents of evenly spaced queries
    features: tuple[FeatureImportance, ...]  # the most important first
    rules: tuple[RuleInfluence, ...]  # the strongest first; none for weighted sums and mixtures of rankers
    curves: FeatureCurves | None = None  # None: no feature moves any score
    scale: str | None = None  # that values are put on by query

    def page(self) -> Page:
        docs = counted(self.n_docs, "document")
        apart = f"; contributions of {self.n_taken_apart:,} of them" if self.n_taken_apart < self.n_docs else ""
        leads = [f"{self.method}, on {docs}{apart}."]
        leads += [] if self.scale is None else ["{}: {}.".format(*SCALES[self.scale]).capitalize()]
        blocks: list[Block] = [self._features(), *([] if self.curves is None else [curves_table(self.curves)])]
        return Page("What the model does", tuple(leads), (*blocks, *self._rules()))

    def drawn(self) -> Page:
        page = self.page()
        first, *others = page.blocks
        drawn = [] if self.curves is None else curves_picture(self.curves)
        return replace(page, blocks=(first, *drawn, *others))

    def _features(self) -> Table:
        numbers = bars((one.importance for one in self.features), signed=False)
        rows = tuple(
            (label_of(one.feature, one.name), number) for one, number in zip(self.features, numbers, strict=True)
        )[:FEATURES]
        left = len(self.features) - len(rows)
        note = "Importance: mean absolute contribution, less its mean over the query; all features sum to 1."
        note += f" {counted(left, 'weaker feature')} left out." if left else ""
        return Table("The features that matter most", ("feature", "importance"), rows, 1, note)

    def _rules(self) -> list[Table]:
        if not self.rules:
            return []
        numbers = bars(one.rule.adds for one in self.rules)
        rows: list[tuple[Content, ...]] = [
            (str(one.rule), one.rule.evidence, f"{one.share:.0%}", number)
            for one, number in zip(self.rules, numbers, strict=True)
        ]
        note = (
            "Of each set of features, the rule with the largest effect. Covers: share of the documents. Adds: mean "
            "over the documents that it covers."
        )
        table = Table("The strongest rules", ("rule", "its evidence", "covers", "adds"), tuple(rows), 2, note)
        return [table if any(one.rule.evidence for one in self.rules) else table.without(1)]

    def to_dict(self) -> dict[str, Any]:
        rules = [asdict(one) | {"rule": one.rule.to_dict()} for one in self.rules]
        curves = [] if self.curves is None else self.curves.to_dict()["curves"]
        return {"kind": "overview"} | asdict(replace(self, curves=None)) | {"rules": rules, "curves": curves}


def overview_of(ranker: Ranker, data: Dataset) -> ModelOverview:
    """Sum up what a model does on documents; contributions are those of evenly spaced queries."""
    check_is_fitted(ranker)
    if not isinstance(data, Dataset) or not len(data):
        raise DataError("an overview needs a Dataset with at least one document: make one with rr.Dataset(X, y, qid)")
    whole = Sample(ranker.check_rows(data, None), query_index(data.qid)[0])
    documents, some = Documents(ranker, data), sample_of(whole.X, whole.queries)
    documents.checked = some.X
    found = ranker.checked_contributions(some.X, some.queries)
    sizes = spread(found.by_feature(len(documents.features) + 1), some.queries)
    columns, baseline = sizes[:-1].copy(), documents.column(len(documents.features))
    if baseline is not None:
        columns[baseline] += sizes[-1]  # it is drawn as the feature that it is
    try:
        curves = make_curves(ranker, whole, np.argsort(-columns, kind="stable"))
    except DataError:  # nothing to draw
        curves = None
    order = np.argsort(-sizes, kind="stable")[: np.count_nonzero(sizes)].tolist()
    return ModelOverview(
        method=method_of(ranker),
        n_docs=len(data),
        n_taken_apart=len(some.queries),
        features=tuple(
            FeatureImportance(documents.name(part), float(sizes[part] / sizes.sum()), documents.human(part))
            for part in order
        ),
        rules=strongest_rules(documents, found) if documents.noun == "rule" else (),
        curves=curves,
        scale=ranker.normalize_,
    )


def strongest_rules(documents: Documents, found: Contributions) -> tuple[RuleInfluence, ...]:
    """Return the rules with the largest effects, one of each set of features: they add much, and cover many."""
    strength = np.abs(found.values).mean(axis=0)
    rules = []
    for term in np.argsort(-strength, kind="stable")[:RULES].tolist():
        bins = documents.bins_of(term, found.features[term])
        if not strength[term] or bins is None:  # a weight is no rule
            continue
        _, first, cell = np.unique(bins, axis=1, return_index=True, return_inverse=True)
        n_docs = np.bincount(cell.ravel())
        adds = np.bincount(cell.ravel(), found.values[:, term]) / n_docs
        most = int((np.sqrt(n_docs) * np.abs(adds)).argmax())
        (rule,) = rule_votes(documents, int(first[most]), [term])
        share = float(n_docs[most] / len(found.base))
        rules.append(RuleInfluence(replace(rule, adds=float(adds[most])), float(strength[term]), share))
    return tuple(rules)
