"""Small random synthetic_sets for the boosted baselines."""

import numpy as np
from hypothesis import strategies as st


@st.composite
def synthetic_sets(draw, missing=True):
    """Features of few values, some missing, grades and queries; some queries have one document, or one grade."""
    n_rows, n_features = draw(st.integers(2, 10)), draw(st.integers(1, 3))
    value = st.sampled_from([0.0, 1.0, 2.0, 3.0, *([np.nan] if missing else [])])
    X = np.array(
        draw(st.lists(st.lists(value, min_size=n_features, max_size=n_features), min_size=n_rows, max_size=n_rows))
    )
    grades = np.array(draw(st.lists(st.integers(0, 2), min_size=n_rows, max_size=n_rows)), dtype=np.int16)
    queries = np.array(draw(st.lists(st.integers(0, 2), min_size=n_rows, max_size=n_rows)))
    queries = np.unique(queries, return_inverse=True)[1]
    return X, grades, queries


def rounded_scores(n):
    """Scores that tie now and then."""
    return st.lists(st.integers(-6, 6), min_size=n, max_size=n).map(lambda values: np.array(values) / 4)


# one query: A and B are relevant, C and D are not. Of the six pairs of thresholds and directions nothing is perfect.
HAND_X = np.array([[3.0], [1.0], [2.0], [0.0]])
HAND_GRADES = np.array([1, 1, 0, 0])
HAND_QUERIES = np.array([7, 7, 7, 7])
