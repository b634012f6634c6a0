"""Labels out of a store into files of every format, and back."""

import pytest

import rulerank as rr
from rulerank.errors import DataError, ReadError
from rulerank.judging.pool import Pool
from rulerank.judging.store import LabelStore
from rulerank.judging.transfer import export_labels, import_labels

POOL = Pool(rr.Dataset([[0.5], [0.1], [0.9]], y=[2, 2, 2], qid=["q1", "q1", "q2"], docid=["a", "b", "a"]))
LABELS = [("q1", "a", 1, "ann"), ("q1", "a", 3, "bob"), ("q2", "a", 0, "ann"), ("q1", "b", None, "ann")]
AGREED = {("q1", "a"): 2, ("q2", "a"): 0}


@pytest.fixture
def store(tmp_path):
    with LabelStore(tmp_path / "labels.db") as made:
        made.add("q2", "a", 4, "ann")  # superseded below
        made.add_all(LABELS)
        yield made


@pytest.fixture
def empty(tmp_path):
    with LabelStore(tmp_path / "empty.db") as made:
        yield made


def current(store):
    return sorted((label.query, label.doc, label.grade, label.rater) for label in store.labels())


@pytest.mark.parametrize("with_pool", [False, True])
@pytest.mark.parametrize("name", ["out.qrels", "out.csv", "out.parquet", "quepid"])
def test_what_is_exported_can_be_imported(store, empty, tmp_path, name, with_pool):
    format = "quepid" if name == "quepid" else None
    export_labels(store, tmp_path / name, POOL if with_pool else None, format)
    assert import_labels(empty, tmp_path / name, "old", format) == 2
    assert {(label.query, label.doc): label.grade for label in empty.labels("old")} == AGREED


def test_letor_lines_carry_the_features_of_the_pool(store, empty, tmp_path):
    done = export_labels(store, tmp_path / "out.txt", POOL)
    assert str(done) == "3 rows, as letor"
    assert (tmp_path / "out.txt").read_text() == (
        "2 qid:q1 1:0.5 #docid = a\n? qid:q1 1:0.1 #docid = b\n0 qid:q2 1:0.9 #docid = a\n"
    )
    assert import_labels(empty, tmp_path / "out.txt", "old") == 2


def test_a_document_whose_median_falls_between_two_grades_has_none_in_the_file(store, tmp_path):
    store.add("q1", "a", 2, "ann")
    assert str(export_labels(store, tmp_path / "out.qrels")) == "1 row, as qrels; 2 rows without a grade left out"
    export_labels(store, tmp_path / "out.csv")
    said = "q1,a,,undecided: the median of 2 falls between two grades"
    assert said in (tmp_path / "out.csv").read_text().splitlines()


@pytest.mark.parametrize("name", ["out.csv", "out.parquet"])
def test_one_row_per_rater_brings_back_every_label(store, empty, tmp_path, name):
    assert export_labels(store, tmp_path / name, per_rater=True).rows == 4
    assert import_labels(empty, tmp_path / name, "nobody") == 4
    assert current(empty) == current(store)


def test_one_bad_row_of_a_file_imports_nothing(empty, tmp_path):
    (tmp_path / "bad.csv").write_text("qid,docid,grade,rater\nq,a,1,ann\nq,b,2,\n")
    with pytest.raises(DataError, match="a rater must not be empty"):
        import_labels(empty, tmp_path / "bad.csv", "ann")
    (tmp_path / "bad.csv").write_text("qid,docid,grade\nq,a,1\nq,b,99\n")
    with pytest.raises(ReadError, match=r"bad\.csv:3: "):
        import_labels(empty, tmp_path / "bad.csv", "ann")
    (tmp_path / "bad.csv").write_text("qid,docid,bm25\nq,a,1\n")
    with pytest.raises(ReadError, match=r"bad\.csv: there is no column 'grade'"):
        import_labels(empty, tmp_path / "bad.csv", "ann")
    assert empty.history() == []


def test_what_cannot_be_exported_is_named(store, empty, tmp_path):
    with pytest.raises(DataError, match=r"empty\.db: no labels to export yet"):
        export_labels(empty, tmp_path / "out.csv")
    for name, format in (("out.txt", None), ("out", "letor")):
        with pytest.raises(DataError, match="LETOR needs features, which labels do not have: give the pool"):
            export_labels(store, tmp_path / name, format=format)
    with pytest.raises(
        DataError, match="one row per label needs a table format: choose from csv, tsv, parquet, got 'qrels'"
    ):
        export_labels(store, tmp_path / "out.qrels", per_rater=True)
    empty.add("q9", "z", 1, "ann")
    with pytest.raises(DataError, match="none of its 1 document is in the pool"):
        export_labels(empty, tmp_path / "out.csv", POOL)
    with pytest.raises(DataError, match="cannot determine the output format from the name"):
        export_labels(store, tmp_path / "out")
