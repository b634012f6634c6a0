"""The files that pages name, made once; each page is tried in a copy of them."""

import shutil
from dataclasses import replace
from pathlib import Path

import numpy as np
import polars as pl
import pytest

import rulerank as rr
from logged_files import SESSIONS, write_scored, write_teams
from rulerank.datasets.shop import write_shop
from rulerank.io.formats import convert, write_any

MY_RANKERS = "from sklearn.ensemble import HistGradientBoostingRegressor as Boosting\nTrees = Boosting(max_iter=5)\n"


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
    llm = replace(synthetic, X=synthetic.X[:, :0], feature_names=(), y=np.minimum(synthetic.y + 1, 2))
    write_any(llm, folder / "gpt.csv")
    write_any(replace(llm, y=synthetic.y)[: 12 * 12], folder / "human.csv")  # 12 queries
    ids = [*zip(synthetic.qid.tolist(), synthetic.docid.tolist(), synthetic.y.tolist(), strict=True)]
    lines = [f"{qid},{doc},{grade},{rater}\n" for rater in ("ann,person", "gpt,llm") for qid, doc, grade in ids]
    (folder / "both.csv").write_text("qid,docid,grade,rater,kind\n" + "".join(lines))
    (folder / "my_rankers.py").write_text(MY_RANKERS)
    train = rr.read_letor(folder / "train.txt")
    rules = rr.GlobalRules(discretizer="equal_frequency").fit(train)
    rules.save(folder / "model.rulerank")
    rr.QueryIntercepts(l2=1.0, missing="mean").fit(synthetic).save(folder / "clicks.rulerank")
    rr.QueryRules().fit(train).save(folder / "query.rulerank")
    write_scored(train, rules, folder / "scored.jsonl")
    write_texts(folder)
    write_clicks(synthetic, folder)
    with rr.judging.LabelStore(str(folder / "labels.db")) as store:
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
    (folder / "sessions.txt").write_text("\n".join(SESSIONS))
    write_teams(folder, "baseline", "new")
