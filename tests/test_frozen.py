"""What version 0.1 made (`frozen.py`): models score to the last bit, stores open whole, outputs are the same."""

import shutil

import pytest
from sklearn.base import clone

import rulerank as rr
from frozen import FROZEN, differences, exports, facts, judging_api, output_of, postgres_schema, read_json, service_api

SCORES = {
    f"{folder}/{name}": scores
    for folder in ("first", "models")
    for name, scores in read_json(f"{folder}/scores.json").items()
    if name != "RE-GR-zscore"  # votes that version 0.2 no longer has
}
# sums in a fixed order; the others multiply matrices, which processors add up in their own order
EXACT = [name for name in SCORES if name.split("/")[1].startswith(("RE-", "FR", "DC3A", "QC3A"))]
OF_0_1 = [name for name in SCORES if name.split("/")[1].startswith("Anchored")]  # which learns in another way now
ROUNDED = [name for name in SCORES if name not in EXACT + OF_0_1]
ADDITIVE = {name: made for name, made in read_json("exports.json.gz").items() if made}
COMMANDS = read_json("commands.json")


def rows_of(name):
    return rr.read_table((FROZEN / name).parent / "rows.csv")


def old_model(name):
    return rr.load(FROZEN / f"{name}.rulerank")


def scores_of(ranker, name):
    return ranker.predict(rows_of(name)).tolist()[: len(SCORES[name])]


def old_scores(name):
    return [float.fromhex(score) for score in SCORES[name]]


@pytest.mark.parametrize("name", EXACT + OF_0_1)
def test_a_model_scores_to_the_last_bit(name):
    assert scores_of(old_model(name), name) == old_scores(name)


@pytest.mark.parametrize("name", ROUNDED)
def test_a_model_with_matrix_products_scores_as_it_did(name):
    assert scores_of(old_model(name), name) == pytest.approx(old_scores(name), abs=1e-12)


@pytest.mark.parametrize("name", EXACT)
def test_a_model_fitted_again_scores_to_the_last_bit(name):
    assert scores_of(clone(old_model(name)).fit(rows_of(name)), name) == old_scores(name)


@pytest.mark.parametrize("name", EXACT + OF_0_1)
def test_a_model_saved_again_scores_as_before(name, tmp_path):
    old_model(name).save(tmp_path / "again.rulerank")
    assert scores_of(rr.load(tmp_path / "again.rulerank"), name) == old_scores(name)


def test_a_model_with_votes_that_were_removed_says_what_to_use():
    expected = "RE-GR-zscore.rulerank: the GlobalRules was fitted with votes='residual', .*again with votes='evidence'"
    with pytest.raises(rr.errors.ModelFileError, match=expected):
        old_model("first/RE-GR-zscore")


@pytest.mark.parametrize("name", ADDITIVE)
def test_a_model_is_exported_as_it_was(name):
    pytest.importorskip("onnx", reason="one of the targets needs the extra onnx")
    assert differences(ADDITIVE[name], exports(name)) == []


@pytest.mark.parametrize("folder", ["", "first/"])
def test_a_label_store_opens_with_its_facts(folder, tmp_path):
    pytest.importorskip("sqlalchemy", reason="the label store needs the extra judge")
    expected = read_json(f"{folder}labels.json")
    shutil.copy(FROZEN / folder / "labels.db", tmp_path / "labels.db")
    known = facts(tmp_path / "labels.db")
    if folder:  # of before 0.1: who graded what
        labels = [[one[field] for field in ("query", "doc", "grade", "rater")] for one in known["labels"]]
        known = {"labels": labels, "history": len(known["history"])}
    assert known == expected


def test_tables_of_a_new_store_on_postgresql_are_what_they_were():
    pytest.importorskip("sqlalchemy", reason="the label store needs the extra judge")
    assert postgres_schema() == (FROZEN / "postgres.sql").read_text()


@pytest.mark.parametrize("describe", [judging_api, service_api])
def test_an_api_is_described_as_it_was(describe):
    pytest.importorskip("starlette", reason="the pages need the extras judge and serve")
    name = describe.__name__.removesuffix("_api")
    assert differences(read_json(f"openapi-{name}.json"), describe()) == []


@pytest.mark.parametrize("line", COMMANDS, ids=str)
def test_a_command_prints_the_values_it_printed(line):
    assert differences(COMMANDS[line], output_of(line)) == []
