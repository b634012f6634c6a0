"""Synthetic ranking data with known true relevance, for trying things out and for tests."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from rulerank.dataset import MAX_GRADE, Array, Dataset
from rulerank.errors import DataError

RELEVANT = 0.25  # share of the documents above grade 0
NEXT_GRADE = 0.4  # documents of a grade per document of the grade below it, from grade 1 on
MOST_QUERIES = 10_000_000  # some 30 GB
MOST_CELLS = 4_000_000_000  # of documents and features: 16 GB
NO_ANSWER = 0.06  # share of the queries without a relevant document


def make_ranking(
    n_queries: int = 50,
    docs_per_query: int | tuple[int, int] = (20, 60),
    n_features: int = 20,
    n_grades: int = 3,
    seed: int = 0,
    *,
    label_noise: float = 0.7,
) -> Dataset:
    """Generate queries, documents and grades of a small web search.

    >>> data = make_ranking(n_queries=50, seed=0)
    >>> data
    Dataset(1,917 rows, 50 queries, 20 features, grades 0: 1430, 1: 344, 2: 143)
    >>> data.feature_names[:3], data.qid[0], data.docid[0]
    (('bm25_body', 'bm25_title', 'pagerank'), 'q1', 'q1-d1')

    How it is made:

    1. Each document has six hidden traits: how well its text and its title match the query, its authority, age, length
       and spam. They are bell curves; title goes with text, and spam against authority.
    2. Its true relevance grows with text and title; authority counts only when the text matches; an old page is good
       when it has authority, a new one when it has not; spam hurts a page that seems to match; very short and very long
       pages are worse.
    3. A judge sees the truth with `label_noise` added and compares it with the bars of the query. Each query has its
       own, strict or lenient, and about one in 17 has no relevant document at all. With three grades about 75, 18
       and 7 % of the documents have grade 0, 1 and 2.
    4. Features are noisy, mostly skewed views of the traits: several of text (`bm25_body`, `tf_idf_body`, ...) and of
       authority (`pagerank`, `inlinks`, ...), correlated with one another. The scale of the text scores differs from
       query to query. `clicks` is missing for pages nobody visits, `bm25_anchor` without links, `freshness` at random.
       `title_length`, `n_images` and `noise_1`, `noise_2`, ... are uninformative. `n_features` keeps the first n.
    """
    low, high = docs_per_query if isinstance(docs_per_query, tuple) else (docs_per_query, docs_per_query)
    if not 1 <= low <= high:
        raise DataError(f"docs_per_query must be a number from 1, or (least, most): got {docs_per_query}")
    bounds = {
        "n_queries": (n_queries, 1, MOST_QUERIES),
        "n_features": (n_features, 1, max(1, MOST_CELLS // (max(n_queries, 1) * high))),  # of so many documents
        "n_grades": (n_grades, 2, MAX_GRADE + 1),
        "seed": (seed, 0, np.inf),
        "label_noise": (label_noise, 0, 1e9),
    }
    for name, (value, least, most) in bounds.items():
        if not least <= value <= most:
            bound = f"at most {most:,}" if value > most else f"at least {least}"
            raise DataError(f"{name} must be {bound}: got {value}")
    rng = np.random.default_rng(seed)
    n_docs = rng.integers(low, high + 1, size=n_queries)
    query = np.repeat(np.arange(n_queries), n_docs)
    traits = _make_traits(query.size, rng)
    truth = _true_relevance(traits)
    columns = _make_features(traits, query, rng)
    grades = _judge(truth + label_noise * rng.normal(size=query.size), query, n_grades, rng)
    for number in range(1, n_features - len(columns) + 1):  # last, so that more noise leaves the rest as it is
        columns[f"noise_{number}"] = rng.gamma(2.0, size=query.size)
    names = tuple(columns)[:n_features]
    return Dataset(
        np.column_stack([columns[name] for name in names]),
        grades,
        qid=np.array([f"q{q + 1}" for q in query], dtype=object),
        docid=np.array([f"q{q + 1}-d{doc + 1}" for q, n in enumerate(n_docs) for doc in range(n)], dtype=object),
        feature_names=names,
    )


class _Traits(NamedTuple):
    """What is true of each document and seen only through its features."""

    text: Array
    title: Array
    authority: Array
    age: Array
    length: Array
    spam: Array


def _make_traits(n_rows: int, rng: np.random.Generator) -> _Traits:
    text, title, authority, age, length, spam = rng.normal(size=(6, n_rows))
    return _Traits(text, 0.6 * text + 0.8 * title, authority, age, length, 0.9 * spam - 0.4 * authority)


def _true_relevance(traits: _Traits) -> Array:
    text, title, authority, age, length, spam = traits
    matches = text > 0
    return (
        0.6 * text
        + 0.4 * title
        + 0.7 * authority * matches
        + 0.7 * authority * age
        - 0.9 * (matches & (spam > 0.7))
        - 0.3 * length**2
    )


def _make_features(traits: _Traits, query: Array, rng: np.random.Generator) -> dict[str, Array]:
    text, title, authority, age, length, spam = traits
    n_rows = query.size
    scale = np.exp(0.3 * rng.normal(size=query[-1] + 1))[query]
    words = text + 0.6 * np.maximum(0, spam)  # spam repeats the words people search for

    def blur(size: float) -> Array:
        return size * rng.normal(size=n_rows)

    columns = {
        "bm25_body": scale * np.logaddexp(0, 2 + words + blur(0.6)),
        "bm25_title": scale * np.maximum(0, 0.3 + title + blur(0.5)),
        "pagerank": np.exp(1.2 * (authority + blur(0.4)) - 3),
        "clicks": np.floor(np.exp(0.8 + 0.6 * authority + 0.6 * title + blur(1.0))),
        "freshness": _squash(-age + blur(0.3)),
        "tf_idf_body": scale * np.exp(0.5 * (words + 0.5 * length + blur(0.6))),
        "doc_length": np.floor(np.exp(6 + length)),
        "url_depth": np.floor(np.clip(3 - authority + blur(1.2), 0, 9)),
        "bm25_anchor": scale * np.maximum(0, 0.6 * text + 0.6 * authority + blur(0.7)),
        "inlinks": np.floor(np.exp(2 + 1.5 * (authority + blur(0.5)))),
        "spam_score": _squash(1.5 * (spam + blur(0.4))),
        "term_proximity": _squash(text + blur(1.0)),
        "title_length": 3.0 + rng.poisson(5, size=n_rows),
        "n_images": rng.geometric(0.3, size=n_rows) - 1.0,
    }
    columns["clicks"][authority + blur(1.0) < -1.0] = np.nan
    columns["freshness"][rng.random(n_rows) < 0.2] = np.nan
    columns["bm25_anchor"][columns["inlinks"] < 3] = np.nan
    return columns


def _judge(judged: Array, query: Array, n_grades: int, rng: np.random.Generator) -> Array:
    """Grade each document by how many of its query's bars it reaches."""
    n_queries = query[-1] + 1
    shares = NEXT_GRADE ** np.arange(n_grades - 1)
    reached = RELEVANT * shares[::-1].cumsum()[::-1] / shares.sum()  # share that has at least grade 1, 2, ...
    bars = np.quantile(judged, 1 - reached) + 0.5 * rng.normal(size=(n_queries, 1))
    bars[rng.permutation(n_queries) < round(NO_ANSWER * n_queries)] = np.inf
    return (judged[:, None] >= bars[query]).sum(axis=1)


def _squash(values: Array) -> Array:
    return 1 / (1 + np.exp(-values))
