"""What is no name, no grade and no number of raters is refused, and nothing is kept."""

import pytest

from rulerank.errors import DataError
from rulerank.judging.store import LabelStore


@pytest.fixture
def store(target):
    with LabelStore(target) as made:
        yield made


def test_names_may_hold_any_text(store):
    names = [
        "日本語",
        "'; DROP TABLE labels; --",
        "<script>",
        "a\nb",
        "e\u0301",
        "\u00e9",
        " x",
        "X",
        "x",
        "👍🏽",
        "x" * 200,
    ]
    for name in names:
        store.add(name, name, 1, name)
    assert [label.rater for label in store.labels()] == names
    assert [store.undo(name).query for name in names] == names


LONG = "é" * 501

BAD_NAMES = {
    "a rater must not be empty: got ''": ("q", "d", 1, ""),
    "a rater must be text: got None": ("q", "d", 1, None),
    "a doc must not be empty: got ' '": ("q", " ", 1, "ann"),
    "a query must not hold a NUL character: got 'a\\x00b'": ("a\0b", "d", 1, "ann"),
    "a query must be text: got 7": (7, "d", 1, "ann"),
    "a doc must be text that UTF-8 can hold: got '\\ud800'": ("q", "\ud800", 1, "ann"),
    "a doc must have at most 1,000 bytes: got 1,002, 'éééé": ("q", LONG, 1, "ann"),
    "a rater must have at most 200 bytes: got 1,002, 'éééé": ("q", "d", 1, LONG),
    "a grade must be a whole number from 0 to 31, or None: got -1": ("q", "d", -1, "ann"),
    "a grade must be a whole number from 0 to 31, or None: got True": ("q", "d", True, "ann"),
    "a grade must be a whole number from 0 to 31, or None: got 2.5": ("q", "d", 2.5, "ann"),
}


@pytest.mark.parametrize("message", BAD_NAMES)
def test_what_is_no_name_or_no_grade_is_refused_and_nothing_is_kept(tmp_path, message):
    with LabelStore(tmp_path / "labels.db") as store:
        with pytest.raises(DataError) as caught:
            store.add(*BAD_NAMES[message])
        assert str(caught.value).startswith(message)
        assert store.history() == []


def test_a_claim_says_what_is_wrong_with_its_numbers(tmp_path):
    with LabelStore(tmp_path / "labels.db") as store:
        with pytest.raises(DataError, match="raters must be a whole number from 1: got 0"):
            store.claim("q", "d", "ann", raters=0)
        with pytest.raises(DataError, match="seconds must be how long the claim lasts"):
            store.claim("q", "d", "ann", seconds=-1)
