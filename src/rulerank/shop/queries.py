"""What people ask the shop, what they mean by it, and how much each product is worth to them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from rulerank.core.arrays import Array
from rulerank.shop.products import BRAND_NAMES, OLDEST, TRAIT_NAMES, Products
from rulerank.shop.words import KINDS, LINES, NEEDS, WISHES

OTHER_WORD = 0.2  # share of queries that call a product otherwise than the shop does
TYPO = 0.12  # share of queries with a mistyped word
BARS = (0.38, 0.62, 0.92)  # worth from which a product has grade 1, 2, 3
TASTE = 0.14  # what no field explains

COUNTS_MOST = {
    "price": "A low price counts most.",
    "rating": "Good ratings count most.",
    "date": "It should be a recent one.",
}


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

    def meaning(self) -> str:
        """Say what is meant, for people who judge.

        >>> Wanted("cheap tent camping with two children", kind=0, traits=(2,), wish="price").meaning()
        'Looking for: tent. It should be: family. A low price counts most.'
        """
        what = f"something for {self.category}" if self.kind is None else KINDS[self.kind].name
        if self.line is not None:
            what += f" called {LINES[self.line]}"
        if self.brand is not None:
            what += f" by {BRAND_NAMES[self.brand]}"
        parts = [f"Looking for: {what}."]
        if self.traits:
            parts.append(f"It should be: {', '.join(TRAIT_NAMES[trait] for trait in self.traits)}.")
        if self.wish:
            parts.append(COUNTS_MOST[self.wish])
        return " ".join(parts)


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
    worth = match * _appeal(products, wanted) + TASTE * rng.normal(size=len(products)) * (match > 0)
    return np.searchsorted(BARS, worth, side="right").astype(np.int8)


def _match(products: Products, wanted: Wanted) -> Array:
    """Say how well each product is what was asked for, from 0 to 1."""
    match = np.ones(len(products))
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
    known = [TRAIT_NAMES.index(trait) for trait in KINDS[kind].traits]
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
