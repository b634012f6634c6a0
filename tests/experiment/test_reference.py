"""Published figures are facts with a source, of systems that we have."""

import pytest

import rulerank as rr
from rulerank.errors import DataError
from rulerank.experiment.reference import OHSUMED, choose_reference, collection_of, published
from rulerank.experiment.systems import SYSTEMS


def figures(system, measure="MAP", collection=OHSUMED[45]):
    return {
        f.fold: f.value for f in published() if (f.system, f.measure, f.collection) == (system, measure, collection)
    }


def test_every_figure_has_a_source_and_a_row_in_the_report():
    for figure in published():
        assert figure.source
        assert figure.system in SYSTEMS
        assert figure.collection in OHSUMED.values()
        assert figure.measure.startswith("seconds") or 0 < figure.value < 1
        assert figure.fold in ("1", "2", "3", "4", "5", "mean")


def test_no_figure_is_given_twice():
    keys = [(f.collection, f.system, f.measure, f.fold) for f in published()]
    assert len(set(keys)) == len(keys)


@pytest.mark.parametrize(("collection", "rounding"), [(OHSUMED[45], 0.0016), (OHSUMED[25], 0.0001)])
def test_published_means_are_those_of_their_folds_up_to_rounding(collection, rounding):
    systems = {f.system for f in published() if (f.collection, f.measure, f.fold) == (collection, "MAP", "1")}
    assert len(systems) >= 6
    for system in systems:
        found = figures(system, collection=collection)
        mean = found.pop("mean")
        assert len(found) == 5
        assert sum(found.values()) / 5 == pytest.approx(mean, abs=rounding), system


def test_the_papers_headline_figures():
    means = {system: figures(system)["mean"] for system in ("RE-GR", "RE-SR", "RE-QR", "DC3A", "QC3A")}
    assert means == {"RE-GR": 0.456, "RE-SR": 0.460, "RE-QR": 0.465, "DC3A": 0.462, "QC3A": 0.454}
    baselines = {s: figures(s, "MAP", OHSUMED[25])["mean"] for s in ("RankSVM", "RankBoost", "FRank", "ListNet")}
    assert baselines == {"RankSVM": 0.4469, "RankBoost": 0.4403, "FRank": 0.4463, "ListNet": 0.4496}


def test_other_data_are_not_taken_for_ohsumed():
    folds = rr.make_folds(rr.make_world(n_queries=10), n_folds=5)
    assert collection_of(folds) is None
    assert choose_reference("auto", folds) is None
    assert choose_reference("ohsumed", folds) == OHSUMED[45]
    assert choose_reference("none", folds) is None
    with pytest.raises(DataError, match="unknown reference 'trec'; choose from auto, ohsumed, none"):
        choose_reference("trec", folds)


@pytest.mark.parametrize(("name", "expected"), [
    ("letor3-ohsumed", OHSUMED[45]), ("letor2-ohsumed", OHSUMED[25]), ("letor4-mq2008", None),
])  # fmt: skip
def test_ohsumed_is_known_by_its_size(letor, name, expected):
    assert collection_of(rr.read_folds(letor / name)) == expected
