"""Text features the slow way: lists of words, counted by hand."""

import math
from itertools import combinations


def idf_of(docs, word):
    """ln(1 + (N - df + .5) / (df + .5)); docs: one list of fields, each a list of words, per document."""
    df = sum(any(word in field for field in doc) for doc in docs)
    return math.log(1 + (len(docs) - df + 0.5) / (df + 0.5))


def bm25(docs, weights, query, doc, k1=1.2, b=0.75):
    """BM25 over fields whose words count `weights` times; of one field, give docs of one field."""

    def length(fields):
        return sum(weight * len(field) for weight, field in zip(weights, fields, strict=True))

    mean = sum(map(length, docs)) / len(docs)
    score = 0.0
    for word in query:
        tf = sum(weight * field.count(word) for weight, field in zip(weights, docs[doc], strict=True))
        if tf:
            score += idf_of(docs, word) * tf / (tf + k1 * (1 - b + b * length(docs[doc]) / mean))
    return score


def covered(docs, query, field):
    distinct = dict.fromkeys(query)
    total = sum(idf_of(docs, word) for word in distinct)
    return sum(idf_of(docs, word) for word in distinct if word in field) / total


def cosine(docs, query, field):
    def vector(words):
        return {word: (1 + math.log(words.count(word))) * idf_of(docs, word) for word in dict.fromkeys(words)}

    one, other = vector(query), vector(field)
    product = sum(weight * other.get(word, 0) for word, weight in one.items())
    return product / math.sqrt(sum(w * w for w in one.values()) * sum(w * w for w in other.values()))


def run(query, items):
    """Longest stretch of the query that stands in an item, word after word."""
    longest = 0
    for begin, end in combinations(range(len(query) + 1), 2):
        if any(query[begin:end] == item[i : i + end - begin] for item in items for i in range(len(item))):
            longest = max(longest, end - begin)
    return longest


def grams(query, text):
    def of(string):
        marked = f"\x01{''.join(c for c in string.lower() if c.isalnum())}\x02"
        return {marked[i : i + 3] for i in range(len(marked) - 2)}

    one, other = of(query), of(text)
    return len(one & other) / len(one | other)
