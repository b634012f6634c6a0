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

from rulerank.core.progress import progress
from rulerank.dataset import UNLABELLED, Dataset, Fold
from rulerank.datasets.shop import Shop, make_shop
from rulerank.evaluation import Comparison, ComparisonTable, Result, compare_results, evaluate
from rulerank.evaluation.evaluation import as_dict
from rulerank.evaluation.rankings import best_feature, feature_scores
from rulerank.experiment.label_curve.curve import label_curve
from rulerank.experiment.label_curve.result import LOSS, LabelCurve, signed
from rulerank.experiment.label_curve.simulation import FROM_TODAY, STRATA, HalfSplits
from rulerank.features.text_features import TextFeatures
from rulerank.judging.duels import Duels, compare_duels, duels_as_dict, run_duels
from rulerank.judging.pool import Pool
from rulerank.rankers.fitted.fitted_rules import FittedRules
from rulerank.rankers.foreign import fit_ranker, predict_ranker
from rulerank.rankers.global_rules import GlobalRules
from rulerank.rankers.linear.query_intercepts import QueryIntercepts
from rulerank.rankers.query_rules import QueryRules
from rulerank.rankers.stable_rules import StableRules
from rulerank.sampling.strata import Strata
from rulerank.splitting import make_folds
from rulerank.today import find_today
from rulerank.training.selection import Selection, select

MEASURES = ("NDCG@10", "MAP", "P@1")
TODAY = "bm25(all)"  # what a shop without learning sorts by
BM25 = "BM25 alone"
BEST = "best single feature"
OURS = "RE-GR (default)"
MIN_QUERIES = 10
TOP = 50  # candidates of a query
BUDGET = 100  # few labels: ten documents each of ten queries
SIZES = (50, 100, 200, 400)  # of the label curve
N_SPLITS = 10

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
class FewLabels:
    """What a hundred labels made of today's ranking, what a check says of it, and what is true."""

    learned: Selection
    duels: Comparison
    check: str  # what follows from them
    truth: dict[str, Any]  # the measure on queries that neither the labels nor the check have seen
    curve: LabelCurve

    def lines(self) -> list[str]:
        """Say what a user sees, and then the truth, which on real searches nobody knows."""
        new, today = self.truth["new"], self.truth["today"]
        return [
            *self.learned.lines(),
            f"Check by duels, on queries without labels. {self.check}",
            f"The truth, on {self.truth['queries']} other queries: {self.truth['measure']} {new:.4f}, "
            f"today's {today:.4f} ({signed(new - today)}).",
        ]

    def table(self) -> tuple[list[str], list[list[str]]]:
        """Return header and rows: what was gained over today's ranking with more and fewer labels."""
        splits = f"worst of {self.curve.n_folds} splits"
        header = ["labels", f"{self.truth['measure']}, gain over today's", splits, f"more than {LOSS} lost in"]
        rows = [["0: today's ranking", ".000", ".000", "0"]]
        for point in self.curve.points:
            assert point.gains is not None
            share = f"{point.n_labels:,.0f} of {self.curve.n_pool:,.0f}"
            rows.append([share, signed(point.gains.mean), signed(point.gains.worst), f"{point.gains.n_losses}"])
        return header, rows


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
    few: FewLabels

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
        """Return all figures as plain values."""
        sizes = {"products": len(self.shop.texts), "queries": len(self.shop.queries), "rows": len(self.data)}
        shop = {"seed": self.seed} | sizes | {"features": self.data.feature_names}
        few = dict(self.few.learned.facts) | {"duels": duels_as_dict(self.few.duels), "truth": self.few.truth}
        return (
            {"shop": shop, "chosen_features": self.chosen}
            | as_dict(self.results, self.comparison)
            | {"few_labels": few, "label_curve": self.few.curve.to_dict()}
        )


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
    return Demo(seed, shop, data, folds, chosen, results, comparison, learn_from_few(data, TODAY, MEASURES[0], seed))


def learn_from_few(data: Dataset, today: str, measure: str, seed: int = 0) -> FewLabels:
    """Label documents of half the queries by their own grades, learn, check, and look at the other half.

    >>> import rulerank as rr
    >>> few = learn_from_few(rr.make_ranking(n_queries=40, seed=1), "bm25_body", "NDCG@10")
    >>> few.learned.facts["labels"], few.truth["queries"], few.duels.verdict
    (100, 20, 'too few')
    """
    split: Fold = HalfSplits(data, 2, seed=seed)[0]
    pool, test = split.train, split.test
    rows = Strata(today=today, seed=seed).select(pool, lambda row: pool.y[row], budget=min(BUDGET, len(pool)))
    grades = np.full(len(pool), UNLABELLED)
    grades[rows] = pool.y[rows]
    learned = select(replace(pool, y=grades), today=today)
    now = find_today(data.feature_names, today)
    judged = {str(name) for name in pool.qid[rows]}
    duels = Duels(Pool(replace(pool, texts={})), learned.ranker.predict(pool), now.scores(pool.X), judged, seed)

    def mean(scores: Any) -> float:
        return float(evaluate(test.y, scores, test.qid, [measure]).means[measure])

    smallest = min(len(one.train) for one in HalfSplits(data, N_SPLITS, seed=seed))
    sizes = [size for size in SIZES if size <= smallest]
    setting: dict[str, Any] = {"n_splits": N_SPLITS, "today": today, "measure": measure, "seed": seed}
    curve = label_curve(data, [FROM_TODAY], [STRATA], sizes=sizes, **setting)
    outcomes = run_duels(duels, lambda duel: (int(pool.y[duel.shown[0]]), int(pool.y[duel.shown[1]])))
    found = compare_duels(outcomes)
    truth = {
        "measure": measure,
        "queries": len(np.unique(test.qid)),
        "new": mean(learned.ranker.predict(test)),
        "today": mean(now.scores(test.X)),
    }
    return FewLabels(learned, found, duels.line(found) if outcomes else duels.why_none(), truth, curve)


def reasons(training: Dataset, test: Dataset, n: int = 3) -> str:
    """Say why the first document of a query has its score, and why it stands above the second."""
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
