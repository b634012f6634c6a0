"""Small synthetic_sets cut into parts, and the bytes of a model's file."""

import numpy as np

from rulerank.dataset import query_index
from rulerank.datasets.ranking import make_ranking


def cut(data, k):
    """Cut data into at most k parts of whole queries, neighbours together."""
    numbers, ids = query_index(data.qid)
    place = numbers * k // len(ids)
    return [data[place == part] for part in range(k) if (place == part).any()]


def model_bytes(ranker, folder):
    """Return the bytes of the model file."""
    ranker.save(folder / "model")
    return (folder / "model").read_bytes()


def small_synthetic(seed=0, n_queries=20, n_features=5, missing=0.1):
    """Return a synthetic set with whole numbers, zeros and missing values among its features."""
    data = make_ranking(n_queries=n_queries, docs_per_query=8, n_features=n_features, seed=seed)
    rng = np.random.default_rng(seed)
    X = data.X.copy()
    X[:, 0] = np.round(X[:, 0])
    X[:, 1][rng.random(len(X)) < 0.4] = 0
    X[rng.random(X.shape) < missing] = np.nan
    return type(data)(X, data.y, data.qid, data.docid, data.feature_names)
