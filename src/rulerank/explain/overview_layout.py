"""How the overview of a model is laid out on a page: its features, rules, interactions, curves."""

from __future__ import annotations

from rulerank.core.intervals import SCALES
from rulerank.core.words import counted
from rulerank.explain.overview import ModelOverview
from rulerank.render.document import Block, Content, Page, Table, bars, only, shown

FEATURES = 12  # lines
CURVES = 6  # features whose effects are shown bin by bin


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
