"""A synthetic shop with texts: products, their documents, queries, and the true grade of every pair."""

from __future__ import annotations

import datetime
import json
import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from sklearn.feature_extraction.text import CountVectorizer

from rulerank._util.parameters import Array, is_whole
from rulerank._util.words import old_attribute
from rulerank.dataset import Dataset
from rulerank.errors import DataError
from rulerank.io.files import write_text
from rulerank.io.texts import Documents, Queries
from rulerank.io.trec import Qrels, write_qrels

BASELINE = datetime.date(2026, 6, 1)  # of the shop, so that the same seed gives the same dates
OLDEST = 1500  # days
PARTS = 0.1  # share of products that are accessories
PART_PRICE = 0.2  # of what the thing itself costs
FIELDS = (
    *("title", "description", "brand", "category", "tags"),
    *("price", "rating", "reviews", "stock", "added", "url"),
)  # of a document, beside its id
OTHER_WORD = 0.2  # share of queries that call a product otherwise than the shop does
TYPO = 0.12  # share of queries with a mistyped word
BARS = (0.38, 0.62, 0.92)  # worth from which a product has grade 1, 2, 3
TASTE = 0.14  # what no field explains
DEPTH = 100  # products judged per query for the words they share with it
MOST_PAIRS = 1_000_000_000  # a byte each


class Kind(NamedTuple):
    """One kind of product: what the shop calls it, and what people may call it instead."""

    name: str
    other: str
    category: str
    price: int  # what one usually costs
    traits: str  # what some of them have, a word each
    part: str  # an accessory that bears its name
    dated: bool = False  # whether newer ones are better


class Need(NamedTuple):
    """Something people want, in words of their own, and what serves them."""

    query: str
    kind: str
    trait: str
    said: str  # what documents say about it, if anything: not all of its words


# the words of the shop, all names invented: its kinds of products, and traits with the sentences that say them: the
# first has the word, the others leave it out; needs; brands, how good and how dear: Sandrel is dear for what it is, and
# Veskari the other way round; what a word in a query asks for beside the product ("wishes")
WORDS: dict[str, Any] = json.loads(files("rulerank.datasets").joinpath("shop.json").read_text(encoding="utf-8"))
KINDS = tuple(Kind(*row) for row in WORDS["kinds"])
TRAITS: dict[str, list[str]] = WORDS["traits"]
NEEDS = tuple(Need(*row) for row in WORDS["needs"])
BRAND_NAMES = tuple(WORDS["brands"])
BETTER, DEARER = np.array([*WORDS["brands"].values()]).T
LINES, COLOURS, OPENINGS, FILLERS, WISHES = (WORDS[k] for k in ("lines", "colours", "openings", "fillers", "wishes"))
PART_TEXT = "Fits every {name} of {brand} and most others. The {name} itself is not included."
BESIDE = "Goes well with the {line} {name}."  # names what it is not
LACKS = "Not {trait}; see the {line} for that."
TRAIT_NAMES = tuple(TRAITS)
NEED_OF = {need.kind: need for need in NEEDS}


@dataclass(frozen=True, eq=False)
class Shop:
    """Products with texts, queries, judgements, and the truth behind them."""

    documents: Documents
    queries: Queries
    qrels: Qrels  # every product above grade 0, and others that share words with the query
    truth: Array  # int8 (n_queries, n_products), the true grade of every pair
    if not TYPE_CHECKING:
        __getattr__ = old_attribute

    def __repr__(self) -> str:
        return f"Shop({len(self.documents):,} products, {len(self.queries):,} queries, {len(self.qrels):,} judgements)"

    @property
    def records(self) -> list[dict[str, Any]]:
        """The products as they are written to files: one dict each."""
        rows = zip(*self.documents.fields.values(), strict=True)
        names = ("id", *self.documents.fields)
        return [dict(zip(names, (one, *row), strict=True)) for one, row in zip(self.documents.ids, rows, strict=True)]

    def graded(self, data: Dataset) -> Dataset:
        """Return rows of this shop with their true grades."""
        query = {one: number for number, one in enumerate(self.queries.ids)}
        product = {one: number for number, one in enumerate(self.documents.ids)}
        docid = () if data.docid is None else data.docid
        pairs = [(query[q], product[d]) for q, d in zip(data.qid, docid, strict=True)]
        return replace(data, y=np.array([self.truth[pair] for pair in pairs], dtype=np.int16))


def make_shop(n_products: int = 2000, n_queries: int = 200, seed: int = 0) -> Shop:
    """Generate a small shop: products with texts, queries, and judgements with known truth.

    >>> shop = make_shop(n_products=500, n_queries=20)
    >>> shop
    Shop(500 products, 20 queries, 1,597 judgements)
    >>> shop.documents.fields["title"][0], shop.queries.texts[0]
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
            raise DataError(f"{name} must be an integer of at least {least}: got {value}")
    if n_products * n_queries > MOST_PAIRS:
        raise DataError(f"n_products times n_queries must be at most {MOST_PAIRS:,}: got {n_products * n_queries:,}")
    product_rng, word_rng, query_rng, taste_rng = np.random.default_rng(seed).spawn(4)
    products = make_products(n_products, product_rng)
    width = max(4, len(str(n_products)))
    documents = [_document(products, row, f"p{row + 1:0{width}}", word_rng) for row in range(n_products)]
    asked = make_queries(products, n_queries, query_rng)
    truth = np.stack([true_grades(products, wanted, taste_rng) for wanted in asked])
    docids = np.array([one["id"] for one in documents], dtype=object)
    qids = np.array([f"q{number}" for number in range(1, n_queries + 1)], dtype=object)
    texts = Documents(docids, {name: [one[name] for one in documents] for name in FIELDS})
    queries = Queries(qids, [wanted.text for wanted in asked])
    return Shop(texts, queries, _judgements(documents, queries, truth), truth)


def write_shop(shop: Shop, folder: str | os.PathLike[str]) -> list[str]:
    """Write a shop as documents.jsonl, queries.tsv and judgements.qrels; return their paths."""
    home = Path(folder)
    try:
        home.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise DataError(f"cannot make the folder {home}: {error.strerror}") from None
    documents, queries, qrels = (home / name for name in ("documents.jsonl", "queries.tsv", "judgements.qrels"))
    write_text(documents, "".join(f"{json.dumps(document)}\n" for document in shop.records))
    lines = (f"{qid}\t{text}\n" for qid, text in zip(shop.queries.ids, shop.queries.texts, strict=True))
    write_text(queries, "qid\tquery\n" + "".join(lines))
    write_qrels(shop.qrels, qrels)
    return [str(documents), str(queries), str(qrels)]


class Products(NamedTuple):
    """What is true of each product: one entry, or one row, each."""

    kind: Array  # number in KINDS
    brand: Array  # number in BRAND_NAMES
    line: Array  # number in LINES
    is_part: Array  # an accessory, not the thing itself
    traits: Array  # bool (n_products, n_traits)
    price: Array
    dearness: Array  # log of the price over what its kind usually costs
    rating: Array  # 1 to 5, NaN: nobody has rated it
    reviews: Array
    stock: Array
    age: Array  # days since it came in


def make_products(n_products: int, rng: np.random.Generator) -> Products:
    """Draw what is true of each product."""
    kind = rng.integers(len(KINDS), size=n_products)
    brand = rng.integers(len(BRAND_NAMES), size=n_products)
    is_part = rng.random(n_products) < PARTS
    wanted = np.array([[trait in one.traits.split() for trait in TRAIT_NAMES] for one in KINDS])
    traits = wanted[kind] & (rng.random((n_products, len(TRAITS))) < 0.45) & ~is_part[:, None]
    dearness = np.log(DEARER[brand]) + 0.35 * rng.normal(size=n_products)
    usual = np.array([one.price for one in KINDS])[kind] * np.where(is_part, PART_PRICE, 1)
    reviews = np.floor(np.exp(rng.normal(2.2, 1.4, size=n_products)))
    quality = 0.7 * BETTER[brand] + 0.25 * dearness + 0.6 * rng.normal(size=n_products)
    rating = np.clip(3.9 + 0.7 * quality + rng.normal(size=n_products) / np.sqrt(reviews + 1), 1, 5)
    return Products(
        kind=kind,
        brand=brand,
        line=rng.integers(len(LINES), size=n_products),
        is_part=is_part,
        traits=traits,
        price=np.maximum(1, np.round(usual * np.exp(dearness))) - 0.01,
        dearness=dearness,
        rating=np.where(reviews > 0, np.round(rating, 1), np.nan),
        reviews=reviews.astype(np.int64),
        stock=np.where(rng.random(n_products) < 0.15, 0, rng.geometric(0.05, size=n_products)),
        age=np.minimum(OLDEST, rng.exponential(400, size=n_products)).astype(np.int64),
    )


def _document(products: Products, row: int, docid: str, rng: np.random.Generator) -> dict[str, Any]:
    kind, brand, line = KINDS[products.kind[row]], BRAND_NAMES[products.brand[row]], LINES[products.line[row]]
    has = [TRAIT_NAMES[number] for number in np.flatnonzero(products.traits[row])]
    colour = _one(COLOURS, rng)
    rating = products.rating[row]
    if products.is_part[row]:
        title, text = f"{brand} {kind.part}", PART_TEXT.format(name=kind.name, brand=brand)
    else:
        shown = [trait for trait in has if rng.random() < 0.5]
        title = " ".join([brand, line, *shown, kind.name if rng.random() < 0.85 else kind.other])
        text = _description(kind, has, {"name": kind.name, "other": kind.other, "line": line, "Brand": brand}, rng)
    return {
        "id": docid,
        "title": f"{title}, {colour}" if rng.random() < 0.5 else title,
        "description": text,
        "brand": brand,
        "category": kind.category,
        "tags": [tag for tag in (*has, colour, *kind.name.split()) if rng.random() < 0.6],
        "price": float(products.price[row]),
        "rating": None if np.isnan(rating) else float(rating),
        "reviews": int(products.reviews[row]),
        "stock": int(products.stock[row]),
        "added": str(BASELINE - datetime.timedelta(days=int(products.age[row]))),
        "url": f"https://shop.example/{docid}",
    }


def _description(kind: Kind, has: list[str], words: dict[str, str], rng: np.random.Generator) -> str:
    """Say most of what a product has, each thing with its word or without; and sometimes what it has not."""
    parts = [_one(OPENINGS, rng).format(**words)]
    need = NEED_OF[kind.name]
    if rng.random() < (0.7 if need.trait in has else 0.35):
        parts.append(need.said)
    parts += [_one(TRAITS[trait], rng) for trait in has if rng.random() < 0.9]
    for trait in kind.traits.split():
        if trait not in has and rng.random() < 0.12:
            parts.append(LACKS.format(trait=trait, line=_one(LINES, rng)))
    if rng.random() < 0.35:
        parts.append(BESIDE.format(line=_one(LINES, rng), name=KINDS[rng.integers(len(KINDS))].name))
    parts += [filler for filler in FILLERS if rng.random() < 0.3]
    return " ".join(parts)


def _one(choices: Sequence[str], rng: np.random.Generator) -> str:
    return choices[int(rng.integers(len(choices)))]


@dataclass(frozen=True)
class Intent:
    """One query: what is typed, and what is meant. None: it does not matter."""

    text: str
    kind: int | None = None
    category: str | None = None
    brand: int | None = None
    line: int | None = None
    traits: tuple[int, ...] = ()
    wish: str | None = None  # price, rating or date: what counts most beside the match


def make_queries(products: Products, n_queries: int, rng: np.random.Generator) -> list[Intent]:
    """Draw queries of four sorts in turn, no text twice as long as there are others."""
    sorts: tuple[Callable[[Products, np.random.Generator], Intent], ...] = (_by_trait, _by_need, _by_name, _by_brand)
    queries: dict[str, Intent] = {}
    again: list[Intent] = []
    while len(queries) + len(again) < n_queries:
        for _ in range(20):
            wanted = sorts[(len(queries) + len(again)) % len(sorts)](products, rng)
            if wanted.text not in queries:
                queries[wanted.text] = wanted
                break
        else:
            again.append(wanted)
    return [*queries.values(), *again]


def true_grades(products: Products, wanted: Intent, rng: np.random.Generator) -> Array:
    """Return the grade of every product: how well it matches, times what its other fields are worth."""
    match = _match(products, wanted)
    worth = match * _appeal(products, wanted) + TASTE * rng.normal(size=products.kind.size) * (match > 0)
    return np.searchsorted(BARS, worth, side="right").astype(np.int8)


def _match(products: Products, wanted: Intent) -> Array:
    """Return how well each product matches the query, from 0 to 1."""
    match = np.ones(products.kind.size)
    if wanted.kind is not None:
        match *= products.kind == wanted.kind
    if wanted.category is not None:
        match *= np.where(np.array([kind.category == wanted.category for kind in KINDS])[products.kind], 1, 0.2)
    if wanted.brand is not None:
        match *= np.where(products.brand == wanted.brand, 1, 0.45)
    if wanted.line is not None:
        match *= np.where(products.line == wanted.line, 1, 0.6)
    for trait in wanted.traits:
        match *= np.where(products.traits[:, trait], 1, 0.45)
    return match * np.where(products.is_part, 0.15, 1)  # who asks for a tent wants no pegs


def _appeal(products: Products, wanted: Intent) -> Array:
    """Return the value of rating, price, stock and age together; a word such as cheap in the query shifts it."""
    sure = np.minimum(1, products.reviews / 20)  # a rating of two people says little
    rating = sure * np.nan_to_num(products.rating - 3.9, nan=0.0)
    too_dear = np.maximum(0, products.dearness) * (rating < 0.4)  # people pay for what is praised
    dated = np.array([kind.dated for kind in KINDS])[products.kind]
    age = products.age / OLDEST
    appeal = 0.9 + 0.25 * rating - 0.3 * too_dear - np.where(dated, 0.6, 0.1) * age
    if wanted.wish == "price":
        appeal -= 0.4 * products.dearness
    elif wanted.wish == "rating":
        appeal += 0.25 * rating
    elif wanted.wish == "date":
        appeal += 0.35 - 1.2 * np.minimum(0.5, age)
    if wanted.line is not None:
        appeal = 0.5 + 0.5 * appeal  # who names a product wants that one
    return np.maximum(0, appeal) * np.where(products.stock > 0, 1, 0.6)


def _by_name(products: Products, rng: np.random.Generator) -> Intent:
    row = _some_product(products, rng)
    kind, brand, line = (int(column[row]) for column in (products.kind, products.brand, products.line))
    said = f"{LINES[line]} {_called(kind, rng)}"
    if rng.random() < 0.4:
        return Intent(_typed(said, rng), kind=kind, line=line)
    return Intent(_typed(f"{BRAND_NAMES[brand]} {said}", rng), kind=kind, brand=brand, line=line)


def _by_trait(products: Products, rng: np.random.Generator) -> Intent:
    row = _some_product(products, rng)
    kind = int(products.kind[row])
    known = [TRAIT_NAMES.index(trait) for trait in KINDS[kind].traits.split()]
    traits = tuple(rng.permutation(known)[: 1 + (rng.random() < 0.35)].tolist())
    said = [*(TRAIT_NAMES[trait] for trait in traits), _called(kind, rng)]
    word, wish = _wish(rng)
    return Intent(_typed(" ".join([*word, *said]), rng), kind=kind, traits=traits, wish=wish)


def _by_brand(products: Products, rng: np.random.Generator) -> Intent:
    row = _some_product(products, rng)
    brand, kind = int(products.brand[row]), int(products.kind[row])
    word, wish = _wish(rng)
    if rng.random() < 0.5:
        category = KINDS[kind].category
        return Intent(_typed(" ".join([*word, BRAND_NAMES[brand], category]), rng), None, category, brand, wish=wish)
    return Intent(_typed(" ".join([*word, BRAND_NAMES[brand], _called(kind, rng)]), rng), kind, None, brand, wish=wish)


def _by_need(products: Products, rng: np.random.Generator) -> Intent:
    need = NEEDS[rng.integers(len(NEEDS))]
    kind = next(number for number, one in enumerate(KINDS) if one.name == need.kind)
    word, wish = _wish(rng)
    said = " ".join([*word, _called(kind, rng), need.query]) if word else need.query
    return Intent(_typed(said, rng), kind=kind, traits=(TRAIT_NAMES.index(need.trait),), wish=wish)


def _some_product(products: Products, rng: np.random.Generator) -> int:
    return int(rng.choice(np.flatnonzero(~products.is_part)))


def _called(kind: int, rng: np.random.Generator) -> str:
    return KINDS[kind].other if rng.random() < OTHER_WORD else KINDS[kind].name


def _wish(rng: np.random.Generator) -> tuple[list[str], str | None]:
    """Return the word that says what counts most, and what that is; mostly none."""
    if rng.random() < 0.65:
        return [], None
    word = list(WISHES)[int(rng.integers(len(WISHES)))]
    return [word], WISHES[word]


def _typed(text: str, rng: np.random.Generator) -> str:
    """Type a query in small letters, and sometimes a word of it wrongly."""
    words = text.lower().split()
    long = [place for place, word in enumerate(words) if len(word) > 4]
    if long and rng.random() < TYPO:
        place = long[int(rng.integers(len(long)))]
        word, at = words[place], int(rng.integers(1, len(words[place]) - 2))
        swapped = word[:at] + word[at + 1] + word[at] + word[at + 2 :]
        words[place] = (swapped, word[:at] + word[at + 1 :], word[:at] + word[at] + word[at:])[int(rng.integers(3))]
    return " ".join(words)


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
    counter = CountVectorizer(token_pattern="[a-z']+", binary=True, dtype=np.float64)
    texts = [" ".join([one["title"], one["description"], one["category"], *one["tags"]]) for one in documents]
    has = counter.fit_transform(texts)
    weights = np.log(len(documents) / np.asarray(has.sum(axis=0)).ravel()) + 1
    return (has @ (counter.transform(queries).toarray() * weights).T).T
