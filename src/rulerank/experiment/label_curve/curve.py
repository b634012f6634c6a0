"""Label-efficiency curves: how good a ranker is after so many labels, by how the documents to label were chosen."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from rulerank.dataset import Dataset, Fold
from rulerank.errors import DataError
from rulerank.experiment.label_curve.design import (
    AnySampler,
    fold_design,
    samplers_named,
    split_design,
)
from rulerank.experiment.label_curve.learners import make_learners
from rulerank.experiment.label_curve.points import all_lines, all_points
from rulerank.experiment.label_curve.result import LabelCurve
from rulerank.experiment.label_curve.stages import choose_all, learn_all, plan_steps
from rulerank.rankers.base import Ranker
from rulerank.today import find_today


def label_curve(
    data: Dataset | Sequence[Fold],
    rankers: Sequence[str] | Mapping[str, Ranker] | None = None,
    samplers: Sequence[str] | Mapping[str, AnySampler] | None = None,
    *,
    sizes: Sequence[int] | None = None,
    n_splits: int | None = None,
    keep_one_in: int | None = None,
    n_draws: int | None = None,
    feature: str | None = None,
    today: str | None = None,
    measure: str | None = None,
    seed: int = 0,
) -> LabelCurve:
    """Simulate labelling: choose documents of each training part, learn from them, evaluate on the test part.

    Parameters
    ----------
    data: folds, or graded documents, which are split by query into five.
    rankers: names of `rulerank.methods`, set for few labels, "from-today" for `learn_from_today`, or rankers by a name
        of your own; by default RE-GR and QI, in splits from-today, AnchoredRules, QI, RE-GR, FR.
    samplers: names among strata, SSAR, SSARP (five partitions), SSAR per query and random, or by a name of your own
        `SSAR`, `Strata` or functions of (pool, random generator) that return rows of the pool in the order to label
        them. By default all of them, strata when today is said. In folds random draws are there always.
    sizes: the numbers of labels to learn from; by default 20, 30, 50, 70, 100, ... up to the latest stop, in splits 20,
        50, 100, 200 and 400 as far as the pools reach.
    n_splits: split graded documents so often into halves, a pool and queries to test on, rather than into folds: points
        then have the mean gain over today's ranking and the worst. Ctrl-C ends it with the splits done so far.
    keep_one_in: in splits, thin the pools: one relevant document of so many is kept.
    n_draws: how often documents are drawn at random, for the band that holds 95 % of the draws; by default 20 in each
        fold, and one in each split.
    feature: what the top-of-a-feature sampling sorts by, "-name" for lowest first; by default the best single one by
        the labels of each fold's training part, and in splits none.
    today: the feature that ranks the documents now: a line of its own, what Anchored starts from, and its strata are
        one more way to choose.
    measure: such as "MAP", the default for folds, or "NDCG@10", that for splits.

    Training rows are shuffled before a sampler sees them, for in some files their order tells the grade.

    >>> from rulerank.worlds import make_world
    >>> pick = {"first": lambda pool, rng: np.arange(60)}
    >>> curve = label_curve(make_world(n_queries=15), ["QI"], pick, sizes=[20, 40], n_draws=3)
    >>> [(point.sampler, point.n_labels) for point in curve.points][:4]
    [('first', 20.0), ('first', 40.0), ('first', 60.0), ('random', 20.0)]
    >>> world = make_world(n_queries=40, seed=1)
    >>> curve = label_curve(world, ["from-today"], ["strata"], n_splits=3, sizes=[50, 100], today="bm25_body")
    >>> print(curve)
    from-today    50 labels   100 labels
    strata      +.052/+.051  +.095/+.081
    """
    ways = samplers if isinstance(samplers, Mapping) else samplers_named(samplers, today)
    if n_splits is None:
        if keep_one_in is not None:
            raise DataError("keep_one_in thins the pools of splits: say n_splits, or thin folds by thin_folds")
        design = fold_design(data, ways, sizes, n_draws, measure, seed)
    else:
        if today is None:
            raise DataError("splits show gains over today's ranking: say which feature it is, such as today='bm25'")
        design = split_design(data, n_splits, keep_one_in, ways, sizes, n_draws, measure, seed)
    learners = make_learners(design.rankers if rankers is None else rankers, today)
    now = None if today is None else find_today(design.folds[0].test.feature_names, today)
    chosen = choose_all(design, feature, seed)
    plan = plan_steps(chosen, design)
    found = learn_all(design, chosen, learners, plan, now)
    return LabelCurve(
        measure=design.measure,
        points=tuple(all_points(found, plan, list(learners))),
        lines=tuple(all_lines(found, list(learners), feature, now)),
        features=tuple(one.feature for one in chosen if one.feature is not None),
        n_pool=float(np.mean([one.n_pool for one in found])),
        share_relevant=float(np.mean([one.share_relevant for one in found])),
        n_folds=len(found),
        n_draws=design.n_draws,
        today=None if now is None else now.option,
        n_splits=n_splits,
    )
