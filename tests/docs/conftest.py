"""The files that pages name, made once; each page is tried in a copy of them."""

import json
import shutil
from dataclasses import replace
from pathlib import Path

import numpy as np
import polars as pl
import pytest

import rulerank as rr
from rulerank.clicks.interleaving import interleave_runs
from rulerank.datasets.shop import write_shop
from rulerank.io.formats import convert, write_any
from rulerank.judging.store import LabelStore

MY_RANKERS = """
from sklearn.ensemble import HistGradientBoostingRegressor

Trees = HistGradientBoostingRegressor(max_iter=5)
"""


@pytest.fixture(scope="session")
def all_files(tmp_path_factory):
    """A folder with small files under the names that pages use."""
    folder = tmp_path_factory.mktemp("files")
    synthetic = rr.datasets.make_ranking(n_queries=24, docs_per_query=12, n_features=5, seed=1)
    synthetic = replace(synthetic, X=np.nan_to_num(synthetic.X), feature_names=("bm25", *synthetic.feature_names[1:]))
    for name in ("train.txt", "test.txt", "pool.txt", "judged.csv", "pool.csv", "pool.parquet", "first.parquet"):
        write_any(synthetic, folder / name)
    write_any(synthetic[:5], folder / "withdrawn.csv")
    new = rr.datasets.make_ranking(n_queries=4, docs_per_query=12, n_features=5, seed=2)
    write_any(replace(new, feature_names=synthetic.feature_names), folder / "new.parquet")
    write_folds(synthetic, folder)
    write_runs(synthetic, folder)
    write_parts(synthetic, folder / "data")
    convert(str(folder / "test.txt"), str(folder / "qrels.txt"), target_format="qrels")
    convert(str(folder / "qrels.txt"), str(folder / "llm.csv"))
    (folder / "my_rankers.py").write_text(MY_RANKERS)
    rr.GlobalRules(discretizer="equal_frequency").fit(rr.read_letor(folder / "train.txt")).save(
        folder / "model.rulerank"
    )
    rr.QueryRules().fit(rr.read_letor(folder / "train.txt")).save(folder / "query.rulerank")
    rr.QueryIntercepts(l2=1.0, missing="mean").fit(synthetic).save(folder / "clicks.rulerank")
    write_scored(folder)
    write_texts(folder)
    write_clicks(synthetic, folder)
    with LabelStore(str(folder / "labels.db")) as store:
        rows = zip(synthetic.qid[:40].tolist(), synthetic.docid[:40].tolist(), synthetic.y[:40].tolist(), strict=True)
        store.add_all((query, doc, grade, "ann") for query, doc, grade in rows)
    return folder


@pytest.fixture
def files(all_files, tmp_path):
    """A copy of the folder, for one page."""
    shutil.copytree(all_files, tmp_path, dirs_exist_ok=True)
    return tmp_path


def write_folds(synthetic: rr.Dataset, folder: Path) -> None:
    for name in ("OHSUMED", "FOLDS"):
        for number, fold in enumerate(rr.datasets.make_folds(synthetic, n_folds=3), 1):
            place = folder / name / f"Fold{number}"
            place.mkdir(parents=True)
            for part, data in (("train", fold.train), ("vali", fold.vali), ("test", fold.test)):
                rr.io.write_letor(data, place / f"{part}.txt")


def write_runs(synthetic: rr.Dataset, folder: Path) -> None:
    np.savetxt(folder / "scores.txt", synthetic.X[:, 1])
    for name, feature in (("one", 0), ("two", 1), ("baseline", 2), ("bm25", 3), ("rules", 4), ("new", 4)):
        run = rr.io.run_from_scores(synthetic, synthetic.X[:, feature], name)
        rr.io.write_run(run, folder / f"{name}.run")


def write_parts(synthetic: rr.Dataset, folder: Path) -> None:
    folder.mkdir()
    queries = list(dict.fromkeys(synthetic.qid))
    for number in range(3):
        write_any(synthetic[np.isin(synthetic.qid, queries[number::3])], folder / f"{number}.parquet")


def write_scored(folder: Path) -> None:
    data, ranker = rr.read_letor(folder / "train.txt"), rr.load(folder / "model.rulerank")
    row = dict(zip(data.feature_names, np.nan_to_num(data.X[0]).tolist(), strict=True))
    score = float(ranker.predict(np.nan_to_num(data.X[:1]))[0])
    (folder / "scored.jsonl").write_text(json.dumps({"features": row, "score": score}) + "\n")


def write_texts(folder: Path) -> None:
    """A shop's texts, what `rulerank features --keep` makes of them, and rankers of it."""
    shop = rr.datasets.make_shop(n_products=100, n_queries=8, seed=0)
    write_shop(shop, folder / "shop")
    features = rr.TextFeatures(features=["bm25(title)", "bm25(all)", "price"]).fit(shop.documents)
    features.save(folder / "text.rulerank")
    ranker = rr.QueryIntercepts(l2=1.0, missing="mean").fit(features.dataset(shop.queries, qrels=shop.qrels).labelled())
    ranker.save(folder / "shop.rulerank")
    rr.Reranker(ranker, features).save(folder / "reranker.rulerank")


def write_clicks(synthetic: rr.Dataset, folder: Path) -> None:
    clicked = rr.clicks.simulate_clicks(synthetic, synthetic.X[:, 0], n_impressions=20_000, seed=0)
    log = {"query": clicked.qid, "doc": clicked.docid, "position": clicked.impressions.position}
    log |= {"impressions": clicked.impressions.count, "clicks": clicked.impressions.clicks}
    pl.DataFrame({name: list(values) for name, values in log.items()}).write_parquet(folder / "log.parquet")
    runs = [rr.read_run(folder / f"{name}.run") for name in ("baseline", "new")]
    sessions = [f"s{number}" for number in range(5)]
    (folder / "sessions.txt").write_text("\n".join(sessions))
    shown = [
        {"query": query, "session": session, "doc": doc, "position": place, "clicked": int(place == 2), "team": team}
        for query, session, mixed in interleave_runs(*runs, sessions)
        for place, (doc, team) in enumerate(zip(mixed.docs, mixed.teams, strict=True), 1)
    ]
    pl.DataFrame(shown).write_csv(folder / "teams.csv")
