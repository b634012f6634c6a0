"""Selection finds what plain refits find, shares only work, and shows what it selected from."""

from dataclasses import replace

import numpy as np
import pytest
from sklearn.base import clone

import rulerank as rr
from papers.baselines import RankBoost
from rulerank.dataset import Dataset
from rulerank.errors import DataError
from rulerank.evaluation import evaluate
from rulerank.rankers.fitted.fitted_rules import FEW_QUERIES
from rulerank.rankers.foreign import QueryKFold
from rulerank.rankers.global_rules import GlobalRules
from rulerank.selection.select import GRID, Scoring, select

DATA = rr.datasets.make_ranking(n_queries=12, docs_per_query=(5, 15), n_features=8)
TRAIN, VALI = rr.datasets.make_ranking(n_queries=15, seed=1), rr.datasets.make_ranking(n_queries=15, seed=2)
SYNTHETIC = rr.datasets.make_ranking(n_queries=40, docs_per_query=20, n_features=8, seed=3)
SMALL = {"votes": ["evidence", "mean"], "normalize": [None, "rank"], "max_size": [1, 2], "min_support": [0.0, 0.05]}
LINE, RULES = rr.QueryIntercepts(l2=10.0, missing="mean"), rr.GlobalRules()
BOTH = {"a line": LINE, "rules": RULES}


def tune(data, ranker=None, grid=None, **more):
    return select(data, GlobalRules() if ranker is None else ranker, grid, **more)


def crossed(n_queries=60, n_docs=20, seed=0):
    """Grades that no weighted sum can tell apart."""
    rng = np.random.default_rng(seed)
    X = rng.random((n_queries * n_docs, 2))
    return Dataset(X, (X[:, 0] > 0.5) ^ (X[:, 1] > 0.5), np.repeat(np.arange(n_queries), n_docs))


def straight(n_queries=60, n_docs=20, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_queries * n_docs, 5))
    truth = X.sum(axis=1) + 3 * rng.normal(size=len(X))
    return Dataset(X, np.digitize(truth, [1.0, 4.0]), np.repeat(np.arange(n_queries), n_docs))


def spread_by_query(spread, n_queries=60):
    """Grades by two features, whose units differ by query."""
    rng = np.random.default_rng(1)
    qid = np.repeat(np.arange(n_queries), 20)
    X = rng.normal(size=(qid.size, 2))
    y = (X[:, 0] + X[:, 1] + 0.5 * rng.normal(size=qid.size) > 1).astype(int)
    return Dataset(X * np.exp(spread * rng.normal(size=(n_queries, 2)))[qid], y, qid)


def test_what_the_data_are_like_decides():
    assert select(crossed()).method == "FR"
    assert select(straight()).method == "QI"


def test_methods_are_compared_by_cross_validation_by_query_and_the_reason_names_the_best_and_the_next():
    found = select(SYNTHETIC, BOTH, measure="NDCG@10", seed=1)
    assert found.n_queries == 40
    for trial in found.table:
        means = []
        for train, test in rr.QueryKFold(5, seed=1).split(SYNTHETIC):
            scores = clone(BOTH[trial.about]).fit(SYNTHETIC[train]).predict(SYNTHETIC[test])
            means.append(rr.evaluate(SYNTHETIC.y[test], scores, SYNTHETIC.qid[test], "NDCG@10").means["NDCG@10"])
        assert trial.folds == pytest.approx(means)
    first, second = found.table
    assert first.mean >= second.mean
    assert (found.method, found.table[0].method) == (first.method, first.method)
    np.testing.assert_array_equal(
        found.ranker.predict(SYNTHETIC), clone(BOTH[first.about]).fit(SYNTHETIC).predict(SYNTHETIC)
    )
    assert (
        found.reason
        == found.to_dict()["reason"]
        == (
            f"{first.about}: NDCG@10 {first.mean:.4f} on 40 held-out queries; {second.about}: {second.mean:.4f} "
            f"(lower by {second.behind:.4f} ± {second.behind_error:.4f})"
        )
    )
    assert [row["about"] for row in found.to_dict()["table"]] == [first.about, second.about]
    assert repr(found).endswith(f"the best 2 of 2 methods\n{found.reason}")


def test_of_equals_the_first_is_taken():
    assert select(SYNTHETIC, {"a line": LINE, "the same line": LINE}).table[0].about == "a line"


def test_z_scores_are_taken_only_if_held_out_queries_gain_by_more_than_one_standard_error():
    rankers = {"raw": LINE, "scaled": clone(LINE).set_params(normalize="zscore")}
    taken = set()
    for spread in (0.05, 0.15, 0.3):
        data = spread_by_query(spread)
        found = select(data, rankers)
        raw, scaled = (np.empty(60), np.empty(60))
        for values, one in ((raw, rankers["raw"]), (scaled, rankers["scaled"])):
            for train, test in QueryKFold(5, seed=0).split(data):
                result = evaluate(data[test], clone(one).fit(data[train]).predict(data[test]), measures="MAP")
                values[np.unique(data.qid[test])] = result.values[0]
        gain = scaled - raw
        clear = gain.mean() > gain.std(ddof=1) / np.sqrt(60)
        assert found.table[0].about == ("scaled" if clear else "raw")
        scales = ("z-scores by query", "raw values")
        distance = f"{abs(gain.mean()):.4f} ± {gain.std(ddof=1) / np.sqrt(60):.4f}"
        other = f"{raw.mean():.4f} (lower by {distance})"
        if not clear:
            scales = scales[::-1]
            ahead = f"higher by {distance}, not more than a standard error"
            other = f"{scaled.mean():.4f} ({ahead if gain.mean() > 0 else f'lower by {distance}'})"
        assert found.reason.endswith(f" on 60 held-out queries\nscale: {scales[0]}; {scales[1]}: {other}")
        taken.add((clear, bool(gain.mean() > 0)))
    assert taken == {(True, True), (False, True), (False, False)}


@pytest.mark.parametrize("data", [SYNTHETIC, SYNTHETIC[:300], spread_by_query(3.0)], ids=["missing", "few", "scaled"])
def test_exportable_selects_only_models_that_can_be_exported_missing_values_and_few_labels_included(data):
    found = select(data, exportable=True)
    assert rr.export_model(found.ranker, "opensearch-ltr").document
    assert {trial.params.get("normalize") for trial in found.table} <= {None}
    assert found.method == "FR" or not np.isnan(data.X).any()  # a line would put means in their place


@pytest.mark.parametrize("baseline", ["bm25_body", "bm25_body + pagerank"])
def test_a_model_that_starts_from_features_can_be_exported(baseline):
    pool = replace(SYNTHETIC, y=np.where(np.arange(len(SYNTHETIC)) % 3, -1, SYNTHETIC.y))
    found = select(pool, baseline=baseline, exportable=True)
    assert found.facts["baseline"] == found.ranker.baseline == baseline
    assert rr.export_model(found.ranker, "opensearch-ltr").document


def test_exportable_settings_leave_the_scale():
    found = tune(DATA, n_splits=2, exportable=True)
    assert "normalize" not in found.best
    assert rr.export_model(tune(DATA, grid={"max_size": [1]}, exportable=True).ranker, "solr-ltr").document


SCALED = rr.QueryIntercepts(normalize="rank", missing="mean")


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (
            {"ranker": SCALED, "grid": {}},
            "this QueryIntercepts cannot be exported: it norm.*; leave out the method and",
        ),
        ({"ranker": LINE, "grid": {}}, "it replaces missing values by.*; put 0 in the place of missing values"),
        (
            {"baseline": rr.GlobalRules().fit(SYNTHETIC)},
            "this Anchored cannot be exported: it starts from.*; name a feature, or a sum of features, as",
        ),
        ({"ranker": {"scaled": SCALED}}, "^none of the methods to choose from can be exported: scaled$"),
    ],
)
def test_exportable_refuses_what_cannot_be_and_names_what_can(given, message):
    with pytest.raises(DataError, match=message):
        select(SYNTHETIC, exportable=True, **given)


def test_many_queries_are_held_out_only_until_there_are_enough(monkeypatch):
    monkeypatch.setattr("rulerank.selection.select.ENOUGH_QUERIES", 12)
    found = select(SYNTHETIC, BOTH)
    assert found.n_queries == 16  # two parts of eight
    assert len(found.table[0].folds) == 2


@pytest.mark.parametrize("data", [SYNTHETIC[:499], SYNTHETIC[: 20 * (FEW_QUERIES - 1)]])
def test_few_labels_or_queries_take_the_simplest(data):
    found = select(data, BOTH)
    assert (found.method, found.n_queries, len(found.table)) == ("QI", len({*data.qid}), 1)
    quality = f": MAP {found.table[0].mean:.4f} on {found.n_queries} held-out queries; "
    few = f"{len(data)} labels of {found.n_queries} queries are too few to choose by cross-validation (from 500 of 15)"
    assert found.reason.endswith(quality + few)
    assert found.reason in repr(found)
    alone = select(data, {"rules": RULES})
    assert alone.reason.endswith("held-out queries; the only one to choose from")
    tiny = select(data[:80], BOTH)  # four queries cannot be split into five folds
    assert (tiny.n_queries, tiny.table) == (0, ())
    assert tiny.reason.endswith(": 80 labels of 4 queries are too few to choose by cross-validation (from 500 of 15)")


def test_every_setting_is_what_refits_by_query_give_and_the_best_is_fitted_to_everything():
    tuned = tune(DATA, grid=SMALL, n_splits=3)
    assert len(tuned.table) == 16
    for trial in tuned.table:
        per_query = []
        for (train, test), value in zip(QueryKFold(3).split(DATA), trial.folds, strict=True):
            scores = GlobalRules(**trial.params).fit(DATA[train]).predict(DATA[test])
            result = evaluate(DATA.y[test], scores, DATA.qid[test], "MAP")
            assert result.means["MAP"] == pytest.approx(value)
            per_query.extend(result.per_query["MAP"])
        assert trial.mean == pytest.approx(np.mean(per_query))
        assert trial.error == pytest.approx(np.std(per_query, ddof=1) / np.sqrt(12))
        assert trial.behind == pytest.approx(tuned.table[0].mean - trial.mean)
    assert tuned.best == max(tuned.table, key=lambda trial: trial.mean).params
    assert tuned.table[0].behind == tuned.table[0].behind_error == 0
    assert np.array_equal(tuned.ranker.predict(DATA), GlobalRules(**tuned.best).fit(DATA).predict(DATA))
    assert tuned.ranker.feature_names_ == DATA.feature_names
    assert tuned.reason.endswith(f": MAP {tuned.table[0].mean:.4f} on held-out queries")


def test_the_default_grid_is_tried_whole_and_printed_best_first():
    tuned = tune(DATA, n_splits=2)
    grid = {name: values for name, values in GRID.items() if name in tuned.ranker.get_params()}
    assert len(tuned.table) == np.prod([len(values) for values in grid.values()])
    header, *rows, last, reason = repr(tuned).splitlines()
    assert header.split() == [*grid, "MAP", "behind"]
    assert len(rows) == 10
    assert [row.split()[6] for row in rows] == sorted((row.split()[6] for row in rows), reverse=True)
    assert (last, reason) == (f"the best 10 of {len(tuned.table)} settings", tuned.reason)
    one = tune(DATA, grid={"max_size": [1, 2], "votes": ["mean"]}, n_splits=2)
    assert repr(one).startswith("max_size     MAP")


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"grid": {"size": [1]}}, r"^GlobalRules has no parameter 'size'; it has discretizer, "),
        ({"grid": {"votes": "mean"}}, r"^expected a list of values to try for 'votes': got 'mean'$"),
        ({"grid": {"votes": []}}, r"^expected a list of values to try for 'votes': got \[\]$"),
        ({"grid": {"size": [1]}, "vali": DATA}, r"^GlobalRules has no parameter 'size'; it has discretizer, "),
        ({"n_splits": 13}, r"^n_splits must be between 2 and the number of queries, 12: got 13$"),
        ({"grid": {"votes": ["mean", "loud"]}}, r"^unknown votes 'loud'"),
        ({"grid": {"min_support": [0.0, 7.0]}}, r"^min_support must be a share of the rows"),
        ({"measure": "MAPS"}, r"^unknown measure 'MAPS'"),
        ({"grid": "NDCG@10"}, r"expected a grid, such as .*: got 'NDCG@10'; pass a measure by name, measure='MAP'"),
        ({"ranker": "MAP"}, r"expected a ranker to select settings for, such as rr.GlobalRules\(\): got 'MAP'"),
        ({"ranker": None, "grid": {"votes": ["mean"]}}, r"^a grid and a validation set select the settings of one"),
        ({"ranker": None, "vali": DATA}, r"^a grid and a validation set select the settings of one"),
        ({"ranker": {}}, r"^expected at least one method to choose from: got none$"),
        ({"propensities": {1: 1.0}}, r"^propensities are for clicks, and the data has none$"),
        ({"clicks": DATA, "ranker": None}, r"^expected a Dataset with clicks, such as .*: got one without$"),
        ({"data": [1, 2]}, r"^expected a Dataset, such as rr.from_frame\(frame\) or rr.Dataset\(.*\): got list$"),
        (
            {"data": Dataset([[1.0]], [-1], ["a"])},
            r"^only labelled rows can be compared by: leave the others out, select\(data.labelled\(\)\), or name the ",
        ),
    ],
)
def test_mistakes_are_named(given, message):
    with pytest.raises(DataError, match=message):
        select(**{"data": DATA, "ranker": RULES} | given)


def value_of(ranker, measure):
    return evaluate(VALI.y, ranker.predict(VALI), VALI.qid, measure).means[measure]


def test_on_a_validation_set_settings_and_rounds_are_found_as_if_each_were_fitted():
    tuned = select(TRAIN, RankBoost(n_rounds=12), {"n_thresholds": [4, 64]}, "NDCG@10", vali=VALI)
    tried = {
        (n_thresholds, n): value_of(RankBoost(n, n_thresholds).fit(TRAIN), "NDCG@10")
        for n_thresholds in (4, 64)
        for n in range(1, 13)
    }
    n_thresholds, n = max(tried, key=tried.get)
    best = tuned.table[0]
    assert (tuned.ranker.n_thresholds, tuned.ranker.n_rounds) == (n_thresholds, n)
    assert best.chosen == {"n_thresholds": n_thresholds, "rounds": n}
    assert best.mean == pytest.approx(tried[n_thresholds, n])
    np.testing.assert_array_equal(tuned.scores, RankBoost(n, n_thresholds).fit(TRAIN).predict(VALI))
    assert best.mean == Scoring("NDCG@10").mean(VALI, tuned.scores)
    assert {trial.params["n_thresholds"] for trial in tuned.table} == {4, 64}
