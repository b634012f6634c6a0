"""Fields of documents: which are read, how they are written, and which pictures may be shown."""

import io

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rulerank.datasets.ranking import make_ranking
from rulerank.errors import DataError, ReadError
from rulerank.judging.labels import ShownField
from rulerank.judging.pool import Pool, field_text, read_pool
from rulerank.judging.web.images import ImageHosts

TABLE = (
    "qid,docid,title,brand,price,added,image_url,bm25,grade\n"
    "7,a,Milk,Alder,1.5,2019-01-02,https://i.example/a.gif,0.5,1\n"
    "7,b,Cheese,,,,,0.1,\n"
)


def table():
    return io.BytesIO(TABLE.encode())


def test_chosen_columns_are_shown_and_numbers_stay_features():
    pool = read_pool(table(), format="csv", show=["brand", "price", "added"])
    assert pool.data.feature_names == ("price", "bm25")
    shown = pool.shown(0)
    assert shown["fields"] == (
        ShownField("brand", "Alder"),
        ShownField("price", "1.50"),
        ShownField("added", "2019-01-02"),
    )
    assert shown["image"] == "https://i.example/a.gif"
    assert "fields" not in pool.shown(1)
    assert pool.only([1, 0]).shown(1) == shown


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"show": ["brnd"]}, "there is no column 'brnd'; .* name a column to show .show=..., .* --show ..."),
        ({"image": "pic"}, "there is no column 'pic'; .* name the column of the image"),
        ({"show": ["grade"]}, "raters must not see grades: the column 'grade' cannot be shown"),
    ],
)
def test_a_column_that_cannot_be_shown_is_named(options, message):
    with pytest.raises(ReadError, match=message):
        read_pool(table(), format="csv", **options)


def test_only_tables_have_columns_to_show():
    with pytest.raises(ReadError, match=r"only tables have named columns \(show\): this is letor"):
        read_pool(io.BytesIO(b"0 qid:1 1:0.5\n"), format="letor", show=["brand"])


def test_a_field_has_one_value_per_document():
    data = make_ranking(n_queries=1, docs_per_query=3, seed=0)
    with pytest.raises(DataError, match="field 'brand' must have one value per row: expected 3, got 1"):
        Pool(data, fields={"brand": ["x"]})


@given(st.floats(allow_nan=True, allow_infinity=True))
def test_a_number_is_written_near_its_value(value):
    text = field_text("weight", value)
    if text is None:
        assert value - value != 0  # no number, or without end
    else:
        assert float(text.replace(",", "")) == pytest.approx(value, rel=0.06 if abs(value) < 0.001 else 0.006)


def test_pictures_come_from_allowed_hosts_only():
    hosts = ImageHosts(["I.example", "http://localhost:8000/"])
    assert hosts.origins == ("https://i.example", "http://localhost:8000")
    assert hosts.allowed(" https://i.example/a.gif ") == "https://i.example/a.gif"
    assert hosts.allowed("http://localhost:8000/a") == "http://localhost:8000/a"
    for address in (
        "https://i.example:444/a",
        "https://i.example@evil.example/a",
        "//i.example/a",
        "data:x",
        "https://[",
    ):
        assert hosts.allowed(address) is None
    assert ImageHosts().headers() == {}


@pytest.mark.parametrize("host", ["*", "*.example.org", "https://i.example/path", "a b", "", "i.example; script-src *"])
def test_a_host_that_is_none_is_refused(host):
    with pytest.raises(DataError, match="--images takes a host such as"):
        ImageHosts([host])
