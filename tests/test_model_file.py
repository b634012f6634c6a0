"""A model file gives back the same scores; what is none is refused with a reason."""

import pickle

import numpy as np
import pytest

import rulerank as rr
from model_bytes import DATA, saved, seal
from rulerank import __version__
from rulerank.errors import DataError, ModelFileError
from rulerank.model_file import HEADER, VERSION, load, save

PARAMS = [
    *({}, {"memory_budget": 0}, {"votes": "mean"}),
    {"votes": "mean", "normalize": "rank", "max_size": 3},
    {"discretizer": rr.discretize.EqualWidth(n_bins=4)},
    {"max_size": np.int64(1), "min_support": np.float64(0.01)},
]


@pytest.mark.parametrize("params", PARAMS, ids=str)
def test_a_loaded_model_gives_the_same_bits(tmp_path, params):
    ranker, path = saved(tmp_path, **params)
    again = load(path)
    assert np.array_equal(again.predict(DATA), ranker.predict(DATA))
    assert again.feature_names_ == DATA.feature_names
    assert list(map(str, again.rules_for(DATA.X, row=0))) == list(map(str, ranker.rules_for(DATA.X, row=0)))
    assert repr(again) == repr(ranker).replace("np.int64(1)", "1").replace("np.float64(0.01)", "0.01")


def test_the_same_model_gives_the_same_bytes_also_after_loading(tmp_path):
    _, path = saved(tmp_path)
    first = path.read_bytes()
    assert saved(tmp_path)[1].read_bytes() == first
    load(path).save(path)
    assert path.read_bytes() == first


def test_a_model_that_is_not_fitted_or_not_ours_is_not_saved(tmp_path):
    with pytest.raises(ValueError, match="not fitted"):
        save(rr.GlobalRules(), tmp_path / "model.rulerank")
    with pytest.raises(DataError, match=r"^a model file holds one of GlobalRules.*: got dict$"):
        save({}, tmp_path / "model.rulerank")
    with pytest.raises(DataError, match=r"^a model file is not compressed: name it model.rulerank, not .*model.gz$"):
        save(rr.GlobalRules().fit(DATA), tmp_path / "model.gz")
    assert not list(tmp_path.iterdir())


def test_what_cannot_be_saved_is_named_by_its_place(tmp_path):
    ranker = rr.GlobalRules().fit(DATA)
    ranker.params_["keep_rows"] = 1 + 2j
    with pytest.raises(DataError, match=r"lists and arrays of numbers: state.params.keep_rows is a complex$"):
        ranker.save(tmp_path / "model.rulerank")
    ranker.params_["keep_rows"] = [np.array(["a"])]
    with pytest.raises(DataError, match=r"state.params.keep_rows\[0\] is a array of <U1$"):
        ranker.save(tmp_path / "model.rulerank")


def test_every_flipped_byte_is_noticed(tmp_path):
    _, path = saved(tmp_path)
    content = path.read_bytes()
    rng = np.random.default_rng(0)
    places = {*range(HEADER.size + 20), *range(len(content) - 40, len(content)), *rng.integers(len(content), size=300)}
    for place in places:
        damaged = bytearray(content)
        damaged[place] ^= 1 << int(rng.integers(8))
        path.write_bytes(damaged)
        with pytest.raises(ModelFileError, match=r"is damaged|is not a rulerank model|is cut off"):
            load(path)


def test_every_truncation_is_noticed(tmp_path):
    _, path = saved(tmp_path)
    content = path.read_bytes()
    for size in [1, 7, 8, 20, HEADER.size, HEADER.size + 1, len(content) // 2, len(content) - 1]:
        path.write_bytes(content[:size])
        with pytest.raises(ModelFileError, match=r"is cut off: .* bytes are there; copy|is not a rulerank model"):
            load(path)
    path.write_bytes(content + b"\n")
    with pytest.raises(ModelFileError, match=r"is damaged: its checksum does not match its content; save the model"):
        load(path)


@pytest.mark.parametrize(
    ("content", "began"),
    [(b"", "it is empty"), (b"2 qid:1 1:0.5", "it begins with b'2 qid:1 1:0.'"), (pickle.dumps([1]), "it begins with")],
)
def test_a_foreign_file_is_called_what_it_is(tmp_path, content, began):
    path = tmp_path / "model.rulerank"
    path.write_bytes(content)
    with pytest.raises(ModelFileError) as caught:
        load(path)
    assert str(caught.value).startswith(f"{path}: is not a rulerank model: {began}")
    assert str(caught.value).endswith("; name a file that `rulerank train` or `save` wrote")


def test_a_missing_file_a_directory_and_an_impossible_path_are_named(tmp_path):
    with pytest.raises(ModelFileError, match=r"nothing.rulerank: there is no such file$"):
        load(tmp_path / "nothing.rulerank")
    with pytest.raises(ModelFileError, match=r": expected a file, got a directory$"):
        load(tmp_path)
    with pytest.raises(ModelFileError, match=r": cannot be read: "):
        load("a\0b")


def test_a_newer_version_and_an_unknown_class_say_what_to_install(tmp_path):
    path = tmp_path / "model.rulerank"
    path.write_bytes(seal({}, version=VERSION + 1))
    with pytest.raises(ModelFileError, match=r"has format version 2, and rulerank .* reads version 1; install a newer"):
        load(path)
    for name in ("os.system", ["GlobalRules"], None):
        path.write_bytes(seal({"class": name, "library": "9.0"}))
        with pytest.raises(ModelFileError) as caught:
            load(path)
        assert f"holds a {name!r}, which rulerank {__version__} does not know" in str(caught.value)
        assert str(caught.value).endswith("written by rulerank 9.0")


def holding(shape, dtype="<f8"):
    return {"arrays": [{"dtype": dtype, "shape": shape}]}


WRONG_MANIFESTS = [
    (b"{", "its manifest is not JSON"),
    (b"[" * 100_000, "its manifest is not JSON"),
    (b"\xff", "its manifest is not JSON"),
    (b"[]", "its manifest is not a JSON object"),
    ({}, "does not describe a GlobalRules: 'arrays'"),
    (holding([2]), "does not describe a GlobalRules: 'state'"),
    ({"arrays": 3}, "does not describe a GlobalRules: 'int' object"),
    (holding([1], "|O"), "array 0 has the type '|O', not one of"),
    (holding([-1]), "array 0 has the shape [-1]"),
    (holding("12"), "array 0 has the shape '12'"),
    (holding([10**9, 10**9]), "array 0 would take 8,000,000,000,000,000,000 bytes of the 16 that are left"),
    (holding([1]), "8 bytes belong to no array"),
    (holding([2]) | {"state": {"params": {"$array": 1}}}, "there is no array 1, only 1 arrays"),
    (holding([2]) | {"state": {"feature_names": ["a", "a"]}}, "its feature names are not a list of different names"),
]


@pytest.mark.parametrize(("manifest", "says"), WRONG_MANIFESTS)
def test_a_sealed_file_with_a_wrong_manifest_is_refused(tmp_path, manifest, says):
    path = tmp_path / "model.rulerank"
    path.write_bytes(seal({"class": "GlobalRules"} | manifest if isinstance(manifest, dict) else manifest, bytes(16)))
    with pytest.raises(ModelFileError) as caught:
        load(path)
    assert says in str(caught.value)
