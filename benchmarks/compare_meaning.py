"""What similarity in meaning adds: the tables of docs/benchmarks/texts.md, and the speed of embedding and searching.

    RULERANK_TEXTS=FOLDER python benchmarks/compare_meaning.py [--embed static,lsa] [--sets cranfield,cisi,movies]
    RULERANK_TEXTS=FOLDER python benchmarks/compare_meaning.py --few-labels [--embed static]
    python benchmarks/compare_meaning.py --speed [--docs 100000]

NDCG@10 on five half splits by query; "trained" is what `rulerank train` selects. Gains are means over queries (of a
query's splits) with their paired standard errors. cranfield and cisi: the best 100 documents by BM25 or by both
(hybrid); others are not relevant. movies: 1,500 queries (--queries) and the documents judged for them, all or those
among the best 100. MiniLM is onnx:FOLDER with the folder that `bert_to_onnx.py` makes. Vectors, and what each split
gave, are kept in build/meaning. --few-labels: what 50, 100 and 400 labels change on the fused baseline, 20 splits.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import time
import warnings
from dataclasses import replace
from pathlib import Path

import numpy as np

import rulerank as rr
from bench_text_features import synthetic
from few_labels import SIZES, by_library, print_gains
from rulerank._util.parameters import Array
from rulerank.baseline import find_baseline

BM25, DENSE = "bm25(all)", "meaning(all)"
FUSED = f"{BM25} + {DENSE}"
BUILD = Path("build/meaning")
N_QUERIES = 1500  # of movies; their judged documents are the collection
N_SPLITS = 5


def read(folder: Path) -> tuple[rr.Documents, rr.Queries, rr.Qrels]:
    if folder.name != "movies":
        docs, queries, qrels = (folder / name for name in ("docs.jsonl.gz", "queries.tsv", "qrels.txt"))
        return rr.read_documents(docs), rr.read_queries(queries), rr.io.read_judgements(qrels)
    documents = rr.read_documents(folder / "corpus.jsonl.gz")
    queries, qrels = (read(folder / "judgments.tsv.gz") for read in (rr.read_queries, rr.io.read_judgements))
    kept = np.random.default_rng(0).permutation(len(queries))[:N_QUERIES]
    queries = rr.Queries(queries.ids[kept], [queries.texts[place] for place in kept])
    own = np.isin(qrels.qid, queries.ids)
    qrels = rr.Qrels(qrels.qid[own], qrels.docid[own], qrels.grade[own])
    rows = np.flatnonzero(np.isin(documents.ids, qrels.docid)).tolist()
    fields = {name: [values[row] for row in rows] for name, values in documents.fields.items()}
    return rr.Documents(documents.ids[rows], fields), queries, qrels


def graded(folder: Path, candidates: str, embed: str) -> rr.Dataset:
    """Return the candidates of a collection's queries with their grades."""
    documents, queries, qrels = read(folder)
    way = "bm25" if candidates == "judged" else candidates
    BUILD.mkdir(parents=True, exist_ok=True)
    features = rr.TextFeatures(embed=embed, candidates=way).fit(documents, BUILD / f"{folder.name}-{short(embed)}")
    top = 0 if candidates == "judged" else 100
    unjudged = "skip" if folder.name == "movies" else 0
    data = features.dataset(queries, qrels, top=top, unjudged=unjudged, judged_extra=False)
    return data[np.isin(data.qid, qrels.qid)].labelled(unjudged)


def short(embed: str) -> str:
    return Path(embed.partition(":")[2] or embed).name


def by_query(test: rr.Dataset, scores: Array) -> dict[str, float]:
    measured = rr.evaluate(test, scores, measures="NDCG@10")
    return dict(zip(map(str, measured.queries), measured.values[0].tolist(), strict=True))


def ways(data: rr.Dataset, seed: int) -> dict[str, dict[str, float]]:
    """Return NDCG@10 by query of each way to rank the test half of a split."""
    names = [name for name in data.feature_names if name != DENSE]
    columns = [data.feature_names.index(name) for name in names]
    plain = replace(data, X=data.X[:, columns], feature_names=tuple(names))
    ids = np.unique(data.qid)
    half = np.isin(data.qid, np.random.default_rng(seed).permutation(ids)[: len(ids) // 2])
    test = data[~half]
    ranked = {name: find_baseline(data.feature_names, name).scores(test) for name in (BM25, DENSE, FUSED)}
    ranked["without"] = rr.select(plain[half]).ranker.predict(plain[~half])
    ranked["with"] = rr.select(data[half]).ranker.predict(test)
    return {name: by_query(test, scores) for name, scores in ranked.items()}


def gain(splits: list[dict[str, dict[str, float]]], new: str, old: str) -> str:
    """Return the mean difference and its standard error over queries."""
    differences: dict[str, list[float]] = {}
    for split in splits:
        for query, value in split[new].items():
            differences.setdefault(query, []).append(value - split[old][query])
    means = np.array([np.mean(values) for values in differences.values()])
    return f"{means.mean():+.3f} ± {means.std(ddof=1) / np.sqrt(means.size):.3f}"


def quality(folder: Path, names: list[str], embedders: list[str]) -> None:
    heads = ("BM25", "dense", "fused, no labels", "trained without", "trained with", "gain, fused", "gain, trained")
    print(f"| set, candidates, embedder | {' | '.join(heads)} |")
    print("| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: |")
    for name in names:
        for candidates in ("bm25", "hybrid") if name != "movies" else ("judged", "bm25", "hybrid"):
            for embed in embedders:
                n_queries = f"-{N_QUERIES}" if name == "movies" else ""
                kept = BUILD / f"{name}{n_queries}-{candidates}-{short(embed)}.json"
                if not kept.exists():
                    data = graded(folder / name, candidates, embed)
                    kept.write_text(json.dumps([ways(data, seed) for seed in range(N_SPLITS)]))
                splits = json.loads(kept.read_text())
                means = [np.mean([value for split in splits for value in split[way].values()]) for way in splits[0]]
                shown = " | ".join(f"{value:.3f}" for value in means)
                gains = f"{gain(splits, FUSED, BM25)} | {gain(splits, 'with', 'without')}"
                print(f"| {name}, {candidates}, {short(embed)} | {shown} | {gains} |", flush=True)


def few_labels(folder: Path, names: list[str], embedders: list[str]) -> None:
    SIZES[:] = [50, 100, 400]
    for name in names:
        for embed in embedders:
            data = graded(folder / name, "judged" if name == "movies" else "bm25", embed)
            print(f"{name}, {short(embed)}: {data!r}", flush=True)
            print_gains(data, find_baseline(data.feature_names, FUSED), 20, by_library)


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
    global N_QUERIES
    warnings.simplefilter("ignore")
    parser = argparse.ArgumentParser()
    parser.add_argument("--embed", default="static,lsa")
    parser.add_argument("--sets", default="cranfield,cisi,movies")
    parser.add_argument("--queries", type=int, default=N_QUERIES, help="of movies")
    parser.add_argument("--few-labels", action="store_true")
    parser.add_argument("--speed", action="store_true")
    parser.add_argument("--docs", type=int, default=100_000)
    given = parser.parse_args()
    N_QUERIES = given.queries
    if given.speed:
        speed(given.docs)
    else:
        table = few_labels if given.few_labels else quality
        table(Path(os.environ["RULERANK_TEXTS"]), given.sets.split(","), given.embed.split(","))


if __name__ == "__main__":
    main()
