"""rulerank demo: what the library is for, in a minute, without a file."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, replace
from typing import TYPE_CHECKING, Any

from rulerank.cli.options import AsJson, Queries, Seed
from rulerank.errors import DataError

if TYPE_CHECKING:
    from rulerank.dataset import Array, Dataset, Fold
    from rulerank.evaluation import Pair
    from rulerank.experiment.label_curve.result import LabelCurve

MEASURES = ("NDCG@10", "MAP", "P@1")
OBVIOUS = ("bm25_body", "pagerank")  # what one would sort by without any grades
MIN_QUERIES = 10
BEST = "best single feature"
TRUTH = "the true relevance"
OURS = "RE-GR (default)"
FEW = (20, 40)  # labels, before SSAR stops by itself
N_DRAWS = 10


class Regression:
    """Ridge regression on the grades: the least a learner can do."""

    def fit(self, X: Array, y: Array, qid: Array) -> Regression:
        from sklearn.impute import SimpleImputer
        from sklearn.linear_model import Ridge
        from sklearn.pipeline import make_pipeline
        from sklearn.preprocessing import StandardScaler

        self.model_ = make_pipeline(SimpleImputer(), StandardScaler(), Ridge()).fit(X, y)
        return self

    def predict(self, X: Array) -> Array:
        return self.model_.predict(X)


def methods() -> dict[str, Callable[[], Any]]:
    """Return, by label, what makes a ranker with fit(X, y, qid=) and predict(X): one line each."""
    from rulerank.rankers.global_rules import GlobalRules
    from rulerank.rankers.linear.query_intercepts import QueryIntercepts
    from rulerank.rankers.query_rules import QueryRules
    from rulerank.rankers.stable_rules import StableRules

    return {
        "ridge regression": Regression,
        "query intercepts": lambda: QueryIntercepts(l2=10.0, missing="mean"),
        "RE-QR (query-level rules)": QueryRules,
        "RE-SR (stable rules)": StableRules,
        "RE-GR, literal (votes='mean')": lambda: GlobalRules(votes="mean"),
        OURS: GlobalRules,
    }


def demo(queries: Queries = 100, seed: Seed = 0, as_json: AsJson = False) -> None:
    """See what learning to rank gains, in a minute.

    Ranks a synthetic web search by single features and by learning from grades, and compares the two. It needs no file.

    Example:
        rulerank demo
        rulerank demo --queries 60 --seed 3 --json
    """
    import numpy as np

    from rulerank.cli.output import print_json
    from rulerank.cli.results import as_payload, show
    from rulerank.core.progress import progress
    from rulerank.dataset import Dataset
    from rulerank.evaluation import compare_results, evaluate
    from rulerank.evaluation.single_feature import best_feature, feature_scores
    from rulerank.worlds import make_folds, make_world

    if queries < MIN_QUERIES:
        raise DataError(f"--queries must be at least {MIN_QUERIES}, two to test in each fold: got {queries}")
    data, truth = make_world(n_queries=queries, seed=seed, return_truth=True)
    folds = make_folds(data, seed=seed)
    trainings = [Dataset.concat([fold.train, fold.vali]) for fold in folds]
    tests = [fold.test for fold in folds]
    tested = Dataset.concat(tests)

    chosen = [best_feature(training, MEASURES[0]) for training in trainings]
    scores = {"random order": np.zeros(len(tested))}  # all tied: the expected value over all orders
    scores |= {f"by {name}": feature_scores(tested, name) for name in OBVIOUS}
    scores[BEST] = np.concatenate([feature_scores(test, name) for test, name in zip(tests, chosen, strict=True)])
    learners = methods()
    with progress(len(learners) * len(folds), "learning") as bar:
        for label, make in learners.items():
            parts = []
            for training, test in zip(trainings, tests, strict=True):
                parts.append(make().fit(training.X, training.y, qid=training.qid).predict(test.X))
                bar.advance()
            scores[label] = np.concatenate(parts)

    results = {label: evaluate(tested.y, values, tested.qid, MEASURES) for label, values in scores.items()}
    results[TRUTH] = evaluate(data.y, truth, data.qid, MEASURES)
    comparison = compare_results({label: results[label] for label in (*learners, BEST)})
    parts_of_folds = zip(folds, trainings, strict=True)
    curve = few_labels([replace(fold, train=training) for fold, training in parts_of_folds], seed)
    if as_json:
        world = {"seed": seed, "queries": queries, "rows": len(data), "features": data.feature_names}
        payload = {"world": world, "chosen_features": chosen} | as_payload(results, comparison)
        print_json(payload | {"label_curve": asdict(curve)})
        return
    print(f"A synthetic web search: {data!r}")
    print(f"Each query is ranked by what was learned from the others, in {len(folds)} folds.\n")
    show(results)
    print("RE-GR: relevance estimation with global rules, learned from the training queries of each fold")
    print(f"{BEST}: {', '.join(dict.fromkeys(chosen))}, chosen on the training queries of each fold")
    print(f"\n{closing(next(pair for pair in comparison.pairs if (pair.a, pair.b) == (OURS, BEST)))}")
    print()
    show_few_labels(curve)
    print(f"\n{reasons(trainings[0], tests[0])}")


def closing(pair: Pair) -> str:
    """Say in a sentence what the table shows."""
    verdict = "Learning pays" if pair.low > 0 else "No sure gain"
    does, than = ("gains", "over") if pair.difference >= 0 else ("loses", "to")
    return (
        f"{verdict}: {pair.a} {does} {abs(pair.difference):.3f} in {pair.measure} {than} the {pair.b}, "
        f"better on {pair.wins} queries and worse on {pair.losses}\n"
        f"({pair.low:+.3f} to {pair.high:+.3f} with 95 % confidence, p = {pair.p_holm['randomisation']:.4f})."
    )


def few_labels(folds: list[Fold], seed: int) -> LabelCurve:
    """Learn from a few labels that SSAR asks for, and from as many at random."""
    from rulerank.experiment.label_curve.curve import SAMPLERS, label_curve

    only = {"SSAR": SAMPLERS["SSAR"]}
    return label_curve(folds, ["QI"], only, sizes=FEW, n_draws=N_DRAWS, feature=OBVIOUS[0], seed=seed)


def show_few_labels(curve: LabelCurve) -> None:
    """Print what few labels are worth."""
    from rulerank.cli.output import print_table
    from rulerank.experiment.label_curve.result import RANDOM

    rows = []
    for point in curve.of("QI", "SSAR"):
        chance = curve.with_same_labels(point, RANDOM)
        assert chance is not None
        stops = ", where it stops by itself" if point.stop_of else ""
        at_random = f"{chance.value:.4f} ({chance.low:.4f} to {chance.high:.4f})"
        rows.append([f"{point.n_labels:,.0f} of {curve.n_pool:,.0f}{stops}", f"{point.value:.4f}", at_random])
    rows.append(["all", f"{curve.lines[0].value:.4f}", ""])
    print("Labels are costly. SSAR says which documents to label, one at a time; query intercepts learn from them:")
    print_table(["labels", "MAP, chosen by SSAR", f"at random (95 % of {curve.n_draws} draws)"], rows)


def reasons(training: Dataset, test: Dataset, n: int = 3) -> str:
    """Say why the first document of a query has its score, and why it stands above the second."""
    import numpy as np

    from rulerank.rankers.global_rules import GlobalRules

    ranker = GlobalRules().fit(training)
    query = test[test.qid == test.qid[0]]
    first, second = np.argsort(-ranker.predict(query), kind="stable")[:2].tolist()
    why, versus = ranker.explain(query, first), ranker.explain(query, first, versus=second)
    question = f"Why is {why.document} first for {query.qid[0]}? All rules that cover it vote; exactly:"
    return "\n".join(
        [question, *(f"  {line}" for line in why.lines(n)), "And why above the second? By feature:"]
        + [f"  {line}" for line in versus.lines(n)]
    )
