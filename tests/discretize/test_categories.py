"""Features that name kinds are binned by kind, in every rule ranker, and matched by name."""

from dataclasses import replace

import numpy as np
import pytest

import rulerank as rr
from rulerank.discretize import EqualWidth, WithCategories, discretizer_from_state
from rulerank.errors import DataError, ModelFileError

KINDS = ("Drama", "War", "Crime", "Noir")
RANKERS = [rr.FittedRules, rr.GlobalRules, rr.StableRules, rr.QueryRules]


@pytest.fixture(scope="module")
def films():
    """War films are good, whatever else; Noir is rare."""
    rng = np.random.default_rng(0)
    codes = rng.choice(4, 1200, p=[0.4, 0.3, 0.298, 0.002])
    X = np.column_stack([rng.random(1200), codes])
    y = np.where(codes == 1, 1, 0) * (rng.random(1200) < 0.8)
    return rr.Dataset(X, y, np.repeat(np.arange(40), 30), None, ("noise", "genre"), categories={"genre": KINDS})


def renamed(films, names):
    """The same films, their kinds numbered in another order."""
    codes = np.array([names.index(kind) if kind in names else 0 for kind in KINDS])
    X = films.X.copy()
    X[:, 1] = codes[X[:, 1].astype(int)]
    return replace(films, X=X, categories={"genre": names})


@pytest.mark.parametrize("make", RANKERS)
def test_kinds_are_told_apart_and_named(make, films, tmp_path):
    ranker = make().fit(films)
    scores = ranker.predict(films)
    war = films.X[:, 1] == 1
    assert scores[war].min() > scores[~war].max()
    row = int(np.flatnonzero(war)[0])
    assert any(share.text == "genre is War" for share in ranker.explain(films, row).features)
    ranker.save(tmp_path / "m.rulerank")
    assert np.array_equal(rr.load(tmp_path / "m.rulerank").predict(films), scores)


@pytest.mark.parametrize("make", RANKERS)
def test_kinds_are_matched_by_name_and_new_ones_have_a_score(make, films):
    ranker = make().fit(films)
    shuffled = renamed(films, ("Noir", "Crime", "War", "Drama"))
    assert np.array_equal(ranker.predict(shuffled), ranker.predict(films))
    new = replace(films[:5], X=films.X[:5] * [1, 0], categories={"genre": ("Western",)})
    rare = replace(films[:5], X=films.X[:5] * [1, 0] + [0, 3])
    assert np.isfinite(ranker.predict(new)).all()
    assert ranker.predict(new) == pytest.approx(ranker.predict(rare))  # as those that are too rare to tell


def test_their_codes_are_not_normalised(films):
    ranker = rr.GlobalRules(normalize="zscore").fit(films)
    assert set(ranker.check_rows(films, None)[:, 1]) == {0, 1, 2, 3}


def test_a_category_cannot_be_monotone(films):
    with pytest.raises(DataError, match="monotone names 'genre', whose categories have no order"):
        rr.FittedRules(monotone={"genre": 1}).fit(films)


def test_bins_that_do_not_fit_their_kinds_are_refused():
    made = WithCategories(EqualWidth(n_bins=2), {0: KINDS}).fit(np.array([[0.0], [1.0]] * 5))
    state = made.to_state()
    again = discretizer_from_state(state)
    assert again.bins_of(np.array([[0.0], [1.0], [3.0], [np.nan]])).tolist() == [[0, 1, 2, 3]]
    for change in ({"bins": np.zeros(2)}, {"feature": 7}):
        broken = state | {"categories": [state["categories"][0] | change]}
        with pytest.raises(ModelFileError, match="the bins of a feature's categories do not fit"):
            discretizer_from_state(broken)
