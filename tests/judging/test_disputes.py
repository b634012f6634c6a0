"""Which documents raters disagree on, and in which order the lead sees them."""

from itertools import combinations, pairwise

from hypothesis import given
from hypothesis import strategies as st

from rulerank.judging.agreement import disputes

docs = st.dictionaries(
    st.integers(0, 30), st.dictionaries(st.sampled_from("abcd"), st.one_of(st.none(), st.integers(0, 4))), max_size=12
)


@given(docs)
def test_disputes_are_the_documents_with_different_grades_the_largest_first(docs):
    found = disputes(docs)
    graded = {doc: [grade for grade in by.values() if grade is not None] for doc, by in docs.items()}
    assert {one.doc for one in found} == {doc for doc, grades in graded.items() if len(set(grades)) > 1}
    spreads = [max(graded[one.doc]) - min(graded[one.doc]) for one in found]
    assert spreads == [one.spread for one in found] == sorted(spreads, reverse=True)
    for one in found:
        gaps = [abs(a - b) for a, b in combinations(graded[one.doc], 2)]
        assert one.apart == sum(gaps) / len(gaps)
        assert [*one.grades.values()] == graded[one.doc]
    for first, second in pairwise(found):
        assert (first.spread, first.apart) >= (second.spread, second.apart)


def test_a_document_that_one_could_not_judge_is_no_dispute():
    assert disputes({"d": {"ann": None, "bob": 3}}) == []
