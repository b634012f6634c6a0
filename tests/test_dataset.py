import numpy as np
import pytest

import rulerank as rr
from rulerank.dataset import query_index
from rulerank.errors import DataError


def make(**changes):
    values = {"X": [[1.0, 2.0], [3.0, 4.0]], "y": [0, 1], "qid": ["a", "b"]} | changes
    return rr.Dataset(**values)


MISTAKES = [
    ({"X": [[1.0, 2.0], [1e300, 4.0]]}, "X must be finite, or NaN for missing, and fit float32: row 1, column 0"),
    ({"y": np.ma.masked_array([0, 1], [0, 1])}, "y must not be a masked array: leave the masked rows out"),
    ({"X": [1.0]}, "X must have two dimensions, rows and features: got 1"),
    ({"y": [0]}, "y must have one entry per row: expected 2, got 1"),
    ({"y": [0, 1.5]}, "grades must be integers of at least 0, or -1 for not labelled: got 1.5 at row 1"),
    ({"y": [-2, 1]}, "grades must be integers of at least 0, or -1 for not labelled: got -2 at row 0"),
    ({"y": [float("nan"), 1]}, "grades must be integers of at least 0, or -1 for not labelled: got nan at row 0"),
    ({"y": ["x", "y"]}, r"grades must be integers of at least 0, or -1 for not labelled: got \['x', 'y'\] ..."),
    ({"y": [0, 99]}, "grades must be at most 31: got 99 at row 1"),
    ({"qid": np.zeros((2, 1))}, "qid must have one dimension: got 2"),
    ({"docid": ["d"]}, "docid must have one entry per row: expected 2, got 1"),
    ({"texts": {"title": ["x"]}}, r"texts\['title'\] must have one entry per row: expected 2, got 1"),
    ({"categories": {"f1": ("red", "blue")}}, "'f1' has 2 categories.* from 0 to 1, or NaN: got 3"),
    ({"categories": {"size": ("s", "m")}}, "there is no feature 'size'"),
    ({"feature_names": ["a"]}, "expected 2 feature names, one per column of X: got 1"),
    ({"feature_names": ["a", "a"]}, "feature names must differ: 'a' appears twice"),
]


@pytest.mark.parametrize(("changes", "message"), MISTAKES)
def test_mistakes_are_named(changes, message):
    with pytest.raises(DataError, match=message):
        make(**changes)


def test_what_a_masked_array_masks_is_missing():
    data = make(X=np.ma.masked_equal([[1, -99], [-99, 4]], -99))
    assert np.array_equal(data.X, [[1.0, np.nan], [np.nan, 4.0]], equal_nan=True)


def test_one_row_is_not_picked_by_an_integer():
    with pytest.raises(DataError, match="pick rows by a mask"):
        make()[0]


def test_concat_needs_the_same_features():
    with pytest.raises(DataError, match="data sets differ in their features"):
        rr.Dataset.concat([make(), make(feature_names=["a", "b"])])
    with pytest.raises(DataError, match="at least one data set"):
        rr.Dataset.concat([])


@pytest.mark.parametrize("qid", [[3, 1, 3], ["b", "a", "b"], [("b", 1), 4, ("b", 1)]])
def test_queries_are_numbered_in_order_of_appearance(qid):
    column = make(X=np.zeros((3, 1)), y=[0, 0, 0], qid=qid).qid
    numbers, ids = query_index(column)
    assert numbers.tolist() == [0, 1, 0]
    assert ids.tolist() == [qid[0], qid[1]]


@pytest.mark.parametrize("nothing", [None, float("nan"), np.float32("nan"), np.datetime64("NaT")], ids=str)
def test_a_row_without_a_query_is_named(nothing):
    column = np.empty(3, dtype=object)
    column[:] = ["a", "a", nothing]
    with pytest.raises(DataError, match=rf"query ids must not be missing: row 2 has none \({nothing}\)"):
        query_index(column)
    with pytest.raises(DataError, match=r"query ids must not be missing: row 0 has none \(None\)"):
        rr.GlobalRules(discretizer=None).fit([[0], [1]], [0, 1], qid=[None, None])


def test_texts_and_categories_stay_with_their_rows():
    named = {"feature_names": ("colour", "size"), "categories": {"colour": ["red", "blue"]}}
    X, texts = [[0.0, 2.0], [1.0, 5.0], [np.nan, 1.0]], {"title": ["Red", "Blue", None]}
    data = rr.Dataset(X, [0, 1, 0], ["a", "a", "b"], texts=texts, **named)
    assert data[data.qid == "a"].texts["title"].tolist() == ["Red", "Blue"]
    both = rr.Dataset.concat([data[:1], data[1:]])
    assert both.texts["title"].tolist() == ["Red", "Blue", None]
    assert both.categories == {"colour": ("red", "blue")}


def test_parts_with_other_categories_or_texts_are_not_put_together_silently():
    one = rr.Dataset([[0.0]], [0], ["a"], texts={"title": ["x"]}, categories={"f1": ("red", "blue")})
    with pytest.raises(DataError, match="differ in the names of their categories"):
        rr.Dataset.concat([one, rr.Dataset([[0.0]], [0], ["a"], categories={"f1": ("blue", "red")})])
