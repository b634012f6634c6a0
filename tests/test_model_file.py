"""A model file gives back the same scores; anything else is refused with a reason, before a kernel sees it."""

import hashlib
import json
import math
import pickle
import zipfile
from contextlib import suppress
from pathlib import Path

import numpy as np
import pytest

import rulerank as rr
from rulerank import __version__
from rulerank.discretize import EqualWidth
from rulerank.errors import DataError, ModelFileError
from rulerank.model_file import HEADER, MAGIC, VERSION, load, save
from rulerank.rankers.global_rules import GlobalRules
from rulerank.worlds import make_world

DATA = make_world(n_queries=6, docs_per_query=12, n_features=12)
TABLES, ROWS, MEAN = {}, {"memory_budget": 0}, {"votes": "mean"}


def saved(tmp_path, **params):
    ranker = GlobalRules(**params).fit(DATA)
    path = tmp_path / "model.rulerank"
    ranker.save(path)
    return ranker, path


def seal(manifest, arrays=b"", version=VERSION):
    """Put a file together whose outside is in order."""
    text = manifest if isinstance(manifest, bytes) else json.dumps(manifest).encode()
    head = HEADER.pack(MAGIC, version, len(text), HEADER.size + len(text) + len(arrays) + 32) + text + arrays
    return head + hashlib.sha256(head).digest()


def opened(path):
    """Return the manifest and the arrays' bytes of a file."""
    content = path.read_bytes()
    start = HEADER.size + HEADER.unpack_from(content)[2]
    return json.loads(content[HEADER.size : start]), content[start:-32]


@pytest.mark.parametrize(
    "params",
    [
        TABLES,
        ROWS,
        MEAN,
        {"votes": "mean", "memory_budget": 0},
        {"votes": "residual", "normalize": "rank", "max_size": 3},
        {"discretizer": EqualWidth(n_bins=4)},
        {"max_size": np.int64(1), "min_support": np.float64(0.01)},
    ],
    ids=str,
)
def test_a_loaded_model_gives_the_same_bits(tmp_path, params):
    ranker, path = saved(tmp_path, **params)
    again = load(path)
    assert np.array_equal(again.predict(DATA), ranker.predict(DATA))
    assert again.feature_names_ == DATA.feature_names
    assert list(map(str, again.rules_for(DATA.X, row=0))) == list(map(str, ranker.rules_for(DATA.X, row=0)))
    assert repr(again) == repr(ranker).replace("np.int64(1)", "1").replace("np.float64(0.01)", "0.01")


def test_bins_given_by_the_caller_are_saved_without_a_discretizer(tmp_path):
    X = np.arange(12).reshape(6, 2) % 3
    ranker = GlobalRules(discretizer=None).fit(X, [0, 1, 0, 2, 0, 1])
    ranker.save(tmp_path / "model.rulerank")
    assert np.array_equal(load(tmp_path / "model.rulerank").predict(X), ranker.predict(X))


def test_data_without_any_useful_feature_can_be_saved(tmp_path):
    ranker = GlobalRules().fit(np.zeros((4, 2)), [0, 1, 0, 1])
    ranker.save(tmp_path / "model.rulerank")
    assert load(tmp_path / "model.rulerank").predict([[5.0, 5.0]]).tolist() == ranker.predict([[5.0, 5.0]]).tolist()


def test_the_same_model_gives_the_same_bytes_also_after_loading(tmp_path):
    _, path = saved(tmp_path)
    first = path.read_bytes()
    assert saved(tmp_path)[1].read_bytes() == first
    load(path).save(path)
    assert path.read_bytes() == first


def test_saving_replaces_a_file_and_leaves_nothing_beside_it(tmp_path):
    (tmp_path / "model.rulerank").write_text("an older model")
    _, path = saved(tmp_path)
    load(path)
    assert [entry.name for entry in tmp_path.iterdir()] == ["model.rulerank"]


def test_a_model_that_is_not_fitted_or_not_ours_is_not_saved(tmp_path):
    with pytest.raises(ValueError, match="not fitted"):
        save(GlobalRules(), tmp_path / "model.rulerank")
    with pytest.raises(DataError, match=r"^a model file holds one of GlobalRules.*: got dict$"):
        save({}, tmp_path / "model.rulerank")
    with pytest.raises(DataError, match=r"^a model file is not compressed: name it model.rulerank, not .*model.gz$"):
        save(GlobalRules().fit(DATA), tmp_path / "model.gz")
    assert not list(tmp_path.iterdir())


def test_what_cannot_be_saved_is_named_by_its_place(tmp_path):
    ranker = GlobalRules().fit(DATA)
    ranker.params_["work_limit"] = 1 + 2j
    with pytest.raises(DataError, match=r"lists and arrays of numbers: state.params.work_limit is a complex$"):
        ranker.save(tmp_path / "model.rulerank")
    ranker.params_["work_limit"] = [np.array(["a"])]
    with pytest.raises(DataError, match=r"state.params.work_limit\[0\] is a array of <U1$"):
        ranker.save(tmp_path / "model.rulerank")


@pytest.mark.parametrize("params", [TABLES, ROWS], ids=str)
def test_every_flipped_byte_is_noticed(tmp_path, params):
    _, path = saved(tmp_path, **params)
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
    with pytest.raises(ModelFileError, match=r"is damaged: its checksum does not fit its content; save the model"):
        load(path)


def zipped(path):
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("../../evil", "x")


@pytest.mark.parametrize(
    ("write", "kind"),
    [
        (lambda path: path.write_bytes(b""), "the file is empty"),
        (lambda path: path.write_text("2 qid:1 1:0.5"), "it begins with b'2 qid:1 1:0.'"),
        (lambda path: path.write_bytes(pickle.dumps([1])), "it looks like a pickle, which is never opened"),
        (lambda path: path.write_bytes(b"\x1f\x8b\x08"), "it looks like gzip data"),
        (zipped, "it looks like a zip archive"),
    ],
)
def test_a_foreign_file_is_called_what_it_is(tmp_path, write, kind):
    path = tmp_path / "model.rulerank"
    write(path)
    with pytest.raises(ModelFileError) as caught:
        load(path)
    wanted = "name a file that `rulerank train` or `save` wrote"
    assert str(caught.value) == f"{path}: is not a rulerank model: {kind}; {wanted}"


def test_a_pickle_is_not_opened(tmp_path):
    class Evil:
        def __reduce__(self):
            return exit, (3,)

    (tmp_path / "model.rulerank").write_bytes(pickle.dumps(Evil()))
    with pytest.raises(ModelFileError):
        load(tmp_path / "model.rulerank")


def test_a_missing_file_a_directory_and_an_impossible_path_are_named(tmp_path):
    with pytest.raises(ModelFileError, match=r"nothing.rulerank: there is no such file$"):
        load(tmp_path / "nothing.rulerank")
    with pytest.raises(ModelFileError, match=r": expected a model file, got a directory$"):
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


@pytest.mark.parametrize(
    ("manifest", "says"),
    [
        (b"{", "its manifest is not JSON"),
        (b"[" * 100_000, "its manifest is not JSON"),
        (b"\xff", "its manifest is not JSON"),
        (b"[]", "its manifest is not a JSON object"),
        ({"class": "GlobalRules"}, "does not describe a GlobalRules: 'arrays'"),
        (
            {"class": "GlobalRules", "arrays": [{"dtype": "<f8", "shape": [2]}]},
            "does not describe a GlobalRules: 'state'",
        ),
        ({"class": "GlobalRules", "arrays": 3}, "does not describe a GlobalRules: 'int' object"),
        ({"class": "GlobalRules", "arrays": [{"dtype": "|O", "shape": [1]}]}, "array 0 has the type '|O', not one of"),
        ({"class": "GlobalRules", "arrays": [{"dtype": "<f8", "shape": [-1]}]}, "array 0 has the shape [-1]"),
        ({"class": "GlobalRules", "arrays": [{"dtype": "<f8", "shape": "12"}]}, "array 0 has the shape '12'"),
        (
            {"class": "GlobalRules", "arrays": [{"dtype": "<f8", "shape": [10**9, 10**9]}]},
            "array 0 would take 8,000,000,000,000,000,000 bytes of the 16 that are left",
        ),
        ({"class": "GlobalRules", "arrays": [{"dtype": "<f8", "shape": [1]}]}, "8 bytes belong to no array"),
        (
            {"class": "GlobalRules", "arrays": [{"dtype": "<f8", "shape": [2]}], "state": {"params": {"$array": 1}}},
            "there is no array 1, only 1 arrays",
        ),
        (
            {
                "class": "GlobalRules",
                "arrays": [{"dtype": "<f8", "shape": [2]}],
                "state": {"feature_names": ["a", "a"]},
            },
            "its feature names are not a list of different names",
        ),
    ],
)
def test_a_sealed_file_with_a_wrong_manifest_is_refused(tmp_path, manifest, says):
    path = tmp_path / "model.rulerank"
    path.write_bytes(seal(manifest, bytes(16)))
    with pytest.raises(ModelFileError) as caught:
        load(path)
    assert says in str(caught.value)


def change(path, place, value):
    """Change one value of a file's state, or the values of an array, and seal it again."""
    manifest, arrays = opened(path)
    *way, last = place.split(".")
    holder = manifest["state"]
    for key in way:
        holder = holder[key]
    if not callable(value):
        holder[last] = value
        path.write_bytes(seal(manifest, arrays))
        return
    number = holder[last]["$array"]
    parts, start = [], 0
    for one in manifest["arrays"]:
        array = np.frombuffer(arrays, one["dtype"], int(np.prod(one["shape"])), start).reshape(one["shape"]).copy()
        parts.append(array)
        start += array.nbytes
    parts[number] = np.ascontiguousarray(value(parts[number]))
    manifest["arrays"][number] = {"dtype": parts[number].dtype.str, "shape": parts[number].shape}
    path.write_bytes(seal(manifest, b"".join(array.tobytes() for array in parts)))


def put(value, place=0):
    def into(array):
        array.flat[place] = value
        return array

    return into


ENGINE = "learned.engine."
BAD_STATES = [
    (TABLES, ENGINE + "n_bins", put(300), "n_bins must be from 0 to 255: got"),
    (TABLES, ENGINE + "n_bins", put(-1), "n_bins must be from 0 to 255: got -1"),
    (TABLES, ENGINE + "n_bins", lambda a: a[:-1], "12 feature names, but n_bins of another number of features"),
    (TABLES, ENGINE + "n_bins", lambda a: a.astype(float), "n_bins must be of int32: got float64"),
    (TABLES, ENGINE + "n_bins", None, "12 feature names, but n_bins of another number of features"),
    (TABLES, ENGINE + "used", put(99), "used must be from 0 to 11"),
    (TABLES, ENGINE + "used", lambda a: a[::-1], "its features are not in order, or have one bin"),
    (TABLES, ENGINE + "max_size", 3, "counts must have the shape"),
    (TABLES, ENGINE + "max_size", 10**9, "max_size must be from 0 to"),
    (TABLES, ENGINE + "max_size", 0, "it uses features in sets of none"),
    (TABLES, ENGINE + "max_size", True, "max_size must be from 0 to"),
    (TABLES, ENGINE + "training.n_grades", 33, "n_grades must be from 1 to 32: got 33"),
    (TABLES, ENGINE + "training.n_grades", 2, "counts must have the shape"),
    (TABLES, ENGINE + "training.min_rows", 0, "min_rows must be from 1 to"),
    (TABLES, ENGINE + "training.mean_grade", float("nan"), "mean_grade is nan"),
    (TABLES, ENGINE + "training.strength", lambda a: a[:-1], "strength must have the shape (12,): got (11,)"),
    (TABLES, ENGINE + "training.strength", lambda a: a * np.nan, "strength must be from 0"),
    (TABLES, ENGINE + "training.n_by_grade", lambda a: a[:-1], "n_by_grade must have the shape (3,): got (2,)"),
    (TABLES, ENGINE + "training.n_by_grade", lambda a: a * 0, "it counts more rows of a grade than there are"),
    (ROWS, ENGINE + "training.n_by_grade", lambda a: a - 1, "it counts more rows of a grade than there are"),
    (TABLES, ENGINE + "training.more", 1, "unexpected keyword argument 'more'"),
    (TABLES, ENGINE + "rows", {}, "it must hold either counts or rows"),
    (TABLES, ENGINE + "counts.grades", lambda a: a[:-1], "counts must have the shape"),
    (TABLES, ENGINE + "counts.grades", lambda a: a.astype("i8"), "counts must be of int32: got int64"),
    (TABLES, ENGINE + "counts.grades", put(-1), "counts must be from 0"),
    (TABLES, ENGINE + "counts.expected", lambda a: a[:0], "expected must have the shape"),
    (TABLES, ENGINE + "counts.expected", put(-(2**40)), "expected must be from 0"),
    (MEAN, ENGINE + "counts.expected", lambda a: np.zeros(3, "i8"), "expected must have the shape"),
    (MEAN, "params.votes", "evidence", "expected must have the shape"),
    (MEAN, "params.votes", "loud", "unknown votes 'loud'"),
    (MEAN, "params.volume", 11, "unexpected keyword argument 'volume'"),
    (ROWS, ENGINE + "rows.bins", lambda a: a + np.uint8(9), "rows have bins outside the tables"),
    (ROWS, ENGINE + "rows.bins", lambda a: a[:, :-1], "bins must have the shape"),
    (ROWS, ENGINE + "rows.grades", put(31), "grades must be from 0 to 2: got 0 to 31"),
    (ROWS, ENGINE + "rows.grades", lambda a: a[:0], "it holds no rows, or other grades than it says"),
    (ROWS, ENGINE + "rows.n_grades", 7, "it holds no rows, or other grades than it says"),
    (ROWS, ENGINE + "rows.spread", lambda a: a[:-1], "spread must have the shape"),
    (ROWS, ENGINE + "rows.expected", put(-5), "expected must be from 0"),
    (TABLES, "learned.discretizer.offsets", put(5, -1), "the offsets of the discretiser's cuts do not fit the cuts"),
    (TABLES, "learned.discretizer.kind", "magic", "unknown discretizer 'magic' in the model"),
    (TABLES, "feature_names", ["a"], "it has 1 feature names, but n_bins of another number of features"),
    (TABLES, "learned.n_bins", lambda a: a[:-1], "it has 12 feature names, but n_bins of another number of features"),
    (TABLES, "learned.n_bins", 3, "it has 12 feature names, but n_bins of another number of features"),
    (TABLES, "learned.discretizer.offsets", lambda a: a[1:], "but offsets of another number of features"),
    (TABLES, "learned", [], "does not describe a GlobalRules"),
]


@pytest.mark.parametrize(("params", "place", "value", "says"), BAD_STATES)
def test_a_crafted_state_is_refused_before_a_kernel_sees_it(tmp_path, params, place, value, says):
    _, path = saved(tmp_path, drop_weakest=0.0, **params)
    change(path, place, value)
    with pytest.raises(ModelFileError) as caught:
        load(path)
    assert says in str(caught.value)
    assert str(caught.value).startswith(f"{path}: does not describe a GlobalRules: ")


def test_rows_that_would_be_laid_out_in_too_many_sets_are_refused(tmp_path):
    X = np.random.default_rng(0).integers(2, size=(30, 60))
    ranker = GlobalRules(discretizer=None, max_size=1, drop_weakest=0, memory_budget=0).fit(X, X[:, 0])
    ranker.save(tmp_path / "model.rulerank")
    change(tmp_path / "model.rulerank", ENGINE + "max_size", 30)
    with pytest.raises(ModelFileError, match=r"it would lay out [\d,]+ feature sets"):
        load(tmp_path / "model.rulerank")


def first_version():
    return sorted((Path(__file__).parent / "data" / "first_version").glob("*.rulerank"))


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
            with suppress(ModelFileError):
                assert np.isfinite(load(tmp_path / "wrong.rulerank").predict(rows)).all()
        start = stop
    assert n_tried or not any("f" in one["dtype"] for one in manifest["arrays"])


def test_a_number_that_is_not_finite_is_named(tmp_path):
    path = first_version()[-2]
    assert path.stem == "Regression"
    manifest, content = opened(path)
    place = sum(
        math.prod(one["shape"]) * np.dtype(one["dtype"]).itemsize
        for one in manifest["arrays"][: manifest["state"]["learned"]["coef"]["$array"]]
    )
    wrong = content[:place] + np.array(np.nan).tobytes() + content[place + 8 :]
    (tmp_path / "wrong.rulerank").write_bytes(seal(manifest, wrong))
    message = r"does not describe a Regression: learned.coef holds NaN or infinity, where every number must be finite"
    with pytest.raises(ModelFileError, match=message):
        load(tmp_path / "wrong.rulerank")
