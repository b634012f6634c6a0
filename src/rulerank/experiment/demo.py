"""What the library is for, in a minute: a shop's texts, features, rankers that learn from labels, many and few."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from sklearn.impute import SimpleImputer
from sklearn.linear_model import Ridge
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from rulerank._util.loops import progress
from rulerank.baseline import find_baseline
from rulerank.dataset import UNLABELLED, Dataset, Fold, make_folds
from rulerank.datasets.shop import Shop, make_shop
from rulerank.evaluation import ComparisonTable, Result, compare_results, evaluate
from rulerank.evaluation.evaluation import as_dict
from rulerank.evaluation.rankings import best_feature, feature_scores
from rulerank.experiment.curve import signed, split_halves
from rulerank.judging.pool import Pool
from rulerank.judging.side_by_side import DocumentPairs, compare_pair_grades, grade_pairs, side_by_side_as_dict
from rulerank.rankers.fitted.fitted_rules import FittedRules
from rulerank.rankers.foreign import fit_ranker, predict_ranker
from rulerank.rankers.global_rules import GlobalRules
from rulerank.rankers.linear.query_intercepts import QueryIntercepts
from rulerank.rankers.query_rules import QueryRules
from rulerank.rankers.stable_rules import StableRules
from rulerank.sampling.strata import StratifiedSampler
from rulerank.selection.select import select
from rulerank.text.text_features import TextFeatures

MEASURES = ("NDCG@10", "MAP", "P@1")
BASELINE = "bm25(all) + meaning(all)"  # where a shop without labels starts
BM25 = "BM25 alone"
FUSED = "BM25 + meaning"
BEST = "best single feature"
OURS = "GlobalRules"
MIN_QUERIES = 10
TOP = 50  # candidates of a query
BUDGET = 100  # few labels: ten documents each of ten queries

LEARNERS: dict[str, Callable[[], Any]] = {
    "ridge regression": lambda: make_pipeline(SimpleImputer(), StandardScaler(), Ridge()),  # the least one can do
    "QueryIntercepts": lambda: QueryIntercepts(l2=10.0, missing="mean"),
    "FittedRules": FittedRules,
    "QueryRules": QueryRules,
    "StableRules": StableRules,
    "GlobalRules as published": lambda: GlobalRules(votes="mean"),
    OURS: GlobalRules,
}


@dataclass(frozen=True, eq=False)
class Demo:
    """All that `rulerank demo` shows."""

    seed: int
    shop: Shop
    data: Dataset
    folds: list[Fold]  # what is learned from is in train
    chosen: list[str]  # the best single feature of each fold's train
    results: dict[str, Result]
    comparison: ComparisonTable
    few_labels: tuple[list[str], dict[str, Any]]  # what a hundred labels made of the baseline: sentences, and facts

    def closing(self) -> str:
        """Say in a sentence what the table of results shows."""
        pair = next(pair for pair in self.comparison.pairs if (pair.a, pair.b) == (OURS, BM25))
        verdict = "Learning pays" if pair.low > 0 else "No sure gain"
        does, than = ("gains", "over") if pair.difference >= 0 else ("loses", "to")
        return (
            f"{verdict}: {pair.a} {does} {abs(pair.difference):.3f} in {pair.measure} {than} {pair.b}, "
            f"better on {pair.wins} queries and worse on {pair.losses}\n"
            f"({pair.low:+.3f} to {pair.high:+.3f} with 95 % confidence, p = {pair.p_holm['randomisation']:.4f})."
        )

    def to_dict(self) -> dict[str, Any]:
        """Return all results as plain values."""
        sizes = {"products": len(self.shop.documents), "queries": len(self.shop.queries), "rows": len(self.data)}
        shop = {"seed": self.seed} | sizes | {"features": self.data.feature_names}
        figures = as_dict(self.results, self.comparison)
        return {"shop": shop, "chosen_features": self.chosen} | figures | {"few_labels": self.few_labels[1]}


def run_demo(n_queries: int = 100, seed: int = 0) -> Demo:
    """Rank a synthetic shop by BM25, by BM25 and meaning, and by what is learned from other queries, in five folds."""
    shop = make_shop(n_queries=n_queries, seed=seed)
    features = TextFeatures(language="none", embed="lsa").fit(
        shop.documents
    )  # stemming needs an extra, and the demo nothing
    data = shop.graded(features.dataset(shop.queries, top=TOP))
    folds = [replace(fold, train=Dataset.concat([fold.train, fold.vali])) for fold in make_folds(data, seed=seed)]
    tested = Dataset.concat([fold.test for fold in folds])

    chosen = [best_feature(fold.train, MEASURES[0]) for fold in folds]
    scores = {"random order": np.zeros(len(tested))}  # all tied: the expected value over all orders
    scores[BM25] = feature_scores(tested, "bm25(all)")
    scores[FUSED] = find_baseline(tested.feature_names, BASELINE).scores(tested)
    scores[BEST] = np.concatenate([feature_scores(fold.test, name) for fold, name in zip(folds, chosen, strict=True)])
    with progress(len(LEARNERS) * len(folds), "learning") as bar, warnings.catch_warnings():
        warnings.filterwarnings("ignore", message=".* reads the categories of ")  # the table says so once
        for label, make in LEARNERS.items():
            parts = []
            for fold in folds:
                parts.append(predict_ranker(fit_ranker(make(), fold.train), fold.test))
                bar.advance()
            scores[label] = np.concatenate(parts)

    results = {label: evaluate(tested.y, values, tested.qid, MEASURES) for label, values in scores.items()}
    comparison = compare_results({label: results[label] for label in (*LEARNERS, BM25)})
    return Demo(seed, shop, data, folds, chosen, results, comparison, learn_from_few(data, BASELINE, MEASURES[0], seed))


def learn_from_few(data: Dataset, baseline: str, measure: str, seed: int = 0) -> tuple[list[str], dict[str, Any]]:
    """Label documents of half the queries by their own grades, learn, check, and look at the other half.

    Returns what a user sees and then the truth, which on real searches nobody knows, in sentences and as facts.

    >>> import rulerank as rr
    >>> lines, facts = learn_from_few(rr.datasets.make_ranking(n_queries=40, seed=1), "bm25_body", "NDCG@10")
    >>> facts["labels"], facts["truth"]["queries"], facts["side_by_side"]["verdict"]
    (100, 20, 'too few')
    """
    pool, test = split_halves(data, seed)
    rows = StratifiedSampler(baseline=baseline, seed=seed).select(
        pool, lambda row: pool.y[row], budget=min(BUDGET, len(pool))
    )
    grades = np.full(len(pool), UNLABELLED)
    grades[rows] = pool.y[rows]
    learned = select(replace(pool, y=grades), baseline=baseline)
    now = find_baseline(data.feature_names, baseline)
    judged = {str(name) for name in pool.qid[rows]}
    pairs = DocumentPairs(Pool(replace(pool, texts={})), learned.ranker.predict(pool), now.scores(pool), judged, seed)

    def mean(scores: Any) -> float:
        return float(evaluate(test.y, scores, test.qid, [measure]).means[measure])

    outcomes = grade_pairs(pairs, lambda pair: (int(pool.y[pair.shown[0]]), int(pool.y[pair.shown[1]])))
    found = compare_pair_grades(outcomes)
    new, old, n_queries = mean(learned.ranker.predict(test)), mean(now.scores(test)), len(np.unique(test.qid))
    lines = [
        *learned.lines(),
        f"Check by pairs, on queries without labels. {pairs.line(found) if outcomes else pairs.why_none()}",
        f"The truth, on {n_queries} other queries: {measure} {new:.4f}, the baseline's {old:.4f} "
        f"({signed(new - old)}).",
    ]
    truth = {"measure": measure, "queries": n_queries, "new": new, "baseline": old}
    return lines, dict(learned.facts) | {"side_by_side": side_by_side_as_dict(found), "truth": truth}


def reasons(training: Dataset, test: Dataset, n: int = 3) -> str:
    """Say why the first document of a query has its score, and why it ranks above the second."""
    ranker = GlobalRules().fit(training)
    query = test[test.qid == test.qid[0]]
    first, second = np.argsort(-ranker.predict(query), kind="stable")[:2].tolist()
    why, versus = ranker.explain(query, first), ranker.explain(query, first, versus=second)
    title, asked = (query.texts.get(name) for name in ("title", "query_text"))
    what = why.document if title is None else f"{why.document} ({title[first]})"
    who = query.qid[0] if asked is None else repr(asked[0])
    return "\n".join(
        [f"Why is {what} first for {who}? All rules that cover it vote; exactly:"]
        + [f"  {line}" for line in why.lines(n)]
        + ["And why above the second? By feature:"]
        + [f"  {line}" for line in versus.lines(n)]
    )
