"""Plans of the papers: fusions, boosters that stop on vali, and learning from a few chosen labels."""

from dataclasses import replace

import numpy as np
import pytest

import rulerank as rr
from failing_rankers import First
from papers.baselines import RankBoost
from papers.plans import Fuse, LinearCombination, learned_weights
from papers.run import Follower, run_systems
from papers.sampled import SVM, AsChosen, Asked, AtRandom, FromTheTop, in_bins, shuffled_rows
from rulerank.errors import DataError
from rulerank.evaluation.rankings import best_feature, feature_scores
from rulerank.experiment.systems import Rank, System, rank
from rulerank.selection.select import Scoring

FOLD = rr.datasets.make_folds(rr.datasets.make_ranking(n_queries=20, docs_per_query=8, n_features=5), n_folds=5)[0]


def value_of(data, scores, measure):
    return Scoring(measure).mean(data, scores)


def test_a_booster_keeps_the_rounds_that_are_best_on_vali():
    scores = rank(RankBoost(n_rounds=20), {}, FOLD.train, FOLD, "MAP")
    by_rounds = [
        value_of(FOLD.vali, RankBoost(n_rounds=n).fit(FOLD.train).predict(FOLD.vali), "MAP") for n in range(1, 21)
    ]
    assert scores.params == {"rounds": int(np.argmax(by_rounds)) + 1}


def test_fusions_use_the_scores_of_others_and_count_their_time():
    used = {name: rank(First(sign=sign), {}, FOLD.train, FOLD, "MAP") for name, sign in [("a", 1.0), ("b", 2.0)]}
    fused = Fuse("comb_sum").run(FOLD, used, "MAP")
    np.testing.assert_array_equal(fused.test, rr.fuse([used["a"].test, used["b"].test], FOLD.test.qid, "comb_sum"))
    assert fused.fit_seconds == sum(scores.fit_seconds for scores in used.values())
    assert fused.n_labels == len(FOLD.train)


def test_a_system_runs_again_when_one_that_it_builds_on_has_changed_and_fails_with_it(tmp_path, monkeypatch):
    ran, plainly = [], Fuse.run
    monkeypatch.setattr(Fuse, "run", lambda self, *fold: ran.append(1) or plainly(self, *fold))

    def run(**params):
        first = System("a", "yours", Rank(First(**params)), "")
        return run_systems([FOLD], [Follower("sum", "yours", Fuse("borda"), "", ("a",)), first], out=tmp_path)

    for options, n_runs in (({}, 1), ({}, 1), ({"sign": -1.0}, 2)):
        run(**options)
        assert len(ran) == n_runs
    failed = run(fail="badly")
    assert failed.failures["sum", 0].reason.startswith("DataError: it builds on a: ValueError: no luck today")


def test_weights_of_the_linear_combination_come_from_vali():
    good, bad = (rank(First(sign=sign), {}, FOLD.train, FOLD, "MAP") for sign in (1.0, -1.0))
    better = "good" if value_of(FOLD.vali, good.vali, "MAP") > value_of(FOLD.vali, bad.vali, "MAP") else "bad"
    found = LinearCombination().run(FOLD, {"good": good, "bad": bad}, "MAP")
    assert max(found.params["weights"], key=found.params["weights"].get) == better


def test_weights_are_shares_leave_noise_out_and_are_at_least_as_good_as_every_member():
    rng = np.random.default_rng(5)
    halves = rng.random((2, 600))  # two rankers that each see one half of what makes a document relevant
    lists, qid = np.vstack([halves, rng.random(600)]), np.repeat(np.arange(30), 20)
    data = rr.Dataset(lists.T, (halves.sum(axis=0) > 1.3).astype(int), qid)
    weights = learned_weights(lists, data.y, qid, "MAP")
    assert weights.sum() == pytest.approx(1)
    assert 0 <= weights[2] < 0.1 < weights[:2].min()
    value = value_of(data, rr.fuse(lists, qid, "linear", weights), "MAP")
    assert value >= max(value_of(data, scores, "MAP") for scores in [*lists, rr.fuse(lists, qid, "comb_sum")])


def test_sampling_sees_the_grades_of_the_documents_it_asks_for_alone():
    seen = Asked(rr.SSAR()).run(FOLD, "MAP")
    order = shuffled_rows(FOLD)
    mixed = FOLD.train[order]
    binned = in_bins(FOLD, "tube").train[order]
    chosen = rr.SSAR(discretizer=None).select(binned.X, lambda row: int(mixed.y[row]), mixed.qid)
    assert sorted(order[chosen]) == seen.chosen.tolist()
    assert seen.n_labels == chosen.size < len(mixed)
    known = {(mixed.qid[row], mixed.docid[row]): mixed.y[row] for row in chosen}
    grades = [known.get(doc, 0) for doc in zip(FOLD.train.qid, FOLD.train.docid, strict=True)]
    assert (grades != FOLD.train.y).any()
    blind = Asked(rr.SSAR()).run(replace(FOLD, train=replace(FOLD.train, y=grades)), "MAP")
    np.testing.assert_array_equal(blind.test, seen.test)


def test_random_and_top_documents_are_as_many_as_were_asked_for():
    used = {"SSAR": Asked(rr.SSAR()).run(FOLD, "MAP")}
    drawn, top = (plan.run(FOLD, used, "MAP") for plan in (AtRandom(n_draws=3), FromTheTop()))
    assert drawn.n_labels == top.n_labels == used["SSAR"].n_labels
    assert drawn.test.shape == (3, len(FOLD.test))
    assert top.params == {"feature": best_feature(FOLD.vali)}
    assert drawn.chosen.shape == (3, used["SSAR"].n_labels)
    values = feature_scores(FOLD.train, top.params["feature"])
    assert values[top.chosen].min() >= np.delete(values, top.chosen).max()


def test_the_svm_learns_from_the_very_documents_that_were_chosen():
    used = {"SSARP": Asked(rr.SSAR(partitions=2)).run(FOLD, "MAP")}
    found = AsChosen(SVM).run(FOLD, used, "MAP")
    np.testing.assert_array_equal(found.chosen, used["SSARP"].chosen)
    hidden = np.zeros_like(FOLD.train.y)
    hidden[found.chosen] = FOLD.train.y[found.chosen]
    blind = AsChosen(SVM).run(replace(FOLD, train=replace(FOLD.train, y=hidden)), used, "MAP")
    np.testing.assert_array_equal(blind.test, found.test)
    assert set(found.params) == {"C"}


def test_without_two_grades_in_a_query_the_svm_ties_all_documents():
    one = replace(Asked(rr.SSAR()).run(FOLD, "MAP"), chosen=np.array([0]))
    assert not AsChosen(SVM).run(FOLD, {"SSAR": one}, "MAP").test.any()


def test_only_documents_that_were_chosen_can_be_learned_from():
    with pytest.raises(DataError, match="RE-GR has not chosen documents to label, such as SSAR does"):
        AsChosen(SVM).run(FOLD, {"RE-GR": rank(First(), {}, FOLD.train, FOLD, "MAP")}, "MAP")


def test_bins_of_sampled_systems_do_not_depend_on_grades():
    blind = replace(FOLD, train=replace(FOLD.train, y=np.zeros_like(FOLD.train.y)))
    np.testing.assert_array_equal(in_bins(FOLD, "tube").test.X, in_bins(blind, "tube").test.X)
