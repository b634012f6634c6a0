"""The baseline ranking: what may be one, by one parser, and how each ranks."""

from dataclasses import replace

import numpy as np
import pytest

import rulerank as rr
from plain.anchored import scaled_plainly
from rulerank.baseline import FeatureBaseline, ModelBaseline, RunBaseline, SumBaseline, find_baseline
from rulerank.errors import DataError
from rulerank.normalize import normalize_by_query

DATA = rr.datasets.make_ranking(n_queries=8, docs_per_query=10, n_features=4, seed=2)
NAMES = ("bm25(all)", "cosine(all)", "price", "engine_rank")
POOL = replace(DATA, X=np.nan_to_num(DATA.X), feature_names=NAMES)


def zscores(column):
    return normalize_by_query(POOL.X[:, [column]], np.unique(POOL.qid, return_inverse=True)[1], "zscore")[:, 0]


SUMS = [
    ("bm25(all)", [(0, 1)]),
    ("-price", [(2, -1)]),
    ("engine_rank", [(3, -1)]),
    ("+engine_rank", [(3, 1)]),
    ("bm25(all) + cosine(all)", [(0, 1), (1, 1)]),
    ("bm25(all)+cosine(all) - price", [(0, 1), (1, 1), (2, -1)]),
    ("-price + engine_rank", [(2, -1), (3, -1)]),
    ("bm25(all) + +engine_rank", [(0, 1), (3, 1)]),
]


@pytest.mark.parametrize(("text", "parts"), SUMS)
def test_features_and_sums_are_read_from_text_and_written_again(text, parts):
    found = find_baseline(NAMES, text)
    own = found.parts if isinstance(found, SumBaseline) else (found,)
    assert [(part.column, part.sign) for part in own] == parts
    assert find_baseline(NAMES, found.option) == found == find_baseline(NAMES, found)
    if len(parts) > 1:
        assert found.scores(POOL) == pytest.approx(sum(sign * zscores(column) for column, sign in parts))
    else:
        ((column, sign),) = parts
        assert found.scores(POOL).tolist() == (sign * POOL.X[:, column].astype(float)).tolist()


def test_an_exact_name_comes_before_a_sum_and_names_may_hold_signs():
    names = ["a", "b", "a + b", "-c", "c", "b+c (d)"]
    assert find_baseline(names, "a + b") == FeatureBaseline("a + b", 2, 1)
    assert find_baseline(names, "-c") == FeatureBaseline("-c", 3, 1)
    assert [part.feature for part in find_baseline(names, "a + b + b+c (d)").parts] == ["a + b", "b+c (d)"]
    assert [part.feature for part in find_baseline(names, "b + a").parts] == ["b", "a"]


def test_a_missing_value_is_last_in_a_feature_and_low_in_a_sum():
    X = np.array([[3.0, 1.0], [np.nan, 2.0], [1.0, 3.0]], dtype=np.float32)
    data = rr.Dataset(X, [0, 0, 0], ["q"] * 3, feature_names=("a", "b"))
    assert find_baseline(("a", "b"), "a").scores(data).argmin() == 1
    assert find_baseline(("a", "b"), "a + b").scores(data)[1] == -3.0


def test_models_and_runs_come_as_values_and_as_files(tmp_path):
    ranker = rr.QueryIntercepts(normalize="zscore").fit(POOL)
    scores = ranker.predict(POOL)
    ranker.save(tmp_path / "old.rulerank")
    run = rr.io.run_from_scores(POOL, scores)
    rr.io.write_run(run, tmp_path / "old.run")
    for given, kind, text in (
        (ranker, ModelBaseline, "a QueryIntercepts model"),
        (str(tmp_path / "old.rulerank"), ModelBaseline, "old.rulerank"),
        (run, RunBaseline, "a run"),
        (str(tmp_path / "old.run"), RunBaseline, "old.run"),
        (scores, object, "given scores"),
    ):
        found = find_baseline(NAMES, given)
        assert (isinstance(found, kind), str(found)) == (True, text)
        assert np.allclose(found.scores(POOL), scores)
        assert np.allclose(find_baseline(NAMES, found.option).scores(POOL), scores)
    some = rr.Run(run.qid[:-1], run.docid[:-1], run.score[:-1], run.tag[:-1])
    assert POOL.docid[find_baseline(NAMES, some).scores(POOL).argmin()] == run.docid[-1]  # not in the run


@pytest.mark.parametrize("baseline", ["bm25(all) + cosine(all)", "run"])
def test_few_labels_start_from_a_sum_or_a_run_and_a_file_keeps_it(tmp_path, baseline):
    run = rr.io.run_from_scores(POOL, POOL.X[:, 1])
    given = run if baseline == "run" else baseline
    few = replace(POOL, y=np.where(np.arange(len(POOL)) % 7 == 0, POOL.y, -1))
    none = rr.Anchored(baseline=given).fit(replace(POOL, y=np.full(len(POOL), -1)))
    before = find_baseline(NAMES, given).scores(POOL)
    queries = np.unique(POOL.qid, return_inverse=True)[1]
    expected = before if given is run else scaled_plainly(POOL.X.astype(float), queries, [1, 1, 0, 0])[2]
    for query in np.unique(POOL.qid):
        own = POOL.qid == query
        assert none.predict(POOL)[own].argsort().tolist() == expected[own].argsort().tolist()
    for fitted in (none, rr.Anchored(baseline=given).fit(few), rr.Anchored(baseline=given).fit(POOL)):
        fitted.save(tmp_path / "m.rulerank")
        again = rr.load(tmp_path / "m.rulerank")
        assert again.predict(POOL).tolist() == fitted.predict(POOL).tolist()
        assert find_baseline(NAMES, again.baseline_).scores(POOL).tolist() == before.tolist()
        found = again.contributions(POOL)
        assert found.base + found.values.sum(axis=1) == pytest.approx(again.predict(POOL))
        assert again.needs_the_query() == (given is run)


def test_a_model_that_starts_from_a_sum_is_explained_and_exported_by_its_features():
    ranker = rr.Anchored(baseline="bm25(all) - price").fit(POOL)
    why = ranker.explain(POOL, 3)
    assert why.baseline == "baseline ranking bm25(all) - price"
    seen = next(part for part in why.features if part.feature == why.baseline)
    assert seen.text == f"bm25(all) = {POOL.X[3, 0]:.4g}; price = {POOL.X[3, 2]:.4g}"
    assert why.base + sum(part.adds for part in why.features) == pytest.approx(ranker.predict(POOL)[3])
    terms = ranker.contributions(POOL).terms
    assert terms[:2] == ("baseline ranking bm25(all)", "baseline ranking price")
    assert ranker.feature_importances_[[0, 2]].min() > ranker.feature_importances_[[1, 3]].max()
    exported = rr.export_model(ranker, "python")
    assert exported.document


RANKS_NOTHING = [
    ("bm26", "there is no feature 'bm26'; the data has bm25\\(all\\), .*; a sum of these, a model file or a run "),
    ("price + nope", "there is no feature 'nope'; the data"),
    ("bm25(all)+-nope", "there is no feature 'nope'; the data"),
    ("no - bm25(all) + nope", "there is no feature 'no', 'nope'; the data"),
    ("no + nope", "there is no feature 'no \\+ nope'; the data"),
    ("price + price", "'price' is in the sum twice"),
    ("lost.rulerank", "lost.rulerank"),
    (4, "a column from 0 to 3: got 4"),
    ("", "baseline must be the ranking that users see now, such as 'bm25', "),
    (rr.QueryIntercepts(), "this QueryIntercepts is not fitted"),
]


@pytest.mark.parametrize(("given", "message"), RANKS_NOTHING)
def test_what_ranks_nothing_is_refused(given, message):
    with pytest.raises(rr.errors.RulerankError, match=message):
        find_baseline(NAMES, given)


def test_what_does_not_fit_the_data_is_refused():
    run = rr.io.run_from_scores(POOL, POOL.X[:, 0])
    half = rr.Run(run.qid[:40], run.docid[:40], run.score[:40], run.tag[:40])
    with pytest.raises(DataError, match="a run has no documents for query q5, q6, q7, q8; it must rank every query"):
        find_baseline(NAMES, half).scores(POOL)
    with pytest.raises(DataError, match="a run ranks documents by their ids, which the data lacks"):
        find_baseline(NAMES, run).scores(replace(POOL, docid=None))
    with pytest.raises(DataError, match="there is no feature 'price'; the data has f1"):
        find_baseline(NAMES, "price").scores(rr.Dataset([[1.0]], [0], ["q"]))
    with pytest.raises(DataError, match="'shop' holds categories, which have no order"):
        find_baseline(("shop",), "shop", {"shop": ("a", "b")})
    shop = rr.Dataset([[1.0]], [0], ["q"], feature_names=("shop",), categories={"shop": ("a", "b")})
    with pytest.raises(DataError, match="'shop' holds categories, which have no order"):
        find_baseline(("shop",), "shop").scores(shop)
    with pytest.raises(DataError, match="Anchored needs a baseline that can rank new documents, which an array of sc"):
        rr.Anchored(baseline=POOL.X[:, 0]).fit(POOL)
    with pytest.raises(DataError, match="the baseline of this model, a run, matches documents by id: give a Dataset"):
        rr.Anchored(baseline=run).fit(POOL).predict(POOL.X, qid=POOL.qid)
    with pytest.raises(DataError, match="a run matches documents by id: give a Dataset, without weights"):
        rr.Anchored(baseline=run).fit(POOL.X, POOL.y, POOL.qid)


def test_a_service_ranks_by_a_sum_or_a_model_and_refuses_a_run(tmp_path):
    ranker = rr.QueryIntercepts(normalize="zscore").fit(POOL)
    own = POOL[POOL.qid == "q1"]
    docs = [{"id": str(d), **dict(zip(NAMES, x, strict=True))} for d, x in zip(own.docid, own.X.tolist(), strict=True)]
    old = rr.QueryIntercepts().fit(POOL)
    for given in ("bm25(all) + cosine(all)", old):
        made = rr.Reranker(ranker, baseline=given)
        made.save(tmp_path / "s.rulerank")
        expected = {str(own.docid[row]): rank for rank, row in
                    enumerate((-find_baseline(NAMES, given).scores(own)).argsort(kind="stable"), 1)}  # fmt: skip
        for one in (made, rr.load(tmp_path / "s.rulerank")):
            assert {r.id: r.baseline_rank for r in one.rank("", docs, top=None)} == expected
    with pytest.raises(DataError, match="a run ranks documents of known queries only"):
        rr.Reranker(ranker, baseline=rr.io.run_from_scores(POOL, POOL.X[:, 0]))
