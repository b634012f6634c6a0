"""The shop as one value, and as a folder of files."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

from rulerank.core.arrays import Array
from rulerank.core.checks import is_whole
from rulerank.dataset import Dataset
from rulerank.errors import DataError
from rulerank.io.outputs import write_text
from rulerank.io.queries import Queries
from rulerank.io.texts import Texts
from rulerank.io.trec import Qrels, write_qrels
from rulerank.shop.products import FIELDS, make_products, write_documents
from rulerank.shop.queries import make_queries, true_grades

DEPTH = 100  # products judged per query for the words they share with it
MOST_PAIRS = 1_000_000_000  # a byte each


@dataclass(frozen=True, eq=False)
class Shop:
    """Products with texts, queries, judgements, and the truth behind them."""

    texts: Texts
    queries: Queries
    qrels: Qrels  # every product above grade 0, and others that share words with the query
    truth: Array  # int8 (n_queries, n_products), the true grade of every pair
    meanings: list[str]  # what each query means, for people who judge

    def __repr__(self) -> str:
        return f"Shop({len(self.texts):,} products, {len(self.queries):,} queries, {len(self.qrels):,} judgements)"

    @property
    def documents(self) -> list[dict[str, Any]]:
        """The products as they are written to files: one dict each."""
        rows = zip(*self.texts.fields.values(), strict=True)
        names = ("id", *self.texts.fields)
        return [dict(zip(names, (one, *row), strict=True)) for one, row in zip(self.texts.ids, rows, strict=True)]

    def graded(self, data: Dataset) -> Dataset:
        """Return rows of this shop with their true grades."""
        query = {one: number for number, one in enumerate(self.queries.ids)}
        product = {one: number for number, one in enumerate(self.texts.ids)}
        docid = () if data.docid is None else data.docid
        pairs = [(query[q], product[d]) for q, d in zip(data.qid, docid, strict=True)]
        return replace(data, y=np.array([self.truth[pair] for pair in pairs], dtype=np.int16))


def make_shop(n_products: int = 2000, n_queries: int = 200, seed: int = 0) -> Shop:
    """Make a small shop: documents with texts, queries, and judgements whose truth is known.

    >>> shop = make_shop(n_products=500, n_queries=20)
    >>> shop
    Shop(500 products, 20 queries, 1,597 judgements)
    >>> shop.texts.fields["title"][0], shop.queries.texts[0]
    ('Aldermoor Nomad recycled office chair, sand', 'down sleeping bag')

    How it is made:

    1. A product is of one of 30 kinds, has a brand, a line and some traits of its kind (waterproof, foldable, ...), a
       price, a rating, a stock and a date. One in eight is an accessory, which bears the name of what it belongs to.
    2. Its document says most of that: a trait with its word or in other words, in the title, the description or the
       tags. Some documents name a trait that they lack, or another product.
    3. Queries are of four sorts: a kind with traits, a need in a shopper's own words, a product by its name, a brand.
       Some use another word than the shop does, some are mistyped, some ask for something cheap, good or new.
    4. The true grade, 0 to 3, is the match times the appeal: a rating counts when many gave it, a price when it is high
       and the product not praised, the age mostly for lamps and machines, and what is out of stock is worth half. A
       word such as cheap, best or new shifts that. A little taste is added.

    The judgements hold every product above grade 0 and, at grade 0, the nearest misses: those among the 100 that share
    most words with the query. What they do not hold has grade 0 too; `truth` has all pairs.
    """
    for name, value, least in (("n_products", n_products, 100), ("n_queries", n_queries, 1), ("seed", seed, 0)):
        if not is_whole(value, least):
            raise DataError(f"{name} must be a whole number from {least}: got {value}")
    if n_products * n_queries > MOST_PAIRS:
        raise DataError(f"n_products times n_queries must be at most {MOST_PAIRS:,}: got {n_products * n_queries:,}")
    product_rng, word_rng, query_rng, taste_rng = np.random.default_rng(seed).spawn(4)
    products = make_products(n_products, product_rng)
    documents = write_documents(products, word_rng)
    asked = make_queries(products, n_queries, query_rng)
    truth = np.stack([true_grades(products, wanted, taste_rng) for wanted in asked])
    docids = np.array([one["id"] for one in documents], dtype=object)
    qids = np.array([f"q{number}" for number in range(1, n_queries + 1)], dtype=object)
    texts = Texts(docids, {name: [one[name] for one in documents] for name in FIELDS})
    queries = Queries(qids, [wanted.text for wanted in asked])
    return Shop(texts, queries, _judgements(documents, queries, truth), truth, [wanted.meaning() for wanted in asked])


def write_shop(shop: Shop, folder: str | os.PathLike[str]) -> list[str]:
    """Write a shop as documents.jsonl, queries.tsv and judgements.qrels; return their paths."""
    home = Path(folder)
    try:
        home.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise DataError(f"cannot make the folder {home}: {error.strerror}") from None
    documents, queries, qrels = (home / name for name in ("documents.jsonl", "queries.tsv", "judgements.qrels"))
    write_text(documents, "".join(f"{json.dumps(document)}\n" for document in shop.documents))
    lines = (f"{qid}\t{text}\n" for qid, text in zip(shop.queries.ids, shop.queries.texts, strict=True))
    write_text(queries, "qid\tquery\n" + "".join(lines))
    write_qrels(shop.qrels, qrels)
    return [str(documents), str(queries), str(qrels)]


def _judgements(documents: list[dict[str, Any]], queries: Queries, truth: Array) -> Qrels:
    judged = truth > 0
    for number, shared in enumerate(_shared_words(documents, queries.texts)):
        nearest = np.argsort(-shared, kind="stable")[:DEPTH]
        judged[number, nearest[shared[nearest] > 0]] = True
    query, product = np.nonzero(judged)
    docids = np.array([one["id"] for one in documents], dtype=object)
    return Qrels(queries.ids[query], docids[product], truth[query, product].astype(np.int32))


def _shared_words(documents: list[dict[str, Any]], queries: Sequence[str]) -> Array:
    """Return, for each query and document, how many words they share; a rare one counts more."""
    number: dict[str, int] = {}
    rows, columns = [], []
    for row, document in enumerate(documents):
        text = " ".join([document["title"], document["description"], document["category"], *document["tags"]])
        for word in dict.fromkeys(_words(text)):
            rows.append(row)
            columns.append(number.setdefault(word, len(number)))
    has = sparse.csr_array((np.ones(len(rows)), (rows, columns)), shape=(len(documents), len(number)))
    weights = np.log(len(documents) / has.sum(axis=0)) + 1
    asked = np.zeros((len(queries), len(number)))
    for row, query in enumerate(queries):
        known = [number[word] for word in _words(query) if word in number]
        asked[row, known] = weights[known]
    return (has @ asked.T).T


def _words(text: str) -> list[str]:
    return re.findall(r"[a-z']+", text.lower())
