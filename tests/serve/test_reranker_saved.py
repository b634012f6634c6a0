"""A reranker in a file: the same bits, the baseline ranking, and what does not fit."""

import pytest

import rulerank as rr
from rulerank.errors import DataError, ModelFileError
from rulerank.model_file import load, load_ranker, save


@pytest.fixture(scope="module")
def query(shop):
    return shop.queries.texts[0]


def test_a_saved_reranker_gives_the_same_bits(reranker, query, tmp_path):
    path = tmp_path / "shop.rulerank"
    reranker.save(path)
    again = load(path)
    assert type(again) is rr.Reranker
    assert again.version == reranker.version
    assert path.read_bytes()[-32:].hex().startswith(again.version)
    assert again.rank(query, top=None).to_dict() == reranker.rank(query, top=None).to_dict()
    again.save(tmp_path / "again.rulerank")
    assert (tmp_path / "again.rulerank").read_bytes() == path.read_bytes()
    assert load_ranker(path).predict(again.features.for_query(query)).size


def test_the_baseline_ranking_is_saved(ranker, features, synthetic, tmp_path):
    path = tmp_path / "model.rulerank"
    for baseline in ("-price", "+rating", 3):
        made = rr.Reranker(ranker, features, baseline)
        made.save(path)
        assert load(path).baseline == made.baseline
    for baseline in ("engine_rank", "+engine_rank", None):
        made = rr.Reranker(rr.GlobalRules().fit(synthetic), baseline=baseline)
        made.save(path)
        assert load(path).baseline == made.baseline


def test_a_ranker_that_cannot_be_saved_ranks_all_the_same(synthetic, dicts, tmp_path):
    class Own(rr.GlobalRules):
        pass

    reranker = rr.Reranker(Own().fit(synthetic))
    assert reranker.rank("", dicts).version == "unsaved"
    with pytest.raises(DataError, match="a model file holds one of"):
        reranker.save(tmp_path / "model.rulerank")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda state: state["ranker"].update({"class": "os.system"}), "holds a 'os.system', which rulerank"),
        (lambda state: state["ranker"].update({"class": "Reranker"}), "does not describe a Reranker"),
        (lambda state: state.update(ranker=state["features"]), "ranker must be a fitted ranker"),
        (lambda state: state.update(features=state["ranker"]), "features must be a fitted TextFeatures"),
        (lambda state: state.update(features=7), "does not describe a Reranker"),
        (lambda state: state.update(baseline="nope"), "baseline ranking: there is no feature 'nope'"),
        (lambda state: state["ranker"]["state"]["feature_names"].__setitem__(0, "f1"), "do not compute: f1"),
        (lambda state: state["ranker"]["state"]["feature_names"].pop(), "number of features"),
        (lambda state: state.pop("baseline"), "does not describe a Reranker: 'baseline'"),
    ],
)
def test_a_file_whose_parts_do_not_fit_is_refused(reranker, tmp_path, monkeypatch, change, message):
    state = reranker.to_state()
    change(state)
    monkeypatch.setattr(rr.Reranker, "to_state", lambda self: state)
    save(reranker, tmp_path / "model.rulerank")
    with pytest.raises(ModelFileError, match=message):
        load(tmp_path / "model.rulerank")
