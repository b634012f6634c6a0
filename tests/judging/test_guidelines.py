"""Guidelines: what grades mean, and which grades there are."""

import pytest

from rulerank.errors import ReadError
from rulerank.judging.guidelines import parse_guidelines, read_guidelines


def test_guidelines_have_a_text_for_all_and_one_per_grade(tmp_path):
    path = tmp_path / "guidelines.txt"
    path.write_text(
        "Think of the person\nwho asks.\n\n0: useless - Nothing.\n1: so so\n2: All - or nothing - at all\n  and more\n"
    )
    found = read_guidelines(path)
    assert found.intro == "Think of the person\nwho asks."
    assert [(text.name, text.meaning) for text in found.grades] == [
        ("useless", "Nothing."),
        ("so so", ""),
        ("All", "or nothing - at all and more"),
    ]


def test_the_highest_grade_of_the_file_is_the_highest_there_is():
    assert parse_guidelines("0: a\n1: b\n2: c").max_grade == 2
    assert parse_guidelines("1: b\n0: a").max_grade == 1


def test_a_dash_late_in_a_sentence_ends_no_name():
    text = parse_guidelines("0: no\n1: The page answers the whole question - and more.").grades[1]
    assert (text.name, text.meaning) == ("relevant", "The page answers the whole question - and more.")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("0: no\n2: yes", "g.txt: grade 1 is missing: add a line such as 1: name - meaning"),
        ("1: a", "g.txt: grade 0 is missing"),
        ("0: a", "g.txt: grade 1 is missing"),
        ("1: a\n1: b", "g.txt:2: expected each grade from 0 to 9 once, got 1"),
        ("0: a\n12: b", "g.txt:2: expected each grade from 0 to 9 once, got 12"),
    ],
)
def test_a_mistake_in_the_guidelines_is_named(text, message):
    with pytest.raises(ReadError, match=message):
        parse_guidelines(text, "g.txt")


def test_guidelines_that_are_no_text_are_refused(tmp_path):
    (tmp_path / "g.txt").write_bytes(b"\xff\xfe0:\xff")
    with pytest.raises(ReadError, match="the guidelines must be text in UTF-8"):
        read_guidelines(tmp_path / "g.txt")
