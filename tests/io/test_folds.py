import io

import numpy as np
import pytest

from rulerank.dataset import Dataset
from rulerank.errors import ReadError
from rulerank.io.formats import read_folds
from rulerank.io.letor import read_letor, write_letor


def lay_out(folder, names=("train.txt", "vali.txt", "test.txt"), text="1 qid:1 1:0.5\n"):
    folder.mkdir(parents=True, exist_ok=True)
    for name in names:
        write_letor(read_letor(io.StringIO(text)), folder / name)
    return folder


def test_folds_come_in_the_order_of_their_numbers(tmp_path):
    for number in (10, 1, 2):
        lay_out(tmp_path / f"Fold{number}")
    (tmp_path / "README.txt").write_text("not a fold")
    (tmp_path / "Fold3").write_text("a file, not a fold")
    assert [fold.name for fold in read_folds(tmp_path)] == ["Fold1", "Fold2", "Fold10"]


@pytest.mark.parametrize(
    "names",
    [
        ("trainingset.txt", "validationset.txt", "testset.txt"),
        ("TRAIN.TXT", "Vali.txt", "test"),
        ("train.txt.gz", "vali.gz", "test.txt.GZ"),
    ],
)
def test_parts_have_the_names_of_any_letor_and_any_compression(tmp_path, names):
    lay_out(tmp_path / "fold_1", names)
    [fold] = read_folds(str(tmp_path))
    assert fold.train.X.tolist() == fold.vali.X.tolist() == fold.test.X.tolist() == [[0.5]]


def test_the_parts_of_a_fold_have_the_same_features(tmp_path):
    lay_out(tmp_path)
    lay_out(tmp_path, ["vali.txt"], "1 qid:1 3:2\n")
    [fold] = read_folds(tmp_path)
    assert fold.train.X.tolist() == fold.test.X.tolist() == [[0.5, 0, 0]]
    assert fold.vali.X.tolist() == [[0, 0, 2]]
    assert fold.train.feature_names == fold.vali.feature_names == ("f1", "f2", "f3")


@pytest.mark.parametrize(
    ("files", "read", "message"),
    [
        ([], "absent", r"absent: expected a directory with folds: No such file or directory$"),
        (["train.txt"], "train.txt", r"train\.txt: expected a directory with folds: Not a directory$"),
        ([], "", r": expected folders Fold1, Fold2, \.\.\. or one file train\.txt or .*, got an empty directory$"),
        ([f"S{n:02}.txt" for n in range(12)], "", r"got S00\.txt, S01\.txt, S02\.txt, \.\.\. S11\.txt$"),
        (["Fold1/train.txt", "Fold1/test.txt"], "", r"Fold1: .* one file vali\.txt .*, got test\.txt, train\.txt$"),
        (["train.txt", "trainingset.txt"], "", r"one file train\.txt .*, got train\.txt, trainingset\.txt$"),
        (["Fold1/train.txt", "fold01/train.txt"], "", "expected each fold once, got Fold1, fold01"),
    ],
)
def test_what_is_no_fold_says_what_is_there(tmp_path, files, read, message):
    for name in files:
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("1 qid:1 1:0.5\n")
    with pytest.raises(ReadError, match=message):
        read_folds(tmp_path / read)


def test_a_mistake_in_a_part_names_its_file_and_line(tmp_path):
    lay_out(tmp_path / "Fold1")
    (tmp_path / "Fold1" / "vali.txt").write_text("1 qid:1 1:1\n1 qid:1 1:x\n")
    with pytest.raises(ReadError, match=r"Fold1/vali\.txt:2: expected a number that fits float32, or NULL"):
        read_folds(tmp_path)


OHSUMED, MQ2008 = [11303, 2585, 2252], [12279, 2001, 931]  # rows of each grade


@pytest.mark.parametrize(
    ("name", "n_queries", "n_features", "grades"),
    [
        ("letor2-ohsumed", 106, 25, OHSUMED),
        ("letor3-ohsumed-null", 106, 45, OHSUMED),
        ("letor4-mq2008", 784, 46, MQ2008),
    ],
)
def test_the_folds_of_the_letor_sets_have_the_counts_of_their_readme(letor, name, n_queries, n_features, grades):
    folds = read_folds(letor / name)
    assert [fold.name for fold in folds] == ["Fold1", "Fold2", "Fold3", "Fold4", "Fold5"]
    for fold in folds:
        parts = (fold.train, fold.vali, fold.test)
        assert sum(len(set(part.qid)) for part in parts) == n_queries  # each is in one part
        data = Dataset.concat(parts)
        assert np.bincount(data.y).tolist() == grades
        assert data.X.shape[1] == n_features
        assert all(data.docid)
        assert np.isnan(data.X).any() == (name == "letor3-ohsumed-null")
