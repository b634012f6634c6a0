import numpy as np
import pytest

import rulerank as rr
from served_rankers import RANKERS


@pytest.fixture(scope="session")
def shop():
    return rr.datasets.make_shop(n_products=200, n_queries=30, seed=1)


@pytest.fixture(scope="session")
def features(shop):
    return rr.TextFeatures().fit(shop.documents)


@pytest.fixture(scope="session")
def ranker(shop, features):
    return rr.GlobalRules().fit(shop.graded(features.dataset(shop.queries, top=20)))


@pytest.fixture(scope="session")
def reranker(ranker, features):
    return rr.Reranker(ranker, features)


@pytest.fixture(scope="session")
def synthetic():
    return rr.datasets.make_ranking(n_queries=12, docs_per_query=20, n_features=6, seed=3)


@pytest.fixture(scope="session")
def dicts(synthetic):
    """The documents of one query as a service gets them."""
    rows = np.flatnonzero(synthetic.qid == synthetic.qid[0])
    return [
        {"id": f"d{row}"}
        | {
            name: None if value != value else value
            for name, value in zip(synthetic.feature_names, synthetic.X[row].tolist(), strict=True)
        }
        for row in rows
    ]


@pytest.fixture(scope="session")
def rerankers(synthetic):
    """A reranker of ready features by the name of its ranker, fitted when it is first asked for."""
    made = {}

    def make(name):
        if name not in made:
            made[name] = rr.Reranker(RANKERS[name]().fit(synthetic))
        return made[name]

    return make
