"""Files of other tools: LightGBM's sizes of queries, and tables without names."""

import subprocess

import pytest

import rulerank as rr
from rulerank.errors import ReadError
from rulerank.io.formats import read_any

SVMLIGHT = "2 1:0.5 3:1\n# note\n0 2:0.25\n\n1\n"


@pytest.mark.parametrize("ending", [".query", ".group"])
@pytest.mark.parametrize("name", ["rank.train", "train.txt"])
def test_queries_beside_svmlight_text_are_read(tmp_path, ending, name):
    path = tmp_path / name
    path.write_text(SVMLIGHT)
    (tmp_path / f"{name}{ending}").write_text("1\n2\n")
    data = read_any(path)
    assert (data.qid.tolist(), data.y.tolist()) == (["1", "2", "2"], [2, 0, 1])
    assert data.X.tolist() == [[0.5, 0, 1], [0, 0.25, 0], [0, 0, 0]]


def test_query_ids_of_the_data_come_first(tmp_path):
    path = tmp_path / "train.txt"
    path.write_text("2 qid:7 1:0.5\n")
    (tmp_path / "train.txt.query").write_text("1\n")
    assert rr.read_letor(path).qid.tolist() == ["7"]


@pytest.mark.parametrize(
    ("sizes", "message"),
    [
        ("1\n1\n", r"train.txt.query: the sizes of its queries add up to 2 rows, but .*train.txt has 3$"),
        ("1\nx\n", r"train.txt.query:2: expected the number of rows of a query, got 'x'$"),
    ],
)
def test_sizes_that_do_not_fit_are_named(tmp_path, sizes, message):
    (tmp_path / "train.txt").write_text(SVMLIGHT)
    (tmp_path / "train.txt.query").write_text(sizes)
    with pytest.raises(ReadError, match=message):
        rr.read_letor(tmp_path / "train.txt")


@pytest.mark.parametrize(
    ("name", "text", "made"),
    [
        ("judged.csv", "q1,d7,0.5\nq1,d8,0.25\n", "named.csv"),
        ("pool.tsv", "q1\td7\t0.5\nq1\td8\t0.25\n", "named.tsv"),
        ("twice.csv", "1,7,0.5,0.5\n1,8,0.5,0.25\n", "named.csv"),
    ],
)
def test_a_table_without_names_says_how_to_write_them(tmp_path, monkeypatch, name, text, made):
    monkeypatch.chdir(tmp_path)
    (tmp_path / name).write_text(text)
    with pytest.raises(
        ReadError, match="; the first line seems to hold values: write names above it, such as"
    ) as caught:
        rr.read_table(name)
    subprocess.run(str(caught.value).partition(", such as ")[2], shell=True, check=True)
    data = rr.read_table(made)
    assert data.X[:, -1].tolist() == [0.5, 0.25]
    assert data.docid.tolist() == [line.replace("\t", ",").split(",")[1] for line in text.splitlines()]


def test_documents_without_names_say_how_to_write_them(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "docs.tsv").write_text("D1\thttps://a.example/1\tMilk\tFresh milk\n")
    with pytest.raises(ReadError, match="the first line seems to hold values") as caught:
        rr.read_texts("docs.tsv")
    subprocess.run(str(caught.value).partition(", such as ")[2], shell=True, check=True)
    assert rr.read_texts("named.tsv").fields["title"] == ["Milk"]


def test_names_are_not_taken_for_values():
    with pytest.raises(ReadError, match=r"the columns are query, 1, 2; name the column of the query id"):
        rr.read_table(__import__("io").BytesIO(b"query,1,2\na,1,2\n"))
