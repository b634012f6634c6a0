"""rulerank demo: what the library is for, in a minute, without a file."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from rulerank.cli.options import AsJson, Queries, Seed
from rulerank.errors import DataError

if TYPE_CHECKING:
    from rulerank.dataset import Array, Dataset
    from rulerank.evaluation import Pair

MEASURES = ("NDCG@10", "MAP", "P@1")
OBVIOUS = ("bm25_body", "pagerank")  # what one would sort by without any grades
MIN_QUERIES = 10
MIN_ROWS = 30  # of a rule that is shown
BEST = "best single feature"
TRUTH = "the true relevance"
OURS = "RE-GR (default)"


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
    from rulerank.rankers.query_intercepts import QueryIntercepts
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
    from rulerank.cli.rankings import scores_by_feature
    from rulerank.cli.results import as_payload, show
    from rulerank.dataset import Dataset
    from rulerank.evaluation import compare_results, evaluate
    from rulerank.progress import progress
    from rulerank.worlds import make_folds, make_world

    if queries < MIN_QUERIES:
        raise DataError(f"--queries must be at least {MIN_QUERIES}, two to test in each fold: got {queries}")
    data, truth = make_world(n_queries=queries, seed=seed, return_truth=True)
    folds = make_folds(data, seed=seed)
    trainings = [Dataset.concat([fold.train, fold.vali]) for fold in folds]
    tests = [fold.test for fold in folds]
    tested = Dataset.concat(tests)

    chosen = [best_feature(training) for training in trainings]
    scores = {"random order": np.zeros(len(tested))}  # all tied: the expected value over all orders
    scores |= {f"by {name}": scores_by_feature(tested, name) for name in OBVIOUS}
    scores[BEST] = np.concatenate([scores_by_feature(test, name) for test, name in zip(tests, chosen, strict=True)])
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
    if as_json:
        world = {"seed": seed, "queries": queries, "rows": len(data), "features": data.feature_names}
        print_json({"world": world, "chosen_features": chosen} | as_payload(results, comparison))
        return
    print(f"A synthetic web search: {data!r}")
    print(f"Each query is ranked by what was learned from the others, in {len(folds)} folds.\n")
    show(results)
    print("RE-GR: relevance estimation with global rules, learned from the training queries of each fold")
    print(f"{BEST}: {', '.join(dict.fromkeys(chosen))}, chosen on the training queries of each fold")
    print(f"\n{closing(next(pair for pair in comparison.pairs if (pair.a, pair.b) == (OURS, BEST)))}")
    print(f"\n{reasons(trainings[0], tests[0])}")


def best_feature(training: Dataset) -> str:
    """Return the feature, or "-feature" for lowest first, that ranks the training rows best."""
    from rulerank.cli.rankings import scores_by_feature
    from rulerank.evaluation import evaluate

    def quality(name: str) -> float:
        scores = scores_by_feature(training, name)
        return evaluate(training.y, scores, training.qid, MEASURES[0]).means[MEASURES[0]]

    return max((sign + name for name in training.feature_names for sign in ("", "-")), key=quality)


def closing(pair: Pair) -> str:
    """Say in a sentence what the table shows."""
    verdict = "Learning pays" if pair.low > 0 else "No sure gain"
    does, than = ("gains", "over") if pair.difference >= 0 else ("loses", "to")
    return (
        f"{verdict}: {pair.a} {does} {abs(pair.difference):.3f} in {pair.measure} {than} the {pair.b}, "
        f"better on {pair.wins} queries and worse on {pair.losses}\n"
        f"({pair.low:+.3f} to {pair.high:+.3f} with 95 % confidence, p = {pair.p_holm['randomisation']:.4f})."
    )


def reasons(training: Dataset, test: Dataset, n_rules: int = 3) -> str:
    """Show what is behind the first document of a query: rules that cover it and point most to the highest grade."""
    import numpy as np

    from rulerank.rankers.global_rules import GlobalRules

    ranker = GlobalRules().fit(training)
    query = test[test.qid == test.qid[0]]
    best = int(np.argmax(ranker.predict(query)))
    name = query.docid[best] if query.docid is not None else f"document {best + 1}"
    top = int(training.y.max())
    usual = float((training.y == top).mean())
    rules = [rule for rule in ranker.rules_for(query.X[best]) if rule.grade == top and rule.covered >= MIN_ROWS]
    rules.sort(key=lambda rule: rule.confidence, reverse=True)
    question = f"Why is {name} first for {query.qid[0]}? All rules that cover it vote."
    if not rules:
        return f"{question} None of those that cover {MIN_ROWS} training rows or more points to grade {top}."
    lines = [
        f"  {rule}, {rule.confidence / usual:.1f} times the usual share of grade {top}" for rule in rules[:n_rules]
    ]
    return "\n".join([f"{question} Those that point most to grade {top}, with their training rows:", *lines])
