"""Guidelines: what grades mean, with examples, and which grades there are."""

import pytest

from rulerank.errors import ReadError
from rulerank.judging.guidelines import default_guidelines, parse_guidelines, read_guidelines


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


def test_a_grade_has_examples_that_go_on_over_lines():
    found = parse_guidelines(
        "Example: in the text for all.\n0: no\n1: yes - It is.\n  example: one\n  more\n  Examples: two"
    )
    assert found.intro == "Example: in the text for all."
    assert found.grades[1].examples == ("one more", "two")
    assert found.grades[1].meaning == "It is."
    assert found.grades[0].examples == ()


def test_the_highest_grade_of_the_file_is_the_highest_there_is():
    assert parse_guidelines("0: a\n1: b\n2: c").max_grade == 2
    assert parse_guidelines("1: b\n0: a").max_grade == 1
    assert parse_guidelines("0: a\n1: b", 1).max_grade == 1


def test_a_file_without_grades_leaves_their_number_to_others():
    assert parse_guidelines("Be kind.").max_grade == 4
    assert parse_guidelines("Be kind.", 2).max_grade == 2


def test_a_dash_late_in_a_sentence_ends_no_name():
    text = parse_guidelines("0: no\n1: The page answers the whole question - and more.").grades[1]
    assert (text.name, text.meaning) == ("relevant", "The page answers the whole question - and more.")


@pytest.mark.parametrize(
    ("text", "max_grade", "message"),
    [
        ("0: no\n1: yes", 4, "g.txt:2: the guidelines have the grades 0 to 1, and --max-grade says 0 to 4: leave"),
        ("0: a\n1: b\n2: c", 1, "g.txt:3: the guidelines have the grades 0 to 2, and --max-grade says 0 to 1: leave"),
        ("0: no\n2: yes", None, "g.txt:2: grade 2 is explained and grade 1 is not: .* add a line such as 1: name - me"),
        ("1: a", None, "g.txt:1: grade 1 is explained and grade 0 is not"),
        ("0: a", None, "g.txt:1: expected at least the grades 0 and 1: only grade 0 is explained"),
        ("1: a\n1: b", None, "g.txt:2: grade 1 is explained twice"),
        (
            "0: good\n1: Good - better",
            None,
            "g.txt:2: grades 0 and 1 are both called 'Good': give each a name of its own",
        ),
        (
            "Be fair.\n0 = no\n1 = yes",
            None,
            "g.txt:2: expected a grade as 0: name - meaning, with a colon, got '0 = no'",
        ),
        ("0: a\n12: b", None, "g.txt:2: expected a grade from 0 to 9, got 12"),
    ],
)
def test_a_mistake_in_the_guidelines_is_named_by_its_line(text, max_grade, message):
    with pytest.raises(ReadError, match=message):
        parse_guidelines(text, max_grade, "g.txt")


def test_guidelines_that_are_no_text_are_refused(tmp_path):
    (tmp_path / "g.txt").write_bytes(b"\xff\xfe0:\xff")
    with pytest.raises(ReadError, match="the guidelines must be text in UTF-8"):
        read_guidelines(tmp_path / "g.txt", 2)


def test_every_number_of_grades_has_buttons():
    for max_grade in range(1, 10):
        assert [text.grade for text in default_guidelines(max_grade).grades] == list(range(max_grade + 1))
