"""Pools: what is read, what is shown, and what makes a document known again."""

import io

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import rulerank as rr
from rulerank.errors import ReadError
from rulerank.judging.pool import Pool, field_text, read_pool

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
    assert (pool.data.y == -1).all()


def test_columns_can_be_named():
    content = "query,key,title,bm25\nmilk,1,Milk,0.5\nmilk,2,Cheese,0.1\n"
    pool = pool_of(content, qid="query", docid="key")
    assert pool.shown(0) == {"title": "Milk"}
    assert pool.data.feature_names == ("bm25",)
    assert pool.row("milk", "2") == 1


def test_a_column_of_numbers_is_a_feature_whatever_its_name():
    pool = pool_of("qid,docid,title,url\n1,a,0.5,3\n1,b,0.1,4\n")
    assert pool.data.feature_names == ("title", "url")
    assert pool.texts == {}


def test_text_columns_nobody_knows_are_left_out_with_a_warning():
    with pytest.warns(
        UserWarning, match="columns left out because they hold neither numbers nor known texts: 'author'"
    ):
        pool_of("qid,docid,author,bm25\n1,a,Ann,0.5\n1,b,Bob,0.4\n")


def test_letor_lines_have_no_texts(tmp_path):
    path = tmp_path / "pool.txt"
    rr.io.write_letor(rr.datasets.make_ranking(n_queries=2, docs_per_query=3, seed=0), path)
    pool = read_pool(path)
    assert pool.texts == {}
    assert pool.pairs[0] == ("q1", "q1-d1")
    with pytest.raises(ReadError, match=r"pool.txt: only tables have named columns \(docid\): this is letor"):
        read_pool(path, docid="name")


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


MISTAKES = {
    "pool.csv:4: document 'a' of query '1' appears twice, first in line 2: keep one of them": (
        "qid,docid,bm25\n1,a,0.5\n1,b,0.5\n1,a,0.1\n",
        {},
    ),
    "pool.csv: row 2: a doc must not be empty: got ''": ("qid,docid,bm25\n1,a,0.5\n1,,0.1\n", {}),
    "pool.csv: row 1: a query must have at most 1,000 bytes: got 1,001": (f"qid,docid,bm25\n{'q' * 1001},a,1\n", {}),
    "pool.csv: a pool needs features to sample by: the data has none": ("qid,docid\n1,a\n", {}),
    "pool.csv: expected at least one document to judge: got none": ("qid,docid,bm25\n", {}),
    "pool.csv: there is no column 'qid'; the columns are id, bm25; name the column of the query id (qid=..., on the "
    "command line --qid ...)": ("id,bm25\n1,0.5\n", {}),
}


@pytest.mark.parametrize("message", MISTAKES)
def test_a_mistake_in_the_file_is_named(message):
    content, options = MISTAKES[message]
    with pytest.raises(ReadError) as caught:
        pool_of(content, **options)
    assert str(caught.value).startswith(message)


CLICKED = (
    "qid,docid,title,bm25,position:log,impressions:log,clicks:log\n"
    "7,a,Fresh milk,0.5,1,10,4\n7,b,Cheese,0.1,2,9,1\n7,a,Fresh milk,0.5,2,1,0\n"
)


def test_a_table_with_clicks_has_each_document_once_and_keeps_its_log():
    pool = read_pool(io.BytesIO(CLICKED.encode()), format="csv", show=["bm25"])
    assert pool.pairs == [("7", "a"), ("7", "b")]
    assert pool.data.feature_names == ("bm25",)
    assert pool.data.impressions is None
    assert pool.texts["title"] == ["Fresh milk", "Cheese"]
    assert pool.shown(1)["fields"][0].text == "0.1"
    assert pool.log.impressions.clicks.tolist() == [4, 1, 0]


SHOWN = b"""qid,docid,title,brand,price,added,bm25,grade
7,a,Milk,Alder,1.5,2019-01-02,0.5,1
7,b,Cheese,,,,0.1,
"""


def test_chosen_columns_are_shown_and_numbers_stay_features():
    pool = read_pool(io.BytesIO(SHOWN), format="csv", show=["brand", "price", "added"])
    assert pool.data.feature_names == ("price", "bm25")
    fields = [(field.name, field.text) for field in pool.shown(0)["fields"]]
    assert fields == [("brand", "Alder"), ("price", "1.50"), ("added", "2019-01-02")]
    assert "fields" not in pool.shown(1)
    assert pool.only([1, 0]).shown(1) == pool.shown(0)


@pytest.mark.parametrize(
    ("column", "message"),
    [
        ("brnd", "there is no column 'brnd'; .* name a column to show .show=..., .* --show ..."),
        ("grade", "raters must not see grades: the column 'grade' cannot be shown"),
    ],
)
def test_a_column_that_cannot_be_shown_is_named(column, message):
    with pytest.raises(ReadError, match=message):
        read_pool(io.BytesIO(SHOWN), format="csv", show=[column])


@given(st.floats(allow_nan=True, allow_infinity=True))
def test_a_number_is_written_near_its_value(value):
    text = field_text("weight", value)
    if text is None:
        assert value - value != 0  # no number, or without end
    else:
        assert float(text.replace(",", "")) == pytest.approx(value, rel=0.006)
