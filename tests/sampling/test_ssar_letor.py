"""SSAR on real pools: how many labels it asks for."""

import pytest

import rulerank as rr


@pytest.mark.parametrize(
    ("name", "params", "n_labels"),
    [
        ("letor3-ohsumed", {}, 57),
        ("letor3-ohsumed", {"partitions": 5}, 237),
        ("letor4-mq2008", {}, 108),
        ("letor4-mq2008", {"partitions": 5}, 346),
    ],
)
def test_a_few_labels_of_a_training_file_are_asked_for(letor, name, params, n_labels):
    train = rr.read_letor(letor / name / "Fold1" / "train.txt")
    ssar = rr.SSAR(**params)
    assert ssar.select(train, train.y.__getitem__).size == n_labels
    assert ssar.stop_ == "natural"
