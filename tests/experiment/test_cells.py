"""A cell is one file that holds what it was given, and nothing that could be executed."""

import io
import tempfile
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import rulerank as rr
from rulerank.experiment.cells import CellStore, Scores, cell_key, code_digest, file_name, fold_digest, pack, unpack
from rulerank.training.selection import Trial

SCORES = Scores(
    vali=np.array([0.5, -1.0]),
    test=np.array([[1.0, 2.0, np.pi]]),
    params={"l2": 10.0, "weights": {"a": 0.5}},
    tried=(Trial({"l2": 1.0}, 0.4, 0.1, 0.1, 0.02, (0.4,)), Trial({"l2": 10.0}, 0.5, 0.1, 0.0, 0.0, (0.5,), stage=3)),
    n_labels=7,
    fit_seconds=0.1,
    tune_seconds=0.2,
    predict_seconds=0.3,
)


def test_a_cell_comes_back_as_it_was():
    found = unpack(pack(SCORES))
    np.testing.assert_array_equal(found.test, SCORES.test)
    np.testing.assert_array_equal(found.vali, SCORES.vali)
    assert (found.params, found.tried, found.n_labels) == (SCORES.params, SCORES.tried, SCORES.n_labels)
    assert (found.fit_seconds, found.tune_seconds, found.predict_seconds) == (0.1, 0.2, 0.3)


def test_pickled_objects_are_not_loaded(tmp_path):
    out = io.BytesIO()
    np.savez(out, vali=np.array([{}], dtype=object), test=np.zeros(1), about=np.zeros(1, dtype=np.uint8))
    store = CellStore(tmp_path)
    store.save("a", "Fold1", "0" * 16, SCORES)
    [path] = tmp_path.iterdir()
    path.write_bytes(out.getvalue())
    assert store.load("a", "Fold1", "0" * 16, 1, 1) is None


@given(st.binary(max_size=300) | st.integers(0, len(pack(SCORES)) - 1).map(lambda n: pack(SCORES)[:n]))
def test_a_file_that_is_no_whole_cell_is_not_taken(content):
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, file_name("a", "Fold1", "0" * 16)).write_bytes(content)
        assert CellStore(Path(folder)).load("a", "Fold1", "0" * 16, 2, 3) is None


def test_a_cell_of_other_documents_is_not_taken(tmp_path):
    store = CellStore(tmp_path)
    store.save("a", "Fold1", "0" * 16, SCORES)
    assert store.load("a", "Fold1", "0" * 16, 2, 3) is not None
    assert store.load("a", "Fold1", "0" * 16, 2, 4) is None
    store.save("a", "Fold1", "0" * 16, replace(SCORES, test=np.array(1.0)))
    assert store.load("a", "Fold1", "0" * 16, 2, 3) is None


def test_saving_removes_the_older_cell_of_the_same_system_and_fold_alone(tmp_path):
    store = CellStore(tmp_path)
    for system, fold, key in [("RE-GR", "Fold1", "1"), ("RE-GR+", "Fold1", "2"), ("RE-GR", "Fold11", "3")]:
        store.save(system, fold, key * 16, SCORES)
    store.save("RE-GR", "Fold1", "4" * 16, SCORES)
    names = {path.name for path in tmp_path.iterdir()}
    assert names == {f"RE-GR+@Fold1@{'2' * 16}.npz", f"RE-GR@Fold1@{'4' * 16}.npz", f"RE-GR@Fold11@{'3' * 16}.npz"}


@given(*[st.text(st.characters(exclude_categories=["Cs"]), max_size=20)] * 4)
def test_names_of_files_are_safe_and_differ_when_the_names_do(one, fold, other, other_fold):
    name = file_name(one, fold, "0")
    assert not set(name) & set('/\\*?[] :"')
    assert (name == file_name(other, other_fold, "0")) == ((one, fold) == (other, other_fold))


def test_a_key_depends_on_all_that_scores_depend_on():
    same = ("a", {"x": 1}, "data", "MAP")
    for place, other in enumerate(["b", {"x": 2}, "other", "NDCG@10"]):
        changed = [*same]
        changed[place] = other
        assert cell_key(*changed) != cell_key(*same)


def test_a_key_depends_on_the_code_that_scores_may_depend_on(tmp_path):
    def digest():
        code_digest.cache_clear()
        return code_digest(tmp_path)

    for name in ("rules/mining.py", "experiment/fitting.py", "experiment/report.py", "cli/compare.py"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("x = 1")
    before = digest()
    for name in ("experiment/report.py", "cli/compare.py"):
        (tmp_path / name).write_text("x = 2")
    assert digest() == before, "what only shows figures does not change them"
    (tmp_path / "rules/mining.py").write_text("x = 2")
    assert digest() != before


def test_code_is_part_of_a_key(monkeypatch):
    same = ("a", {}, "data", "MAP")
    before = cell_key(*same)
    monkeypatch.setattr("rulerank.experiment.cells.code_digest", lambda: "other")
    assert cell_key(*same) != before


@pytest.mark.parametrize("part", ["train", "vali", "test"])
@pytest.mark.parametrize("column", ["X", "y", "qid"])
def test_a_digest_depends_on_every_part_of_a_fold(part, column):
    [fold, *_] = rr.make_folds(rr.make_ranking(n_queries=6, docs_per_query=3), n_folds=3)
    data = getattr(fold, part)
    values = getattr(data, column).copy()
    values[0] = values[0] + 1 if column != "qid" else "other"
    changed = replace(fold, **{part: replace(data, **{column: values})})
    assert fold_digest(changed) != fold_digest(fold)
