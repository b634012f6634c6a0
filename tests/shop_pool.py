"""A pool to try the page on: products of the synthetic shop, with texts by which a person can tell the grades."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import rulerank as rr

MAX_GRADE = 3
GUIDELINES = """Think of the person who typed the query.
0: no - Something else, or only an accessory of it.
   example: "camping stove": a wind shield for stoves
1: fair - The right kind, but not what was asked for.
   example: "waterproof jacket": a jacket that is not waterproof
2: good - What was asked for.
   example: "waterproof jacket": a waterproof jacket, rated 3.1 or sold out
3: perfect - And well rated, at a fair price, in stock.
   example: "waterproof jacket": a waterproof jacket, rated 4.6 by 80, in stock
"""
N_QUERIES = 40  # of which some are left to compare the new ranking with the baseline's by
TOP = 15  # candidates of a query
FEATURES = (
    *("grams(title)", "bm25(title)", "length(title)", "bm25(all)", "cosine(all)", "run(all)", "covered(best)"),
    *("covered(description)", "covered(tags)", "price", "rating", "log(reviews)", "stock", "added"),
)


def shop_pool(seed: int = 0) -> rr.judging.Pool:
    """Return the candidates of forty searches in the synthetic shop; its own grades are the true ones."""
    shop = rr.datasets.make_shop(n_products=800, n_queries=N_QUERIES, seed=seed)
    features = rr.TextFeatures(features=FEATURES, language="none").fit(shop.documents)  # stemming needs an extra
    data = shop.graded(features.dataset(shop.queries, top=TOP))
    product = {document["id"]: document for document in shop.records}
    docs = [product[docid] for docid in (() if data.docid is None else data.docid)]
    texts: dict[str, list[str | None]] = {
        "query_text": list(data.texts["query_text"]),
        "title": [doc["title"] for doc in docs],
        "text": [doc["description"] for doc in docs],
        "url": [doc["url"] for doc in docs],
    }
    return rr.judging.Pool(replace(data, texts={}), texts, fields=_facts(docs))


def _facts(docs: list[dict[str, Any]]) -> dict[str, list[Any]]:
    """Say what is not in the description: what it costs, how it is rated, whether it is there, and since when."""
    return {
        "price in EUR": [doc["price"] for doc in docs],
        "rating": ["none yet" if doc["rating"] is None else f"{doc['rating']} by {doc['reviews']}" for doc in docs],
        "stock": [doc["stock"] or "sold out" for doc in docs],
        "brand": [doc["brand"] for doc in docs],
        "in the shop since": [doc["added"] for doc in docs],
    }
