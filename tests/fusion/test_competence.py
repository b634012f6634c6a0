import warnings

import numpy as np
import polars as pl
import pytest
from lightgbm import LGBMRanker
from sklearn.base import BaseEstimator, clone
from sklearn.linear_model import LinearRegression

import rulerank as rr
from rulerank.errors import DataError
from rulerank.rankers.foreign import fresh_for_part


class ByFeature(BaseEstimator):
    """Ranks by one feature, whatever it is shown."""

    def __init__(self, feature=0):
        self.feature = feature

    def fit(self, X, y):
        self.fitted_ = True
        return self

    def predict(self, X):
        return X[:, self.feature]


PAIR = {"first": ByFeature(0), "second": ByFeature(1)}


def two_domains(centric, n_queries=40, n_docs=25, seed=0):
    """Feature 2 says which of features 0 and 1 tells the truth of a document (or of its whole query)."""
    rng = np.random.default_rng(seed)
    n_rows = n_queries * n_docs
    y = rng.integers(0, 3, n_rows)
    query = np.repeat(np.arange(n_queries), n_docs)
    domain = rng.integers(0, 2, n_queries)[query] if centric == "query" else rng.integers(0, 2, n_rows)
    honest = y + rng.normal(0, 0.3, n_rows)
    noise = rng.normal(1, 1, n_rows)
    X = np.stack([np.where(domain == 0, honest, noise), np.where(domain == 1, honest, noise), domain], axis=1)
    return rr.Dataset(X.astype(np.float32), y, query)


def mean_map(data, scores):
    return rr.evaluate(data.y, scores, data.qid, "MAP").means["MAP"]


def test_where_each_member_has_its_domain_the_competent_one_is_heard():
    train, test = two_domains("document"), two_domains("document", seed=1)
    ranker = rr.Competence(PAIR).fit(train)
    alone = [mean_map(test, scores) for scores in ranker.member_scores(test).T]
    assert mean_map(test, ranker.predict(test)) > max(alone) + 0.05
    right = np.where(test.X[:, 2] == 0, "first", "second")
    assert (ranker.chosen(test) == right).mean() > 0.95


@pytest.mark.parametrize("centric", ["document", "query"])
def test_the_literal_form_finds_the_domains_of_members_that_speak_in_grades(centric):
    train, test = two_domains(centric), two_domains(centric, seed=1)
    ranker = rr.Competence(PAIR, centric=centric, literal=True, max_size=1, discretizer="equal_width").fit(train)
    alone = [mean_map(test, scores) for scores in ranker.member_scores(test).T]
    assert mean_map(test, ranker.predict(test)) > max(alone) + 0.05
    assert ranker.competence_.shape == (len(train), 2)


def test_without_domains_all_are_weighed_alike_and_the_useless_one_hardly_counts():
    rng = np.random.default_rng(0)
    y = rng.integers(0, 3, 600)
    X = np.stack([y + rng.normal(0, 1, 600), rng.normal(0, 1, 600)], axis=1)
    data = rr.Dataset(X, y, np.repeat(np.arange(30), 20))
    weights = rr.Competence(PAIR).fit(data).weights(data)
    assert np.array_equal(weights, np.tile(weights[0], (600, 1)))
    assert weights.sum(axis=1) == pytest.approx(1)
    assert weights[0, 0] > 0.8


@pytest.fixture(scope="module")
def synthetic():
    return rr.datasets.make_ranking(n_queries=25, docs_per_query=12, n_features=6, seed=3)


@pytest.fixture(scope="module")
def filled(synthetic):
    return rr.Dataset(np.nan_to_num(synthetic.X), synthetic.y, synthetic.qid)


def test_members_come_from_anywhere_and_are_left_as_they_were(filled):
    members = {
        "ours": rr.GlobalRules(normalize="rank"),
        "scikit-learn": LinearRegression(),
        "LightGBM": LGBMRanker(n_estimators=5, min_child_samples=5, verbose=-1, n_jobs=1),
    }
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="X does not have valid feature names")
        ranker = rr.Competence(members).fit(filled)
        scores = ranker.member_scores(filled)
        assert ranker.predict(filled).shape == (len(filled),)
    assert ranker.names_ == ("ours", "scikit-learn", "LightGBM")
    alone = rr.GlobalRules(normalize="rank").fit(filled).predict(filled)
    assert np.array_equal(scores[:, 0], alone)
    assert not any(hasattr(ranker, "n_features_in_") for ranker in [*members.values()][:2])
    assert ranker.competence_.shape == (len(filled), 3)


def test_competence_is_judged_on_queries_a_member_was_not_fitted_to():
    class Parrot(ByFeature):
        def fit(self, X, y):
            self.known_ = {tuple(x): grade for x, grade in zip(X.tolist(), y, strict=True)}
            return self

        def predict(self, X):
            return np.array([self.known_.get(tuple(x), 0) for x in X.tolist()], dtype=float)

    data = two_domains("document")
    ranker = rr.Competence({"parrot": Parrot(), "honest": LinearRegression()}).fit(data)
    assert ranker.weights(data)[:, 1].min() > 0.9


@pytest.mark.parametrize("options", [{}, {"literal": True}])
def test_clones_learn_the_same_and_rows_may_come_in_any_order(filled, options):
    ranker = rr.Competence({"rules": rr.GlobalRules(), "linear": rr.QueryIntercepts(l2=1.0)}, **options)
    one = ranker.fit(filled).predict(filled)
    assert np.array_equal(clone(ranker).fit(filled.X, filled.y, qid=filled.qid).predict(filled), one)
    order = np.random.default_rng(0).permutation(len(filled))
    shuffled = ranker.predict(filled.X[order], qid=np.asarray(filled.qid)[order])
    assert shuffled == pytest.approx(one[order], abs=1e-9)
    frame = pl.DataFrame(filled.X, schema=list(filled.feature_names))
    assert np.array_equal(clone(ranker).fit(frame, filled.y, qid=filled.qid).predict(filled), one)


def test_a_synthetic_set_without_relevant_documents_is_no_reason_to_fail(filled):
    data = rr.Dataset(filled.X, np.zeros(len(filled)), filled.qid)
    assert np.isfinite(fresh_for_part(rr.Competence(PAIR)).fit(data).predict(data)).all()


def test_mistakes_are_named(filled, tmp_path):
    for options, message in [
        ({"members": ["confidence"]}, "members must be two or more names .*got \"\\['confidence'\\]\""),
        ({"members": "confidence"}, r"members must be two or more names .*got \"\['confidence'\]\""),
        ({"members": ["confidence", "charm"]}, "unknown metric 'charm'; choose from added_value"),
        ({"members": ["confidence", LinearRegression()]}, "members must be two or more names of metrics or methods"),
        ({"members": {"a": LinearRegression(), "b": 3}}, "or a dict of rankers .* by name: got"),
        ({"members": "RE-GR, GlobalRules"}, "members must have different names: got RE-GR, RE-GR"),
        ({"members": PAIR, "centric": "word"}, "unknown centric 'word'; choose from document, query"),
        ({"members": PAIR, "centric": "query"}, r"centric='query' is for literal=True \(QC3A\)"),
        ({"members": PAIR, "ties": "last"}, "unknown ties 'last'; choose from first, share"),
        ({"members": PAIR, "n_splits": 1}, "n_splits must be an integer of at least 2: got 1"),
        ({"members": PAIR, "n_splits": 26}, "n_splits must be between 2 and the number of queries, 25: got 26"),
    ]:
        with pytest.raises(DataError, match=message):
            rr.Competence(**options).fit(filled)
    ranker = rr.Competence(PAIR).fit(filled)
    with pytest.raises(
        DataError, match=r"members are scaled by query: give the query of each row, predict\(X, qid=qid\)"
    ):
        ranker.predict(filled.X)
    by_query = rr.Competence({"one": rr.GlobalRules(normalize="rank"), "other": ByFeature()}, literal=True).fit(filled)
    with pytest.raises(DataError, match=r"normalises features by query \(normalize='rank'\)"):
        by_query.predict(filled.X)
    with pytest.raises(DataError, match="its member 'first' is a ByFeature, which a model file cannot store"):
        ranker.save(tmp_path / "model.rulerank")

    class Silent(ByFeature):
        def predict(self, X):
            return np.full(len(X), np.nan)

    with pytest.raises(DataError, match="the scores of member 2, Silent, are not all finite"):
        rr.Competence({"first": ByFeature(), "silent": Silent()}).fit(filled)
