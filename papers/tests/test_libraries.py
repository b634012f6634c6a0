"""The competing libraries learn, stop on held-out queries, say what is missing, and are what their names say."""

import sys

import numpy as np
import pytest

import rulerank as rr
from papers.baselines.bagged import Bagged
from papers.baselines.cat_boost import YetiRank
from papers.baselines.ebm import EBM
from papers.baselines.ilmart import ILMARTLike
from papers.systems import SYSTEMS
from rulerank.errors import DataError, MissingExtraError
from rulerank.evaluation import evaluate

FOLD = rr.datasets.make_folds(rr.datasets.make_ranking(n_queries=30, docs_per_query=(8, 20), n_features=6, seed=0))[0]
LIBRARIES = {
    "lightgbm": ILMARTLike(n_trees=40, min_docs=5, n_jobs=1),
    "interpret": EBM(max_pairs=2, n_bags=2, n_jobs=1),
    "catboost": YetiRank(n_trees=30, depth=4, n_jobs=1),
}
MODULES = {"lightgbm": "lightgbm", "interpret": "interpret.glassbox", "catboost": "catboost"}
PACKAGES = {"lightgbm": "lightgbm", "interpret": "interpret-core", "catboost": "catboost"}


@pytest.fixture(params=LIBRARIES)
def peer(request):
    pytest.importorskip(request.param, reason="it comes with the extra compare")
    return LIBRARIES[request.param]


def obvious(seed=0):
    rng = np.random.default_rng(seed)
    X = rng.random((360, 3))
    return rr.Dataset(X, np.digitize(X[:, 0], [0.5, 0.8]), np.repeat(np.arange(12), 30))


def test_the_obvious_ranking_is_found(peer):
    new = obvious(seed=1)
    scores = peer.fit(obvious()).predict(new)
    assert evaluate(new.y, scores, new.qid, "NDCG@10").means["NDCG@10"] > 0.95


def test_rows_come_in_any_order(peer):
    order = np.random.default_rng(0).permutation(len(FOLD.train))
    one, other = (peer.fit(data, vali=FOLD.vali).predict(FOLD.test) for data in (FOLD.train, FOLD.train[order]))
    assert np.array_equal(one, other)


def test_vali_must_be_documents_with_grades(peer):
    with pytest.raises(DataError, match=r"^vali must be a Dataset, such as rr.Dataset\(X, y, qid\): got list$"):
        peer.fit(FOLD.train, vali=[1])
    ungraded = rr.Dataset(
        FOLD.vali.X, np.full(len(FOLD.vali), -1), FOLD.vali.qid, feature_names=FOLD.vali.feature_names
    )
    with pytest.raises(DataError, match=r"^vali has no document with a grade$"):
        peer.fit(FOLD.train, vali=ungraded)


def test_a_peer_is_not_saved_and_says_so(peer):
    fitted = peer.fit(FOLD.train)
    with pytest.raises(DataError, match=r"is here to be compared with and is not saved$"):
        fitted.to_state()


@pytest.mark.parametrize("name", LIBRARIES)
def test_without_its_library_the_extra_is_named(name, monkeypatch):
    monkeypatch.setitem(sys.modules, MODULES[name], None)
    message = rf"^this needs {PACKAGES[name]}, .* pip install 'rulerank\[compare\]' "
    with pytest.raises(MissingExtraError, match=message):
        LIBRARIES[name].fit(FOLD.train)


def test_without_pairs_a_feature_adds_the_same_whatever_the_others_are():
    pytest.importorskip("lightgbm", reason="it comes with the extra compare")
    ranker = ILMARTLike(n_trees=60, min_docs=5, max_pairs=0).fit(FOLD.train)
    X = np.nan_to_num(FOLD.test.X[:20])
    moved = X.copy()
    moved[:, 0] += 1.0
    step = [ranker.predict(np.column_stack([a[:, :1], np.tile(X[3, 1:], (20, 1))])) for a in (X, moved)]
    assert ranker.pairs_ == []
    np.testing.assert_allclose(ranker.predict(moved) - ranker.predict(X), step[1] - step[0], atol=1e-12)


def paired_features(booster):
    """Return the features of every path from a root to a leaf."""
    paths = []

    def walk(node, seen):
        if "split_feature" not in node:
            paths.append(seen)
            return
        for child in (node["left_child"], node["right_child"]):
            walk(child, seen | {node["split_feature"]})

    for tree in booster.dump_model()["tree_info"]:
        walk(tree["tree_structure"], frozenset())
    return paths


def test_every_path_keeps_to_one_feature_or_to_a_chosen_pair():
    pytest.importorskip("lightgbm", reason="it comes with the extra compare")
    ranker = ILMARTLike(n_trees=60, min_docs=5, max_pairs=2, n_leaves=15).fit(FOLD.train)
    singles, pairs = ranker.boosters_
    assert len(ranker.pairs_) == 2
    assert max(map(len, paired_features(singles))) == 1
    several = {path for path in paired_features(pairs) if len(path) > 1}
    assert several
    assert several <= {frozenset(pair) for pair in ranker.pairs_}


def test_bags_leave_out_each_query_once_and_their_scores_are_averaged():
    class Watcher:
        def fit(self, X, y, qid=None, vali=None):
            self.held_out = set(vali.qid) if vali is not None else set()
            return self

        def predict(self, X):
            return np.full(len(X), float(len(self.held_out)))

    bagged = Bagged(Watcher()).fit(FOLD.train)
    held_out = [member.held_out for member in bagged.members_]
    assert len(held_out) == 5
    assert set.union(*held_out) == set(FOLD.train.qid)
    assert sum(map(len, held_out)) == len(set(FOLD.train.qid))
    assert bagged.predict(FOLD.test)[0] == np.mean([len(one) for one in held_out])
    alone = Bagged(Watcher()).fit(FOLD.train[FOLD.train.qid == FOLD.train.qid[0]])
    assert [member.held_out for member in alone.members_] == [set()]


def test_bags_say_what_they_cannot_be():
    with pytest.raises(DataError, match=r"^n_bags must be an integer between 2 and 100: got 1$"):
        Bagged(rr.GlobalRules(), n_bags=1).fit(FOLD.train)


@pytest.mark.parametrize("name", ["LambdaMART x5", "ILMART-like", "EBM", "CatBoost"])
def test_a_peer_whose_library_is_missing_is_skipped_in_a_comparison(name, monkeypatch):
    for module in MODULES.values():
        monkeypatch.setitem(sys.modules, module, None)
    found = rr.experiment.run_experiment([FOLD], [SYSTEMS[name]])
    [failure] = found.failures.values()
    assert failure.skipped
    assert "rulerank[compare]" in failure.reason
    assert SYSTEMS[name].group == "libraries"
