"""What similarity in meaning adds: the table of docs/text-features.md, and the speed of embedding and searching.

    RULERANK_TEXTS=FOLDER python benchmarks/compare_meaning.py [--embed static,lsa] [--sets cranfield,cisi] [--auto]
    python benchmarks/compare_meaning.py --speed [--docs 100000]

NDCG@10 on five half splits by query; gains are means over queries (of a query's splits) with their paired standard
errors. cranfield and cisi: the best 100 documents by BM25 or by both (hybrid). movies: 1,500 queries, the judged
documents. "trained" is QueryIntercepts on z-scores with l2 = 100, or with --auto what `rulerank train` selects, which
takes an hour. sentence-transformers:FOLDER takes MiniLM where that library is installed; vectors of documents are kept
in the folder build/.
"""

from __future__ import annotations

import argparse
import os
import resource
import time
import warnings
from pathlib import Path

import numpy as np

import rulerank as rr
from bench_text_features import synthetic
from rulerank._util.parameters import Array
from rulerank.baseline import find_baseline

FUSED = "bm25(all) + meaning(all)"
N_QUERIES = 1500  # of movies


def read(folder: Path) -> tuple[rr.Documents, rr.Queries, rr.Qrels]:
    if folder.name != "movies":
        names = ("docs.jsonl.gz", "queries.tsv", "qrels.txt")
        docs, queries, qrels = (folder / name for name in names)
        return rr.read_documents(docs), rr.read_queries(queries), rr.io.read_judgements(qrels)
    queries, qrels = (read(folder / "judgments.tsv.gz") for read in (rr.read_queries, rr.io.read_judgements))
    kept = np.random.default_rng(0).permutation(len(queries))[:N_QUERIES]
    queries = rr.Queries(queries.ids[kept], [queries.texts[place] for place in kept])
    there = np.isin(qrels.qid, queries.ids)
    return (
        rr.read_documents(folder / "corpus.jsonl.gz"),
        queries,
        rr.Qrels(qrels.qid[there], qrels.docid[there], qrels.grade[there]),
    )


def by_query(test: rr.Dataset, scores: Array) -> dict[str, float]:
    found = rr.evaluate(test, scores, measures="NDCG@10")
    return dict(zip(map(str, found.queries), found.values[0].tolist(), strict=True))


def trained(train: rr.Dataset, test: rr.Dataset, auto: bool) -> Array:
    ranker = rr.QueryIntercepts(missing="mean", normalize="zscore", l2=100.0)
    return (rr.select(train).ranker if auto else ranker.fit(train)).predict(test)


def rows_of(data: rr.Dataset, auto: bool) -> dict[str, list[dict[str, float]]]:
    """Return NDCG@10 by query of each way to rank, split by split."""
    names = [name for name in data.feature_names if name != "meaning(all)"]
    columns = [data.feature_names.index(name) for name in names]
    plain = rr.Dataset(data.X[:, columns], data.y, data.qid, data.docid, names, base=data.base)
    ids = np.unique(data.qid)
    rows: dict[str, list[dict[str, float]]] = {}
    for seed in range(5):
        half = np.isin(data.qid, np.random.default_rng(seed).permutation(ids)[: len(ids) // 2])
        test = data[~half]
        for name in ("bm25(all)", "meaning(all)", FUSED):
            ranked = find_baseline(data.feature_names, name).scores(test)
            rows.setdefault(name, []).append(by_query(test, ranked))
        rows.setdefault("trained without", []).append(by_query(test, trained(plain[half], plain[~half], auto)))
        rows.setdefault("trained with", []).append(by_query(test, trained(data[half], test, auto)))
    return rows


def gain(ones: list[dict[str, float]], others: list[dict[str, float]]) -> str:
    """Return the mean difference and its standard error over queries."""
    found: dict[str, list[float]] = {}
    for one, other in zip(ones, others, strict=True):
        for query, value in one.items():
            found.setdefault(query, []).append(value - other[query])
    means = np.array([np.mean(values) for values in found.values()])
    return f"{means.mean():+.3f} ± {means.std(ddof=1) / np.sqrt(means.size):.3f}"


def quality(folder: Path, names: list[str], embedders: list[str], auto: bool) -> None:
    Path("build").mkdir(exist_ok=True)
    heads = ("BM25", "dense", "fused, no labels", "trained without", "trained with", "gain, fused", "gain, trained")
    print(f"| set, candidates, embedder | {' | '.join(heads)} |")
    print("| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: |")
    for name in names:
        documents, queries, qrels = read(folder / name)
        for embed in embedders:
            for candidates in ("bm25", "hybrid") if name != "movies" else ("bm25",):
                cache = f"build/{name}-{embed.rpartition('/')[2]}.vectors"
                features = rr.TextFeatures(embed=embed, candidates=candidates).fit(documents, cache)
                top = 0 if name == "movies" else 100
                data = features.dataset(queries, qrels, top=top, unjudged=0, judged_extra=False)
                data = data[np.isin(data.qid, qrels.qid)]
                rows = rows_of(data, auto)
                figures = [np.mean([value for one in own for value in one.values()]) for own in rows.values()]
                shown = " | ".join(f"{value:.3f}" for value in figures)
                where = "judged" if name == "movies" else candidates
                last = gain(rows[FUSED], rows["bm25(all)"]), gain(rows["trained with"], rows["trained without"])
                print(f"| {name}, {where}, {embed.rpartition('/')[2]} | {shown} | {' | '.join(last)} |", flush=True)


def speed(n_docs: int) -> None:
    documents = synthetic(n_docs)
    titles = documents.fields["title"]
    queries = [" ".join(titles[place].split()[:3]) for place in range(0, n_docs, max(1, n_docs // 200))][:200]
    times: dict[str, float] = {}
    for embed, candidates in ((None, "bm25"), ("static", "bm25"), ("static", "hybrid")):
        kinds = {"title": "title", "text": "text", "price": "number", "brand": "category"}
        start, spent = time.perf_counter(), time.process_time()
        features = rr.TextFeatures(kinds, embed=embed, candidates=candidates).fit(documents)
        took, spent = time.perf_counter() - start, time.process_time() - spent
        for query in queries[:20]:
            features.for_query(query)
        own, busy = [], time.process_time()
        for query in queries[20:]:
            start = time.perf_counter()
            features.for_query(query)
            own.append(1000 * (time.perf_counter() - start))
        busy = 1000 * (time.process_time() - busy) / len(own)
        label = f"{embed or 'no embedder'}, {candidates}"
        times[label] = float(np.median(own))
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024**2
        print(
            f"{label}: fit {took:.1f} s ({spent:.1f} s of processor), a query with its 100 candidates "
            f"{times[label]:.2f} ms, best {min(own):.2f}, {busy:.2f} of processor, {peak:.2f} GB peak",
            flush=True,
        )


def main() -> None:
    warnings.simplefilter("ignore")
    parser = argparse.ArgumentParser()
    parser.add_argument("--embed", default="static,lsa")
    parser.add_argument("--sets", default="cranfield,cisi,movies")
    parser.add_argument("--auto", action="store_true")
    parser.add_argument("--speed", action="store_true")
    parser.add_argument("--docs", type=int, default=100_000)
    given = parser.parse_args()
    if given.speed:
        speed(given.docs)
    else:
        quality(Path(os.environ["RULERANK_TEXTS"]), given.sets.split(","), given.embed.split(","), given.auto)


if __name__ == "__main__":
    main()
