"""One query of 100 documents through a Reranker: ready features as dicts, and texts; beside LightGBM's predict alone.

OHSUMED's fold 1 when RULERANK_DATA is set, else a synthetic synthetic; texts are a synthetic shop's. All times are CPU
time of the one thread that ranks, LightGBM's too: machines that run benchmarks are seldom idle.
"""

from __future__ import annotations

import os
import tempfile
import time
from functools import partial

import numpy as np

import rulerank as rr
from timing import median_time

N_DOCS = 100
busy = partial(median_time, clock=time.thread_time)


def main() -> None:
    if os.environ.get("RULERANK_DATA"):
        data = rr.read_letor(f"{os.environ['RULERANK_DATA']}/letor3-ohsumed/Fold1/train.txt")
    else:
        print("RULERANK_DATA is not set: synthetic data instead of OHSUMED")
        data = rr.datasets.make_ranking(n_queries=100, seed=0)
    peer = lightgbm(data)
    X = data.X[:N_DOCS]
    one = rr.Dataset(X, data.y[:N_DOCS], np.zeros(N_DOCS), feature_names=data.feature_names)
    rows = [dict(zip(data.feature_names, row, strict=True)) for row in X.tolist()]
    docs = [{"id": str(place), "features": row} for place, row in enumerate(rows)]
    print(f"{N_DOCS} documents with {X.shape[1]} ready features, CPU time, median of 201 (goal: 2 ms)")
    for ranker in (rr.FittedRules(), rr.GlobalRules(), rr.QueryIntercepts(missing="mean")):
        reranker = rr.Reranker(ranker.fit(data)).warm()
        seconds = busy(lambda r=reranker: r.rank("", docs), 201)
        others = {
            "of a Dataset": busy(lambda r=reranker: r.rank("", one), 201),
            "all as plain values": busy(lambda r=reranker: r.rank("", docs, None).to_dict(n_reasons=0), 201),
            "ten with reasons": busy(lambda r=reranker: r.rank("", docs).to_dict(), 51),
        }
        said = ", ".join(f"{name} {1000 * value:.2f}" for name, value in others.items())
        print(f"{type(ranker).__name__:16} {1000 * seconds:5.2f} ms ({said})", end="")
        if peer is not None:
            alone = busy(lambda: peer.predict(X), 201)
            print(f"; LightGBM's predict, one thread, alone {1000 * alone:.2f} ms: {seconds / alone:.1f} times", end="")
        print()
    texts()


def lightgbm(data: rr.Dataset) -> object | None:
    try:
        import lightgbm
    except ImportError:
        print("LightGBM is not installed: nothing to compare with")
        return None
    _, sizes = np.unique(data.qid, return_counts=True)  # about: any groups do for the time that predict takes
    peer = lightgbm.LGBMRanker(n_estimators=100, verbose=-1, n_jobs=1)
    return peer.fit(data.X, data.y, group=sizes)


def texts() -> None:
    shop = rr.datasets.make_shop(n_products=5000, n_queries=200, seed=0)
    features = rr.TextFeatures().fit(shop.documents)
    ranker = rr.FittedRules().fit(shop.graded(features.dataset(shop.queries, top=50)))
    reranker = rr.Reranker(ranker, features).warm()
    sizes = f"{len(shop.documents):,} products, {len(features.feature_names_)} features"
    print(f"texts: {sizes}, CPU time, median over 200 queries")
    by_id = {doc["id"]: doc for doc in shop.records}
    queries = [(query, reranker.rank(query, top=None, candidates=N_DOCS).ids) for query in shop.queries.texts]
    kinds = {
        "candidates of the index": lambda query, ids: reranker.rank(query, candidates=N_DOCS),
        "documents by id": lambda query, ids: reranker.rank(query, ids),
        "documents as texts": lambda query, ids: reranker.rank(query, [by_id[one] for one in ids]),
    }
    for name, call in kinds.items():
        asked = iter([*queries, *queries, *queries])
        print(f"  {name:24} {1000 * busy(lambda c=call, a=asked: c(*next(a)), 200):5.2f} ms (goal: 20)")
    with tempfile.TemporaryDirectory() as folder:
        path = f"{folder}/shop.rulerank"
        save = busy(lambda: reranker.save(path), 3)
        load = busy(lambda: rr.load(path), 3)
        size = os.path.getsize(path) / 2**20
        print(f"one file of {size:.1f} MB: saved in {save:.2f} s, loaded in {load:.2f} s")
        watched = rr.Reranker.watch(path, every=0)
        print(f"a look at the file: {1e6 * busy(watched.current, 1001):.0f} microseconds")


if __name__ == "__main__":
    main()
