"""What the library is for, in a minute: a shop's texts, features, labels, a ranker, and BM25 alone beside it."""

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

from rulerank.core.progress import progress
from rulerank.dataset import Dataset, Fold
from rulerank.evaluation import Comparison, Pair, Result, compare_results, evaluate
from rulerank.evaluation.result import as_dict
from rulerank.evaluation.single_feature import best_feature, feature_scores
from rulerank.experiment.demo_road import Road, walk_the_road
from rulerank.features.text_features import TextFeatures
from rulerank.rankers.fitted.fitted_rules import FittedRules
from rulerank.rankers.foreign import fit_ranker, predict_ranker
from rulerank.rankers.global_rules import GlobalRules
from rulerank.rankers.linear.query_intercepts import QueryIntercepts
from rulerank.rankers.query_rules import QueryRules
from rulerank.rankers.stable_rules import StableRules
from rulerank.shop.shop import Shop, make_shop
from rulerank.worlds import make_folds

MEASURES = ("NDCG@10", "MAP", "P@1")
TODAY = "bm25(all)"  # what a shop without learning sorts by
BM25 = "BM25 alone"
MIN_QUERIES = 10
TOP = 50  # candidates of a query
BEST = "best single feature"
OURS = "RE-GR (default)"

LEARNERS: dict[str, Callable[[], Any]] = {
    "ridge regression": lambda: make_pipeline(SimpleImputer(), StandardScaler(), Ridge()),  # the least one can do
    "query intercepts": lambda: QueryIntercepts(l2=10.0, missing="mean"),
    "fitted rules": FittedRules,
    "RE-QR (query-level rules)": QueryRules,
    "RE-SR (stable rules)": StableRules,
    "RE-GR, literal (votes='mean')": lambda: GlobalRules(votes="mean"),
    OURS: GlobalRules,
}


@dataclass(frozen=True, eq=False)
class Demo:
    """All that `rulerank demo` shows."""

    seed: int
    shop: Shop
    data: Dataset
    folds: tuple[Fold, ...]  # what is learned from is in train
    chosen: tuple[str, ...]  # the best single feature of each fold's train
    results: dict[str, Result]
    comparison: Comparison
    road: Road  # from today's ranking and few labels

    def closing(self) -> str:
        """Say in a sentence what the table shows."""
        return _closing(next(pair for pair in self.comparison.pairs if (pair.a, pair.b) == (OURS, BM25)))

    def an_example(self) -> str:
        """Show what goes in: a document and a few queries."""
        document = self.shop.documents[0]
        shown = ", ".join(f"{name}: {document[name]}" for name in ("title", "brand", "price", "rating", "stock"))
        asked = ", ".join(map(repr, self.shop.queries.texts[:3]))
        return f"A product: {shown}, ...\nQueries: {asked}, ..."

    def reasons(self) -> str:
        """Say why the first document of a query is there."""
        return reasons(self.folds[0].train, self.folds[0].test)

    def to_dict(self) -> dict[str, Any]:
        """Return all figures as plain values."""
        names = self.data.feature_names
        sizes = {"products": len(self.shop.texts), "queries": len(self.shop.queries), "rows": len(self.data)}
        about = {"shop": {"seed": self.seed} | sizes | {"features": names}, "chosen_features": list(self.chosen)}
        few = {"few_labels": self.road.to_dict(), "label_curve": self.road.curve.to_dict()}
        return about | as_dict(self.results, self.comparison) | few


def run_demo(n_queries: int = 100, seed: int = 0) -> Demo:
    """Rank a synthetic shop by BM25, by single features and by what is learned from other queries, in five folds."""
    shop = make_shop(n_queries=n_queries, seed=seed)
    features = TextFeatures(language="none").fit(shop.texts)  # stemming needs an extra, and the demo nothing
    data = shop.graded(features.dataset(shop.queries, top=TOP))
    folds = [replace(fold, train=Dataset.concat([fold.train, fold.vali])) for fold in make_folds(data, seed=seed)]
    tested = Dataset.concat([fold.test for fold in folds])

    chosen = [best_feature(fold.train, MEASURES[0]) for fold in folds]
    scores = {"random order": np.zeros(len(tested))}  # all tied: the expected value over all orders
    scores[BM25] = feature_scores(tested, TODAY)
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
    road = walk_the_road(data, TODAY, MEASURES[0], seed)
    return Demo(seed, shop, data, tuple(folds), tuple(chosen), results, comparison, road)


def _closing(pair: Pair) -> str:
    verdict = "Learning pays" if pair.low > 0 else "No sure gain"
    does, than = ("gains", "over") if pair.difference >= 0 else ("loses", "to")
    return (
        f"{verdict}: {pair.a} {does} {abs(pair.difference):.3f} in {pair.measure} {than} {pair.b}, "
        f"better on {pair.wins} queries and worse on {pair.losses}\n"
        f"({pair.low:+.3f} to {pair.high:+.3f} with 95 % confidence, p = {pair.p_holm['randomisation']:.4f})."
    )


ALL_VOTE = "All rules that cover it vote; exactly:"


def reasons(training: Dataset, test: Dataset, n: int = 3) -> str:
    """Say why the first document of a query has its score, and why it stands above the second."""
    ranker = GlobalRules().fit(training)
    query = test[test.qid == test.qid[0]]
    first, second = np.argsort(-ranker.predict(query), kind="stable")[:2].tolist()
    why, versus = ranker.explain(query, first), ranker.explain(query, first, versus=second)
    title, asked = (query.texts.get(name) for name in ("title", "query_text"))
    what = why.document if title is None else f"{why.document} ({title[first]})"
    question = f"Why is {what} first for {query.qid[0] if asked is None else repr(asked[0])}? {ALL_VOTE}"
    return "\n".join(
        [question, *(f"  {line}" for line in why.lines(n)), "And why above the second? By feature:"]
        + [f"  {line}" for line in versus.lines(n)]
    )
