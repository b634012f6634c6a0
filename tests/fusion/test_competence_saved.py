"""A Competence in files and in other systems: what comes back, what goes out in parts, what is refused."""

import numpy as np
import pytest

import rulerank as rr
from rulerank.errors import DataError, ModelFileError, OutdatedModelError


@pytest.fixture(scope="module")
def synthetic():
    return rr.datasets.make_ranking(n_queries=25, docs_per_query=12, n_features=5, seed=3)


RULES = {"votes": rr.GlobalRules(max_size=1), "stable": rr.StableRules(max_size=1)}


@pytest.mark.parametrize(
    "options",
    [
        {"members": RULES},
        {"members": RULES, "literal": True, "centric": "query", "discretizer": rr.discretize.EqualFrequency(n_bins=4)},
        {"members": ["confidence", "strength"]},
        {"members": "RE-GR, RE-SR", "literal": True},
        {"literal": True, "discretizer": rr.discretize.EqualWidth(n_bins=4)},
    ],
    ids=str,
)
def test_it_comes_back_from_its_file(synthetic, options, tmp_path):
    ranker = rr.Competence(**options, max_size=1).fit(synthetic)
    ranker.save(tmp_path / "model.rulerank")
    again = rr.load(tmp_path / "model.rulerank")
    assert np.array_equal(again.predict(synthetic), ranker.predict(synthetic))
    assert again.explain(synthetic, 3).to_dict() == ranker.explain(synthetic, 3).to_dict()
    assert again.names_ == ranker.names_
    # and fits again as it was told
    assert np.array_equal(
        rr.Competence(**again.get_params(deep=False)).fit(synthetic).predict(synthetic), ranker.predict(synthetic)
    )


@pytest.mark.parametrize(("name", "value"), [("select", "best"), ("scale", "query"), ("mapped", False)])
def test_what_this_version_has_no_more_is_said(synthetic, name, value):
    state = rr.Competence(RULES).fit(synthetic).to_state()
    state["params"] |= {name: value}
    with pytest.raises(OutdatedModelError, match=f"fitted with {name}={value!r}, .*: fit it again without {name}"):
        rr.Competence.from_state(state)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda s: s["members"][0].update({"class": "Popen"}), "unknown member class 'Popen'"),
        (lambda s: s["mixture"].update(common=np.ones(3)), "its weights do not match its members"),
        (lambda s: s.update(scale={"factors": np.ones(3)}), "its scale does not match its members"),
    ],
)
def test_a_crafted_mixture_is_refused(synthetic, change, message):
    state = rr.Competence(RULES).fit(synthetic).to_state()
    change(state["learned"])
    with pytest.raises(ModelFileError, match=message):
        rr.Competence.from_state(state)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda rules: rules["labels"].update(rows=rules["labels"]["rows"] + 999), "its labels name missing rows"),
        (
            lambda rules: rules["labels"].update(members=rules["labels"]["members"] + 7),
            "its labels name missing members",
        ),
        (
            lambda rules: rules["training_rows"].update(queries=rules["training_rows"]["queries"] * 2),
            "do not match its bins",
        ),
    ],
)
def test_crafted_labels_are_refused(synthetic, change, message):
    state = rr.Competence(literal=True, max_size=1).fit(synthetic).to_state()
    change(state["learned"]["rules"]["learned"])
    with pytest.raises(ModelFileError, match=message):
        rr.Competence.from_state(state)


def test_metrics_that_are_not_those_of_the_rules_are_refused(synthetic):
    state = rr.Competence(["confidence", "yule_q"], literal=True, max_size=1).fit(synthetic).to_state()
    state["learned"]["names"] = ["confidence", "yule_y"]
    with pytest.raises(ModelFileError, match="its metrics are not those of its rules"):
        rr.Competence.from_state(state)


def test_members_can_be_named_as_methods(synthetic):
    named = rr.Competence("RE-GR,QI", literal=True, max_size=1)
    with pytest.raises(DataError, match="missing"):
        named.fit(synthetic)  # the intercepts' default for missing values
    assert rr.Competence(["RE-GR", "RE-SR"]).fit(synthetic).names_ == ("RE-GR", "RE-SR")
    with pytest.raises(DataError, match="unknown method 'charm'; choose from RE-GR"):
        rr.Competence("RE-GR, charm").fit(synthetic)
