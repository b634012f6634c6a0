"""AnchoredRules: today's ranking without labels, votes as labels come, and the votes agree with the plain ones."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import rulerank as rr
from plain.anchored import items_plainly, posterior_plainly
from rulerank.errors import DataError
from rulerank.rankers.anchored import anchored
from rulerank.rankers.anchored.anchored import Items
from rulerank.rankers.anchored.posterior import Prior, average


@pytest.fixture(scope="module")
def data():
    return rr.make_ranking(n_queries=20, n_features=6, seed=4)


def test_votes_of_two_documents_as_worked_out_by_hand():
    """One feature, two bins, one document in each, grades 1 and 0, today's z-scores 1 and -1.

    By symmetry the votes are v and -v, effect and threshold 0, and v solves 8 v = 1 / (1 + exp(v + .7)).
    With v = .04037: exp(.74037) = 2.0967, 1 / 3.0967 = .32293, a eighth of which is .04037.
    """
    held, today = np.array([[0.0, 1.0], [1.0, 0.0]]), np.array([1.0, -1.0])
    priors = (Prior(0.7, 8.0, 1.0),)
    found = average(held, np.array([1, 0]), np.array([0, 0]), 1, np.zeros(2), today, priors=priors)
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
    today = rng.standard_normal(12)
    prior = Prior(0.7, 4.0, 1.0)
    found = average(held, grades, queries, 2, np.zeros(held.shape[1]), today, priors=(prior,))
    plain, _ = posterior_plainly(held, grades, queries, np.zeros(held.shape[1]), 8.0, 0.7 * today)
    assert found.weights == pytest.approx(plain, abs=1e-4)


def test_labels_of_one_grade_vote_for_nothing_and_without_labels_there_are_no_rules(data):
    none = rr.AnchoredRules(today=0).start(data.feature_names)
    assert (none.n_labels_, len(none.rules_)) == (0, 0)
    assert repr(none.rules()).endswith("0 labels of 0 queries")
    for grade in (0, 2):
        same = rr.AnchoredRules(today=0).fit(data[:40], np.full(40, grade))
        assert not same.coef_.any()
        assert same.tables_.weights[0] == pytest.approx(0.7 * 0.99)


def test_missing_values_have_a_rule_of_their_own_and_a_missing_today_comes_behind():
    X = np.array([[1.0, 0.0], [2.0, np.nan], [np.nan, 0.0], [3.0, np.nan]])
    ranker = rr.AnchoredRules(today="bm25").fit(rr.Dataset(X, [0, 1, 0, 1], ["q"] * 4, None, ("bm25", "length")))
    assert ranker.predict(X, qid=["q"] * 4).argmin() == 2
    votes = {rule.item: rule.vote for rule in ranker.rules_}
    assert votes["length is missing"] > 0 > votes["length is present"]
    assert "= -2.225 (missing: behind all others)" in ranker.explain(X, 2).to_text()


def test_an_explanation_starts_from_todays_ranking_and_rules_move_it(data):
    ranker = rr.AnchoredRules(today="bm25_body").fit(data[:200])
    scores = ranker.predict(data)
    for row in (0, 3, 77):
        why = ranker.explain(data, row)
        own = next(share for share in why.features if share.feature == "baseline ranking bm25_body")
        assert own.text.startswith("baseline ranking bm25_body z-score = ")
        assert why.baseline == own.feature
        assert why.base + sum(share.adds for share in why.features) == pytest.approx(scores[row], abs=1e-9)
        assert why.score == pytest.approx(scores[row], abs=1e-9)
    versus = ranker.explain(data, 3, versus=7)
    assert versus.difference == pytest.approx(abs(scores[3] - scores[7]), abs=1e-9)
    assert "the sum of what the baseline ranking bm25_body and " in ranker.explain(data, 3).lines()[0]


def test_rules_are_listed_with_votes_errors_and_labels(data):
    ranker = rr.AnchoredRules(today="bm25_body").fit(data[:100])
    rules = ranker.rules_
    votes = [abs(rule.vote) for rule in rules]
    assert votes == sorted(votes, reverse=True)
    assert all(rule.error > 0 for rule in rules)
    assert sum(rule.labels for rule in rules) == 100 * 6
    assert str(rules[0]).count("->") == 1
    assert "100 labels of" in repr(ranker.rules())


@pytest.mark.parametrize("normalize", ["zscore", None])
def test_other_systems_are_told_why_they_cannot_have_it(data, normalize):
    ranker = rr.AnchoredRules(today=0, normalize=normalize).fit(data[:60])
    with pytest.raises(DataError, match="AnchoredRules cannot be exported exactly: it adds votes to a weighted value"):
        rr.export_model(ranker, "python")


@pytest.mark.parametrize("make", [rr.Anchored, rr.AnchoredRules])
def test_categories_are_left_out_and_that_is_said(make):
    rng = np.random.default_rng(0)
    genre = rng.integers(0, 3, 60).astype(float)
    X = np.column_stack([rng.standard_normal(60), genre, rng.standard_normal(60)])
    kinds = {"genre": ("Drama", "War", "Western")}
    names, queries = ("bm25", "genre", "age"), np.repeat(np.arange(6), 10)
    world = rr.Dataset(X, genre.astype(int), queries, None, names, categories=kinds)
    with pytest.warns(UserWarning, match="leaves out genre: categories are no amounts, and few labels say little of"):
        ranker = make(today="bm25").fit(world)
    other = np.column_stack([X[:, 0], rng.permutation(genre), X[:, 2]])
    other = rr.Dataset(other, world.y, queries, None, names, categories=kinds)
    assert np.array_equal(ranker.predict(world), ranker.predict(other))
    with (
        pytest.warns(UserWarning, match="leaves out genre"),
        pytest.raises(
            DataError, match="baseline ranking: 'genre' holds categories, which put nothing in order; name a feature"
        ),
    ):
        make(today="genre").fit(world)


def test_a_file_whose_numbers_do_not_fit_is_refused(data):
    state = rr.AnchoredRules(today=0).fit(data[:40]).to_state()
    learned = state["learned"]
    n = len(learned["votes"])
    for change, message in [
        ({"covariance": np.eye(5)}, rf"expected {n} x {n} covariances: got \(5, 5\)"),
        ({"cuts": learned["cuts"][1:]}, "expected votes of the bins that cuts of 6 features make, in order"),
        ({"item_features": learned["item_features"][::-1]}, "expected votes of the bins that"),
        ({"item_bins": learned["item_bins"] + 9}, "expected votes of the bins that"),
    ]:
        with pytest.raises(DataError, match=message):
            rr.AnchoredRules.from_state(state | {"learned": learned | change})


def test_more_than_it_can_take_is_refused(monkeypatch, data):
    X = np.random.default_rng(0).random((10, 501))
    with pytest.raises(Exception, match=r"AnchoredRules takes at most 2,500 rules: 501 features have 2,505; choose"):
        rr.AnchoredRules(today=0).fit(X, [0, 1] * 5, qid=[1] * 10)
    monkeypatch.setattr(anchored, "MAX_CELLS", 1000)
    with pytest.raises(Exception, match=r"AnchoredRules is for few labels: 40 of them and 31 rules are too many; use"):
        rr.AnchoredRules(today=0).fit(data[:40])


def weird_pools():
    rng = np.random.default_rng(0)
    X, y, q = rng.standard_normal((60, 4)), rng.integers(0, 3, 60), np.repeat(np.arange(6), 10)
    gaps = np.where(rng.random(60) < 0.4, np.nan, X[:, 0])
    return {
        "one feature": (X[:, :1], y, q),
        "constant today": (np.column_stack([np.ones(60), X]), y, q),
        "gaps in today": (np.column_stack([gaps, X]), y, q),
        "today is missing everywhere": (np.column_stack([np.full(60, np.nan), X]), y, q),
        "one document per query": (X, y, np.arange(60)),
        "ties": (np.round(X / 2), y, q),
        "nothing tells documents apart": (np.ones((60, 3)), y, q),
        "one row": (X[:1], y[:1], q[:1]),
        "large numbers": (X * 1e30, y, q),
    }


@pytest.mark.parametrize("name", weird_pools())
@pytest.mark.parametrize("make", [rr.Anchored, rr.AnchoredRules])
def test_weird_pools_are_ranked_and_explained(make, name, tmp_path):
    X, y, q = weird_pools()[name]
    grades = np.where(np.arange(len(y)) % 2 == 0, y, -1)
    pool = rr.Dataset(X, grades, q, None, ("today", *(f"f{i}" for i in range(1, X.shape[1]))))
    ranker = rr.select(pool, make(today="today"), today="today").ranker
    scores = ranker.predict(pool)
    assert np.isfinite(scores).all()
    why = ranker.explain(pool, 0)
    assert why.base + sum(share.adds for share in why.features) == pytest.approx(scores[0], abs=1e-9)
    ranker.what_if(pool, 0, above=float(scores[0]) + 0.01)
    ranker.overview(pool)
    ranker.save(tmp_path / "m.rulerank")
    assert np.array_equal(rr.load(tmp_path / "m.rulerank").predict(pool), scores)
