"""The synthetic shop: its size, its truth, its files, and that it is what its docstring says."""

from collections import Counter

import numpy as np
import pytest

import rulerank as rr
from rulerank.datasets import shop as words
from rulerank.datasets.shop import DEPTH, TRAIT_NAMES, Intent, make_products, make_shop, true_grades, write_shop


@pytest.fixture(scope="module")
def shop():
    return make_shop(n_products=1500, n_queries=120, seed=1)


def grade_of(shop, qid, docid):
    return shop.truth[shop.queries.ids.tolist().index(qid), shop.documents.ids.tolist().index(docid)]


def test_the_seed_decides_everything():
    one, same, other = (make_shop(200, 12, seed) for seed in (7, 7, 8))
    assert one.records == same.records
    assert one.queries.texts == same.queries.texts
    assert np.array_equal(one.truth, same.truth)
    assert one.records != other.records
    assert one.queries.texts != other.queries.texts


def test_every_document_has_every_field_and_some_lack_a_rating(shop):
    fields = "id title description brand category tags price rating reviews stock added url"
    assert all(" ".join(document) == fields for document in shop.records)
    ids = [document["id"] for document in shop.records]
    assert len(set(ids)) == len(ids)
    unrated = [document for document in shop.records if document["rating"] is None]
    assert 0 < len(unrated) < 0.2 * len(ids)
    assert all(document["reviews"] == 0 for document in unrated)
    assert all(1 <= document["rating"] <= 5 for document in shop.records if document["reviews"])
    assert all(document["price"] > 0 for document in shop.records)
    assert any(document["stock"] == 0 for document in shop.records)


def test_judgements_hold_every_relevant_pair_and_say_the_truth(shop):
    n_relevant = (shop.truth > 0).sum()
    assert (shop.qrels.grade > 0).sum() == n_relevant
    for row in range(0, len(shop.qrels), 97):
        assert shop.qrels.grade[row] == grade_of(shop, shop.qrels.qid[row], shop.qrels.docid[row])
    misses = Counter(qid for qid, grade in zip(shop.qrels.qid, shop.qrels.grade, strict=True) if grade == 0)
    assert 10 < np.mean(list(misses.values())) <= DEPTH


@pytest.fixture(scope="module")
def products():
    return make_products(6000, np.random.default_rng(3))


def mean_grade(products, wanted, rows):
    return true_grades(products, wanted, np.random.default_rng(0))[rows].mean()


def test_a_grade_depends_on_the_match(products):
    kind = [one.name for one in words.KINDS].index("tent")
    waterproof = TRAIT_NAMES.index("waterproof")
    wanted = Intent("waterproof tent", kind=kind, traits=(waterproof,))
    tents = (products.kind == kind) & ~products.is_part
    has = products.traits[:, waterproof]
    assert mean_grade(products, wanted, tents & has) > mean_grade(products, wanted, tents & ~has) + 0.5
    assert mean_grade(products, wanted, (products.kind == kind) & products.is_part) < 0.1
    assert mean_grade(products, wanted, products.kind != kind) == 0


def test_what_is_read_from_the_files_is_the_shop(tmp_path):
    shop = make_shop(150, 10, seed=4)
    documents, queries, qrels = write_shop(shop, tmp_path)
    texts, read = rr.read_documents(documents), rr.read_queries(queries)
    assert texts.ids.tolist() == shop.documents.ids.tolist()
    assert {name: list(values) for name, values in texts.fields.items()} == {
        name: [value or None if isinstance(value, list) else value for value in values]
        for name, values in shop.documents.fields.items()
    }
    assert (read.ids.tolist(), read.texts) == (shop.queries.ids.tolist(), shop.queries.texts)
    assert rr.io.read_judgements(qrels).grade.tolist() == shop.qrels.grade.tolist()


def test_rows_get_their_true_grades():
    shop = make_shop(150, 10, seed=4)
    rows = rr.Dataset(np.zeros((2, 1)), [-1, -1], ["q2", "q1"], ["p0003", "p0150"])
    assert shop.graded(rows).y.tolist() == [shop.truth[1, 2], shop.truth[0, 149]]


def test_a_folder_that_cannot_be_made_is_said(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(rr.errors.DataError, match=r"^cannot make the folder .*file: File exists$"):
        write_shop(make_shop(100, 1), tmp_path / "file")


WRONG_SIZES = [
    ({"n_products": 99}, "n_products must be a whole number from 100: got 99"),
    ({"n_queries": 0}, "n_queries must be a whole number from 1: got 0"),
    ({"n_queries": 2.5}, "n_queries must be a whole number from 1: got 2.5"),
    ({"seed": -1}, "seed must be a whole number from 0: got -1"),
    ({"n_products": 10**6, "n_queries": 10**4}, "n_products times n_queries must be at most 1,000,000,000: got "),
]


@pytest.mark.parametrize(("wrong", "message"), WRONG_SIZES)
def test_sizes_are_checked(wrong, message):
    with pytest.raises(rr.errors.DataError, match=f"^{message}"):
        make_shop(**wrong)


def test_the_words_fit_together():
    assert len({kind.name for kind in words.KINDS}) == len(words.KINDS)
    assert {trait for kind in words.KINDS for trait in kind.traits.split()} == set(words.TRAITS)
    assert {need.kind for need in words.NEEDS} == {kind.name for kind in words.KINDS}
    kinds = {kind.name: kind for kind in words.KINDS}
    assert all(need.trait in kinds[need.kind].traits.split() for need in words.NEEDS)
    for trait, (plain, *others) in words.TRAITS.items():
        assert trait in plain.lower()
        assert all(trait not in one.lower() for one in others)
