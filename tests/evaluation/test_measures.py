"""The notation of the measures, and what is said when it is wrong."""

import numpy as np
import pytest

from rulerank.errors import DataError
from rulerank.evaluation import ERR, KINDS, MAP, MRR, NDCG, MeanNDCG, Measure, P, Recall
from rulerank.evaluation.measures import as_measures

CHOICES = "MAP[@k], P@k, NDCG[@k], MeanNDCG, MRR[@k], ERR[@k], Recall[@k]"


@pytest.mark.parametrize(
    ("text", "measure"),
    [
        ("MAP", MAP),
        ("AP", MAP),
        ("map@100", MAP @ 100),
        ("RR", MRR),
        ("mrr@10", MRR @ 10),
        ("nDCG@10", NDCG @ 10),
        ("NDCG", NDCG),
        ("meanndcg", MeanNDCG),
        ("err@20", ERR @ 20),
        ("recall@10", Recall @ 10),
        (" P@5 ", P @ 5),
    ],
)
def test_a_measure_is_read_whatever_its_capitals_and_printed_in_its_own(text, measure):
    assert Measure.parse(text) == measure
    assert Measure.parse(str(measure)) == measure
    assert repr(measure) == str(measure)


@pytest.mark.parametrize("text", ["F1", "", "@10", "BLEU", "²"])
def test_an_unknown_measure_is_named_with_the_choices(text):
    with pytest.raises(DataError) as caught:
        Measure.parse(text)
    assert str(caught.value) == f"unknown measure {text!r}; choose from {CHOICES}"


@pytest.mark.parametrize("cutoff", ["0", "-1", "x", "", "1.5", "²", "99999999999", 0, -1, 1.5, True])
def test_a_bad_cutoff_is_named(cutoff):
    with pytest.raises(DataError, match=r"^the cutoff of NDCG must be a whole number from 1: got "):
        Measure.parse(f"NDCG@{cutoff}") if isinstance(cutoff, str) else NDCG @ cutoff


def test_a_cutoff_may_be_an_integer_of_numpy():
    assert NDCG @ np.int64(10) == NDCG @ 10
    assert type((NDCG @ np.int64(10)).cutoff) is int


def test_precision_needs_a_cutoff_and_mean_ndcg_takes_none():
    with pytest.raises(DataError, match=r"^P needs a cutoff: write P@1 or P@10$"):
        Measure.parse("P")
    with pytest.raises(DataError, match=r"^P needs a cutoff"):
        as_measures([P])
    with pytest.raises(DataError, match=r"^MeanNDCG takes no cutoff: got MeanNDCG@3; write MeanNDCG$"):
        MeanNDCG @ 3


def test_measures_come_as_text_or_values_one_or_several_each_once():
    assert as_measures("MAP") == as_measures(MAP) == (MAP,)
    assert as_measures(iter(["NDCG@3", MAP, "ndcg@3"])) == (NDCG @ 3, MAP)
    with pytest.raises(DataError) as caught:
        as_measures([])
    assert str(caught.value) == f"expected at least one measure, got none; choose from {CHOICES}"
    with pytest.raises(DataError, match=r"^measures are written as 'NDCG@10' or NDCG @ 10: got 3$"):
        as_measures([3])


def test_the_kernels_number_the_measures_as_the_table_does():
    from rulerank.evaluation import kernels

    assert [getattr(kernels, "MEAN_NDCG" if name == "MeanNDCG" else name.upper()) for name in KINDS] == list(range(7))
