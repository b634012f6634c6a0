"""Published figures are facts with a source, of systems that we have."""

import pytest

import rulerank as rr
from papers.reference import OHSUMED, SIZES, WEB, choose_reference, collection_of, published
from papers.systems import SYSTEMS
from rulerank.errors import DataError

MISPRINTS = {("HP2004, LETOR 3.0", "RE-GR"), ("NP2004, LETOR 3.0", "Certainty")}  # their means are not of their folds
IN_3 = [f"{name}, LETOR 3.0" for name in WEB]
COLLECTIONS = {*OHSUMED.values(), *IN_3, "TD2003, LETOR 2.0", "TD2004, LETOR 2.0"}


def figures(system, measure="MAP", collection=OHSUMED[45]):
    return {
        f.fold: f.value
        for f in published()
        if (f.system, f.measure, f.collection) == (system, measure, collection) and "LRAR" not in f.source
    }


def test_every_figure_has_a_source_and_a_row_in_the_report():
    for figure in published():
        assert figure.source
        assert figure.system in SYSTEMS
        assert figure.collection in COLLECTIONS
        assert figure.measure.startswith("seconds") or 0 < figure.value < 1
        assert figure.fold in ("1", "2", "3", "4", "5", "mean")


def test_no_figure_is_given_twice():
    keys = [(f.collection, f.system, f.measure, f.fold) for f in published() if "LRAR" not in f.source]
    assert len(set(keys)) == len(keys)
    twice = {(f.system, f.fold) for f in published() if "LRAR" in f.source}  # RE-GR by another name, run by others
    assert twice == {("RE-GR", "mean")}


@pytest.mark.parametrize(
    ("collection", "rounding"), [(OHSUMED[45], 0.0016), (OHSUMED[25], 0.0001), *((name, 0.0016) for name in IN_3)]
)
def test_published_means_are_those_of_their_folds_up_to_rounding(collection, rounding):
    systems = {f.system for f in published() if (f.collection, f.measure, f.fold) == (collection, "MAP", "1")}
    assert len(systems) >= 6
    for system in systems:
        found = figures(system, collection=collection)
        mean = found.pop("mean")
        assert len(found) == 5
        same = sum(found.values()) / 5 == pytest.approx(mean, abs=rounding)
        assert same == ((collection, system) not in MISPRINTS), system


def test_the_papers_headline_figures():
    means = {system: figures(system)["mean"] for system in ("RE-GR", "RE-SR", "RE-QR", "DC3A", "QC3A")}
    assert means == {"RE-GR": 0.456, "RE-SR": 0.460, "RE-QR": 0.465, "DC3A": 0.462, "QC3A": 0.454}
    baselines = {s: figures(s, "MAP", OHSUMED[25])["mean"] for s in ("RankSVM", "RankBoost", "FRank", "ListNet")}
    assert baselines == {"RankSVM": 0.4469, "RankBoost": 0.4403, "FRank": 0.4463, "ListNet": 0.4496}


def test_other_data_are_not_taken_for_ohsumed():
    folds = rr.datasets.make_folds(rr.datasets.make_ranking(n_queries=10), n_folds=5)
    assert collection_of(folds) is None
    assert choose_reference("auto", folds) is None
    assert choose_reference("ohsumed", folds) == OHSUMED[45]
    assert choose_reference("none", folds) is None
    with pytest.raises(DataError, match=r"unknown reference 'trec'; choose from auto, ohsumed, td2003, .*, none"):
        choose_reference("trec", folds)


def web_folds(n_features, n_queries=10):
    return rr.datasets.make_folds(
        rr.datasets.make_ranking(n_queries=n_queries, docs_per_query=4, n_features=n_features), n_folds=5
    )


def test_a_web_collection_is_known_by_its_folder_and_features_or_by_its_size(monkeypatch):
    folds = web_folds(64)
    for source, expected in [
        ("/data/2003_td_dataset", "TD2003, LETOR 3.0"),
        ("gov/HP2004", "HP2004, LETOR 3.0"),
        ("OHSUMED", None),
    ]:
        assert collection_of(folds, source) == choose_reference("auto", folds, source) == expected
    assert collection_of(web_folds(44), "TD2003") == "TD2003, LETOR 2.0"
    assert collection_of(web_folds(5), "TD2003") is None
    n_docs = sum(len(fold.test) for fold in folds)
    monkeypatch.setitem(SIZES, (10, n_docs), "NP2003")
    assert collection_of(folds, "anywhere") == "NP2003, LETOR 3.0"
    assert choose_reference("np2003", folds) == "NP2003, LETOR 3.0"
    assert choose_reference("hp2004", folds) == "HP2004, LETOR 3.0"


def test_sizes_of_web_collections_are_five_thirds_of_the_papers_training_parts():
    printed = {
        "TD2003": 29_435,
        "TD2004": 44_488,
        "NP2003": 89_194,
        "NP2004": 44_300,
        "HP2003": 88_564,
        "HP2004": 44_645,
    }
    sizes = {name: n_docs for (_, n_docs), name in SIZES.items()}
    assert {name: round(0.6 * sizes[name]) for name in WEB} == printed


@pytest.mark.parametrize(("name", "expected"), [
    ("letor3-ohsumed", OHSUMED[45]), ("letor2-ohsumed", OHSUMED[25]), ("letor4-mq2008", None),
])  # fmt: skip
def test_ohsumed_is_known_by_its_size(letor, name, expected):
    assert collection_of(rr.read_folds(letor / name)) == expected
