"""Few labels: start from the baseline ranking, and move away from it only as far as they support it.

Rankers are set for few labels (MDLP finds no cuts in a hundred grades, and coefficients need holding), learn from the
labelled rows of a pool, and are compared with the baseline by NDCG@10 on labels of held-out queries: pairs weigh all
places alike, and 28 % of the rankings that had more of them in order were worse in NDCG@10.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from rulerank._util.estimator import clone
from rulerank._util.loops import one_blas_thread
from rulerank._util.words import counted, listed, percent
from rulerank.baseline import find_baseline
from rulerank.dataset import UNLABELLED, Array, Dataset, check_contrast, has_contrast, one_sided, query_index
from rulerank.discretize import EqualWidth
from rulerank.errors import DataError
from rulerank.evaluation import Comparison, evaluate
from rulerank.evaluation.comparison import LEAVE, compare_gains, interval
from rulerank.methods import Method, method_named
from rulerank.rankers.anchored.anchored import Anchored
from rulerank.rankers.base import Ranker
from rulerank.rankers.foreign import QueryKFold
from rulerank.rankers.pool import Grades, PoolLearner
from rulerank.selection.select import Selection

# chosen by benchmarks/choose_few_labels.py
COARSE_RULES = {"discretizer": EqualWidth(n_bins=5), "max_size": 1}
BY_RULES = ("RE-GR", "RE-SR", "RE-QR")
FEW_LABELS: dict[str, dict[str, Any]] = {
    **dict.fromkeys(BY_RULES, COARSE_RULES),
    "QI": {"l2": 300.0, "normalize": "zscore"},
}
BY_RATER, PEOPLE = "QI", "the people"  # the method that has intercepts for raters, and one of them
WEIGHTS = (0.0, 0.03, 0.3, 1.0)  # of labels of non-human raters
ABOVE_CHANCE = 0.05  # share of human pairs that such labels must order rightly beyond one half, at the low end
GOOD_START = 100  # labels, ten documents each of ten queries: with fewer, no message says to stop
MANY = 1000  # labels, with which methods made for many are used
TOP = 3  # places that people look at
NAMES = ("new", "baseline")
TIED = 1 / 3  # share of level documents from which on a ranking hardly is one
FOLDS = 5
LEAST_TO_WEIGH = 5  # human-judged queries with different grades: below, the weight of LLM labels cannot be chosen
LEAST_QUERIES = 10  # with different grades: below, there is no verdict
N_DRAWS, N_QUERIES, DEPTH = 60, 60, 10  # of what more labels could add
ENOUGH = 0.03  # below this share more labels are hardly worth their cost


def few_label_params(name: str) -> dict[str, Any]:
    """Return what a method is set to when labels are few, where its defaults are made for many.

    >>> few_label_params("QI")
    {'l2': 300.0, 'normalize': 'zscore', 'missing': 'mean'}
    """
    method = method_named(name)
    return FEW_LABELS.get(method.name, {}) | _gaps(method)


def few_label_ranker(name: str) -> Ranker:
    """Return an unfitted ranker by its name, set for few labels.

    >>> few_label_ranker("QI")
    QueryIntercepts(l2=300.0, missing='mean', normalize='zscore')
    """
    return method_named(name).ranker_class()(**few_label_params(name))


def _gaps(method: Method) -> dict[str, Any]:
    """Let a method take documents with missing values, as pools have them."""
    return {"missing": "mean"} if "missing" in method.ranker_class()().get_params() else {}


def select_from_baseline(pool: Dataset, baseline: Any, *, ranker: Ranker | None = None) -> Selection:
    """Learn from the labelled rows of a pool (the others have grade -1), starting from the baseline ranking.

    baseline: as `find_baseline` takes it: a feature, a sum of features, a fitted ranker, a run, or a file of these.
    ranker: another one to learn with; by default `Anchored`.

    Where no query has labels of two grades, nothing can be learned, and the ranker is the baseline ranking.

    >>> import rulerank as rr
    >>> data = rr.datasets.make_ranking(n_queries=20, seed=0)
    >>> grades = np.where(np.arange(len(data)) % 10 == 0, data.y, -1)
    >>> found = rr.select(rr.Dataset(data.X, grades, data.qid, None, data.feature_names), baseline="bm25_body")
    >>> found.method, found.facts["labels"]
    ('Anchored', 83)
    """
    start = find_baseline(pool.feature_names, baseline, pool.categories)
    before = start.scores(pool)  # what users see now, whatever the model starts from
    query = query_index(pool.qid)[0]
    rows = np.flatnonzero(pool.y != UNLABELLED)
    grades = pool.y[rows]
    learner = PoolLearner(Anchored(baseline=start.option) if ranker is None else ranker, pool)
    contrast = has_contrast(grades, query[rows])
    if not contrast and not isinstance(learner.ranker, Anchored):
        check_contrast(grades, query[rows])
    fitted = learner.fit(rows, grades) if contrast else clone(learner.ranker).start(pool)
    scores = fitted.predict(pool)
    held_out = held_out_scores(learner, rows, grades) if contrast else None
    gain = None
    if held_out is not None:
        gain = compare_tops(NAMES, held_out, before[rows], grades, query_index(query[rows])[0])
    anchored = isinstance(fitted, Anchored)
    facts = {
        "method": type(fitted).__name__,
        "baseline": start.text,
        "labels": int(rows.size),
        "labelled_queries": int(np.unique(query[rows]).size),
        "learned": contrast,
        "warning": one_sided(grades),
        "top_changed": round(float((top_sets(scores, query) != top_sets(before, query)).any(axis=1).mean()), 4),
        "tied": round(share_tied(scores, query), 4),
        "still_to_gain": round(still_to_gain(fitted, learner), 4) if isinstance(fitted, Anchored) else None,
        "held_out": None if gain is None else _figures(gain),
    }
    lines = _lines(facts, start, gain, tuple(pool.categories) if anchored else ())
    if not anchored:
        lines[0] = lines[0].replace("Starts from", "Compared with", 1)
    return Selection(fitted, (), "\n".join(lines), "NDCG@10", comparison=gain, facts=facts)


def fit_by_rater(method: str, pool: Dataset, given: Mapping[str, Grades], ranker: Ranker | None = None) -> Ranker:
    """Return a ranker of the grades of several raters; those of one are never compared with those of another.

    given: rater -> row -> grade. ranker: what to fit, of that method; by default as it is set for few labels.
    Labels of non-human raters have the weight of WEIGHTS that ranks held-out human labels best; 0: they are not used.

    >>> import rulerank as rr
    >>> data = rr.datasets.make_ranking(n_queries=5, seed=0)
    >>> given = {PEOPLE: {0: 0, 1: 1, 2: 2}, "gpt": {row: min(2, int(data.y[row]) + 1) for row in range(40)}}
    >>> fit_by_rater("QI", data, given).rater_ids_.tolist()
    ['the people', 'gpt']
    """
    check_by_rater(method, [rater for rater in given if rater != PEOPLE])
    triples = [(row, grade, rater) for rater, grades in given.items() for row, grade in sorted(grades.items())]
    rows, grades, raters = (np.array(column) for column in zip(*triples, strict=True))
    learner, human = PoolLearner(ranker or few_label_ranker(BY_RATER), pool), raters == PEOPLE
    weight, reason = choose_weight(learner, rows, grades, raters)
    used = human | (weight > 0)
    weights = np.where(human, 1.0, weight)[used]
    fitted = learner.fit(rows[used], grades[used], rater=raters[used].astype(object), sample_weight=weights)
    counts = ", ".join(f"{counted(len(found), 'label')} of {rater}" for rater, found in given.items())
    warnings.warn(f"learned from {counts}: every rater has separate intercepts{reason}", stacklevel=2)
    return fitted


def choose_weight(learner: PoolLearner, rows: Array, grades: Array, raters: Array) -> tuple[float, str]:
    """Return the weight of non-human labels that orders most pairs of held-out human labels, and the reason in words.

    It is 0 unless these labels order human-graded documents clearly better than chance: held-out pairs of a hundred
    labels alone let a random rater in too often. Of a held-out query no rater's labels are learned from. A tie goes to
    the smaller weight; too few human labels to choose by, or none, leave the weight 1.
    """
    human, query = raters == PEOPLE, learner.query[rows]
    judged, own = query_index(query[human])[0], grades[human]
    varied = {number for number in range(int(judged.max(initial=-1)) + 1) if np.ptp(own[judged == number]) > 0}
    if len(varied) < LEAST_TO_WEIGH or human.all():
        return 1.0, ""
    by_row: dict[int, list[int]] = {}
    for row, grade in zip(rows[~human].tolist(), grades[~human].tolist(), strict=True):
        by_row.setdefault(row, []).append(grade)
    common = np.array([row in by_row for row in rows[human].tolist()])
    given = np.array([np.mean(by_row[row]) for row in rows[human][common].tolist()])
    right, n = pairs_in_order(given, own[common], query_index(judged[common])[0])
    above = interval(np.append(right - n / 2, [1.0, -1.0]), np.append(n, [1.0, 1.0]), level=LEAVE)  # one more each way
    if (n > 0).sum() >= LEAST_TO_WEIGH and above.low <= ABOVE_CHANCE:
        share = f"{percent(right.sum() / n.sum())} of {counted(int(n.sum()), 'pair')}"
        return 0.0, f"; labels of non-human raters are not used: they order only {share} of human labels rightly"
    scores = np.zeros((len(WEIGHTS), own.size))
    for _, test in QueryKFold(n_splits=FOLDS).split(judged, qid=judged):
        away = ~np.isin(query, query[human][test])
        for number, weight in enumerate(WEIGHTS):
            train = away & (human | (weight > 0))
            if not has_contrast(grades[train], query[train] + (query.max() + 1) * ~human[train]):
                continue
            weights = np.where(human, 1.0, weight)[train]
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                fitted = learner.fit(
                    rows[train], grades[train], rater=raters[train].astype(object), sample_weight=weights
                )
            scores[number, test] = learner.scores(fitted, rows[human][test])
    counts = [pairs_in_order(one, own, judged) for one in scores]
    shares = [float(right.sum() / n.sum()) for right, n in counts]
    best = int(np.argmax(shares))
    by_weight = ", ".join(f"{weight:g}: {percent(share)}" for weight, share in zip(WEIGHTS, shares, strict=True))
    use = f"weight {WEIGHTS[best]:g}" if best else "not used"
    return WEIGHTS[best], f"; labels of non-human raters: {use} (held-out human pairs in order by weight: {by_weight})"


def check_by_rater(method: str, raters: Iterable[str]) -> None:
    """Refuse a method that has no intercepts for raters."""
    if method_named(method).name != BY_RATER:
        raise DataError(
            f"labels of {', '.join(raters)} count in training, each rater with separate intercepts, which only "
            f"{BY_RATER} has: train {BY_RATER}, or use only the labels of human raters"
        )


def _figures(found: Comparison) -> dict[str, Any]:
    """Return a comparison on held-out labels as plain values; nothing of means where no query has different grades."""
    means = {"new": found.mean_a, "baseline": found.mean_b} if found.n_queries else {}
    return means | {"low": found.low, "high": found.high, "n_queries": found.n_queries, "verdict": found.verdict}


def _lines(facts: dict[str, Any], start: Any, gain: Comparison | None, left_out: Sequence[str]) -> list[str]:
    """Say what can honestly be said of a ranker learned from few labels, a sentence a line."""
    labels = f"{counted(facts['labels'], 'label')} of {counted(facts['labelled_queries'], 'query', 'queries')}"
    changed = f"the top {TOP} changes in {percent(facts['top_changed'])} of queries"
    first = f"Starts from the baseline ranking ({start}); {labels}; {changed}"
    to_gain = facts["still_to_gain"]
    if to_gain is not None:
        first += f"; {gain_in_words(to_gain)}"
    lines = [f"{first}."]
    if not facts["learned"]:
        lines.append(
            "No query has labels of two grades, so nothing was learned: the model equals the baseline ranking. "
            "Label more documents of each query."
        )
    if facts["warning"] is not None:
        lines.append(f"{facts['warning']}.")
    if left_out:
        lines.append(f"Ignored: {listed(left_out)} (this model does not support categorical features).")
    if gain is not None:
        lines.append(f"{gain_on_labels(gain)}.")
    balanced = facts["learned"] and facts["warning"] is None and facts["labels"] >= GOOD_START
    verdict = "too few" if gain is None else gain.verdict
    if balanced and verdict == "better":
        lines.append("You can stop labelling: the gain is clear.")
    elif balanced and verdict != "worse" and to_gain is not None and to_gain < ENOUGH:
        lines.append(
            "You can stop labelling: more labels would hardly change the top 10. Compare the model with the baseline "
            "ranking before you use it (rulerank check)."
        )
    if facts["tied"] > TIED:
        lines.append(words_for_ties(facts["tied"]))
    return lines


def gain_on_labels(found: Comparison) -> str:
    """Return the verdict of held-out labels as a sentence.

    >>> gain_on_labels(Comparison("NDCG@10", *NAMES, 0.71, 0.66, -0.02, 0.12, 12, least=LEAST_QUERIES))
    'NDCG@10 on labels of 12 held-out queries: new 0.710, baseline 0.660 (difference -0.020 to +0.120, 95 % interval...'
    >>> gain_on_labels(Comparison("NDCG@10", *NAMES, 0.71, 0.66, -0.02, 0.12, 9, least=LEAST_QUERIES))
    'Too few labels to compare with the baseline: 9 queries have different grades, 10 are needed'
    """
    if found.verdict == "too few":
        have = f"{counted(found.n_queries, 'query has', 'queries have')} different grades"
        return f"Too few labels to compare with the baseline: {have}, {LEAST_QUERIES} are needed"
    verdict = {"better": "better", "worse": "worse: keep the baseline ranking", "unclear": "no clear difference"}
    reach = f"difference {found.low:+.3f} to {found.high:+.3f}, {percent(found.level)} interval"
    return (
        f"NDCG@10 on labels of {found.n_queries:,} held-out queries: new {found.mean_a:.3f}, baseline "
        f"{found.mean_b:.3f} ({reach}): {verdict[found.verdict]}"
    )


def pairs_in_order(scores: Array, grades: Array, queries: Array) -> tuple[Array, Array]:
    """Return for each query how many pairs of different grades the scores have in order (ties half), and of how many.

    >>> right, n = pairs_in_order(np.array([3.0, 1.0, 1.0]), np.array([1, 0, 1]), np.array([0, 0, 0]))
    >>> right.tolist(), n.tolist()
    ([1.5], [2.0])
    """
    n_queries = int(queries.max(initial=-1)) + 1
    right, n = np.zeros(n_queries), np.zeros(n_queries)
    for query in range(n_queries):
        rows = np.flatnonzero(queries == query)
        above = grades[rows][:, None] > grades[rows][None, :]
        n[query], right[query] = above.sum(), ((np.sign(scores[rows][:, None] - scores[rows])[above] + 1) / 2).sum()
    return right, n


def compare_tops(names: tuple[str, str], new: Array, old: Array, grades: Array, queries: Array) -> Comparison:
    """Compare two rankings of the same labelled documents by NDCG@10, over the queries with different grades.

    >>> grades, queries = np.tile([1, 0, 0], 12), np.repeat(np.arange(12), 3)
    >>> compare_tops(("new", "old"), 1.0 * grades, -1.0 * grades, grades, queries).low
    0.5
    """
    first = grades[np.unique(queries, return_index=True)[1]]
    differ = np.bincount(queries, grades != first[queries]) > 0
    rows = differ[queries]
    if not rows.any():
        return compare_gains("NDCG@10", names, np.empty(0), np.empty(0), least=LEAST_QUERIES)
    ours, theirs = (evaluate(grades[rows], one[rows], queries[rows], "NDCG@10").values[0] for one in (new, old))
    return compare_gains("NDCG@10", names, ours, theirs, least=LEAST_QUERIES)


def held_out_scores(learner: PoolLearner, rows: Array, grades: Array) -> Array | None:
    """Return scores of labelled rows by models of the other queries' labels; None: all labels are of one query."""
    queries = query_index(learner.query[rows])[0]
    n_queries = int(queries.max(initial=-1)) + 1
    if n_queries < 2:
        return None
    scores = np.zeros(rows.size)
    for train, test in QueryKFold(n_splits=min(FOLDS, n_queries)).split(rows, qid=queries):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # that a part of few labels says little is no news
            fitted = learner.fit(rows[train], grades[train])
        scores[test] = learner.scores(fitted, rows[test])
    return scores


def top_sets(scores: Array, query: Array, depth: int = TOP) -> Array:
    """Return the rows of each query's first places, sorted; -1 where a query has fewer.

    >>> top_sets(np.array([1.0, 3.0, 2.0]), np.array([0, 0, 0]), depth=2).tolist()
    [[1, 2]]
    """
    order = np.lexsort((-scores, query))
    starts = np.searchsorted(query[order], np.arange(int(query.max()) + 1))
    place = np.arange(order.size) - starts[query[order]]
    top = np.full((starts.size, depth), -1, dtype=np.int64)
    first = place < depth
    top[query[order][first], place[first]] = order[first]
    return np.sort(top, axis=1)


def share_tied(scores: Array, query: Array) -> float:
    """Return the share of rows whose score another row of the query has too.

    >>> share_tied(np.array([1.0, 1.0, 2.0, 1.0]), np.array([0, 0, 0, 1]))
    0.5
    """
    order = np.lexsort((scores, query))
    same = (np.diff(scores[order]) == 0) & (np.diff(query[order]) == 0)
    return float((np.append(same, False) | np.append(False, same)).mean())


def words_for_ties(share: float) -> str:
    """Return the warning about many ties.

    >>> words_for_ties(0.5)
    '50 % of the documents are tied with another: their order is arbitrary.'
    """
    return f"{percent(share)} of the documents are tied with another: their order is arbitrary."


def warn_of_few_labels(method: str, n_labels: int, ranker: Ranker, pool: Dataset) -> None:
    """Warn that a method for many labels usually loses against the baseline, and if many documents are tied."""
    share = share_tied(ranker.predict(pool), query_index(pool.qid)[0])
    if share > TIED:
        warnings.warn(words_for_ties(share), stacklevel=3)
    if method in BY_RULES and n_labels < MANY:
        warnings.warn(
            f"{method} learned from {n_labels:,} labels is usually worse than the baseline ranking "
            f"(docs/few-labels.md); "
            "Anchored starts from it: --method Anchored --baseline FEATURE",
            stacklevel=3,
        )


def still_to_gain(ranker: Anchored, learner: PoolLearner, *, seed: int = 0) -> float:
    """Return the share of DCG@10 that all labels could add to a fitted ranker, a lower bound.

    Weights are drawn from the posterior. If a draw were the truth, its own ranking would be the best one, and its
    chances of relevance say how much it is better than that of the most likely weights. That is low where the baseline
    ranking is poor, for the posterior does not look far from it.

    >>> import rulerank as rr
    >>> data = rr.datasets.make_ranking(n_queries=20, seed=0)
    >>> learner = PoolLearner(rr.Anchored(baseline="bm25_body"), data)
    >>> few, many = (learner.fit(np.arange(n), data.y[:n]) for n in (40, len(data)))
    >>> still_to_gain(few, learner) > still_to_gain(many, learner) > 0
    True
    """
    rng = np.random.default_rng(seed)
    chosen = rng.permutation(int(learner.query.max()) + 1)[:N_QUERIES]
    gained = had = 0.0
    with one_blas_thread():
        roots = np.linalg.cholesky(ranker.covariance_ + 1e-12 * np.eye(ranker.coef_.size))
        draws = ranker.coef_ + rng.standard_normal((N_DRAWS, ranker.coef_.size)) @ roots.T
        for number in chosen.tolist():
            Z = learner.standard(np.flatnonzero(learner.query == number))
            margins = Z @ draws.T  # (n_docs, n_draws)
            chances = 1 - _none(margins, ranker.thresholds_)
            own = np.sort(chances, axis=0)[::-1]  # thresholds are shared: a draw ranks by its chances
            by_ranker = chances[np.argsort(-(Z @ ranker.coef_), kind="stable")]
            discounts = 1 / np.log2(np.arange(2, min(DEPTH, len(Z)) + 2))
            had += float((discounts @ by_ranker[: discounts.size]).mean())
            gained += float((discounts @ (own - by_ranker)[: discounts.size]).mean())
    return gained / had if had else 0.0


def _none(margins: Array, thresholds: Array) -> Array:
    """Return the chance that a document passes no level."""
    levels = thresholds if thresholds.size else np.zeros(1)
    fails = np.ones_like(margins)
    for threshold in levels:
        fails /= 1 + np.exp(np.clip(margins - threshold, -500, 500))
    return fails


def gain_in_words(share: float) -> str:
    """Return the estimated gain of more labels in words.

    >>> gain_in_words(0.043), gain_in_words(0.004)
    ('more labels could raise DCG@10 by 4 % or more', 'more labels could add almost nothing')
    """
    if share < 0.005:
        return "more labels could add almost nothing"
    return f"more labels could raise DCG@10 by {percent(share)} or more"
