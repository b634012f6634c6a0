"""How far exports are from predict, on test parts, through the real libraries: the table of docs/benchmarks/export.md.

    RULERANK_DATA=... python benchmarks/check_exports.py [--solr] [--movies features.parquet]

Largest difference relative to the largest score; pairs of documents of a query that are the other way round; ties of
predict that are broken. Without the engines' programs, twins of their arithmetic (tests/plain/engines.py) stand in.
"""

from __future__ import annotations

import argparse
import json
import os
import sqlite3
import sys
import tempfile
from functools import lru_cache
from pathlib import Path
from types import SimpleNamespace

import numpy as np

import rulerank as rr
from rulerank.export import export_model

sys.path.insert(0, str(Path(__file__).parent.parent / "tests"))


def xgboost_scores(ranker, X):
    import xgboost

    booster = xgboost.Booster()
    booster.load_model(bytearray(export_model(ranker, "xgboost").to_bytes()))
    return booster.predict(xgboost.DMatrix(X, feature_names=list(ranker.feature_names_)))


def lightgbm_scores(ranker, X):
    import lightgbm

    return lightgbm.Booster(model_str=export_model(ranker, "lightgbm").document).predict(X)


def onnx_scores(ranker, X):
    import onnxruntime

    session = onnxruntime.InferenceSession(export_model(ranker, "onnx").document)
    return session.run(None, {"X": X.astype(np.float64)})[0]


def duckdb_scores(ranker, X):
    import duckdb
    import polars

    con = duckdb.connect()
    columns = {name: X[:, place].astype(np.float64) for place, name in enumerate(ranker.feature_names_)}
    con.register("rulerank", polars.DataFrame(columns).with_row_index("_row").to_arrow())
    found = con.execute(export_model(ranker, "sql").document).fetchnumpy()
    return found["score"][np.argsort(found["_row"])]


def sqlite_scores(ranker, X):
    con = sqlite3.connect(":memory:")
    con.execute(
        f"CREATE TABLE rulerank ({', '.join(f'{chr(34)}{name}{chr(34)} REAL' for name in ranker.feature_names_)})"
    )
    rows = [[None if np.isnan(value) else float(value) for value in row] for row in X]
    con.executemany(f"INSERT INTO rulerank VALUES ({', '.join('?' * X.shape[1])})", rows)
    return np.array([row[-1] for row in con.execute(export_model(ranker, "sql").document)])


def python_scores(ranker, X):
    made = {}
    exec(export_model(ranker, "python").document, made)
    return np.array([made["score"](dict(zip(ranker.feature_names_, row, strict=True))) for row in X.tolist()])


def twin_scores(target):
    def score(ranker, X):
        from plain import engines

        engines.json = SimpleNamespace(loads=lru_cache(maxsize=2)(json.loads))  # once, not for each document
        twin = {"opensearch-ltr": engines.ltr_plugin, "elasticsearch": engines.elasticsearch, "vespa": engines.vespa}
        document = export_model(ranker, target).document
        rows = [dict(zip(ranker.feature_names_, row, strict=True)) for row in X.tolist()]
        return np.array([twin[target](document, row) for row in rows])

    return score


def solr_engine_scores(rankers, X):
    """Start one Solr for all rankers that it can hold; return the scores by the place of the ranker."""
    from solr_engine import solr_classpath, solr_scores

    folder = Path(tempfile.mkdtemp())
    models = {}
    for place, ranker in enumerate(rankers):
        try:
            models[f"m{place}"] = export_model(ranker, "solr-ltr", model_name=f"m{place}").document
        except rr.errors.DataError:  # no means for missing values there
            continue
    found = solr_scores(solr_classpath(folder), folder, models, X, rankers[0].feature_names_)
    return {int(name[1:]): scores for name, scores in found.items()}


TARGETS = {
    "xgboost": (xgboost_scores, "float32", None),
    "lightgbm": (lightgbm_scores, "double", None),
    "onnx": (onnx_scores, "double", None),
    "sql (DuckDB)": (duckdb_scores, "double", None),
    "sql (SQLite)": (sqlite_scores, "double", 2000),
    "python": (python_scores, "double", 2000),
    "opensearch-ltr (twin)": (twin_scores("opensearch-ltr"), "float32", 500),
    "elasticsearch (twin)": (twin_scores("elasticsearch"), "double", 500),
    "vespa (twin)": (twin_scores("vespa"), "double", 500),
}
SOLR = "solr-ltr (Solr 8.11)"


def compare(found, expected, qid):
    """Return the largest relative difference, pairs reversed and ties broken."""
    found = np.asarray(found, dtype=np.float64)
    gap = np.abs(found - expected).max() / np.abs(expected).max()
    turned = broken = 0
    for query in np.unique(qid):
        own = qid == query
        ours, theirs = expected[own], found[own]
        a, b = np.sign(ours[:, None] - ours), np.sign(theirs[:, None] - theirs)
        turned += int((a * b < 0).sum()) // 2
        broken += int(((a == 0) & (b != 0)).sum()) // 2
    return gap, turned, broken


def parts(arguments):
    folder = Path(os.environ["RULERANK_DATA"])
    for name in ("letor3-ohsumed", "letor3-ohsumed-null", "letor4-mq2008"):
        folds = [rr.read_letor(folder / name / "Fold1" / f"{part}.txt") for part in ("train", "test")]
        yield name, *folds
    if arguments.movies:
        data = rr.read_table(arguments.movies)
        test = np.array([hash_of(query) % 10 == 0 for query in data.qid.tolist()])
        yield "movies", data[np.flatnonzero(~test)[:60_000]], data[np.flatnonzero(test)[:10_000]]


def hash_of(query):
    import zlib

    return zlib.crc32(str(query).encode())


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--solr", action="store_true")
    parser.add_argument("--movies")
    arguments = parser.parse_args()
    table: dict[str, dict[str, str]] = {}
    for name, train, test in parts(arguments):
        missing = bool(np.isnan(train.X).any())
        rankers = [rr.FittedRules(), rr.GlobalRules(), rr.QueryIntercepts(l2=1, missing="mean" if missing else "error")]
        X = test.X.astype(np.float32)
        found = {}
        for place, ranker in enumerate(rankers):
            ranker.fit(train)
            for target, (score, _, most) in TARGETS.items():
                try:
                    found[place, target] = score(ranker, X[:most]), ranker.predict(X[:most])
                except rr.errors.DataError:
                    continue  # said in docs/export.md: no linear model there, or no means for missing values
                except ValueError:
                    if "vespa" not in target:
                        raise
                    continue  # a linear model is an expression there
        if arguments.solr:  # its features have a default, 0
            zero = np.nan_to_num(X)
            for place, scores in solr_engine_scores(rankers, zero).items():
                found[place, SOLR] = scores, rankers[place].predict(zero)
        for (place, target), (scores, expected) in found.items():
            label = f"{name}, {type(rankers[place]).__name__}"
            row = table.setdefault(label, {})
            row[target] = cell(*compare(scores, expected, test.qid[: len(expected)]))
            print(f"{label}: {target}, {len(expected):,} rows: {row[target]}", file=sys.stderr, flush=True)
    targets = [target for target in (*TARGETS, SOLR) if any(target in row for row in table.values())]
    print("| data, model |", " | ".join(targets), "|")
    print("| --- |", " | ".join("---:" for _ in targets), "|")
    for label, row in table.items():
        print(f"| {label} |", " | ".join(row.get(target, "") for target in targets), "|")


def cell(gap, turned, broken):
    """Write a difference, and pairs and ties where there are any."""
    text = f"{gap:.0e}" if gap else "0"
    return text + (f" ({turned} reversed, {broken} ties)" if turned or broken else "")


if __name__ == "__main__":
    main()
