"""Model files whose outside is in order and whose content is not: refused before a kernel sees it."""

import math
from contextlib import suppress
from pathlib import Path

import numpy as np
import pytest

import rulerank as rr
from model_bytes import change, opened, put, saved, seal
from rulerank.methods import INSTEAD, method_named

TABLES, ROWS, MEAN = {}, {"memory_budget": 0}, {"votes": "mean"}
ENGINE = "learned.engine."

BAD_STATES = [
    (TABLES, ENGINE + "n_bins", put(300), "n_bins must be from 0 to 255: got"),
    (TABLES, ENGINE + "n_bins", lambda a: a[:-1], "12 feature names, but n_bins of another number of features"),
    (TABLES, ENGINE + "n_bins", lambda a: a.astype(float), "n_bins must be of int32: got float64"),
    (TABLES, ENGINE + "used", put(99), "used must be from 0 to 11"),
    (TABLES, ENGINE + "used", lambda a: a[::-1], "its features are not in order, or have one bin"),
    (TABLES, ENGINE + "max_size", 3, "counts must have the shape"),
    (TABLES, ENGINE + "max_size", 10**9, "max_size must be from 0 to"),
    (TABLES, ENGINE + "max_size", 0, "it uses features in sets of none"),
    (TABLES, ENGINE + "training.n_grades", 33, "n_grades must be from 1 to 32: got 33"),
    (TABLES, ENGINE + "training.n_grades", 2, "counts must have the shape"),
    (TABLES, ENGINE + "training.min_rows", 0, "min_rows must be from 1 to"),
    (TABLES, ENGINE + "training.mean_grade", float("nan"), "mean_grade is nan"),
    (TABLES, ENGINE + "training.strength", lambda a: a * np.nan, "strength must be from 0"),
    (TABLES, ENGINE + "training.n_by_grade", lambda a: a[:-1], "n_by_grade must have the shape (3,): got (2,)"),
    (TABLES, ENGINE + "training.n_by_grade", lambda a: a * 0, "it counts more rows of a grade than there are"),
    (ROWS, ENGINE + "training.n_by_grade", lambda a: a - 1, "it counts more rows of a grade than there are"),
    (TABLES, ENGINE + "training.more", 1, "unexpected keyword argument 'more'"),
    (TABLES, ENGINE + "rows", {}, "it must hold either counts or rows"),
    (TABLES, ENGINE + "counts.grades", lambda a: a[:-1], "counts must have the shape"),
    (TABLES, ENGINE + "counts.grades", lambda a: a.astype("i8"), "counts must be of int32: got int64"),
    (TABLES, ENGINE + "counts.expected", lambda a: a[:0], "expected must have the shape"),
    (MEAN, ENGINE + "counts.expected", lambda a: np.zeros(3, "i8"), "expected must have the shape"),
    (MEAN, "params.votes", "evidence", "expected must have the shape"),
    (MEAN, "params.votes", "loud", "unknown votes 'loud'"),
    (MEAN, "params.volume", 11, "GlobalRules has no argument 'volume'"),
    (TABLES, "learned.discretizer.offsets", put(5, -1), "offsets of cuts, cuts and names do not fit each other"),
    (ROWS, ENGINE + "rows.bins", lambda a: a + np.uint8(9), "rows have bins outside the tables"),
    (ROWS, ENGINE + "rows.bins", lambda a: a[:, :-1], "bins must have the shape"),
    (ROWS, ENGINE + "rows.grades", put(31), "grades must be from 0 to 2: got 0 to 31"),
    (ROWS, ENGINE + "rows.grades", lambda a: a[:0], "it holds no rows, or other grades than it says"),
    (ROWS, ENGINE + "rows.n_grades", 7, "it holds no rows, or other grades than it says"),
    (ROWS, ENGINE + "rows.expected", put(2**62), "expected must be from 0 to 2415919104: got"),
    (TABLES, "learned.discretizer.kind", "magic", "unknown discretizer 'magic' in the model"),
    (TABLES, "feature_names", ["a"], "it has 1 feature names, but n_bins of another number of features"),
    (TABLES, "learned.n_bins", lambda a: a[:-1], "it has 12 feature names, but n_bins of another number of features"),
    (TABLES, "learned.discretizer.offsets", lambda a: a[1:], "but offsets of another number of features"),
    (TABLES, "learned", [], "does not describe a GlobalRules"),
]


@pytest.mark.parametrize(("params", "place", "value", "says"), BAD_STATES)
def test_a_crafted_state_is_refused_before_a_kernel_sees_it(tmp_path, params, place, value, says):
    _, path = saved(tmp_path, drop_weakest=0.0, **params)
    change(path, place, value)
    with pytest.raises(rr.errors.ModelFileError) as caught:
        rr.load(path)
    assert says in str(caught.value)
    assert str(caught.value).startswith(f"{path}: does not describe a GlobalRules: ")


def test_rows_that_would_be_laid_out_in_too_many_sets_are_refused(tmp_path):
    X = np.random.default_rng(0).integers(2, size=(30, 60))
    ranker = rr.GlobalRules(discretizer=None, max_size=1, drop_weakest=0, memory_budget=0).fit(X, X[:, 0])
    ranker.save(tmp_path / "model.rulerank")
    change(tmp_path / "model.rulerank", ENGINE + "max_size", 30)
    with pytest.raises(rr.errors.ModelFileError, match=r"it would lay out [\d,]+ feature sets"):
        rr.load(tmp_path / "model.rulerank")


def first_version():
    return sorted((Path(__file__).parent / "data" / "v0.1" / "first").glob("*.rulerank"))


@pytest.mark.parametrize("path", first_version(), ids=lambda path: path.stem)
@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_numbers_that_are_not_finite_never_reach_a_score(path, bad, tmp_path):
    manifest, content = opened(path)
    rows = rr.read_table(path.parent / "rows.csv")
    start, n_tried = 0, 0
    for one in manifest["arrays"]:
        dtype = np.dtype(one["dtype"])
        stop = start + math.prod(one["shape"]) * dtype.itemsize
        if dtype.kind == "f" and stop > start:
            wrong = content[:start] + np.array(bad, dtype).tobytes() + content[start + dtype.itemsize :]
            (tmp_path / "wrong.rulerank").write_bytes(seal(manifest, wrong))
            n_tried += 1
            with suppress(rr.errors.ModelFileError):
                assert np.isfinite(rr.load(tmp_path / "wrong.rulerank").predict(rows)).all()
        start = stop
    assert n_tried or not any("f" in one["dtype"] for one in manifest["arrays"])


def test_a_number_that_is_not_finite_is_named(tmp_path):
    [path] = [path for path in first_version() if path.stem == "QI"]
    manifest, content = opened(path)
    before = manifest["arrays"][: manifest["state"]["learned"]["coef"]["$array"]]
    place = sum(math.prod(one["shape"]) * np.dtype(one["dtype"]).itemsize for one in before)
    wrong = content[:place] + np.array(np.nan).tobytes() + content[place + 8 :]
    (tmp_path / "wrong.rulerank").write_bytes(seal(manifest, wrong))
    message = r"does not describe a QueryIntercepts: learned.coef holds NaN or infinity, where every number must"
    with pytest.raises(rr.errors.ModelFileError, match=message):
        rr.load(tmp_path / "wrong.rulerank")


@pytest.mark.parametrize(("name", "instead"), [pair for pair in INSTEAD.items() if pair[0] != "AnchoredRules"])
def test_a_model_of_a_learner_that_left_says_what_to_train_instead(name, instead, tmp_path):
    manifest, content = opened(first_version()[0])
    (tmp_path / "old.rulerank").write_bytes(seal(manifest | {"class": name}, content))
    message = rf"old.rulerank: holds a {name}, which is no longer part of rulerank; train {instead} instead$"
    with pytest.raises(rr.errors.ModelFileError, match=message):
        rr.load(tmp_path / "old.rulerank")
    with pytest.raises(rr.errors.DataError, match=rf"^{name} is no longer part of rulerank; use {instead} instead$"):
        method_named(name.lower())
