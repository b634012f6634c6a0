"""Anchored: the baseline ranking without labels, moves as labels come, and the posterior agrees with the plain one."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import rulerank as rr
from plain.anchored import items_plainly, posterior_plainly, scaled_plainly
from rulerank.dataset import query_index
from rulerank.errors import DataError, TooLargeError
from rulerank.rankers.anchored import anchored
from rulerank.rankers.anchored.posterior import Prior, average, find_posterior
from rulerank.rankers.anchored.scale import Items, PooledScale


@pytest.fixture(scope="module")
def data():
    return rr.datasets.make_ranking(n_queries=20, n_features=6, seed=4)


@given(seed=st.integers(0, 10_000), n_grades=st.integers(2, 4))
@settings(max_examples=10, deadline=None)
def test_the_posterior_agrees_with_the_plain_one(seed, n_grades):
    rng = np.random.default_rng(seed)
    Z, queries = rng.standard_normal((14, 2)), np.sort(rng.integers(0, 3, 14))
    queries = np.unique(queries, return_inverse=True)[1]
    grades = rng.integers(0, n_grades, 14)
    grades[:2] = [0, n_grades - 1]
    centre = np.array([0.7, 0.0])
    found = find_posterior(Z, grades, queries, centre, 4.0)
    weights, evidence = posterior_plainly(Z, grades, queries, centre, 4.0)
    assert found.weights == pytest.approx(weights, abs=1e-4)
    assert found.log_evidence == pytest.approx(evidence, abs=1e-3)


def test_votes_of_two_documents_as_worked_out_by_hand():
    """One feature, two bins, one document in each, grades 1 and 0, the baseline's z-scores 1 and -1.

    By symmetry the votes are v and -v, effect and threshold 0, and v solves 8 v = 1 / (1 + exp(v + .7)).
    With v = .04037: exp(.74037) = 2.0967, 1 / 3.0967 = .32293, a eighth of which is .04037.
    """
    held, baseline = np.array([[0.0, 1.0], [1.0, 0.0]]), np.array([1.0, -1.0])
    priors = (Prior(0.7, 8.0, 1.0),)
    found = average(held, np.array([1, 0]), np.array([0, 0]), 1, np.zeros(2), baseline, priors=priors)
    assert found.start == 0.7
    assert found.weights == pytest.approx([-0.04037, 0.04037], abs=1e-5)


@given(seed=st.integers(0, 10_000), n_grades=st.integers(2, 3), missing=st.booleans())
@settings(max_examples=8, deadline=None)
def test_items_and_votes_agree_with_the_plain_ones(seed, n_grades, missing):
    rng = np.random.default_rng(seed)
    X, queries = rng.integers(0, 5, (12, 2)).astype(float), np.sort(rng.integers(0, 3, 12))
    queries = np.unique(queries, return_inverse=True)[1]
    grades = rng.integers(0, n_grades, 12)
    grades[:2] = [0, n_grades - 1]
    if missing:
        X[3, 1] = np.nan
    cuts = [np.array([1.5, 3.0]), np.array([2.0])]
    items = Items.of(cuts, X)
    pairs, held = items_plainly(X, cuts)
    assert list(zip(items.features.tolist(), items.bins.tolist(), strict=True)) == pairs
    assert np.array_equal(items.hold(X), held)
    baseline = rng.standard_normal(12)
    prior = Prior(0.7, 4.0, 1.0)
    found = average(held, grades, queries, 2, np.zeros(held.shape[1]), baseline, priors=(prior,))
    plain, _ = posterior_plainly(held, grades, queries, np.zeros(held.shape[1]), 8.0, 0.7 * baseline)
    assert found.weights == pytest.approx(plain, abs=1e-4)


SIGNS = st.lists(st.sampled_from([1, -1, 0]), min_size=1, max_size=4).filter(any)


@given(seed=st.integers(0, 10_000), signs=SIGNS, missing=st.booleans())
@settings(max_examples=20, deadline=None)
def test_the_scale_and_a_sum_as_the_baseline_agree_with_the_plain_ones(seed, signs, missing):
    rng = np.random.default_rng(seed)
    X, queries = rng.normal(3, 2, (15, len(signs))), np.unique(rng.integers(0, 4, 15), return_inverse=True)[1]
    if missing:
        X[rng.random(X.shape) < 0.2] = np.nan
    scale = PooledScale.of(X, queries, np.array(signs), logged=True)
    standard, fill, total = scaled_plainly(X, queries, signs)
    assert scale.fill == pytest.approx(fill)
    found = scale.standard(X, scale.means[queries])
    assert found == pytest.approx(standard)
    assert found @ scale.centre == pytest.approx(total)


@pytest.mark.parametrize(
    ("baseline", "signs"), [("bm25_body", [1, 0, 0, 0, 0, 0]), ("bm25_body - pagerank", [1, 0, -1, 0, 0, 0])]
)
def test_the_score_is_weights_and_votes_by_the_number_of_labels_in_fine_steps(data, baseline, signs):
    """The sum of both models with values as they are, and the same ranking but for documents as good as level."""
    pool = replace(data, X=np.nan_to_num(data.X), y=np.where(np.arange(len(data)) < 150, data.y, -1))
    ranker, queries = rr.Anchored(baseline=baseline).fit(pool), query_index(pool.qid)[0]
    scale = PooledScale.of(pool.X, queries, np.array(signs), logged=True)
    Z = scale.standard(pool.X, scale.means[queries])
    start = Z @ scale.centre
    items = Items.of(scale.cuts, pool.X[:150])
    voted = average(
        items.hold(pool.X[:150]), data.y[:150], queries[:150], 6, np.zeros(items.features.size), start[:150]
    )
    weighed = average(Z[:150], data.y[:150], queries[:150], 6, scale.centre, np.zeros(150))
    assert ranker.coef_ == pytest.approx(weighed.weights)
    share = 0.5 * 150 / (150 + 50)
    smooth = share * Z @ weighed.weights + (1 - share) * (voted.start * start + items.hold(pool.X) @ voted.weights)
    scores, differences = ranker.predict(pool), []
    for query in range(20):
        own = queries == query
        differences += [*((scores[own] - scores[own].mean()) - (smooth[own] - smooth[own].mean()))]
    assert np.abs(differences).max() < 0.01 * smooth.std()


def test_a_score_needs_no_other_documents_and_values_beyond_the_pool_keep_their_order(data):
    ranker = rr.Anchored(baseline="bm25_body").fit(data[:200])
    assert not ranker.needs_the_query()
    alone = [float(ranker.predict(data.X[row : row + 1])[0]) for row in range(5)]
    assert alone == ranker.predict(data)[:5].tolist()
    high = np.tile(np.nanmean(data.X, axis=0), (9, 1))
    high[:, 0] = np.linspace(0.9, 8, 9) * np.nanmax(data.X[:, 0])
    assert (np.diff(ranker.predict(high)) > 0).all()


@pytest.mark.parametrize("baseline", ["bm25_body", 0, "-pagerank"])
def test_without_labels_it_is_the_baseline_ranking(data, baseline):
    pool = rr.Dataset(data.X, np.full(len(data), -1), data.qid, data.docid, data.feature_names)
    ranker = rr.Anchored(baseline=baseline).fit(pool)
    scores = ranker.predict(data)
    sign = -1 if baseline == "-pagerank" else 1
    column = data.feature_names.index("pagerank" if baseline == "-pagerank" else "bm25_body")
    for query in np.unique(data.qid):
        rows = data.qid == query
        assert np.argsort(scores[rows]).tolist() == np.argsort(sign * data.X[rows, column]).tolist()
    assert ranker.n_labels_ == 0


def test_labels_of_one_grade_change_nothing(data):
    none = rr.Anchored(baseline=0).start(data)
    for grade in (0, 2):
        same = rr.Anchored(baseline=0).fit(data[:40], np.full(40, grade))
        assert np.array_equal(same.coef_, none.coef_)
        assert not any(table.votes.any() for table in same.tables_.tables[1:])


def test_a_useless_baseline_is_left_behind(data):
    noise = np.random.default_rng(0).standard_normal((len(data), 1))
    synthetic = rr.Dataset(np.hstack([data.X, noise]), data.y, data.qid, None, (*data.feature_names, "noise"))
    ranker = rr.Anchored(baseline="noise").fit(synthetic)
    assert abs(ranker.coef_[-1]) < 0.2 < ranker.coef_[0]
    assert ranker.prior_shares_[-1] > 0.9


def test_ranks_are_better_the_lower(data):
    ranks = rr.Dataset(-data.X[:, :1], data.y, data.qid, None, ("engine_rank",))
    ranker = rr.Anchored(baseline="engine_rank").fit(ranks[:30])
    assert str(ranker.baseline_) == "engine_rank, lowest first"
    assert ranker.coef_[0] < 0
    assert rr.Anchored(baseline="+engine_rank").start(ranks).coef_[0] > 0


def test_missing_values_have_a_vote_of_their_own_and_a_missing_baseline_comes_behind():
    X = np.array([[1.0, 0.0], [2.0, np.nan], [np.nan, 0.0], [3.0, np.nan]])
    ranker = rr.Anchored(baseline="bm25").fit(rr.Dataset(X, [0, 1, 0, 1], ["q"] * 4, None, ("bm25", "length")))
    assert ranker.predict(X).argmin() == 2
    length = ranker.tables_.tables[1]
    assert length.vote([np.nan]) > 0 > length.vote([0.0])
    assert ranker.explain(X, 2).features[0].text == "baseline ranking bm25 is missing: behind all others"
    assert ranker.explain(X, 1).features[1].text == "length is missing"


@pytest.mark.parametrize(
    ("baseline", "message"),
    [
        (None, r"Anchored\w* starts from the baseline ranking: name the feature that ranks the documents now"),
        ("bm26", "baseline ranking: there is no feature 'bm26'; the data has bm25_body, "),
        (6, "baseline must be a feature, a column from 0 to 5: got 6"),
        (2.5, "baseline must be the ranking that users see now, such as 'bm25', "),
    ],
)
def test_mistakes_are_named(data, baseline, message):
    with pytest.raises(DataError, match=message):
        rr.Anchored(baseline=baseline).fit(data)


def test_a_file_whose_numbers_do_not_fit_is_refused(data):
    state = rr.Anchored(baseline=0).fit(data[:40]).to_state()
    for change, message in [
        ({"covariance": np.eye(5)}, r"expected 6 x 6 covariances: got \(5, 5\)"),
        ({"baseline_column": 9}, "expected the baseline ranking among 6 columns, and a sign: got 9 and 1"),
    ]:
        with pytest.raises(DataError, match=message):
            rr.Anchored.from_state(state | {"learned": state["learned"] | change})


def test_more_than_it_can_take_is_refused(monkeypatch, data):
    X = np.random.default_rng(0).random((10, 1001))
    message = r"Anchored takes at most 5,000 intervals of features: 1,001 features have 5,005; choose features"
    with pytest.raises(TooLargeError, match=message):
        rr.Anchored(baseline=0).fit(X, [0, 1] * 5, qid=[1] * 10)
    monkeypatch.setattr(anchored, "MAX_CELLS", 1000)
    with pytest.raises(TooLargeError, match="Anchored is for few labels: 40 labels and 31 intervals of features are"):
        rr.Anchored(baseline=0).fit(data[:40])


def test_categories_are_left_out_and_that_is_said():
    rng = np.random.default_rng(0)
    genre = rng.integers(0, 3, 60).astype(float)
    X = np.column_stack([rng.standard_normal(60), genre, rng.standard_normal(60)])
    kinds = {"genre": ("Drama", "War", "Western")}
    names, queries = ("bm25", "genre", "age"), np.repeat(np.arange(6), 10)
    synthetic = rr.Dataset(X, genre.astype(int), queries, None, names, categories=kinds)
    with pytest.warns(UserWarning, match="ignores genre: few labels are not enough for categorical features"):
        ranker = rr.Anchored(baseline="bm25").fit(synthetic)
    other = np.column_stack([X[:, 0], rng.permutation(genre), X[:, 2]])
    other = rr.Dataset(other, synthetic.y, queries, None, names, categories=kinds)
    assert np.array_equal(ranker.predict(synthetic), ranker.predict(other))
    with (
        pytest.warns(UserWarning, match="ignores genre"),
        pytest.raises(
            DataError, match="baseline ranking: 'genre' holds categories, which have no order; name a feature"
        ),
    ):
        rr.Anchored(baseline="genre").fit(synthetic)


def weird_pools():
    rng = np.random.default_rng(0)
    X, y, q = rng.standard_normal((60, 4)), rng.integers(0, 3, 60), np.repeat(np.arange(6), 10)
    gaps = np.where(rng.random(60) < 0.4, np.nan, X[:, 0])
    return {
        "one feature": (X[:, :1], y, q),
        "constant baseline": (np.column_stack([np.ones(60), X]), y, q),
        "gaps in the baseline": (np.column_stack([gaps, X]), y, q),
        "baseline is missing everywhere": (np.column_stack([np.full(60, np.nan), X]), y, q),
        "one document per query": (X, y, np.arange(60)),
        "ties": (np.round(X / 2), y, q),
        "nothing tells documents apart": (np.ones((60, 3)), y, q),
        "one row": (X[:1], y[:1], q[:1]),
        "large numbers": (X * 1e30, y, q),
    }


@pytest.mark.parametrize("name", weird_pools())
def test_weird_pools_are_ranked_and_explained(name, tmp_path):
    X, y, q = weird_pools()[name]
    grades = np.where(np.arange(len(y)) % 2 == 0, y, -1)
    pool = rr.Dataset(X, grades, q, None, ("baseline", *(f"f{i}" for i in range(1, X.shape[1]))))
    ranker = rr.select(pool, rr.Anchored(baseline="baseline"), baseline="baseline").ranker
    scores = ranker.predict(pool)
    assert np.isfinite(scores).all()
    why = ranker.explain(pool, 0)
    assert why.base + sum(share.adds for share in why.features) == pytest.approx(scores[0], abs=1e-9)
    ranker.what_if(pool, 0, above=float(scores[0]) + 0.01)
    ranker.overview(pool)
    ranker.save(tmp_path / "m.rulerank")
    assert np.array_equal(rr.load(tmp_path / "m.rulerank").predict(pool), scores)
