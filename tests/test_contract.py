"""Every ranker, every promise of `contract_checks.py`. A new ranker is one more line in RANKERS."""

import inspect
from functools import partial

import numpy as np
import pytest
from sklearn.base import clone

import contract_checks
import rulerank as rr
from contract_checks import CHECKS, OF_MIXTURES, OF_SCALES, X, obvious_synthetic, qid, y
from rulerank.methods import METHODS

RANKERS = {
    "GlobalRules": rr.GlobalRules,
    "StableRules": rr.StableRules,
    "QueryRules": rr.QueryRules,
    # ties="first" goes by the order of the rows
    "QueryRules, literal": partial(rr.QueryRules, literal=True, ties="share"),
    "FittedRules": rr.FittedRules,
    # the obvious synthetic is separable, and one of its values is missing
    "QueryIntercepts": partial(rr.QueryIntercepts, l2=1.0, missing="mean"),
    "Anchored": partial(rr.Anchored, baseline=0),
}


MEMBERS = {"rules": rr.GlobalRules(), "linear": rr.QueryIntercepts(l2=1.0, missing="mean")}
# put together from others: their members normalise, and are saved, by themselves; the queries are needed to predict
MIXTURES = {
    "Competence": partial(rr.Competence, members=MEMBERS),
    "DC3A": partial(rr.Competence, literal=True, ties="share"),
    "QC3A": partial(rr.Competence, literal=True, centric="query", ties="share"),
}


def test_every_method_is_under_contract():
    """A ranker with a line in methods.py has one in RANKERS, too."""
    made = {make.func if isinstance(make, partial) else make for make in [*RANKERS.values(), *MIXTURES.values()]}
    assert {method.ranker_class() for method in METHODS.values()} <= made


# the papers' votes are means, whose parts add up all the same
LITERAL = {
    "GlobalRules, literal": partial(rr.GlobalRules, votes="mean"),
    "StableRules, literal": partial(rr.StableRules, literal=True),
}


@pytest.mark.parametrize("make", LITERAL.values(), ids=LITERAL)
def test_contributions_of_literal_rules_add_up(make):
    contract_checks.check_contributions_add_up_to_the_scores(make)


def fit_and_score(make, **options):
    return make(**options).fit(X, y, qid=qid).predict(X, qid=qid)


@pytest.mark.parametrize("check", OF_MIXTURES, ids=lambda check: check.__name__)
@pytest.mark.parametrize("make", MIXTURES.values(), ids=MIXTURES)
def test_contract_of_mixtures(make, check):
    check(make)


@pytest.mark.parametrize("make", MIXTURES.values(), ids=MIXTURES)
def test_mixtures_find_the_obvious_and_give_the_same_bits_again(make):
    X_new, y_new, qid_new = obvious_synthetic(seed=1)
    scores = make().fit(X, y, qid=qid).predict(X_new, qid=qid_new)
    assert rr.evaluate(y_new, scores, qid_new, ["NDCG@10"]).means["NDCG@10"] > 0.9
    one = fit_and_score(make, n_jobs=1)
    assert np.array_equal(one, fit_and_score(make, n_jobs=2))
    assert np.array_equal(one, clone(make()).fit(X, y, qid=qid).predict(X, qid=qid))


@pytest.mark.parametrize("make", MIXTURES.values(), ids=MIXTURES)
def test_mixtures_come_back_from_their_file_bit_for_bit(make, tmp_path):
    ranker = make().fit(X, y, qid=qid)
    ranker.save(tmp_path / "model.rulerank")
    again = rr.load(tmp_path / "model.rulerank")
    for show in ("predict", "weights", "member_scores", "chosen"):
        assert np.array_equal(getattr(again, show)(X, qid=qid), getattr(ranker, show)(X, qid=qid))
    assert np.array_equal(again.competence_, ranker.competence_)
    again.save(tmp_path / "again.rulerank")
    assert (tmp_path / "again.rulerank").read_bytes() == (tmp_path / "model.rulerank").read_bytes()


@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.__name__)
@pytest.mark.parametrize("make", RANKERS.values(), ids=RANKERS)
def test_contract(make, check, request):
    if check in OF_SCALES and "normalize" not in make().get_params():
        pytest.skip("the ranker has one scale for all queries")
    if "tmp_path" in inspect.signature(check).parameters:
        check(make, request.getfixturevalue("tmp_path"))
    else:
        check(make)
