"""Text features: rows per second and peak memory on movies; index, memory and milliseconds on a million documents.

    [RULERANK_TEXTS=FOLDER] python benchmarks/bench_text_features.py [--docs 1000000]

The million short documents are drawn by NumPy: words by Zipf's law, a title of 5 words, a text of 25, a price, a brand.
"""

from __future__ import annotations

import os
import resource
import statistics
import sys
import time
import warnings
from pathlib import Path

import numpy as np

import rulerank as rr
from rulerank.text.analyser import Analyser
from rulerank.text.candidates import best_documents
from rulerank.text.matching import asked


def peak() -> str:
    return f"{resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024**2:.2f} GB peak"


def movies(folder: Path) -> None:
    start = time.perf_counter()
    texts = rr.read_documents(folder / "corpus.jsonl.gz")
    queries, qrels = (read(folder / "judgments.tsv.gz") for read in (rr.read_queries, rr.io.read_judgements))
    features = rr.TextFeatures().fit(texts)
    features.for_query("warm up")
    ready = time.perf_counter()
    data = features.dataset(queries, qrels, top=0)
    done = time.perf_counter()
    print(
        f"movies: read and index {ready - start:.1f} s, {len(data):,} rows x {data.X.shape[1]} features in "
        f"{done - ready:.1f} s ({len(data) / (done - ready):,.0f} rows/s), {peak()}"
    )


def synthetic(n_docs: int, n_words: int = 300_000, seed: int = 0) -> rr.Documents:
    rng = np.random.default_rng(seed)
    words = np.array([f"w{number:x}" for number in range(n_words)], dtype=object)
    numbers = np.minimum(rng.zipf(1.15, size=(n_docs, 30)) - 1, n_words - 1)
    texts = [" ".join(words[row]) for row in numbers]
    titles = [" ".join(text.split(" ", 5)[:5]) for text in texts]
    brands = [f"brand {number}" for number in rng.integers(0, 200, n_docs)]
    fields = {"title": titles, "text": texts, "price": rng.lognormal(3, 1, n_docs).tolist(), "brand": brands}
    return rr.Documents(np.array([f"d{i}" for i in range(n_docs)], dtype=object), fields)


def million(n_docs: int) -> None:
    texts = synthetic(n_docs)
    print(f"{n_docs:,} documents made, {peak()}", flush=True)
    kinds = {"title": "title", "text": "text", "price": "number", "brand": "category"}
    start = time.perf_counter()
    features = rr.TextFeatures(kinds, features="all").fit(texts)
    print(f"index {time.perf_counter() - start:.1f} s, {len(features.feature_names_)} features, {peak()}", flush=True)
    arrays = features.documents_
    n_bytes = sum(
        a.nbytes for a in (arrays.forward.tokens, arrays.forward.starts, arrays.forward.lengths, arrays.norms)
    )
    start = time.perf_counter()
    inverted = features.inverted
    n_inverted = sum(array.nbytes for array in inverted)
    print(
        f"inverted index {time.perf_counter() - start:.1f} s; forward {n_bytes / 1e6:.0f} MB, inverted "
        f"{n_inverted / 1e6:.0f} MB, {peak()}",
        flush=True,
    )
    rng = np.random.default_rng(1)
    titles = texts.fields["title"]
    queries = [
        " ".join(rng.permutation(titles[doc].split())[: rng.integers(1, 5)]) for doc in rng.integers(0, n_docs, 220)
    ]
    for query in queries[:20]:
        features.for_query(query)
    times, alone, spent = [], [], time.process_time()
    for query in queries[20:]:
        start = time.perf_counter()
        best_documents(inverted, asked(features.collection_, [query], {}).words, 100, 1)
        middle = time.perf_counter()
        features.for_query(query)
        times.append(1000 * (time.perf_counter() - middle))
        alone.append(1000 * (middle - start))
    spent = 1000 * (time.process_time() - spent) / len(times)
    print(f"processor time per query, candidates looked up twice: {spent:.1f} ms")
    print(
        f"one query, 100 candidates, all features: median {statistics.median(times):.1f} ms, 95 % below "
        f"{np.quantile(times, 0.95):.1f} ms; of this candidates {statistics.median(alone):.1f} ms"
    )


def main() -> None:
    warnings.simplefilter("ignore")
    Analyser("en")
    if os.environ.get("RULERANK_TEXTS"):
        movies(Path(os.environ["RULERANK_TEXTS"], "movies"))
    million(int(sys.argv[sys.argv.index("--docs") + 1]) if "--docs" in sys.argv else 1_000_000)


if __name__ == "__main__":
    main()
