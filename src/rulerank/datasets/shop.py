"""A synthetic shop with texts: products, their documents, queries, and what each product is worth to who asks."""

from __future__ import annotations

import datetime
import json
import os
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from rulerank.core.parameters import Array, is_whole
from rulerank.dataset import Dataset
from rulerank.errors import DataError
from rulerank.io.outputs import write_text
from rulerank.io.texts import Queries, Texts
from rulerank.io.trec import Qrels, write_qrels

TODAY = datetime.date(2026, 6, 1)  # of the shop, so that the same seed gives the same dates
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


# all names are invented
KINDS = (
    Kind("tent", "shelter", "camping", 220, "waterproof lightweight family winter", "tent peg set"),
    Kind("sleeping bag", "mummy bag", "camping", 130, "winter lightweight down kids", "sleeping bag liner"),
    Kind("sleeping mat", "camping mattress", "camping", 70, "inflatable lightweight foldable", "mat repair kit"),
    Kind("camping stove", "gas cooker", "camping", 60, "compact windproof lightweight", "stove cleaning brush"),
    Kind("headlamp", "head torch", "camping", 45, "rechargeable waterproof lightweight", "headlamp strap", dated=True),
    Kind("camping chair", "folding seat", "camping", 50, "foldable lightweight kids", "chair carry bag"),
    Kind("backpack", "rucksack", "hiking", 120, "waterproof lightweight women compact", "backpack rain cover"),
    Kind("hiking boots", "walking shoes", "hiking", 150, "waterproof leather women winter", "boots wax"),
    Kind("rain jacket", "raincoat", "hiking", 140, "waterproof windproof women kids", "jacket wash"),
    Kind("trekking poles", "walking sticks", "hiking", 65, "foldable lightweight carbon", "poles rubber tips"),
    Kind("water bottle", "drinking flask", "hiking", 25, "insulated leakproof kids steel", "bottle brush"),
    Kind("fleece pullover", "sweater", "hiking", 80, "recycled women kids winter", "fleece repair patch"),
    Kind("bicycle light", "bike lamp", "cycling", 40, "rechargeable waterproof compact", "light bracket", dated=True),
    Kind("bicycle helmet", "bike helmet", "cycling", 75, "lightweight kids women", "helmet padding set"),
    Kind("pannier", "bike bag", "cycling", 85, "waterproof recycled foldable", "pannier hook set"),
    Kind("bicycle pump", "air pump", "cycling", 35, "compact digital steel", "pump hose"),
    Kind("bicycle lock", "chain lock", "cycling", 55, "foldable steel digital", "lock frame holder"),
    Kind("kettle", "water boiler", "kitchen", 50, "steel digital compact quiet", "kettle descaler"),
    Kind("coffee maker", "espresso machine", "kitchen", 180, "digital compact quiet", "coffee filter set", dated=True),
    Kind("frying pan", "skillet", "kitchen", 60, "nonstick steel induction", "pan lid"),
    Kind("kitchen knife", "chef's blade", "kitchen", 70, "steel lightweight leather", "knife sharpener"),
    Kind("travel mug", "thermo cup", "kitchen", 28, "insulated leakproof steel", "mug silicone seal"),
    Kind("cutting board", "chopping block", "kitchen", 35, "wooden foldable recycled", "board care oil"),
    Kind("desk lamp", "reading light", "home", 65, "rechargeable wooden digital", "lamp bulb", dated=True),
    Kind("office chair", "swivel chair", "home", 240, "leather quiet recycled", "chair castor set"),
    Kind("blanket", "throw", "home", 60, "wool down kids recycled", "blanket storage bag"),
    Kind("alarm clock", "wake-up light", "home", 40, "quiet wooden digital kids", "clock power adapter", dated=True),
    Kind("watering can", "plant sprinkler", "garden", 30, "steel compact recycled", "watering can rose"),
    Kind("pruning shears", "secateurs", "garden", 38, "steel leather lightweight", "shears spring"),
    Kind("garden hose", "water pipe", "garden", 55, "leakproof foldable compact", "hose connector"),
)

# trait: how documents say it; the first sentence has the word, the others leave it out
TRAITS = {
    "waterproof": ("Fully waterproof.", "Keeps the rain out all day.", "Taped seams, so that nothing inside gets wet."),
    "lightweight": ("A lightweight design.", "Hardly noticed in the luggage.", "Every gram was looked at twice."),
    "family": ("A family size.", "Room for two adults and two children.", "Four people stand upright in it."),
    "winter": ("Made for winter.", "Warm down to minus fifteen degrees.", "At ease in snow and frost."),
    "down": ("Filled with down.", "Soft feathers from certified farms.", "Light goose feathers keep the heat."),
    "kids": ("Sized for kids.", "For children from six to twelve.", "Small hands manage it alone."),
    "inflatable": ("Inflatable by mouth or pump.", "Fills with air in a minute.", "Ten breaths and it is ready."),
    "foldable": ("Foldable.", "Packs down to the size of a book.", "Collapses with one move of the hand."),
    "compact": ("A compact model.", "Fits into a drawer.", "Takes little space wherever it stands."),
    "windproof": ("Windproof.", "Gusts do not trouble it.", "Stands up to a stiff breeze."),
    "rechargeable": ("Rechargeable.", "The battery is filled over USB.", "No more spare batteries to carry."),
    "women": ("Cut for women.", "A ladies' fit, narrower at the heel and hip.", "Shaped for the female body."),
    "leather": ("Genuine leather.", "Full-grain hide that ages well.", "Tanned with oak bark."),
    "carbon": ("Carbon shafts.", "Woven fibre, stiff and light.", "The stiffest material we have."),
    "insulated": ("Double-wall insulated.", "Drinks stay hot for ten hours.", "Ice is still ice in the evening."),
    "leakproof": ("Leakproof.", "Not a drop gets out.", "Tight, even upside down."),
    "steel": ("Stainless steel.", "Metal that does not rust.", "Brushed metal, lasts for decades."),
    "recycled": ("From recycled material.", "Made of old fishing nets.", "A second life for used bottles."),
    "digital": ("A digital display.", "The screen shows every setting.", "Numbers that can be read from afar."),
    "quiet": ("Very quiet.", "Nobody wakes up from it.", "Makes no more noise than a whisper."),
    "nonstick": ("A nonstick coating.", "Eggs slide right off.", "Needs next to no oil."),
    "induction": ("For induction too.", "Works on every hob.", "Suits gas, ceramic and magnetic cookers."),
    "wooden": ("A wooden body.", "Carved from oak.", "Beech from forests nearby."),
    "wool": ("Pure wool.", "From sheep of the northern islands.", "Merino that does not scratch."),
}

NEEDS = (
    Need("stay dry on a rainy hike", "rain jacket", "waterproof", "On a rainy hike you stay dry."),
    Need("sleep outside when it freezes", "sleeping bag", "winter", "Sleep well outside, whatever the weather."),
    Need("camping with two children", "tent", "family", "Camping with children made easy."),
    Need("read in bed without waking anyone", "desk lamp", "rechargeable", "To read in bed at any hour."),
    Need("see the road at night by bike", "bicycle light", "rechargeable", "See and be seen at night."),
    Need("hot tea for the train", "travel mug", "insulated", "Hot tea on the way to work."),
    Need("cook pancakes that do not burn on", "frying pan", "nonstick", "Pancakes, fish, vegetables: nothing burns."),
    Need("carry my laptop to work in the rain", "backpack", "waterproof", "With a sleeve for the laptop."),
    Need("boil water quickly in a small flat", "kettle", "compact", "Ready to boil a litre quickly."),
    Need("sit all day without back pain", "office chair", "leather", "Kind to your back all day."),
    Need("gift for a friend who loves the mountains", "trekking poles", "carbon", "A gift for mountains and valleys."),
    Need("cut roses in the garden", "pruning shears", "steel", "Roses, vines and twigs up to two fingers."),
    Need("first bike ride of my daughter safe head", "bicycle helmet", "kids", "A safe start on the bike."),
    Need("keep bike from being stolen", "bicycle lock", "steel", "Makes it hard to get anything stolen."),
    Need("warm cover for the sofa", "blanket", "wool", "For the sofa or the bed."),
    Need("shopping by bike", "pannier", "waterproof", "Holds the shopping of a week."),
    Need("ground is too hard to sleep on", "sleeping mat", "inflatable", "Softens the hard ground."),
    Need("make dinner on a windy beach", "camping stove", "windproof", "Dinner for two in ten minutes."),
    Need("flat tyre on tour", "bicycle pump", "compact", "Gets a flat tyre going again on tour."),
    Need("balcony plants holiday", "watering can", "compact", "For balcony and window plants."),
    Need("drink for school that does not spill", "water bottle", "leakproof", "A drink for school, sport and office."),
    Need("wake up early without tick tock", "alarm clock", "quiet", "Wake up gently."),
    Need("walk in snow with warm feet", "hiking boots", "winter", "Warm feet on every walk."),
    Need("coffee at home before anyone is up", "coffee maker", "quiet", "Fresh coffee at home in three minutes."),
    Need("hands free in the dark", "headlamp", "rechargeable", "Keeps both hands free."),
    Need("chop vegetables", "cutting board", "wooden", "For bread, vegetables and herbs."),
    Need("sharp tool for fish and meat", "kitchen knife", "steel", "For meat, fish and hard cheese."),
    Need("something warm under the coat", "fleece pullover", "winter", "Wear it warm under a coat."),
    Need("seat for the beach that fits the car", "camping chair", "foldable", "For beach, lake and garden."),
    Need("water the lawn", "garden hose", "leakproof", "For lawn and beds."),
)

# how good a brand's products are, and how dear; Sandrel is dear for what it is, and Veskari the other way round
BRAND_NAMES = (
    *("Brenvale", "Torvane", "Pinewell", "Okarimo", "Lumeva", "Wexhaven", "Fernholt"),
    *("Marlstone", "Quillfox", "Aldermoor", "Sandrel", "Veskari", "Dunmara", "Tilbrook"),
)
BETTER = np.array((0.5, 0.2, -0.1, 0.7, 0.1, -0.4, 0.3, 0.0, -0.6, 0.4, -0.2, 0.3, 0.0, -0.3))
DEARER = np.array((1.3, 1.1, 0.8, 1.5, 1.0, 0.7, 1.0, 0.9, 0.6, 1.4, 1.2, 0.8, 1.0, 0.9))
LINES = (
    *("Kestrel", "Ridge", "Harbour", "Aurora", "Compass", "Meadow", "Granite", "Drift", "Ember", "Juniper", "Summit"),
    *("Tundra", "Willow", "Falcon", "Pebble", "Lantern", "Orchard", "Breeze", "Cedar", "Nomad", "Vista", "Otter"),
)
COLOURS = ("black", "green", "blue", "red", "grey", "sand", "orange", "white")
OPENINGS = (
    "The {line} is a {other} for people who use it every week.",
    "{Brand} has made this {name} for ten years and improved it every time.",
    "A {name} without frills.",
    "Our buyers' favourite {other} of the season.",
    "Simple, sturdy, easy to mend.",
    "If you want one {name} for many years, look here.",
)
FILLERS = (
    "Comes with a warranty of two years.",
    "Spare parts are in stock.",
    "Packed without plastic.",
    "Designed in a small workshop by the sea.",
    "Returned within thirty days it costs nothing.",
    "Customers praise how it is made.",
)
PART_TEXT = "Fits every {name} of {brand} and most others. The {name} itself is not included."
BESIDE = "Goes well with the {line} {name}."  # names what it is not
LACKS = "Not {trait}; see the {line} for that."

# what a word in a query asks for beside the product: less money, better ratings, a newer model
WISHES = {"cheap": "price", "best": "rating", "new": "date", "good": "rating", "latest": "date", "affordable": "price"}

TRAIT_NAMES = tuple(TRAITS)
NEED_OF = {need.kind: need for need in NEEDS}


@dataclass(frozen=True, eq=False)
class Shop:
    """Products with texts, queries, judgements, and the truth behind them."""

    texts: Texts
    queries: Queries
    qrels: Qrels  # every product above grade 0, and others that share words with the query
    truth: Array  # int8 (n_queries, n_products), the true grade of every pair

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
    width = max(4, len(str(n_products)))
    documents = [_document(products, row, f"p{row + 1:0{width}}", word_rng) for row in range(n_products)]
    asked = make_queries(products, n_queries, query_rng)
    truth = np.stack([true_grades(products, wanted, taste_rng) for wanted in asked])
    docids = np.array([one["id"] for one in documents], dtype=object)
    qids = np.array([f"q{number}" for number in range(1, n_queries + 1)], dtype=object)
    texts = Texts(docids, {name: [one[name] for one in documents] for name in FIELDS})
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
    write_text(documents, "".join(f"{json.dumps(document)}\n" for document in shop.documents))
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
        "added": str(TODAY - datetime.timedelta(days=int(products.age[row]))),
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


def _one(choices: tuple[str, ...], rng: np.random.Generator) -> str:
    return choices[int(rng.integers(len(choices)))]


@dataclass(frozen=True)
class Wanted:
    """One query: what is typed, and what is meant. None: it does not matter."""

    text: str
    kind: int | None = None
    category: str | None = None
    brand: int | None = None
    line: int | None = None
    traits: tuple[int, ...] = ()
    wish: str | None = None  # price, rating or date: what counts most beside the match


def make_queries(products: Products, n_queries: int, rng: np.random.Generator) -> list[Wanted]:
    """Draw queries of four sorts in turn, no text twice as long as there are others."""
    sorts: tuple[Callable[[Products, np.random.Generator], Wanted], ...] = (_by_trait, _by_need, _by_name, _by_brand)
    queries: dict[str, Wanted] = {}
    again: list[Wanted] = []
    while len(queries) + len(again) < n_queries:
        for _ in range(20):
            wanted = sorts[(len(queries) + len(again)) % len(sorts)](products, rng)
            if wanted.text not in queries:
                queries[wanted.text] = wanted
                break
        else:
            again.append(wanted)
    return [*queries.values(), *again]


def true_grades(products: Products, wanted: Wanted, rng: np.random.Generator) -> Array:
    """Return the grade of every product: how well it matches, times what its other fields are worth."""
    match = _match(products, wanted)
    worth = match * _appeal(products, wanted) + TASTE * rng.normal(size=products.kind.size) * (match > 0)
    return np.searchsorted(BARS, worth, side="right").astype(np.int8)


def _match(products: Products, wanted: Wanted) -> Array:
    """Say how well each product is what was asked for, from 0 to 1."""
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


def _appeal(products: Products, wanted: Wanted) -> Array:
    """Say what rating, price, stock and age are worth: they count together, and more when the query says so."""
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


def _by_name(products: Products, rng: np.random.Generator) -> Wanted:
    row = _some_product(products, rng)
    kind, brand, line = (int(column[row]) for column in (products.kind, products.brand, products.line))
    said = f"{LINES[line]} {_called(kind, rng)}"
    if rng.random() < 0.4:
        return Wanted(_typed(said, rng), kind=kind, line=line)
    return Wanted(_typed(f"{BRAND_NAMES[brand]} {said}", rng), kind=kind, brand=brand, line=line)


def _by_trait(products: Products, rng: np.random.Generator) -> Wanted:
    row = _some_product(products, rng)
    kind = int(products.kind[row])
    known = [TRAIT_NAMES.index(trait) for trait in KINDS[kind].traits.split()]
    traits = tuple(rng.permutation(known)[: 1 + (rng.random() < 0.35)].tolist())
    said = [*(TRAIT_NAMES[trait] for trait in traits), _called(kind, rng)]
    word, wish = _wish(rng)
    return Wanted(_typed(" ".join([*word, *said]), rng), kind=kind, traits=traits, wish=wish)


def _by_brand(products: Products, rng: np.random.Generator) -> Wanted:
    row = _some_product(products, rng)
    brand, kind = int(products.brand[row]), int(products.kind[row])
    word, wish = _wish(rng)
    if rng.random() < 0.5:
        category = KINDS[kind].category
        return Wanted(_typed(" ".join([*word, BRAND_NAMES[brand], category]), rng), None, category, brand, wish=wish)
    return Wanted(_typed(" ".join([*word, BRAND_NAMES[brand], _called(kind, rng)]), rng), kind, None, brand, wish=wish)


def _by_need(products: Products, rng: np.random.Generator) -> Wanted:
    need = NEEDS[rng.integers(len(NEEDS))]
    kind = next(number for number, one in enumerate(KINDS) if one.name == need.kind)
    word, wish = _wish(rng)
    said = " ".join([*word, _called(kind, rng), need.query]) if word else need.query
    return Wanted(_typed(said, rng), kind=kind, traits=(TRAIT_NAMES.index(need.trait),), wish=wish)


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
