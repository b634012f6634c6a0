"""Files of the first version: its models still score to the last bit, its label store still opens."""

import json
import shutil
from pathlib import Path

import pytest
from sklearn.base import clone

import rulerank as rr

FILES = Path(__file__).parent / "data" / "first_version"
SCORES = json.loads((FILES / "scores.json").read_text())


EXACT = [name for name in SCORES if name.startswith("RE-")]  # whole numbers and sums in a fixed order
AGAIN = [name for name in EXACT if name != "RE-GR-zscore"]  # its min_support leaves cells empty, which now weigh
ROUNDED = [name for name in SCORES if name not in EXACT]  # matrix products, which processors add up in their own order


@pytest.fixture(scope="module")
def rows():
    return rr.read_table(FILES / "rows.csv")


def old_scores(name):
    return [float.fromhex(score) for score in SCORES[name]]


@pytest.mark.parametrize("name", EXACT)
def test_a_rule_model_of_the_first_version_scores_to_the_last_bit(name, rows):
    assert rr.load(FILES / f"{name}.rulerank").predict(rows).tolist() == old_scores(name)


@pytest.mark.parametrize("name", ROUNDED)
def test_any_model_of_the_first_version_scores_as_it_did(name, rows):
    assert rr.load(FILES / f"{name}.rulerank").predict(rows).tolist() == pytest.approx(old_scores(name), abs=1e-12)


@pytest.mark.parametrize("name", AGAIN)
def test_a_rule_model_fitted_again_scores_to_the_last_bit(name, rows):
    again = clone(rr.load(FILES / f"{name}.rulerank")).fit(rows)
    assert again.predict(rows).tolist() == old_scores(name)


@pytest.mark.parametrize("name", EXACT)
def test_a_rule_model_of_the_first_version_saved_again_scores_as_before(name, rows, tmp_path):
    rr.load(FILES / f"{name}.rulerank").save(tmp_path / "again.rulerank")
    assert rr.load(tmp_path / "again.rulerank").predict(rows).tolist() == old_scores(name)


def test_empty_cells_have_no_say_in_a_model_of_the_first_version_and_vote_0_when_it_is_fitted_again(rows):
    old = rr.load(FILES / "RE-GR-zscore.rulerank")
    again = clone(old).fit(rows)
    assert old.predict(rows).tolist() != again.predict(rows).tolist()


def test_a_label_store_of_the_first_version_opens_with_its_labels(tmp_path):
    pytest.importorskip("sqlalchemy", reason="the label store needs the extra judge")
    from rulerank.judging.store import LabelStore

    shutil.copy(FILES / "labels.db", tmp_path / "labels.db")
    expected = json.loads((FILES / "labels.json").read_text())
    store = LabelStore(tmp_path / "labels.db")
    try:
        assert [[one.query, one.doc, one.grade, one.rater] for one in store.labels()] == expected["labels"]
        assert len(list(store.history())) == expected["history"]
    finally:
        store.close()
