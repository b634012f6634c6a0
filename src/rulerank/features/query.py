"""Queries as the loops read them: distinct words, their weights, and the words in order."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from rulerank.dataset import Array
from rulerank.features.analyser import UNKNOWN, Analyser

LONG = 4  # words that are no stop words make a query long: its stop words then weigh nothing
YEAR = re.compile(r"(?<!\d)(1[89]\d\d|20\d\d|2100)(?!\d)")


@dataclass(frozen=True, eq=False)
class QueryWords:
    """The words of queries in the layout of `kernels.py`."""

    terms: Array
    weights: Array
    counts: Array
    term_starts: Array
    places: Array
    place_starts: Array

    def one(self, query: int) -> slice:
        """Return where the terms of a query lie."""
        return slice(int(self.term_starts[query]), int(self.term_starts[query + 1]))


def query_words(texts: Sequence[str], analyser: Analyser, vocabulary: dict[str, int], idf: Array) -> QueryWords:
    """Return the words of queries; the stop words of a long query keep their places but weigh nothing."""
    terms: list[int] = []
    weights: list[float] = []
    counts: list[int] = []
    places: list[int] = []
    term_starts, place_starts = [0], [0]
    for text in texts:
        words = analyser.words(text)
        distinct = Counter(words)  # in the order in which they appear first
        n_telling = sum(word not in analyser.stop_words for word in distinct)
        for word, count in distinct.items():
            number = vocabulary.get(word, UNKNOWN)
            ignored = n_telling >= LONG and word in analyser.stop_words
            terms.append(number)
            weights.append(0.0 if ignored else float(idf[number if number >= 0 else -1]))
            counts.append(count)
        place = {word: i for i, word in enumerate(distinct)}
        places += [place[word] for word in words]
        term_starts.append(len(terms))
        place_starts.append(len(places))
    return QueryWords(
        np.array(terms, dtype=np.int32),
        np.array(weights, dtype=np.float64),
        np.array(counts, dtype=np.int64),
        np.array(term_starts, dtype=np.int64),
        np.array(places, dtype=np.int32),
        np.array(place_starts, dtype=np.int64),
    )


def year_in(text: str) -> float:
    """Return the year that a query names, or NaN; of several the last.

    >>> year_in("dune 1984"), year_in("insidious 2")
    (1984.0, nan)
    """
    found = YEAR.findall(text)
    return float(found[-1]) if found else float("nan")
