"""Train a ranker on clicks, and keep the baseline ranking until clicks of held-out queries support a change.

Clicks and few labels together: clicks first, then labels refine the click model or the baseline.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Mapping
from copy import copy
from dataclasses import replace
from typing import Any

import numpy as np

from rulerank._util.estimator import clone
from rulerank._util.words import counted
from rulerank.baseline import Baseline, FeatureBaseline, ModelBaseline, ScoresBaseline, check_baseline, find_baseline
from rulerank.dataset import UNLABELLED, Array, Dataset, query_index
from rulerank.errors import DataError
from rulerank.evaluation import Comparison
from rulerank.evaluation.comparison import LEAVE, clearly_less, compare_gains
from rulerank.normalize import normalize_by_query
from rulerank.rankers.anchored.anchored import Anchored
from rulerank.rankers.anchored.anchored_ranker import AnchoredRanker
from rulerank.rankers.clicks.click_rows import ClickRows, clicks_of, weighed
from rulerank.rankers.clicks.likelihood import ranking_losses
from rulerank.rankers.clicks.positions import find_positions
from rulerank.rankers.foreign import QueryKFold
from rulerank.rankers.linear.query_intercepts import QueryIntercepts
from rulerank.selection.few_labels import compare_tops, select_from_baseline
from rulerank.selection.select import Selection, Trial

CLICK_PARAMS: dict[str, Any] = {
    "l2": 300.0,
    "missing": "mean",
}  # whatever held-out clicks prefer: docs/benchmarks/clicks.md
HARD = 10_000.0  # l2 of all features but the baseline's, whose coefficient is free
N_SPLITS = 3
FEW_CLICKS = 100  # fewer say too little to choose by, or to fit more than a straight line
FEWEST = 6  # queries with clicks: fewer all go one way too often, whatever is better
QUERIES = ("held-out query", "held-out queries")
HINT = "Held-out clicks are only an indication; `rulerank interleave` tests which ranking users prefer."


def select_by_clicks(
    data: Dataset, ranker: Any = None, *, propensities: Any = None, baseline: Any = None, seed: int = 0
) -> Selection:
    """Train QueryIntercepts on a data set with clicks, for `select`.

    ranker: QueryIntercepts with parameters, returned in any case; None keeps the baseline ranking unless clicks of
        held-out queries show that the new one is better (95 %, by query).
    baseline: as in `find_baseline`; without one, the new ranking cannot be compared. The new model is in `learned`,
        also if the baseline is kept.

    >>> import rulerank as rr
    >>> data = rr.datasets.make_ranking(n_queries=40, n_features=3, seed=0)
    >>> seen = rr.clicks.simulate_clicks(data, data.X[:, 0], n_impressions=4000, seed=0)
    >>> rr.select(seen, rr.QueryIntercepts(l2=300.0)).ranker
    QueryIntercepts(l2=300.0)
    """
    if ranker is not None and not isinstance(ranker, QueryIntercepts):
        raise DataError(f"{type(ranker).__name__} does not learn from clicks; QueryIntercepts (QI) does")
    queries, ids = query_index(data.qid)
    rows = clicks_of(data)
    n_clicks, n_shown = np.bincount(queries, rows.clicks), np.bincount(queries, rows.shown)
    if not ((n_clicks > 0) & (n_clicks < n_shown)).any():
        raise DataError(
            "no query has both clicks and impressions without a click, so there is nothing to learn from: a log "
            "must contain all impressions, clicked or not"
        )
    documents = rows.documents(data.X, queries)
    start = None if baseline is None else find_baseline(data.feature_names, baseline, data.categories)
    if isinstance(start, ScoresBaseline):
        raise DataError("baseline: scores of rows do not rank new documents: name a feature, a model or a run")
    baseline = None if start is None else _baseline_scores(start, data, queries, documents)
    candidates = _candidates(ranker, start)
    clicks = f"{counted(int(n_clicks.sum()), 'click')} of {counted(int(ids.size), 'query', 'queries')}"
    table: tuple[Trial, ...] = ()
    if n_clicks.sum() < FEW_CLICKS or ids.size < 2 * N_SPLITS:
        chosen, n_queries = [*candidates][-1], 0
        why = "the only one to choose from" if len(candidates) == 1 else f"{clicks} are too few to choose by"
        reason, found = f"{chosen}: {why}", _not_compared(int((n_clicks > 0).sum()))
    else:
        losses, of_baseline = _held_out(
            data, rows, [*candidates.values()], baseline, queries, documents, propensities, seed
        )
        best = 0
        for number in range(1, len(candidates)):
            if clearly_less(losses[number], losses[best]):
                best = number
        tried = [
            Trial(one.get_params(), float(loss.mean()), method="QI", about=about)
            for (about, one), loss in zip(candidates.items(), losses, strict=True)
        ]
        table = (tried[best], *sorted(tried[:best] + tried[best + 1 :], key=lambda trial: trial.mean))
        chosen, n_queries = [*candidates][best], losses.shape[1]
        found = _not_compared(n_queries)
        other = ""
        if of_baseline is not None:
            other = f", the baseline ranking {of_baseline.mean():.4f}"
        if of_baseline is not None and n_queries >= FEWEST:
            gains = -losses[best], -of_baseline
            found = compare_gains("log-likelihood", ("new", "baseline"), *gains, least=FEWEST, level=LEAVE)
        why = f"{chosen}: loss {table[0].mean:.4f} per query on {counted(n_queries, *QUERIES)}{other}; {clicks}"
        reason = why
    new = copy(candidates[chosen]).fit(data, propensities=propensities)
    better = found.verdict == "better"
    kept = ranker is None and start is not None and not better
    if kept:
        reason = f"the baseline ranking is kept; {why}"
    n_impressions = int(n_shown.sum())
    about = None if start is None else str(start)
    lines = [f"selected method: {reason}", repr(new.positions()), clicks_in_words(found, about, n_impressions), HINT]
    compared = not math.isnan(found.difference)
    facts = new.positions().to_dict() | {
        "reason": reason,
        "keep_baseline": not better,
        "against_baseline": {
            "baseline": about,
            "gain": found.difference if compared else None,
            "interval": [found.low, found.high] if compared else None,
            "better": better,
        },
    }
    returned: Any = new
    if kept and isinstance(start, ModelBaseline):
        returned = start.ranker
    elif kept and start is not None:
        returned = Anchored(baseline=start.option).start(data)
    return Selection(returned, table, "\n".join(lines), "loss", n_queries, found, new, facts=facts)


def _not_compared(n_queries: int) -> Comparison:
    unknown = math.nan, math.nan, -math.inf, math.inf
    return Comparison("log-likelihood", "new", "baseline", *unknown, n_queries, least=FEWEST)


def clicks_in_words(found: Comparison, baseline: str | None, n_impressions: int) -> str:
    """Return in words whether held-out clicks support a change; baseline: its name, None if unknown."""
    seen = f"{counted(n_impressions, 'impression')}, with clicks in {counted(found.n_queries, *QUERIES)},"
    if baseline is None:
        return "The baseline ranking is unknown, so the new one cannot be compared with it: name it with --baseline."
    if math.isnan(found.difference):
        return f"{seen} are too few to compare the new ranking with the baseline ({baseline}): the baseline is kept."
    if found.verdict == "better":
        figures = f"log-likelihood {found.difference:+.4f} per query, at least {found.low:+.4f} (95 % bound)"
        return f"{seen} show that it is better than the baseline ranking ({baseline}): {figures}."
    return f"{seen} do not show that the new ranking is better than the baseline ({baseline}): the baseline is kept."


def _candidates(ranker: QueryIntercepts | None, start: Baseline | None) -> dict[str, QueryIntercepts]:
    """Return the candidates by display name: the ranker, or QueryIntercepts with two regularisations."""
    usual = ranker or QueryIntercepts(**CLICK_PARAMS)
    usual.check_parameters()
    found = {f"QueryIntercepts, l2 {usual.l2:g}": usual}
    if ranker is None and isinstance(start, FeatureBaseline):
        near = QueryIntercepts(**CLICK_PARAMS | {"l2": HARD})
        near._free_column = start.column
        found = {"baseline ranking, other features strongly regularised": near} | found
    return found


def _baseline_scores(start: Baseline, data: Dataset, queries: Array, documents: Array) -> Array:
    """Return the baseline's scores, which must rank something."""
    scores = scores_once(start.scores, data, documents)
    first = scores[np.unique(queries, return_index=True)[1]]
    if (scores == first[queries]).all():
        raise DataError(f"the baseline ranking ({start}) is constant within every query: name another")
    return scores


def scores_once(predict: Callable[[Dataset], Array], data: Dataset, documents: Array) -> Array:
    """Return the score of each row; each document is scored once, even if it has rows for several positions.

    Otherwise a model that normalises by query would count such documents several times.
    """
    _, first, own = np.unique(documents, return_index=True, return_inverse=True)
    return predict(data[first])[own.reshape(-1)]


def _held_out(
    data: Dataset,
    rows: ClickRows,
    candidates: list[QueryIntercepts],
    baseline: Array | None,
    queries: Array,
    documents: Array,
    propensities: Any,
    seed: int,
) -> tuple[Array, Array | None]:
    """Return the losses of held-out queries, (n_candidates, n_queries), and those of the baseline ranking.

    Position effects are estimated once, from all queries, so that candidates differ in scores only.
    """
    scores = np.empty((len(candidates), len(data)))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the final fit to all data warns
        effects = find_positions(rows, documents, propensities)
        looked = np.exp(float(effects.effects.min()) - effects.effects)
        known = dict(zip(effects.positions.tolist(), looked.tolist(), strict=True))
        for train, test in QueryKFold(N_SPLITS, seed=seed).split(queries[:, None], qid=queries):
            for number, one in enumerate(candidates):
                ranker = copy(one).fit(data[train], propensities=known)
                scores[number, test] = scores_once(ranker.predict, data[test], documents[test])
    rows = weighed(rows, documents, 1.0)

    def losses(*of: Array) -> Array:
        return ranking_losses(np.stack(of, axis=1), rows, queries, effects.effects)[1]

    of_baseline = None
    if baseline is not None:
        # conservative: it may use the positions of the documents, and the better of its scores and their ranks
        positions = rows.positions[rows.places]
        assert data.impressions is not None
        shown = data.impressions.count.astype(np.float64)
        mean_position = (np.bincount(documents, shown * positions) / np.bincount(documents, shown))[documents]
        standing, ranks = (
            normalize_by_query(one[:, None], queries, "rank")[:, 0] for one in (-mean_position, baseline)
        )
        of_baseline = min((losses(one, standing) for one in (baseline, ranks)), key=np.mean)
    return np.stack([losses(one) for one in scores]), of_baseline


def select_by_clicks_and_labels(
    log: Dataset,
    pool: Dataset,
    *,
    baseline: Any = None,
    propensities: Any = None,
    ranker: AnchoredRanker | None = None,
    exportable: bool = False,
) -> Selection:
    """Train on clicks, then refine the model with the labelled rows of a pool (the others have grade -1).

    Labels refine the click model if the clicks show that it is better than the baseline ranking, and otherwise the
    baseline ranking. If the labels, which neither was trained on, show which is better, they refine that one.

    baseline: a feature or a fitted ranker. A ranker that was trained on these labels looks better than it is.
    ranker: learns from the labels; by default as in `select_from_baseline`.
    exportable: labels refine the baseline, since a model that starts from another model's scores cannot be exported.

    >>> import rulerank as rr
    >>> data = rr.datasets.make_ranking(n_queries=40, n_features=3, seed=0)
    >>> seen = rr.clicks.simulate_clicks(data, data.X[:, 0], n_impressions=4000, seed=0)
    >>> grades = np.where(np.arange(len(data)) % 9, -1, data.y)
    >>> some = rr.Dataset(data.X, grades, data.qid, None, data.feature_names)
    >>> rr.select(some, clicks=seen, baseline="bm25_body").facts["start"]["start"]
    'clicks'
    """
    if log.impressions is None:
        raise DataError(
            "expected a Dataset with clicks, such as rr.clicks.read_clicks(log).join(pool): got one without"
        )
    if baseline is not None:
        check_baseline(baseline)
    clicks = select_by_clicks(log, propensities=propensities, baseline=baseline)
    by_labels = None if baseline is None or exportable else compare_by_labels(pool, clicks.learned, baseline)
    clear: Mapping[str, bool] = {"better": True, "worse": False}
    from_clicks = baseline is None or (
        by_labels is not None and clear.get(by_labels.verdict, not clicks.facts["keep_baseline"])
    )
    start = clicks.learned if from_clicks else baseline
    learner = None if ranker is None else clone(ranker).set_params(baseline=start)
    labels = select_from_baseline(pool, start, ranker=learner)
    said = None
    if by_labels is not None:
        said = {"clicks": by_labels.mean_a, "baseline": by_labels.mean_b, "verdict": by_labels.verdict}
    facts = {
        "clicks": clicks.to_dict(),
        "start": {"start": "clicks" if from_clicks else "baseline", "labels": said},
        "few_labels": labels.facts,
    }
    before = [*clicks.lines(), _about_the_start(from_clicks, by_labels)]
    return replace(labels, reason="\n".join([*before, *labels.lines()]), facts=facts)


def _about_the_start(from_clicks: bool, found: Comparison | None) -> str:
    """Return which ranking the labels refine, and why."""
    start = "the click model" if from_clicks else "the baseline ranking"
    if found is None:
        return f"Labels refine {start}."
    if found.verdict == "too few":
        return f"Labels refine {start}; they are too few to compare the click model with the baseline ranking."
    unclear = ", no clear difference" if found.verdict == "unclear" else ""
    return (
        f"Labels refine {start}: on labels of {found.n_queries:,} queries the click model has NDCG@10 "
        f"{found.mean_a:.3f}, the baseline ranking {found.mean_b:.3f}{unclear}."
    )


def compare_by_labels(pool: Dataset, new: Any, baseline: Any) -> Comparison:
    """Compare two rankings (features or models, not trained on these labels) by NDCG@10 on the labels of a pool."""
    rows = np.flatnonzero(pool.y != UNLABELLED)
    of_new, of_baseline = (find_baseline(pool.feature_names, one).scores(pool)[rows] for one in (new, baseline))
    grades, queries = pool.y[rows], query_index(pool.qid[rows])[0]
    return compare_tops(("clicks", "baseline"), of_new, of_baseline, grades, queries)
