"""Pools: what is read, what is shown, and what makes a document known again."""

import io

import numpy as np
import polars as pl
import pytest

import rulerank as rr
from rulerank.errors import DataError, ReadError
from rulerank.judging.pool import Pool, read_pool

TABLE = """qid,docid,grade,query,description,title,body,url,bm25,clicks
7,a,2,fresh milk,where to buy it,Milk,"Milk, and <b>more</b>",http://milk,0.5,3
7,b,,fresh milk,where to buy it,,Cheese,,0.1,
8,a,0,nails,,Nails,Six inch nails,http://nails,0.9,1
"""


def pool_of(content, name="pool.csv", **options):
    stream = io.BytesIO(content.encode())
    stream.name = name
    return read_pool(stream, **options)


def test_texts_are_found_by_the_usual_names_of_their_columns():
    pool = pool_of(TABLE)
    assert repr(pool) == "Pool(3 documents, 2 queries, 2 features, texts: query_text, description, title, text, url)"
    assert pool.data.feature_names == ("bm25", "clicks")
    assert pool.shown(0) == {
        "query_text": "fresh milk",
        "description": "where to buy it",
        "title": "Milk",
        "text": "Milk, and <b>more</b>",
        "url": "http://milk",
    }
    assert pool.shown(1) == {"query_text": "fresh milk", "description": "where to buy it", "text": "Cheese"}
    assert pool.pairs == [("7", "a"), ("7", "b"), ("8", "a")]


def test_grades_of_the_file_are_not_looked_at():
    assert (pool_of(TABLE).data.y == -1).all()


def test_columns_can_be_named():
    content = "query,key,name,words,bm25\nmilk,1,Milk,1984,0.5\nmilk,2,Cheese,2001,0.1\n"
    pool = pool_of(content, qid="query", docid="key", title="name", text="words")
    assert pool.shown(0) == {"title": "Milk", "text": "1984"}
    assert pool.data.feature_names == ("bm25",)
    assert pool.row("milk", "2") == 1


def test_a_column_of_numbers_is_a_feature_whatever_its_name():
    pool = pool_of("qid,docid,title,url\n1,a,0.5,3\n1,b,0.1,4\n")
    assert pool.data.feature_names == ("title", "url")
    assert pool.texts == {}


def test_named_features_leave_the_others_out():
    pool = pool_of(TABLE, features=["clicks"])
    assert pool.data.feature_names == ("clicks",)
    assert "title" in pool.texts


def test_text_columns_nobody_knows_are_left_out_with_a_warning():
    with pytest.warns(
        UserWarning, match="columns left out because they hold neither numbers nor known texts: 'author'"
    ):
        pool_of("qid,docid,author,bm25\n1,a,Ann,0.5\n1,b,Bob,0.4\n")


@pytest.mark.parametrize("format", ["csv", "tsv", "parquet"])
def test_tables_of_every_kind_are_the_same_pool(format, tmp_path):
    frame = pl.read_csv(io.BytesIO(TABLE.encode()))
    path = tmp_path / f"pool.{format}"
    {"csv": frame.write_csv, "tsv": lambda p: frame.write_csv(p, separator="\t"), "parquet": frame.write_parquet}[
        format
    ](path)
    pool, expected = read_pool(path), read_pool(frame)
    assert pool.pairs == expected.pairs
    assert pool.texts == expected.texts
    assert np.array_equal(pool.data.X, expected.data.X, equal_nan=True)


def test_letor_lines_have_no_texts(tmp_path):
    path = tmp_path / "pool.txt"
    rr.write_letor(rr.make_ranking(n_queries=2, seed=0), path)
    pool = read_pool(path)
    assert pool.texts == {}
    assert pool.pairs[0] == ("q1", "q1-d1")
    with pytest.raises(ReadError, match=r"pool.txt: only tables have named columns \(title\): this is letor"):
        read_pool(path, title="title")


def test_documents_without_ids_are_known_by_their_features_wherever_they_stand():
    X = [[0.5, np.nan], [0.1, -0.0], [0.5, np.nan], [0.1, 0.0]]
    pool = Pool(rr.Dataset(X, y=[-1] * 4, qid=["q", "q", "q", "p"]))
    moved = Pool(rr.Dataset([X[3], X[1], X[0], X[2]], y=[-1] * 4, qid=["p", "q", "q", "q"]))
    assert set(pool.pairs) == set(moved.pairs)
    docs = [doc for _, doc in pool.pairs]
    assert docs[1] == docs[3]  # of other queries
    assert docs[2] == f"{docs[0]}-2"
    for pair in pool.pairs:
        assert np.array_equal(pool.data.X[pool.row(*pair)], moved.data.X[moved.row(*pair)], equal_nan=True)


def test_a_document_with_neither_id_nor_title_is_shown_as_its_row():
    data = rr.Dataset([[0.5], [0.1], [0.9]], y=[-1] * 3, qid=["q", "q", "p"])
    pool = Pool(data, {"title": [None, "Milk", None]})
    assert [pool.shown(row) for row in range(3)] == [{"title": "row 1"}, {"title": "Milk"}, {"title": "row 3"}]
    assert pool.only([2, 0]).names == ["row 3", "row 1"]
    assert pool.only([2, 0]).pairs == [pool.pairs[2], pool.pairs[0]]


def test_people_s_names_find_documents_of_their_query_only_where_there_are_no_ids():
    data = rr.Dataset([[0.5], [0.1], [0.9]], y=[-1] * 3, qid=["q", "q", "p"])
    pool = Pool(data)
    assert (pool.find("q", "row 2"), pool.find("p", "row 2"), pool.find("q", "row 4")) == (1, None, None)
    assert (pool.only([2, 0]).find("q", "row1"), pool.only([2, 0]).find("q", "row 2")) == (1, None)
    assert pool.find(*pool.pairs[2]) == 2
    named = Pool(rr.Dataset([[0.5], [0.1]], y=[-1] * 2, qid=["q", "q"], docid=["row 2", "b"]))
    assert (named.find("q", "row 2"), named.find("q", "row 1")) == (0, None)


def test_named_columns_belong_to_tables(tmp_path):
    rr.write_letor(rr.make_ranking(n_queries=2, seed=0), tmp_path / "pool.txt")
    with pytest.raises(ReadError, match=r"only tables have named columns \(title, qid\): this is letor"):
        read_pool(tmp_path / "pool.txt", title="name", qid="query")


def test_ids_that_are_numbers_become_text():
    pool = Pool(rr.Dataset([[0.5], [0.1]], y=[-1, -1], qid=np.array([7, 7]), docid=np.array([1, 2])))
    assert pool.pairs == [("7", "1"), ("7", "2")]
    assert pool.rows_of("7").tolist() == [0, 1]


MISTAKES = {
    "pool.csv:4: document 'a' of query '1' is there twice, first in line 2: keep one of them": (
        "qid,docid,bm25\n1,a,0.5\n1,b,0.5\n1,a,0.1\n",
        {},
    ),
    "pool.csv: row 2: a doc must not be empty: got ''": ("qid,docid,bm25\n1,a,0.5\n1,,0.1\n", {}),
    "pool.csv: row 1: a query must have at most 1,000 bytes: got 1,001": (f"qid,docid,bm25\n{'q' * 1001},a,1\n", {}),
    "pool.csv: a pool needs features, which tell what to judge next: the data have none": ("qid,docid\n1,a\n", {}),
    "pool.csv: expected at least one document to be judged: got none": ("qid,docid,bm25\n", {}),
    "pool.csv: there is no column 'name'; the columns are qid, docid, bm25; name the column of the title (title=..., "
    "on the command line --title ...)": ("qid,docid,bm25\n1,a,0.5\n", {"title": "name"}),
    "pool.csv: there is no column 'words'; the columns are qid, docid, bm25; name the column of the query text "
    "(query_text=..., on the command line --query-text ...)": ("qid,docid,bm25\n1,a,0.5\n", {"query_text": "words"}),
    "pool.csv: there is no column 'qid'; the columns are id, bm25; name the column of the query id (qid=..., on the "
    "command line --qid ...)": ("id,bm25\n1,0.5\n", {}),
}


@pytest.mark.parametrize("message", MISTAKES)
def test_a_mistake_in_the_file_is_named(message):
    content, options = MISTAKES[message]
    with pytest.raises(ReadError) as caught:
        pool_of(content, **options)
    assert str(caught.value).startswith(message)


def test_a_file_of_judgements_is_no_pool():
    with pytest.raises(ReadError, match=r"pool.csv: a pool needs features"):
        pool_of("query,docid,rating\nmilk,a,3\n", qid="query", features=[])
    with pytest.raises(ReadError, match=r"robust.qrels: a pool needs features"):
        pool_of("301 0 FBIS3-10082 1\n", "robust.qrels")


def test_an_unknown_document_is_named():
    with pytest.raises(DataError, match="the pool has no document 'c' of query '7'"):
        pool_of(TABLE).row("7", "c")


def test_texts_must_fit_the_rows_and_have_known_names():
    data = rr.Dataset([[0.5]], y=[-1], qid=["q"])
    with pytest.raises(DataError, match="title must have one text per row: expected 1, got 2"):
        Pool(data, {"title": ["a", "b"]})
    with pytest.raises(DataError, match="unknown kind of text 'author'; choose from query_text, description, title"):
        Pool(data, {"author": ["a"]})


CLICKED = (
    "qid,docid,title,bm25,position:log,impressions:log,clicks:log\n"
    "7,a,Fresh milk,0.5,1,10,4\n7,b,Cheese,0.1,2,9,1\n7,a,Fresh milk,0.5,2,1,0\n"
)


def test_a_table_with_clicks_has_each_document_once_and_keeps_its_log():
    pool = read_pool(io.BytesIO(CLICKED.encode()), format="csv", show=["bm25"])
    assert pool.pairs == [("7", "a"), ("7", "b")]
    assert pool.data.feature_names == ("bm25",)
    assert pool.data.shown is None
    assert pool.texts["title"] == ["Fresh milk", "Cheese"]
    assert pool.shown(1)["fields"][0].text == "0.1"
    assert pool.log.shown.clicks.tolist() == [4, 1, 0]


def test_rows_of_a_table_with_clicks_that_have_the_same_id_and_other_features_are_refused():
    other = CLICKED.replace("milk,0.5,2", "milk,0.6,2")
    with pytest.raises(ReadError, match="document 'a' of query '7' is there twice"):
        read_pool(io.BytesIO(other.encode()), format="csv")
