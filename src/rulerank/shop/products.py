"""The products of the shop: what is true of each, and the document that says it, not always in the same words."""

from __future__ import annotations

import datetime
from dataclasses import dataclass
from typing import Any

import numpy as np

from rulerank.core.arrays import Array
from rulerank.shop.words import (
    BESIDE,
    BRANDS,
    COLOURS,
    FILLERS,
    KINDS,
    LACKS,
    LINES,
    NEEDS,
    OPENINGS,
    PART_TEXT,
    TRAITS,
)

TODAY = datetime.date(2026, 6, 1)  # of the shop, so that the same seed gives the same dates
OLDEST = 1500  # days
PARTS = 0.1  # share of products that are accessories
PART_PRICE = 0.2  # of what the thing itself costs
BRAND_NAMES = tuple(BRANDS)
TRAIT_NAMES = tuple(TRAITS)
FIELDS = (
    *("title", "description", "brand", "category", "tags"),
    *("price", "rating", "reviews", "stock", "added", "url"),
)  # of a document, beside its id
NEED_OF = {need.kind: need for need in NEEDS}


@dataclass(frozen=True, eq=False)
class Products:
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

    def __len__(self) -> int:
        return int(self.kind.size)


def make_products(n_products: int, rng: np.random.Generator) -> Products:
    """Draw what is true of each product."""
    kind = rng.integers(len(KINDS), size=n_products)
    brand = rng.integers(len(BRANDS), size=n_products)
    is_part = rng.random(n_products) < PARTS
    wanted = np.array([[trait in one.traits for trait in TRAIT_NAMES] for one in KINDS])
    traits = wanted[kind] & (rng.random((n_products, len(TRAITS))) < 0.45) & ~is_part[:, None]
    better, dearer = np.array(list(BRANDS.values())).T
    dearness = np.log(dearer[brand]) + 0.35 * rng.normal(size=n_products)
    usual = np.array([one.price for one in KINDS])[kind] * np.where(is_part, PART_PRICE, 1)
    reviews = np.floor(np.exp(rng.normal(2.2, 1.4, size=n_products)))
    quality = 0.7 * better[brand] + 0.25 * dearness + 0.6 * rng.normal(size=n_products)
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


def write_documents(products: Products, rng: np.random.Generator) -> list[dict[str, Any]]:
    """Write the document of each product."""
    width = max(4, len(str(len(products))))
    return [_document(products, row, f"p{row + 1:0{width}}", rng) for row in range(len(products))]


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
        text = _description(
            kind.traits, has, {"name": kind.name, "other": kind.other, "line": line, "Brand": brand}, rng
        )
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


def _description(traits: tuple[str, ...], has: list[str], words: dict[str, str], rng: np.random.Generator) -> str:
    """Say most of what a product has, each thing with its word or without; and sometimes what it has not."""
    parts = [_one(OPENINGS, rng).format(**words)]
    need = NEED_OF[words["name"]]
    if rng.random() < (0.7 if need.trait in has else 0.35):
        parts.append(need.said)
    parts += [_one(TRAITS[trait], rng) for trait in has if rng.random() < 0.9]
    for trait in traits:
        if trait not in has and rng.random() < 0.12:
            parts.append(LACKS.format(trait=trait, line=_one(LINES, rng)))
    if rng.random() < 0.35:
        parts.append(BESIDE.format(line=_one(LINES, rng), name=KINDS[rng.integers(len(KINDS))].name))
    parts += [filler for filler in FILLERS if rng.random() < 0.3]
    return " ".join(parts)


def _one(choices: tuple[str, ...], rng: np.random.Generator) -> str:
    return choices[int(rng.integers(len(choices)))]
